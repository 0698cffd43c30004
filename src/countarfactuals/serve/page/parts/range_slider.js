/* From … to …: two handles over the histogram, and the same two ends as fields.

   1. Each handle is a slider of the browser, so that arrows, Page up and down, Home and End work and are spoken.
   2. A handle at the end of its way leaves that end open: the range then has no limit there. */

import { tr } from "../phrases.js";
import { cellText, editable, fromScale, isNumber, isTime, onScale, read } from "../values.js";
import { html, useEffect, useState } from "../vendor/preact-htm.js";
import { endsOf, Histogram } from "./histogram.js";

const STEPS = 200;

export function RangeSlider({ column, own, low, high, onChange }) {
  const [from, to] = endsOf(column, own);
  const a = onScale(column, low) ?? from, b = onScale(column, high) ?? to;
  const step = stepOf(column, to - from);
  const moveLow = (place) => onChange({ low: place <= from + step / 2 ? null : fromScale(column, Math.min(place, b)) });
  const moveHigh = (place) => onChange({ high: place >= to - step / 2 ? null : fromScale(column, Math.max(place, a)) });
  const text = (value, open) => (value === null ? open : cellText(column, value));
  return html`
    <fieldset class="range"><legend>${tr("If it changes, it becomes")}</legend>
      <div class="range-slider">
        <${Histogram} column=${column} own=${own} said=${{ low, high }} height=${56} />
        <div class="handles">
          <input type="range" min=${from} max=${to} step=${step} value=${a} aria-label=${tr("{name} at least", { name: column.label })}
            aria-valuetext=${text(low, tr("no limit"))} onInput=${(event) => moveLow(Number(event.target.value))} />
          <input type="range" min=${from} max=${to} step=${step} value=${b} aria-label=${tr("{name} at most", { name: column.label })}
            aria-valuetext=${text(high, tr("no limit"))} onInput=${(event) => moveHigh(Number(event.target.value))} />
        </div>
      </div>
      <div class="ends">
        <${End} column=${column} label=${tr("at least")} value=${low} onChange=${(value) => onChange({ low: value })} />
        <${End} column=${column} label=${tr("at most")} value=${high} onChange=${(value) => onChange({ high: value })} />
        ${own !== undefined && own !== null && html`<p class="quiet own-note"><span class="own-key" aria-hidden="true"></span> ${tr("now {value}", { value: cellText(column, own) })}</p>`}
      </div>
    </fieldset>`;
}

function stepOf(column, width) {
  if (column.kind === "integer" || column.kind === "date") return Math.max(Math.round(width / STEPS), 1);
  return isTime(column) ? 1 / 24 : Number((width / STEPS).toPrecision(1));
}

/** An end as a field; empty is open. */
function End({ column, label, value, onChange }) {
  const plain = editable(column, value);
  const [text, write] = useState(plain);
  useEffect(() => write(plain), [plain]);
  const leave = () => {
    const got = text.trim() === "" ? { value: null } : read(column, text);
    if (got.error) write(plain);
    else if (got.value !== value) onChange(got.value);
  };
  return html`<label class="field"><span>${label}</span><span class="unit-field">
    <input type=${{ date: "date", time: "datetime-local" }[column.kind] ?? "text"} inputmode=${isNumber(column) ? "decimal" : null} value=${text} placeholder=${tr("no limit")}
      onInput=${(event) => write(event.target.value)} onBlur=${leave} onKeyDown=${(event) => event.key === "Enter" && leave()} />
    ${column.unit && html`<span class="unit">${column.unit}</span>`}</span></label>`;
}
