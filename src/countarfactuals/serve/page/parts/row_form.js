/* A form of all features. */

import { tr } from "../phrases.js";
import { html, useState } from "../vendor/preact-htm.js";
import { CellInput } from "./cell_input.js";
import { Name } from "./name.js";

const MANY = 12;

export function RowForm({ about, row, isTypical, onTake }) {
  const [cells, write] = useState(row);
  const [sought, seek] = useState("");
  const columns = about.columns.filter(({ label }) => String(label).toLowerCase().includes(sought.toLowerCase()));
  const submit = (event) => {
    event.preventDefault();
    onTake(cells);
  };
  return html`
    <form class="card" onSubmit=${submit}>
      <p class="quiet">${isTypical ? tr("The form begins with a typical row. Write over what is different.") : tr("Look it over, and write over what is different.")}</p>
      ${about.columns.length > MANY && html`
        <label class="field"><span>${tr("Find a feature")}</span><input type="search" value=${sought} onInput=${(event) => seek(event.target.value)} /></label>`}
      <div class="fields">
        ${columns.map((column) => html`
          <div class="field" key=${column.name}><label for=${`form-${column.name}`}><${Name} of=${column.label} /></label>
            <${CellInput} id=${`form-${column.name}`} column=${column} value=${cells[column.name]}
              onChange=${(value) => write((before) => ({ ...before, [column.name]: value }))} /></div>`)}
      </div>
      <button class="main">${tr("Take this case")}</button>
    </form>`;
}
