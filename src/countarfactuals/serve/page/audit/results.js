/* The rows of a batch: what became of each, filtered, and one click to look at a row as one case. */

import { takeRow } from "../actions.js";
import { Choice } from "../parts/choice.js";
import { counted, percent, tr } from "../phrases.js";
import { html, useState } from "../vendor/preact-htm.js";

const PAGE = 25;

export function Results({ state }) {
  const { lines } = state.batch;
  const [kind, take] = useState("all");
  const [sought, seek] = useState("");
  const [n, show] = useState(PAGE);
  const options = [["all", tr("all")], ["found", tr("with a way")], ["none", tr("without a way")], ["already", tr("nothing needed")]];
  const lower = sought.toLowerCase();
  const rows = [...lines].sort((a, b) => a.key - b.key).filter((line) => (kind === "all" || line.status === kind) && textOf(line).toLowerCase().includes(lower));
  return html`
    <section class="card" aria-labelledby="results-title">
      <h2 id="results-title">${tr("Row by row")}</h2>
      <div class="finder">
        <${Choice} name="kind" label=${tr("Show")} options=${options} value=${kind} onChange=${take} />
        <label class="field grow"><span>${tr("Search")}</span><input type="search" value=${sought} placeholder=${tr("Such as a feature that changes")} onInput=${(event) => seek(event.target.value)} /></label>
        <p class="quiet" role="status">${counted(rows.length, "{n} row", "{n} rows")}</p>
      </div>
      ${rows.length === 0 ? html`<p class="empty">${tr("No row is like this.")}</p>` : html`
        <div class="scroll" tabindex="0" role="group" aria-labelledby="results-title"><table class="results">
          <thead><tr><th scope="col">${tr("Row")}</th><th scope="col">${tr("The best way")}</th><th scope="col" class="right">${tr("Changes")}</th><th scope="col" class="right">${tr("More typical than")}</th><th scope="col"><span class="unseen">${tr("Look at it")}</span></th></tr></thead>
          <tbody>${rows.slice(0, n).map((line) => html`<${Line} key=${line.key} line=${line} />`)}</tbody></table></div>
        ${rows.length > n && html`<button class="plain" onClick=${() => show(n + PAGE)}>${tr("Show more")}</button>`}`}
    </section>`;
}

function Line({ line }) {
  const way = line.view.ways[0];
  return html`
    <tr><th scope="row">${String(line.key)}</th><td>${textOf(line)}</td>
      <td class="right">${way ? way.n_changed : "–"}</td><td class="right">${way ? percent(way.typicality) : "–"}</td>
      <td>${line.row && html`<button class="plain small" onClick=${() => takeRow(line.row, line.key)}>${tr("Look at it")}<span class="unseen">: ${tr("row {key}", { key: line.key })}</span></button>`}</td></tr>`;
}

/** What became of a row, in a line. */
function textOf({ view }) {
  return view.ways[0]?.summary ?? view.headline;
}
