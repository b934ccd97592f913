"use strict";
// Filters and shows the entries. Texts come from models: they are only ever set as text, never as markup.
(() => {
  const ROW = 36; // pixels: rows of one height can be placed without being drawn
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

  // What may scroll is reached by the keyboard.
  const isLong = (text) => text.length > 600 || text.split("\n").length > 20;

  function code(text, kind = "") {
    const made = make("pre", kind, readable(text));
    made.dir = "ltr";
    if (isLong(text)) made.tabIndex = 0;
    return made;
  }

  function prose(text) {
    const made = isolated("pre", "prose", text);
    if (isLong(text)) made.tabIndex = 0;
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

  // The places of the longest sequence of words that both have; none where finding it would take long.
  function common(own, its) {
    const places = new Set();
    if (own.length * its.length > 250_000) return places;
    const longest = Array.from({ length: own.length + 1 }, () => new Uint16Array(its.length + 1));
    for (let at = own.length - 1; at >= 0; at--) {
      for (let to = its.length - 1; to >= 0; to--) {
        longest[at][to] = own[at] === its[to] ? longest[at + 1][to + 1] + 1 : Math.max(longest[at + 1][to], longest[at][to + 1]);
      }
    }
    for (let at = 0, to = 0; at < own.length && to < its.length; ) {
      if (own[at] === its[to]) places.add(at++) && to++;
      else if (longest[at + 1][to] >= longest[at][to + 1]) at++;
      else to++;
    }
    return places;
  }

  // What two texts do not share, word by word, is marked.
  function difference(text, other) {
    const [own, its] = [text, other].map((each) => each.match(/[\p{L}\p{N}_]+|\s+|[^]/gu) || []);
    const least = Math.min(own.length, its.length);
    let start = 0;
    while (start < least && own[start] === its[start]) start++;
    let end = 0;
    while (end < least - start && own.at(-1 - end) === its.at(-1 - end)) end++;
    const cut = own.length - end;
    const kept = common(own.slice(start, cut), its.slice(start, its.length - end));
    const shown = document.createDocumentFragment();
    const isMarked = (at) => at >= start && at < cut && !kept.has(at - start);
    for (let at = 0, next = 0; at < own.length; at = next) {
      for (next = at + 1; next < own.length && isMarked(next) === isMarked(at); ) next++;
      const part = readable(own.slice(at, next).join(""));
      shown.append(isMarked(at) ? make("mark", "", part) : part);
    }
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

  // The texts of a step, by the kind of each.
  function texts(said) {
    const calls = (said.calls || []).map(([name, values]) => ["", name ? `${name} ${values}` : values]);
    const done = (said.done || []).flatMap(([call, result]) => [["", call], ["returns", `→ ${result}`]]);
    return [...(said.text ? [["prose", said.text]] : []), ...calls, ...done];
  }

  // A step of an answer; what the same step of another run's answer lacks is marked.
  function step(said, other) {
    const made = make("div", "said answer");
    if (said.fault) made.append(make("p", "role", `fault: ${said.fault}`));
    if (said.reasoning) made.append(fold("reasoning", () => [prose(said.reasoning)]));
    const others = Map.groupBy(other ? texts(other) : [], ([kind]) => kind);
    for (const [kind, text] of texts(said)) {
      const shown = kind === "prose" ? prose(text) : code(text, kind);
      if (other) shown.replaceChildren(difference(text, (others.get(kind)?.shift() ?? ["", ""])[1]));
      made.append(shown);
    }
    if (!made.childNodes.length) made.append(make("p", "role", "(an empty answer)"));
    if (said.took) made.append(make("p", "role", said.took));
    return made;
  }

  const who = (answer) => `${index.labels[answer.of]}${answer.trial ? `, trial ${answer.trial}` : ""}`;

  // Answers beside each other, as far as the page is wide enough.
  function beside(answers, build) {
    return make("div", answers.length > 1 ? "sides" : "", ...answers.map((answer) => make("div", "", ...build(answer))));
  }

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
      parts.push(beside(answers, (answer) => {
        // The first run is compared with the second, the others with the first.
        const other = answers.find((each) => each.of !== answer.of && each.trial === answer.trial);
        const [own, its] = [answer, other].map((each) => each && each.turns[number]);
        const isSame = other && JSON.stringify(own.map(texts)) === JSON.stringify(its.map(texts));
        return [
          make("p", "role", several || answer.trial ? isolated("bdi", "", who(answer)) : "answer", isSame ? `: the same as ${who(other)}` : ""),
          ...own.map((said, at) => step(said, other && !isSame ? its[at] || {} : undefined)),
        ];
      }));
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
    // Several answers stand below the question in the conversation.
    if (question(told) && (told.title || told.answers.length === 1)) made.append(isolated("pre", "prose asked", question(told)));
    if (told.aside) made.append(make("p", "warning", "Set aside in the corrected profile: ", readable(told.aside)));
    const head = (answer) => (several || answer.trial ? [make("h4", "who", swatches[answer.of] && several ? swatches[answer.of].cloneNode(true) : null, " ", isolated("bdi", "", who(answer)))] : []);
    const judged = (answer) => {
      const names = answer.verdicts.length > 1 ? PROFILES : ["both profiles"];
      return [...head(answer), ...names.map((name, at) => verdict(name, answer.verdicts[at], answer.why))];
    };
    const explained = (answer) => {
      const parts = answer.why ? comparison(answer.why) : [];
      for (const [profiles, rows] of answer.paths || []) {
        const columns = ["step", "verdict", "call", "expected", "not as expected"];
        parts.push(fold(`calls (${profiles}): ${rows.length}`, () => [table(columns, rows)]));
      }
      if (answer.took) parts.push(make("p", "role", answer.took));
      return parts;
    };
    const earlier = (told.after || []).map((id) => fold(`earlier conversation ${id}`, () => conversation(index.earlier[id])));
    const held = [...earlier, make("h4", "", "Conversation"), ...conversation(told)];
    // Of several answers, the answers themselves are what one compares first.
    if (told.answers.length > 1) made.append(beside(told.answers, judged), ...held, beside(told.answers, (answer) => [...head(answer), ...explained(answer)]));
    else for (const answer of told.answers) made.append(...judged(answer), ...explained(answer), ...held);
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

  const [ids, questions] = [[], []];
  const idOf = (place) => (ids[place] ??= JSON.parse(lines[place].match(/^{"id":("(?:[^"\\]|\\.)*")/)[1]));
  const verdictsOf = (place, of) => words(index.rows[place][of + 1], offset());
  const spent = (number) => (place, of) => index.usage[place][of][number];
  const RANKS = { failed: 0, not_scored: 1, passed: 2 };

  // The columns: one of each kind, or one for each run; wide in rem, `value` is what a column is sorted by.
  const KINDS = {
    verdict: {
      each: true,
      wide: several ? 4.5 : 7.5,
      value: (place, of) => {
        const ranks = verdictsOf(place, of).map(([word]) => RANKS[word]);
        return ranks.length ? ranks.reduce((sum, rank) => sum + rank, 0) / ranks.length : null;
      },
      show: (place, of) => (verdictsOf(place, of).length ? badge(of, index.rows[place][of + 1], offset()) : ""),
    },
    entry: { wide: 14, value: idOf },
    question: { wide: 14, grows: true, value: (place) => (questions[place] ??= question(entry(place)).slice(0, 200)) },
    category: { wide: 11, value: (place) => index.categories[index.rows[place][0]] },
    cause: { each: true, wide: 13, grows: true, value: (place, of) => (verdictsOf(place, of).find(([word]) => word !== "passed") || []).at(-1) || "" },
    seconds: { each: true, wide: 6, value: spent(0), show: (place, of) => written(spent(0)(place, of), 2) },
    tokens: { each: true, wide: 6, value: spent(1), show: (place, of) => written(spent(1)(place, of), 0) },
    dollars: { each: true, wide: 6, value: spent(2), show: (place, of) => written(spent(2)(place, of), 5) },
  };
  if (!index.usage) for (const name of ["seconds", "tokens", "dollars"]) delete KINDS[name];
  const USUAL = ["verdict", "entry", "question", ...(several ? [] : ["category"]), ...(index.labels.length > 2 ? [] : ["cause"])];
  if (matchMedia("(max-width: 44rem)").matches) USUAL.splice(0, Infinity, "verdict", "question");
  let shownKinds = USUAL;
  let order = ""; // such as seconds.1 or -seconds.1; the worst first without

  function written(number, digits) {
    return number === null ? "–" : number.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  }

  function columns() {
    return Object.keys(KINDS).filter((kind) => shownKinds.includes(kind)).flatMap((kind) => (KINDS[kind].each ? index.labels : [""]).map((_, of) => ({ kind, of, key: several && KINDS[kind].each ? `${kind}.${of}` : kind })));
  }

  function drawHeads() {
    const shown = columns();
    const widths = shown.map(({ kind }) => KINDS[kind]);
    list.style.setProperty("--columns", widths.map(({ wide, grows }) => (grows ? `minmax(${wide}rem, 1fr)` : `${wide}rem`)).join(" "));
    list.style.setProperty("--least", `${widths.reduce((sum, { wide }) => sum + wide + 0.75, 0.75)}rem`);
    list.setAttribute("aria-colcount", shown.length);
    byId("heads").replaceChildren(...shown.map(({ kind, of, key }) => {
      const isOfRun = several && KINDS[kind].each;
      const button = make("button", "order", isOfRun ? swatches[of].cloneNode(true) : null, isOfRun && kind === "verdict" ? make("span", "hidden", kind) : ` ${kind}`);
      if (isOfRun) {
        button.append(make("span", "hidden", ` of ${index.labels[of]}`));
        button.title = `${kind} of ${index.labels[of]}`;
      }
      button.type = "button";
      button.addEventListener("click", () => {
        // Up, down, and the worst first again.
        order = { [key]: `-${key}`, [`-${key}`]: "" }[order] ?? key;
        markOrder();
        filter();
        remember();
      });
      const head = make("span", "cell", button);
      head.role = "columnheader";
      head.dataset.key = key;
      return head;
    }));
    markOrder();
    for (const box of byId("columns").querySelectorAll("input")) box.checked = shownKinds.includes(box.value);
  }

  function markOrder() {
    for (const head of byId("heads").children) {
      head.ariaSort = { [head.dataset.key]: "ascending", [`-${head.dataset.key}`]: "descending" }[order] ?? "none";
    }
  }

  function sorted(places) {
    const column = columns().find(({ key }) => key === order.replace("-", ""));
    if (!column) return places;
    const { compare } = new Intl.Collator("en", { numeric: true });
    const isUnknown = (value) => value === null || value === "";
    const sign = order.startsWith("-") ? -1 : 1;
    const keyed = places.map((place) => [KINDS[column.kind].value(place, column.of), place]);
    keyed.sort(([one], [other]) => {
      // What is not known stands last in both directions.
      if (isUnknown(one) || isUnknown(other)) return isUnknown(one) - isUnknown(other);
      return sign * (typeof one === "number" ? one - other : compare(one, other));
    });
    return keyed.map(([, place]) => place);
  }

  function row(at) {
    const place = found[at];
    const made = make("div", "row", ...columns().map(({ kind, of }) => {
      const { show, value } = KINDS[kind];
      const cell = show ? make("span", `cell ${kind}`, show(place, of)) : isolated("span", `cell ${kind}`, value(place, of));
      cell.role = "gridcell";
      return cell;
    }));
    made.id = `row-${at}`;
    made.dataset.id = idOf(place);
    made.role = "row";
    made.ariaSelected = String(at === current);
    made.ariaRowIndex = String(at + 2);
    made.style.top = `${at * ROW}px`;
    made.addEventListener("click", () => select(at, true));
    return made;
  }

  function draw() {
    const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 10);
    const last = Math.min(found.length, first + Math.ceil(list.clientHeight / ROW) + 20);
    const places = Array.from({ length: Math.max(0, last - first) }, (_, at) => first + at);
    byId("rows").replaceChildren(...places.map(row));
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
      const room = list.clientHeight - ROW; // the heads stay in sight
      if (top + ROW > list.scrollTop + room) list.scrollTop = top + ROW - room;
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
    const fits = ([word, name, cause]) => (!status || word === status) && (!wanted.code || [name, cause].includes(wanted.code));
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
    found = sorted(ranked.sort((one, other) => one[0] - other[0] || one[1] - other[1]).map(([, place]) => place));
    byId("count").textContent = `${found.length.toLocaleString("en")} of ${index.rows.length.toLocaleString("en")} entries`;
    byId("rows").style.height = `${found.length * ROW}px`;
    list.setAttribute("aria-rowcount", found.length + 1);
    list.scrollTop = 0;
    const at = wanted === null ? -1 : found.findIndex((place) => idOf(place) === wanted);
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
    if (![...FIELDS, "entry", "columns", "order"].some((name) => told.has(name))) return;
    form.reset();
    clearTimeout(waiting); // what the reset has asked for
    for (const name of FIELDS) if (field(name) && told.has(name)) field(name).value = told.get(name);
    for (const name of ["profile", "verdict", "category", "code"]) {
      if (field(name).selectedIndex < 0) field(name).value = name === "profile" ? index.profile : "";
    }
    // A link to other entries keeps the columns of the reader.
    const kinds = (told.get("columns") || "").split(".").filter((kind) => KINDS[kind]);
    if (kinds.length) shownKinds = kinds;
    if (told.has("order")) order = told.get("order");
    drawHeads();
    const at = filter(told.get("entry"));
    panes.classList.toggle("open", at >= 0);
    (at < 0 ? list : byId("detail")).focus({ preventScroll: true });
    byId("entries").scrollIntoView();
  }

  function remember() {
    const chosen = FIELDS.filter((name) => field(name) && field(name).value && !(name === "profile" && field(name).value === index.profile));
    const parts = chosen.map((name) => `${name}=${encodeURIComponent(field(name).value)}`);
    if (shownKinds.join() !== USUAL.join()) parts.push(`columns=${shownKinds.join(".")}`);
    if (order) parts.push(`order=${encodeURIComponent(order)}`);
    if (panes.classList.contains("open") && current >= 0) parts.push(`entry=${encodeURIComponent(idOf(found[current]))}`);
    history.replaceState(null, "", parts.length ? `#${parts.join("&")}` : "#entries");
  }

  function changed(delay) {
    clearTimeout(waiting);
    waiting = setTimeout(() => (panes.classList.remove("open"), filter(), remember()), delay);
  }

  options("category", [["", "all"], ...index.categories.map((name) => [name, name])]);
  options("verdict", [["", "all"], ...Object.entries(WORDS), ["profiles", "profiles differ"], ...(several ? [["models", "runs differ"]] : []), ...(several || index.before ? [["better", "better than before"], ["worse", "worse than before"]] : [])]);
  // In plain words first, then by the code that stands in the scorecard.
  for (const part of [2, 1]) {
    const names = [...new Set(index.words.map((word) => word[part]))].filter(Boolean).sort();
    options("code", [...(part === 2 ? [["", "all"]] : []), ...names.map((name) => [name, name])]);
  }
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
    if (event.target !== list) return; // a head of a column
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
  new ResizeObserver(draw).observe(list);
  for (const kind of Object.keys(KINDS)) {
    const box = make("input", "");
    box.type = "checkbox";
    box.value = kind;
    byId("columns").append(make("label", "", box, ` ${kind}`));
    box.addEventListener("change", () => {
      const boxes = [...byId("columns").querySelectorAll(":checked")].map((each) => each.value);
      shownKinds = boxes.length ? boxes : ["entry"]; // a list without columns shows nothing to choose
      drawHeads();
      filter(found.length ? idOf(found[current]) : null);
      remember();
    });
  }
  addEventListener("hashchange", follow);
  drawHeads();
  filter();
  follow();
  setTimeout(prepareAhead, 500);
})();
