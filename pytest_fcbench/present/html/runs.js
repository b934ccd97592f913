"use strict";
// Follows the runs that are going on, and loads the list again when one of them has ended.
(() => {
  const byId = (id) => document.getElementById(id);
  const form = byId("choose");
  let before = null;

  function make(tag, kind, ...children) {
    const made = document.createElement(tag);
    if (kind) made.className = kind;
    made.append(...children);
    return made;
  }

  function describe(run) {
    const bar = make("progress", "");
    bar.max = Math.max(run.total, 1);
    bar.value = run.passed + run.failed + run.not_scored;
    bar.setAttribute("aria-label", `progress of ${run.model}`);
    const counts = `${bar.value} of ${run.total} done: ${run.passed} passed, ${run.failed} failed, ${run.not_scored} not scored`;
    const silent = Date.now() / 1000 - run.renewed_s;
    const parts = [make("h3", "", `${run.model}, ${run.suites.join(", ")}`), bar, make("p", "", counts), make("p", "counts", run.line)];
    if (silent > 10) parts.push(make("p", "warning", `No sign of life for ${Math.round(silent)} seconds.`));
    if (run.groups.length) parts.push(make("pre", "", run.groups.join("\n")));
    return make("div", "", ...parts);
  }

  async function follow() {
    try {
      const runs = await (await fetch("/running.json")).json();
      byId("running-section").hidden = !runs.length;
      byId("now").replaceChildren(...runs.map(describe));
      const started = runs.map((run) => run.started_s);
      // A choice of the reader would be lost.
      const chosen = form && form.querySelector(":checked");
      if (before && before.some((each) => !started.includes(each)) && !chosen) location.reload();
      before = started;
    } catch {
      byId("running-section").hidden = false;
      byId("now").replaceChildren(make("p", "warning", "The server does not answer; start fcbench run view again."));
    }
    setTimeout(follow, 2000);
  }

  if (form) {
    const count = () => {
      const chosen = form.querySelectorAll(":checked").length;
      byId("compare").disabled = chosen < 2;
      byId("compare").textContent = chosen ? `Compare ${chosen} runs` : "Compare the chosen runs";
    };
    form.addEventListener("change", count);
    addEventListener("pageshow", count); // the browser may have kept the choice
  }
  follow();
})();
