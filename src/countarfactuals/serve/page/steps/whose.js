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
    <${Title} lead=${about.outcome ? tr("Choose the case whose {outcome} should be another one.", { outcome: about.outcome })
      : tr("Choose the case whose prediction should be another one.")}>${tr("Whose case is it?")}<//>
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
        <textarea rows="6" spellcheck="false" aria-describedby="paste-help" aria-invalid=${error ? "true" : null} value=${text}
          onInput=${(event) => write(event.target.value)}></textarea></label>
      <p id="paste-help" class="quiet">${tr("Two lines from a spreadsheet or a CSV file, names above values; or JSON. You can look it over before it is used.")}</p>
      ${error && html`<p class="error" role="alert">${error}</p>`}
      <button class="main">${tr("Look it over")}</button>
    </form>`;
}
