// Filters and sorts the table of claims. The choice stands in the address, after #, so that it can be linked;
// without this script the table shows every claim.
"use strict";

(() => {
  const form = document.getElementById("filter");
  if (!form) return;
  const body = document.querySelector(".claim-table tbody");
  const rows = [...body.rows].map((row, place) => {
    const [claim, verdict] = row.cells;
    const id = claim.querySelector("code").textContent;
    return {
      row,
      place,
      id,
      source: id.split(".")[0],
      verdict: verdict.querySelector(".verdict").textContent,
      text: row.textContent.toLowerCase(),
    };
  });
  const ranks = [...form.elements.verdict.options].map((option) => option.value);
  const orders = {
    "": (a, b) => a.place - b.place,
    id: (a, b) => (a.id < b.id ? -1 : 1),
    verdict: (a, b) => ranks.indexOf(a.verdict) - ranks.indexOf(b.verdict) || a.place - b.place,
  };
  const names = ["verdict", "source", "text", "order"];

  function show() {
    const { verdict, source, text, order } = form.elements;
    const words = text.value.toLowerCase().split(/\s+/);
    let shown = 0;
    for (const each of rows) {
      const fits =
        (!verdict.value || each.verdict === verdict.value) &&
        (!source.value || each.source === source.value) &&
        words.every((word) => each.text.includes(word));
      each.row.hidden = !fits;
      shown += fits;
    }
    body.append(...[...rows].sort(orders[order.value]).map((each) => each.row));
    form.elements.shown.value = `${shown} of ${rows.length} claims`;
  }

  function read() {
    const chosen = new URLSearchParams(location.hash.slice(1));
    for (const name of names) {
      const field = form.elements[name];
      field.value = chosen.get(name) ?? "";
      if (field.selectedIndex === -1) field.value = ""; // no such option
    }
    show();
  }

  function write() {
    const chosen = new URLSearchParams();
    for (const name of names) if (form.elements[name].value) chosen.set(name, form.elements[name].value);
    history.replaceState(null, "", `#${chosen}`);
    show();
  }

  form.addEventListener("input", write);
  form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", read);
  form.hidden = false;
  read();
})();
