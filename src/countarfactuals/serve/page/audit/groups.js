/* What another outcome costs by group: how many have a way at all, how far it is, how many changes it takes. */

import * as api from "../api.js";
import { ProblemNote } from "../parts/notes.js";
import { number, percent, tr } from "../phrases.js";
import { html, useEffect, useState } from "../vendor/preact-htm.js";

export function Groups({ state }) {
  const { about, batch, language } = state;
  const [by, group] = useState("");
  const [got, take] = useState(null);
  const [problem, tellProblem] = useState(null);
  useEffect(() => {
    if (!by) return;
    let isCurrent = true;
    api.recourse(batch.id, by, language).then(
      (made) => isCurrent && (take(made), tellProblem(null)),
      (error) => isCurrent && (take(null), tellProblem(error)),
    );
    return () => (isCurrent = false);
  }, [by, batch.id, language]);
  return html`
    <section class="card" aria-labelledby="groups-title">
      <h2 id="groups-title">${tr("By group")}</h2>
      <label class="field inline"><span>${tr("Compare by")}</span>
        <select value=${by} onChange=${(event) => group(event.target.value)}>
          <option value="">${tr("choose a feature")}</option>
          ${about.columns.map(({ name, label }) => html`<option value=${name}>${label}</option>`)}
        </select></label>
      ${problem && html`<${ProblemNote} problem=${problem} />`}
      ${by && !got && !problem && html`<p class="quiet">${tr("Loading …")}</p>`}
      ${by && got && html`<${Table} got=${got} />`}
    </section>`;
}

function Table({ got }) {
  const measures = [["without", tr("Without a way"), percent], ["distance", tr("How far"), (value) => number(Number(value.toPrecision(2)), 6)], ["n_changed", tr("Changes"), (value) => number(value, 1)], ["typicality", tr("More typical than"), percent]];
  const most = Object.fromEntries(measures.map(([name]) => [name, Math.max(...got.groups.map((one) => one.measures[name]?.value ?? 0), 1e-9)]));
  return html`
    <div class="scroll" tabindex="0" role="group" aria-labelledby="groups-title"><table class="groups">
      <thead><tr><th scope="col">${tr("Group")}</th><th scope="col" class="right">${tr("Rows")}</th>${measures.map(([, title]) => html`<th scope="col">${title}</th>`)}</tr></thead>
      <tbody>${got.groups.map((one) => html`
        <tr><th scope="row">${one.group}</th><td class="right">${one.n}</td>
          ${measures.map(([name, , text]) => html`<td><${Figure} estimate=${one.measures[name]} most=${most[name]} text=${text} /></td>`)}</tr>`)}</tbody></table></div>
    <p class="quiet">${tr("How far: 0 is the same row, 1 the other end of every feature. In brackets: where a figure would lie with other rows of the kind.")}</p>
    ${got.sentences?.length > 0 && html`<details class="remarks"><summary>${tr("In words")}</summary><ul>${got.sentences.map((sentence) => html`<li>${sentence}</li>`)}</ul></details>`}`;
}

/** A figure as a number and a bar, with its interval. */
function Figure({ estimate, most, text }) {
  if (!estimate || estimate.value === null) return html`<span class="quiet">–</span>`;
  const { value, low, high } = estimate;
  const hasInterval = low !== null && low !== undefined && high !== null && high !== undefined;
  return html`
    <span class="figure"><strong>${text(value)}</strong>${hasInterval && html` <span class="quiet">(${tr("{low} to {high}", { low: text(low), high: text(high) })})</span>`}
      <svg aria-hidden="true" width="100%" height="6"><rect class="all" width="100%" height="6" rx="3" /><rect class="part" width=${`${Math.min(value / most, 1) * 100}%`} height="6" rx="3" /></svg></span>`;
}
