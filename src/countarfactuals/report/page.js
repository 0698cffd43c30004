"use strict";
// Tables are whole without this script. It adds sorting by the buttons in their heads, and sliders that hide rows.
for (const block of document.querySelectorAll("script[type='application/json'][data-for]")) {
  const table = document.getElementById(block.dataset.for);
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const data = JSON.parse(block.textContent);
  const controls = document.getElementById(table.id + "-controls");
  const status = document.getElementById(table.id + "-status");

  // missing numbers come last, whichever way the others are sorted; equal ones stay in their first order
  const sortBy = (column, sign) => {
    const keys = data.sort[column];
    const order = rows.map((_, i) => i);
    order.sort((a, b) => {
      if (keys[a] === null || keys[b] === null) return (keys[a] === null) - (keys[b] === null) || a - b;
      return sign * (keys[a] < keys[b] ? -1 : keys[a] > keys[b] ? 1 : 0) || a - b;
    });
    body.append(...order.map((i) => rows[i]));
  };
  for (const button of table.querySelectorAll("th button")) {
    button.addEventListener("click", () => {
      const head = button.closest("th");
      const isUp = head.getAttribute("aria-sort") !== "ascending";
      for (const other of table.querySelectorAll("th[aria-sort]")) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", isUp ? "ascending" : "descending");
      sortBy(button.dataset.sort, isUp ? 1 : -1);
    });
    button.disabled = false;
  }

  if (!controls) continue;
  const sliders = Array.from(controls.querySelectorAll("input"));
  // a slider at its end lets all rows pass, also those without a number
  const passes = (slider, i) => {
    const value = data.filter[slider.name][i];
    const isLeast = slider.dataset.way === "least";
    const limit = Number(slider.value);
    if (isLeast ? limit <= Number(slider.min) : limit >= Number(slider.max)) return true;
    return value !== null && (isLeast ? value >= limit : value <= limit);
  };
  // in the language of the page, with the decimals of a step
  const written = (slider) => {
    const digits = (slider.step.split(".")[1] || "").length;
    const format = { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: false };
    return Number(slider.value).toLocaleString(document.documentElement.lang, format);
  };
  const update = () => {
    for (const slider of sliders) {
      const text = written(slider) + slider.dataset.unit;
      controls.querySelector("output[for='" + slider.id + "']").textContent = text;
      slider.setAttribute("aria-valuetext", text);
    }
    let shown = 0;
    rows.forEach((row, i) => {
      row.hidden = !sliders.every((slider) => passes(slider, i));
      shown += row.hidden ? 0 : 1;
    });
    status.textContent = status.dataset.shown.replace("{shown}", shown).replace("{all}", rows.length);
  };
  for (const slider of sliders) slider.addEventListener("input", update);
  controls.querySelector("button").addEventListener("click", () => {
    for (const slider of sliders) slider.value = slider.dataset.way === "least" ? slider.min : slider.max;
    update();
  });
  controls.hidden = false;
  update();
}
