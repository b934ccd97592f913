"use strict";
// Puts the rows of tables in the order of a column, and leaves out what a filter does not want.
(() => {
  // Tables

  function read(line, column) {
    const cell = line.cells[column];
    if (!cell) return -Infinity;
    const written = cell.dataset.value ?? cell.textContent.trim();
    const number = written.replace(/^[$+]|[,%*]|(?<=\d) to \d+$/g, "").replace("−", "-");
    if (written === "-" || written === "–") return -Infinity;
    return number === "" || Number.isNaN(Number(number)) ? written : Number(number);
  }

  function compare(one, other) {
    if (typeof one === typeof other) return one < other ? -1 : one > other ? 1 : 0;
    return typeof one === "number" ? 1 : -1; // words have no place among numbers
  }

  function sortable(head, column) {
    const button = document.createElement("button");
    button.className = "order";
    button.type = "button";
    button.append(...head.childNodes);
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const bodies = [...head.closest("table").tBodies];
      // Names are read from A, numbers from the largest; a second click turns them around.
      const isWord = bodies.some((part) => [...part.rows].some((line) => typeof read(line, column) === "string"));
      const first = head.dataset.first || (isWord ? "ascending" : "descending");
      const second = first === "ascending" ? "descending" : "ascending";
      const order = head.ariaSort === first ? second : first;
      for (const other of head.parentNode.cells) other.ariaSort = null;
      head.ariaSort = order;
      const sign = order === "descending" ? -1 : 1;
      for (const part of bodies) {
        part.append(...[...part.rows].sort((one, other) => sign * compare(read(one, column), read(other, column))));
      }
    });
  }

  for (const head of document.querySelectorAll("table.sortable thead th:not(.plot)")) {
    if (!head.querySelector(".hidden")) sortable(head, head.cellIndex);
  }

  // A filter: by words that a row or an element of a list has, and by what stands in its data

  const form = document.getElementById("narrow");
  if (!form) return;
  const items = [...document.querySelectorAll("[data-item]")];
  // A row is found by its name: other cells can name other rows.
  const texts = items.map((item) => (item.querySelector("th") ?? item).textContent.toLowerCase());
  const fields = [...form.elements].filter((field) => field.name);
  const count = document.getElementById("narrowed");
  let waiting = 0;

  function narrow() {
    const words = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = fields.filter((field) => field.name !== "text" && field.value);
    const isWanted = (item, at) =>
      words.every((word) => texts[at].includes(word)) && chosen.every((field) => item.dataset[field.name] === field.value);
    items.forEach((item, at) => (item.hidden = !isWanted(item, at)));
    const shown = items.filter((item) => !item.hidden).length;
    for (const group of document.querySelectorAll("[data-group]")) {
      group.hidden = !group.querySelector("[data-item]:not([hidden])");
    }
    count.textContent = `${shown.toLocaleString("en")} of ${items.length.toLocaleString("en")} ${count.dataset.of}`;
  }

  // The address: #check=refused&text=parallel for a filter, else the id of an element

  function follow() {
    const told = new URLSearchParams(location.hash.slice(1).replaceAll("+", "%2B"));
    if (fields.some((field) => told.has(field.name))) {
      form.reset();
      clearTimeout(waiting); // what the reset has asked for
      for (const field of fields) if (told.has(field.name)) field.value = told.get(field.name);
      for (const field of fields) if (field.selectedIndex < 0) field.value = "";
      narrow();
      form.scrollIntoView();
      return;
    }
    const place = document.getElementById(location.hash.slice(1));
    if (!place || !place.closest("[hidden]")) return;
    form.reset();
    clearTimeout(waiting);
    narrow();
    place.scrollIntoView();
  }

  function changed(delay) {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      narrow();
      const parts = fields.filter((field) => field.value).map((field) => `${field.name}=${encodeURIComponent(field.value)}`);
      history.replaceState(null, "", parts.length ? `#${parts.join("&")}` : location.pathname + location.search);
    }, delay);
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => changed(120));
  form.addEventListener("reset", () => changed(0));
  addEventListener("hashchange", follow);
  narrow();
  follow();
})();
