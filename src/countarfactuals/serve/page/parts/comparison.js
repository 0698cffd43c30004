/* The row before and after, feature by feature; those that change come first. */

import { counted, tr } from "../phrases.js";
import { cellText, changeText } from "../values.js";
import { html, useState } from "../vendor/preact-htm.js";
import { Name } from "./name.js";

export function Comparison({ state, way, onTry }) {
  const { about, row } = state;
  const [isWhole, show] = useState(false);
  const changes = new Map(way.changes.map((one) => [one.column, one]));
  const changed = about.columns.filter(({ name }) => changes.has(name));
  const same = about.columns.filter(({ name }) => !changes.has(name));
  return html`
    <section class="card" aria-labelledby="comparison-title">
      <div class="beside"><h2 id="comparison-title">${tr("Before and after")}</h2>
        ${onTry && html`<button class="plain small" onClick=${onTry}>${tr("Try it out")}</button>`}</div>
      <div class="scroll" tabindex="0" role="group" aria-labelledby="comparison-title">
        <table>
          <thead><tr><th scope="col">${tr("Feature")}</th><th scope="col">${tr("Now")}</th><th scope="col">${tr("Then")}</th></tr></thead>
          <tbody>
            ${changed.map((column) => html`<${Line} key=${column.name} about=${about} column=${column} one=${changes.get(column.name)} />`)}
            ${isWhole && same.map((column) => html`<tr key=${column.name} class="same"><th scope="row"><${Name} of=${column.label} /></th><td>${cellText(column, row[column.name])}</td><td>${tr("unchanged")}</td></tr>`)}
          </tbody>
        </table>
      </div>
      ${same.length > 0 && html`<button class="plain small" aria-expanded=${isWhole} onClick=${() => show(!isWhole)}>
        ${isWhole ? tr("Only what changes") : counted(same.length, "and {n} feature that stays", "and {n} features that stay")}</button>`}
    </section>`;
}

function Line({ about, column, one }) {
  return html`<tr class=${one.consequence ? "follows" : "changed"}><th scope="row"><${Name} of=${column.label} /></th><td>${changeText(about, one, one.from, one.from_text)}</td>
    <td><strong>${changeText(about, one, one.to, one.to_text)}</strong>${one.consequence && html` <span class="quiet">${tr("as a consequence")}</span>`}</td></tr>`;
}
