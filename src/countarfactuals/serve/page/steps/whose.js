/* Step 1: whose case is it? From the table, pasted, or by a form that starts from a typical row. */

import { takeRow } from "../actions.js";
import { Choice } from "../parts/choice.js";
import { Title } from "../parts/notes.js";
import { RowForm } from "../parts/row_form.js";
import { RowTable } from "../parts/row_table.js";
import { tr } from "../phrases.js";
import { pasted } from "../values.js";
import { html, useState } from "../vendor/preact-htm.js";

export function Whose({ state }) {
  const { about } = state;
  const ways = [...(about.rows_to_pick ? [["table", tr("From the table")]] : []), ["form", tr("By a form")], ["paste", tr("Paste")]];
  const [way, take] = useState(ways[0][0]);
  const [filled, fill] = useState(null);
  const onPasted = (row) => {
    fill(row);
    take("form");
  };
  return html`
    <${Title} lead=${tr("Choose a case to see what would give it another outcome.")}>${tr("Whose case is it?")}<//>
    <${Choice} name="whose" label=${tr("Where the case comes from")} isHidden=${true} options=${ways} value=${way} onChange=${take} />
    ${way === "table" && html`<${RowTable} state=${state} onTake=${({ row, key }) => takeRow(row, key)}
      onChange=${({ row }) => onPasted(row)} />`}
    ${way === "form" && html`<${RowForm} key=${JSON.stringify(filled)} about=${about} row=${filled ?? about.typical} isTypical=${filled === null}
      onTake=${(row) => takeRow(row)} />`}
    ${way === "paste" && html`<${Paste} about=${about} onRow=${onPasted} />`}
  `;
}

/** A row that was copied elsewhere; what it became is looked over in the form. */
function Paste({ about, onRow }) {
  const [text, write] = useState("");
  const [error, tellError] = useState(null);
  const submit = (event) => {
    event.preventDefault();
    const got = pasted(text, about.columns);
    tellError(got.error ?? null);
    if (got.row) onRow(got.row);
  };
  return html`
    <form class="card paste" onSubmit=${submit}>
      <label class="field"><span>${tr("A row")}</span>
        <textarea rows="6" spellcheck="false" aria-describedby="paste-help" aria-invalid=${error ? "true" : null} value=${text} placeholder=${exampleOf(about.columns)}
          onInput=${(event) => write(event.target.value)}></textarea></label>
      <p id="paste-help" class="quiet">${tr("Two lines from a spreadsheet or a CSV file, names above values; or JSON. You can look it over before it is used.")}</p>
      ${error && html`<p class="error" role="alert">${error}</p>`}
      <button class="main">${tr("Look it over")}</button>
    </form>`;
}

/** How a row looks that can be pasted: a few names, and values below them. */
function exampleOf(columns) {
  const some = columns.slice(0, 3), more = columns.length > some.length ? ", …" : "";
  return [some.map(({ name }) => name), some.map((column) => column.median ?? column.levels?.[0].value ?? "")].map((line) => line.join(", ") + more).join("\n");
}
