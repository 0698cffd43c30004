/* Step 2: what is wanted, and what may change. */

import { say } from "../actions.js";
import { Case } from "../parts/case.js";
import { Feature } from "../parts/feature.js";
import { Title } from "../parts/notes.js";
import { Presets } from "../parts/presets.js";
import { TargetForm } from "../parts/target_form.js";
import { counted, tr } from "../phrases.js";
import { html, useState } from "../vendor/preact-htm.js";
import { furtherKinds, nSaid, withLocks, withMost, withSetting } from "../wishes.js";

const MANY = 12;

export function Wanted({ state }) {
  const { about, row, wish } = state;
  return html`
    <${Title} lead=${tr("Say what should come out, and what may not change on the way there.")}>${tr("What is wanted, what may change?")}<//>
    ${row && html`<${Case} state=${state} />`}
    <section class="card" aria-labelledby="wanted-title">
      <h2 id="wanted-title">${tr("What is wanted")}</h2>
      <${TargetForm} state=${state} onChange=${(target) => say({ ...wish, target }, true)} />
    </section>
    <${Features} state=${state} />
    <${Presets} state=${state} />
  `;
}

/** All features, and what is said of them as a whole. */
export function Features({ state }) {
  const { about, row, wish } = state;
  const [sought, seek] = useState("");
  const columns = about.columns.filter(({ label }) => String(label).toLowerCase().includes(sought.toLowerCase()));
  const names = columns.map(({ name }) => name);
  const n = nSaid(wish, about.columns);
  const further = furtherKinds(wish);
  return html`
    <section class="card" aria-labelledby="may-title">
      <div class="beside">
        <h2 id="may-title">${tr("What may change")}</h2>
        <p class="quiet" role="status">${n ? counted(n, "{n} condition", "{n} conditions") : tr("Everything may change.")}</p>
      </div>
      <div class="beside tools">
        ${about.columns.length > MANY && html`
          <label class="field"><span>${tr("Find a feature")}</span><input type="search" value=${sought} onInput=${(event) => seek(event.target.value)} /></label>`}
        <div class="buttons">
          <button class="plain small" onClick=${() => say(withLocks(wish, names, true))}>${tr("Keep all as they are")}</button>
          <button class="plain small" onClick=${() => say(withLocks(wish, names, false))}>${tr("Let all change")}</button>
        </div>
        <${Most} wish=${wish} n=${about.columns.length} />
      </div>
      <${Suggested} about=${about} wish=${wish} />
      <ul class="features">
        ${columns.map((column) => html`<${Feature} key=${column.name} column=${column} own=${row?.[column.name]} wish=${wish}
          onChange=${(changed) => say(withSetting(wish, column.name, changed))} />`)}
      </ul>
      ${further.length > 0 && html`
        <p class="note">${tr("The preset also has: {kinds}. They hold, but can not be changed here.", { kinds: further.join(", ") })}</p>`}
      ${about.relations.length > 0 && html`
        <details class="relations"><summary>${counted(about.relations.length, "{n} relation is kept", "{n} relations are kept")}</summary>
          <ul>${about.relations.map(({ text }) => html`<li>${text}</li>`)}</ul></details>`}
    </section>`;
}

function Most({ wish, n }) {
  const most = wish.constraints.max_changed ?? "";
  return html`
    <label class="field inline"><span>${tr("At most so many changes")}</span>
      <select value=${String(most)} onChange=${(event) => say(withMost(wish, event.target.value ? Number(event.target.value) : null))}>
        <option value="">${tr("any number")}</option>
        ${Array.from({ length: Math.min(n, 10) }, (_, i) => html`<option value=${String(i + 1)}>${i + 1}</option>`)}
      </select></label>`;
}

/** What names of columns suggest: told, and taken by a click. */
function Suggested({ about, wish }) {
  if (!about.suggested?.length) return null;
  const take = ({ constraints }) => say({ ...wish, constraints: merged(wish.constraints, constraints) });
  return html`
    <details class="suggested"><summary>${counted(about.suggested.length, "{n} suggestion", "{n} suggestions")}</summary>
      <ul>${about.suggested.map((one) => html`<li><span>${one.text}</span> <button class="plain small" onClick=${() => take(one)}>${tr("Take over")}<span class="unseen">: ${one.text}</span></button></li>`)}</ul></details>`;
}

function merged(constraints, more) {
  const made = { ...constraints };
  for (const [kind, value] of Object.entries(more)) {
    if (Array.isArray(value)) made[kind] = [...new Set([...(made[kind] ?? []), ...value])];
    else made[kind] = typeof value === "object" && value !== null ? { ...made[kind], ...value } : value;
  }
  return made;
}
