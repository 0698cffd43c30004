/* One cell that can be written: a list for levels, a field for numbers and times. A text that is no value of the column
   is told and not passed on. */

import { tr } from "../phrases.js";
import { editable, isNumber, isTime, levelText, read } from "../values.js";
import { html, useEffect, useState } from "../vendor/preact-htm.js";

export function CellInput({ id, column, value, onChange, onFocus, describedBy = null }) {
  const isList = column.levels && !isNumber(column) && !isTime(column);
  return isList ? html`<${Levels} ...${{ id, column, value, onChange, onFocus, describedBy }} />`
    : html`<${Field} ...${{ id, column, value, onChange, onFocus, describedBy }} />`;
}

function Levels({ id, column, value, onChange, onFocus, describedBy }) {
  const at = column.levels.findIndex((level) => level.value === value);
  return html`
    <select id=${id} value=${String(at)} aria-describedby=${describedBy} onFocus=${onFocus}
      onChange=${(event) => onChange(column.levels[Number(event.target.value)]?.value ?? null)}>
      ${(column.missing || at < 0) && html`<option value="-1">${tr("unknown")}</option>`}
      ${column.levels.map((level, i) => html`<option value=${String(i)}>${levelText(column, level.value)}</option>`)}
    </select>`;
}

function Field({ id, column, value, onChange, onFocus, describedBy }) {
  const [text, write] = useState(editable(column, value));
  const [error, tellError] = useState(null);
  const reset = () => (write(editable(column, value)), tellError(null));
  useEffect(() => {
    const got = read(column, text);
    if (got.error || got.value !== value) reset();
  }, [value]);
  useEffect(reset, [document.documentElement.lang]); // a text means another number in another language
  const type = (event) => {
    const said = event.target.value;
    const got = read(column, said);
    write(said);
    tellError(got.error ?? null);
    if (!got.error && got.value !== value) onChange(got.value);
  };
  const errorId = `${id}-error`;
  return html`
    <span class="unit-field">
      <input id=${id} type=${{ date: "date", time: "datetime-local" }[column.kind] ?? "text"} inputmode=${isNumber(column) ? "decimal" : null} autocomplete="off"
        value=${text} placeholder=${column.missing ? tr("unknown") : null} aria-invalid=${error ? "true" : null}
        aria-describedby=${error ? errorId : describedBy} onInput=${type} onFocus=${onFocus} />
      ${column.unit && html`<span class="unit">${column.unit}</span>`}
    </span>
    ${error && html`<span class="error" id=${errorId} role="alert">${error}</span>`}`;
}
