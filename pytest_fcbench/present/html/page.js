"use strict";
// Filters and shows the entries. Texts come from models: they are only ever set as text, never as markup.
(() => {
  const ROW = 52; // pixels: rows of one height can be placed without being drawn
  const PROFILES = ["official", "corrected"];
  const SIGNS = { passed: "✓", failed: "✗", not_scored: "○" };
  const WORDS = { passed: "passed", failed: "failed", not_scored: "not scored" };
  // Control characters, marks of direction, characters without width, lone surrogates; each with its repeats.
  const ODD = /([\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|\p{Cs})\1*/gu;

  const byId = (id) => document.getElementById(id);
  const index = JSON.parse(byId("index-data").textContent);
  const lines = byId("entries-data").textContent.slice(2, -2).split(",\n");
  const entry = (place) => JSON.parse(lines[place]);
  const several = index.labels.length > 1;
  const swatches = [...document.querySelectorAll("#about ~ .headline .swatch")];
  const list = byId("list");
  const panes = byId("panes");
  const form = byId("filter");
  const field = (name) => form.elements.namedItem(name);

  // Building

  function make(tag, kind, ...children) {
    const made = document.createElement(tag);
    if (kind) made.className = kind;
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
  }

  function readable(text) {
    const shown = document.createDocumentFragment();
    let from = 0;
    for (const found of text.matchAll(ODD)) {
      const sign = found[1];
      const times = found[0].length / sign.length;
      const name = `U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
      shown.append(text.slice(from, found.index), make("span", "odd", times > 1 ? `${name} ×${times}` : name));
      from = found.index + found[0].length;
    }
    shown.append(text.slice(from));
    return shown;
  }

  function isolated(tag, kind, text) {
    const made = make(tag, kind, readable(text));
    made.dir = "auto";
    return made;
  }

  function code(text, kind = "") {
    const made = make("pre", kind, readable(text));
    made.dir = "ltr";
    if (text.length > 2000) made.tabIndex = 0;
    return made;
  }

  function prose(text) {
    const made = isolated("pre", "prose", text);
    if (text.length > 2000) made.tabIndex = 0;
    return made;
  }

  function fold(title, build) {
    const made = make("details", "fold", make("summary", "", title));
    made.addEventListener("toggle", () => made.append(...build()), { once: true });
    return made;
  }

  function table(columns, rows) {
    const heads = columns.map((column) => {
      const head = make("th", "", readable(column));
      head.scope = "col";
      return head;
    });
    const body = rows.map((row) => make("tr", "", ...row.map((cell) => make("td", "", readable(cell)))));
    return make("div", "wide", make("table", "", make("thead", "", make("tr", "", ...heads)), make("tbody", "", ...body)));
  }

  // Verdicts

  const offset = () => PROFILES.indexOf(field("profile").value);
  const words = (verdicts, profile) => verdicts.filter((_, at) => at % 2 === profile).map((word) => index.words[word]);

  function badge(of, verdicts, profile) {
    const found = words(verdicts, profile).map(([status]) => status);
    const passed = found.filter((status) => status === "passed").length;
    const mixed = new Set(found).size > 1;
    const status = mixed ? "not_scored" : found[0];
    const word = mixed ? `${passed}/${found.length} passed` : WORDS[status];
    const made = make("span", `badge ${status}`);
    if (several) {
      made.append(swatches[of].cloneNode(true), mixed ? ` ${passed}/${found.length}` : ` ${SIGNS[status]}`);
      made.append(make("span", "hidden", ` ${index.labels[of]}: ${word}`));
      made.title = `${index.labels[of]}: ${word}`;
    } else {
      made.append(mixed ? word : `${SIGNS[status]} ${word}`);
    }
    return made;
  }

  function verdict(profile, [status, name, reason, details], isCompared) {
    const made = make("div", "verdict", make("span", "profile", profile), make("span", `badge ${status}`, `${SIGNS[status]} ${WORDS[status]}`));
    if (name) made.append(" ", isolated("bdi", "code", name));
    if (reason) made.append(isolated("div", "", reason));
    if (status === "failed" && index.codes[name]) {
      const [meaning, advice] = index.codes[name];
      // Advice holds commands between backquotes.
      const parts = advice.split("`").map((part, at) => (at % 2 ? make("code", "", part) : part));
      made.append(make("div", "role", `${meaning} Next: `, ...parts, "."));
    }
    if (details && !isCompared) made.append(table(details.columns, details.rows));
    return made;
  }

  // What two texts do not share between their common beginning and their common end.
  function difference(text, other) {
    const [own, its] = [[...text], [...other]];
    let start = 0;
    while (start < Math.min(own.length, its.length) && own[start] === its[start]) start++;
    let end = 0;
    while (end < Math.min(own.length, its.length) - start && own.at(-1 - end) === its.at(-1 - end)) end++;
    const cut = own.length - end;
    const shown = document.createDocumentFragment();
    const middle = own.slice(start, cut).join("");
    shown.append(readable(own.slice(0, start).join("")), middle && make("mark", "", readable(middle)), readable(own.slice(cut).join("")));
    return shown;
  }

  function comparison(why) {
    const compared = (found, rows, named) => {
      // An answer in words has neither calls nor arguments, a state has places only.
      const first = rows.some(([label]) => label) ? 0 : rows.some(([, name]) => name) ? 1 : 2;
      const made = table([...named, found, "expected"].slice(first), rows.map((row) => row.slice(first, 4)));
      made.classList.add("compared");
      rows.forEach(([label, , own, its, wrong], at) => {
        const line = made.querySelectorAll("tbody tr")[at];
        if (label) line.classList.add("call");
        if (!wrong) return;
        line.classList.add("wrong");
        line.cells[2 - first].replaceChildren(difference(own, its));
        line.cells[3 - first].replaceChildren(difference(its, own));
      });
      return made;
    };
    const made = [make("h4", "", `Answered and expected (${why.profile} profile${why.turn ? `, ${why.turn}` : ""})`)];
    if (why.rows.length) made.push(compared("answered", why.rows, ["call", "argument"]));
    if (why.state.length) made.push(make("p", "role", "state of the environments"), compared("found", why.state, ["what", "place"]));
    return made;
  }

  // The parts of an entry

  const offered = (numbers) => `${numbers.length} function${numbers.length === 1 ? "" : "s"} offered`;

  function functions(numbers) {
    return numbers.map((number) => {
      const [name, description, parameters] = index.functions[number];
      const made = make("div", "function", code(name), isolated("div", "", description));
      if (parameters.length) made.append(table(["parameter", "type", "about"], parameters));
      return made;
    });
  }

  function step(said) {
    const made = make("div", "said answer");
    if (said.fault) made.append(make("p", "role", `fault: ${said.fault}`));
    if (said.reasoning) made.append(fold("reasoning", () => [prose(said.reasoning)]));
    if (said.text) made.append(prose(said.text));
    for (const [name, values] of said.calls || []) made.append(code(name ? `${name} ${values}` : values));
    for (const [call, result] of said.done || []) made.append(code(call), code(`→ ${result}`, "returns"));
    if (!made.childNodes.length) made.append(make("p", "role", "(an empty answer)"));
    if (said.took) made.append(make("p", "role", said.took));
    return made;
  }

  const who = (answer) => `${index.labels[answer.of]}${answer.trial ? `, trial ${answer.trial}` : ""}`;

  function command(text) {
    const shown = make("code", "", text);
    const button = make("button", "", "Copy");
    button.type = "button";
    button.addEventListener("click", () => copy(text, button, () => getSelection().selectAllChildren(shown)));
    return make("div", "command", shown, button);
  }

  async function copy(text, button, select) {
    const before = button.textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      select();
      button.textContent = "Selected";
    }
    setTimeout(() => (button.textContent = before), 2000);
  }

  function quoted(text) {
    return /^[\w.,:/@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
  }

  function commands(id, answer) {
    const item = answer.trial ? `${id}-t${answer.trial}` : id;
    const found = [`fcbench run show ${quoted(item)} --scorecard ${index.files[answer.of]}`];
    if (answer.test !== undefined) {
      const node = `${index.tests[answer.test]}[${item}]`;
      const safe = /^[\w.,:/@%+=[\]-]+$/.test(node) ? `"${node}"` : quoted(node);
      found.unshift(`pytest ${safe} ${index.options[answer.of]}`);
    }
    // A line break or another control character has no place in a command that somebody pastes.
    return found.filter((text) => !text.match(ODD) && !text.includes("\n")).map(command);
  }

  function expected(calls) {
    const shown = calls.map(([name, parameters]) => {
      const rows = parameters.map(([parameter, values, optional]) => [
        parameter,
        [...values, ...(optional ? ["(left out)"] : [])].join("  or  "),
      ]);
      return make("div", "", code(name), rows.length ? table(["parameter", "accepted"], rows) : "");
    });
    return make("div", "said truth", make("p", "role", "expected"), ...shown);
  }

  function truth(calls) {
    const shown = calls.length ? calls.map((call) => code(call)) : [make("p", "role", "(nothing can be called yet)")];
    return make("div", "said truth", make("p", "role", "expected"), ...shown);
  }

  function conversation(told) {
    const turns = told.turns || [];
    const most = Math.max(turns.length, ...told.answers.map((answer) => (answer.turns || []).length));
    const parts = [];
    for (let number = 0; number < most; number++) {
      const turn = turns[number] || { said: [] };
      if (most > 1) parts.push(make("h5", "", `Turn ${number + 1}`));
      for (const [role, content] of turn.said) parts.push(make("div", "said", make("p", "role", readable(role)), prose(content)));
      if (turn.new) parts.push(fold(`${offered(turn.new)} from here on`, () => functions(turn.new)));
      const answers = told.answers.filter((answer) => (answer.turns || [])[number]);
      // Beside each other, as far as the page is wide enough.
      parts.push(make("div", answers.length > 1 ? "sides" : "", ...answers.map((answer) => make(
        "div", "",
        make("p", "role", several || answer.trial ? isolated("bdi", "", who(answer)) : "answer"),
        ...answer.turns[number].map(step),
      ))));
      if (turn.truth) parts.push(truth(turn.truth));
    }
    if (told.expected) parts.push(expected(told.expected));
    for (const [number, calls] of (told.steps || []).entries()) {
      const shown = calls.map((call) => code(call));
      parts.push(make("div", "said truth", make("p", "role", `expected, step ${number + 1}`), ...shown));
    }
    if (told.rule) parts.push(make("div", "said truth", make("p", "role", "expected"), prose(told.rule)));
    if (!told.turns) parts.push(make("p", "note", "What this entry asks is not known here: its suite was not there when the report was made."));
    return parts;
  }

  function body(told) {
    const made = make("div", "body");
    made.append(make("h3", "id", isolated("bdi", "", told.id)));
    if (question(told)) made.append(isolated("pre", "prose asked", question(told)));
    if (told.aside) made.append(make("p", "warning", "Set aside in the corrected profile: ", readable(told.aside)));
    for (const answer of told.answers) {
      if (several || answer.trial) made.append(make("h4", "who", swatches[answer.of] && several ? swatches[answer.of].cloneNode(true) : null, isolated("bdi", "", who(answer))));
      const names = answer.verdicts.length > 1 ? PROFILES : ["both profiles"];
      made.append(...names.map((name, at) => verdict(name, answer.verdicts[at], answer.why)));
      if (answer.why) made.append(...comparison(answer.why));
      for (const [profiles, rows] of answer.paths || []) {
        const columns = ["step", "verdict", "call", "expected", "not as expected"];
        made.append(fold(`calls (${profiles}): ${rows.length}`, () => [table(columns, rows)]));
      }
      if (answer.took) made.append(make("p", "role", answer.took));
    }
    for (const id of told.after || []) {
      made.append(fold(`earlier conversation ${id}`, () => conversation(index.earlier[id])));
    }
    made.append(make("h4", "", "Conversation"), ...conversation(told));
    if ((told.functions || []).length) {
      made.append(fold(offered(told.functions), () => functions(told.functions)));
    }
    const again = make("div", "again", make("h4", "", "Run it again"));
    for (const answer of told.answers) {
      if (several || answer.trial) again.append(make("p", "role", isolated("bdi", "", who(answer))));
      again.append(...commands(told.id, answer));
    }
    made.append(again, fold("This entry as JSON", () => [code(JSON.stringify(told, null, 1))]));
    return made;
  }

  // The list: only the rows in sight are drawn

  function question(told) {
    if (told.title) return told.title;
    const said = (told.turns || []).flatMap((turn) => turn.said);
    return said.length ? said[said.length > 1 && said[0][0] === "system" ? 1 : 0][1] : "";
  }

  function row(at) {
    const told = entry(found[at]);
    const [category, ...models] = index.rows[found[at]];
    const profile = offset();
    const badges = make("span", "badges", ...models.map((verdicts, of) => (verdicts.length ? badge(of, verdicts, profile) : null)));
    const made = make("div", "row", badges, isolated("bdi", "id", told.id));
    const reason = told.answers.map((answer) => (answer.verdicts[profile] || answer.verdicts[0])[1]).find(Boolean);
    made.append(isolated("span", "gist", question(told).slice(0, 200) || reason || index.categories[category]));
    made.id = `row-${at}`;
    made.dataset.id = told.id;
    made.role = "option";
    made.ariaSelected = String(at === current);
    made.ariaPosInSet = String(at + 1);
    made.ariaSetSize = String(found.length);
    made.style.top = `${at * ROW}px`;
    made.addEventListener("click", () => select(at, true));
    return made;
  }

  function draw() {
    const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 10);
    const last = Math.min(found.length, first + Math.ceil(list.clientHeight / ROW) + 20);
    const end = make("div", "end"); // as far down as the last row
    end.role = "presentation";
    end.style.top = `${found.length * ROW - 1}px`;
    const places = Array.from({ length: Math.max(0, last - first) }, (_, at) => first + at);
    list.replaceChildren(...places.map(row), end);
    // The row that is named must be there.
    if (places.includes(current)) list.setAttribute("aria-activedescendant", `row-${current}`);
    else list.removeAttribute("aria-activedescendant");
  }

  function select(at, asked) {
    if (!found.length) {
      current = -1;
      byId("detail").replaceChildren(make("p", "note", "No entry fits these filters."));
    } else {
      current = Math.max(0, Math.min(at, found.length - 1));
      byId("detail").replaceChildren(body(entry(found[current])));
      byId("detail").scrollTop = 0;
      const top = current * ROW;
      if (top < list.scrollTop) list.scrollTop = top;
      if (top + ROW > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW - list.clientHeight;
    }
    byId("place").textContent = found.length ? `${(current + 1).toLocaleString("en")} of ${found.length.toLocaleString("en")}` : "";
    byId("previous").disabled = current <= 0;
    byId("next").disabled = current >= found.length - 1;
    draw();
    if (asked) {
      panes.classList.add("open");
      remember();
    }
  }

  // Filter

  const searchable = [];
  let found = [];
  let current = -1; // the place in what was found
  let waiting = 0;

  function differs(verdicts) {
    return verdicts.some((word, at) => at % 2 === 0 && index.words[word][0] !== index.words[verdicts[at + 1]][0]);
  }

  function escaped(text) {
    const written = JSON.stringify(text).slice(1, -1);
    return written.replace(/[<>&]/g, (sign) => `\\u${sign.codePointAt(0).toString(16).padStart(4, "0")}`).toLowerCase();
  }

  function prepare(until) {
    // Names of members are none of the texts.
    while (searchable.length < lines.length && performance.now() < until) {
      searchable.push(lines[searchable.length].toLowerCase().replace(/"[a-z]+":/g, ""));
    }
  }

  function prepareAhead() {
    prepare(performance.now() + 10);
    if (searchable.length < lines.length) setTimeout(prepareAhead, 20);
  }

  function matcher() {
    const wanted = Object.fromEntries(["category", "verdict", "code", "model"].map((name) => [name, field(name) ? field(name).value : ""]));
    const profile = offset();
    const category = index.categories.indexOf(wanted.category);
    const parts = field("text").value.split(/\s+/).filter(Boolean).map(escaped);
    if (parts.length) prepare(Infinity);
    const status = WORDS[wanted.verdict] ? wanted.verdict : "";
    const fits = ([word, name]) => (!status || word === status) && (!wanted.code || name === wanted.code);
    const differing = {
      profiles: (chosen) => chosen.some(differs),
      models: (_, chosen) => new Set(chosen.map((verdicts) => words(verdicts, profile).join())).size > 1,
    };
    const apart = differing[wanted.verdict] || (() => true);
    const passed = (verdicts) => {
      const scored = words(verdicts, profile).filter(([word]) => word !== "not_scored");
      return scored.length ? scored.filter(([word]) => word === "passed").length / scored.length : NaN;
    };
    const moved = { better: (change) => change > 0, worse: (change) => change < 0 }[wanted.verdict];
    return (place) => {
      const [own, ...models] = index.rows[place];
      const chosen = (wanted.model ? [models[wanted.model]] : models).filter((verdicts) => verdicts.length);
      const before = passed(index.before ? index.before[place] : models[0]);
      return (
        (!wanted.category || own === category) &&
        (!moved || chosen.some((verdicts) => moved(passed(verdicts) - before))) &&
        chosen.some((verdicts) => words(verdicts, profile).some(fits)) &&
        apart(chosen, models.filter((verdicts) => verdicts.length)) &&
        parts.every((part) => searchable[place].includes(part))
      );
    };
  }

  function filter(wanted = null) {
    const fits = matcher();
    const profile = offset();
    const rank = (place) => {
      const statuses = index.rows[place].slice(1).flatMap((verdicts) => words(verdicts, profile)).map(([word]) => word);
      return statuses.includes("failed") ? 0 : statuses.includes("not_scored") ? 1 : 2;
    };
    const ranked = [...index.rows.keys()].filter(fits).map((place) => [rank(place), place]);
    found = ranked.sort((one, other) => one[0] - other[0] || one[1] - other[1]).map(([, place]) => place);
    byId("count").textContent = `${found.length.toLocaleString("en")} of ${index.rows.length.toLocaleString("en")} entries`;
    list.scrollTop = 0;
    const at = wanted === null ? -1 : found.findIndex((place) => entry(place).id === wanted);
    select(Math.max(at, 0), false);
    return at;
  }

  function options(name, pairs) {
    if (field(name)) field(name).append(...pairs.map(([value, text]) => new Option(readable(text).textContent, value)));
  }

  // The address: #entry=core:parallel_1, #category=parallel&verdict=failed

  const FIELDS = ["text", "category", "verdict", "code", "model", "profile"];

  function follow() {
    const told = new URLSearchParams(location.hash.slice(1).replaceAll("+", "%2B"));
    if (![...FIELDS, "entry"].some((name) => told.has(name))) return;
    form.reset();
    clearTimeout(waiting); // what the reset has asked for
    for (const name of FIELDS) if (field(name) && told.has(name)) field(name).value = told.get(name);
    for (const name of ["profile", "verdict", "category", "code"]) {
      if (field(name).selectedIndex < 0) field(name).value = name === "profile" ? index.profile : "";
    }
    const at = filter(told.get("entry"));
    panes.classList.toggle("open", at >= 0);
    (at < 0 ? list : byId("detail")).focus({ preventScroll: true });
    byId("entries").scrollIntoView();
  }

  function remember() {
    const chosen = FIELDS.filter((name) => field(name) && field(name).value && !(name === "profile" && field(name).value === index.profile));
    const parts = chosen.map((name) => `${name}=${encodeURIComponent(field(name).value)}`);
    if (panes.classList.contains("open") && current >= 0) parts.push(`entry=${encodeURIComponent(entry(found[current]).id)}`);
    history.replaceState(null, "", parts.length ? `#${parts.join("&")}` : "#entries");
  }

  function changed(delay) {
    clearTimeout(waiting);
    waiting = setTimeout(() => (panes.classList.remove("open"), filter(), remember()), delay);
  }

  options("category", [["", "all"], ...index.categories.map((name) => [name, name])]);
  options("verdict", [["", "all"], ...Object.entries(WORDS), ["profiles", "profiles differ"], ...(several ? [["models", "runs differ"]] : []), ...(several || index.before ? [["better", "better than before"], ["worse", "worse than before"]] : [])]);
  options("code", [["", "all"], ...[...new Set(index.words.map(([, name]) => name))].filter(Boolean).sort().map((name) => [name, name])]);
  options("model", [["", "all"], ...index.labels.map((label, of) => [String(of), label])]);
  options("profile", PROFILES.map((name) => [name, name]));
  for (const option of field("profile").options) option.defaultSelected = option.value === index.profile;
  form.reset();

  form.addEventListener("submit", (event) => event.preventDefault());
  field("text").addEventListener("input", () => changed(120));
  form.addEventListener("change", (event) => event.target.name !== "text" && changed(0));
  form.addEventListener("reset", () => changed(0));
  const move = (by) => select(current + by, true);
  byId("previous").addEventListener("click", () => move(-1));
  byId("next").addEventListener("click", () => move(1));
  byId("back").addEventListener("click", () => {
    panes.classList.remove("open");
    remember();
    draw();
    list.focus();
  });
  byId("link").addEventListener("click", () => {
    panes.classList.add("open");
    remember();
    copy(location.href, byId("link"), () => {});
  });
  list.addEventListener("scroll", () => requestAnimationFrame(draw));
  list.addEventListener("keydown", (event) => {
    const page = Math.max(1, Math.floor(list.clientHeight / ROW) - 1);
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity, Enter: 0 }[event.key];
    if (by === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    move(by);
    if (event.key === "Enter") byId("detail").focus();
  });
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, select, textarea")) return;
    const act = { j: () => move(1), n: () => move(1), k: () => move(-1), p: () => move(-1), c: () => byId("link").click(), "/": () => field("text").focus() }[event.key];
    if (!act) return;
    event.preventDefault();
    if (event.key !== "c") byId("entries").scrollIntoView();
    act();
  });
  addEventListener("resize", draw);
  addEventListener("hashchange", follow);
  filter();
  follow();
  setTimeout(prepareAhead, 500);
})();
