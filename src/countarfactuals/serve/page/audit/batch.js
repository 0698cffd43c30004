/* For auditors: many cases with the same wishes, as a job of the server. Groups are compared, rows can be looked at. */

import { Groups } from "./groups.js";
import { cancelBatch, followBatch, startBatch } from "./jobs.js";
import { Results } from "./results.js";
import { Features } from "../steps/wanted.js";
import { say } from "../actions.js";
import { focusTitle, ProblemNote, Title } from "../parts/notes.js";
import { TargetForm } from "../parts/target_form.js";
import { counted, tr } from "../phrases.js";
import { isNumeric } from "../targets.js";
import { html, useEffect, useState } from "../vendor/preact-htm.js";

const SIZES = [20, 50, 100, 200, 500, 1000];

export function Batch({ state }) {
  const { about, batch } = state;
  useEffect(() => followBatch(), [state.name]);
  if (!about.rows_to_pick) {
    return html`<${Title}>${tr("Many cases")}<//><p class="empty">${tr("This service shows no rows, so there are none to choose from here.")}</p>`;
  }
  return html`
    <${Title} lead=${tr("What would another outcome cost, and whom? The same wishes for many rows, compared by group.")}>${tr("Many cases")}<//>
    ${batch.problem && html`<${ProblemNote} problem=${batch.problem} />`}
    <${Ask} state=${state} />
    ${batch.phase !== "idle" && html`<${Progress} batch=${batch} />`}
    ${batch.id && batch.phase !== "running" && batch.lines.length > 0 && html`<${Groups} key=${batch.id} state=${state} />`}
    ${batch.lines.length > 0 && html`<${Results} state=${state} />`}
  `;
}

function Ask({ state }) {
  const { about, batch, wish } = state;
  const [which, choose] = useState(isNumeric(about) ? "" : String(about.classes[0]));
  const [most, limit] = useState(50);
  const [isOpen, open] = useState(false);
  useEffect(() => {
    if (!state.isOwnTarget && !isNumeric(about)) say({ ...wish, target: otherThan(about, which) }, false);
  }, [which]);
  const cannot = batch.phase === "running" || (isNumeric(about) && wish.target === null);
  const start = () => {
    if (cannot) return; // a button that is disabled would lose the focus
    open(false);
    startBatch(which, most);
  };
  const sizes = SIZES.filter((size) => size <= (about.limits?.rows ?? 1000));
  return html`
    <section class="card" aria-labelledby="ask-title">
      <h2 id="ask-title">${tr("Which rows, and what is wanted")}</h2>
      <div class="asking">
        ${!isNumeric(about) && html`
          <label class="field"><span>${tr("Rows with the prediction")}</span>
            <select value=${which} onChange=${(event) => choose(event.target.value)}>
              <option value="">${tr("all")}</option>${about.classes.map((label) => html`<option value=${String(label)}>${String(label)}</option>`)}</select></label>`}
        <label class="field"><span>${tr("At most so many")}</span>
          <select value=${String(most)} onChange=${(event) => limit(Number(event.target.value))}>${sizes.map((size) => html`<option value=${String(size)}>${size}</option>`)}</select></label>
      </div>
      <${TargetForm} state=${{ ...state, now: null }} onChange=${(target) => say({ ...wish, target }, true)} />
      <p class="buttons">
        <button class="main" aria-disabled=${cannot ? "true" : null} onClick=${start}>${tr("Explain these rows")}</button>
        <button class="plain" aria-expanded=${isOpen} onClick=${() => open(!isOpen)}>${tr("What may change")}</button>
      </p>
    </section>
    ${isOpen && html`<${Features} state=${{ ...state, row: null }} />`}`;
}

/** What is wanted of rows with a prediction until a person says otherwise. */
function otherThan({ classes }, prediction) {
  const others = classes.filter((label) => String(label) !== prediction);
  return classes.length === 2 && others.length === 1 ? { outcome: others[0] } : null;
}

function Progress({ batch }) {
  const { phase, lines, total } = batch;
  const words = {
    running: tr("{done} of {total} rows are explained.", { done: lines.length, total }),
    done: counted(lines.length, "{n} row was explained.", "{n} rows were explained."),
    cancelled: tr("Stopped after {done} of {total} rows.", { done: lines.length, total }),
    interrupted: tr("The service was stopped after {done} of {total} rows. What was done is shown.", { done: lines.length, total }),
    failed: tr("Something went wrong after {done} of {total} rows. What was done is shown.", { done: lines.length, total }),
    problem: "",
  }[phase];
  return html`
    <div class="progress">
      <progress aria-label=${tr("Progress")} max=${Math.max(total, 1)} value=${lines.length}></progress>
      <p role="status">${words}</p>
      ${phase === "running" && html`<button class="plain" disabled=${!batch.id} onClick=${() => (cancelBatch(), focusTitle())}>${tr("Stop")}</button>`}
    </div>`;
}
