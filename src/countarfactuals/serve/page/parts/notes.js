/* Notes: something goes on, something went wrong, something is to be known. */

import { tr } from "../phrases.js";
import { html } from "../vendor/preact-htm.js";

/** Something goes on; it can be stopped where that is possible. */
export function Busy({ text, onStop }) {
  return html`
    <div class="busy"><span class="turning" aria-hidden="true"></span> <span>${text}</span>
      ${onStop && html`<button class="plain" onClick=${onStop}>${tr("Stop")}</button>`}</div>`;
}

/** Whether the same may work later: the service was busy or away. */
const mayPass = ({ status }) => status === 0 || status === 408 || status === 429 || status >= 500;

/** What went wrong, in the service's words, and what to do. */
export function ProblemNote({ problem, onClose, onAgain }) {
  const text = problem.title === "unreachable" ? tr("The service can not be reached. Is it still running?") : problem.detail;
  return html`
    <div class="note bad" role="alert">
      <p>${text || tr("Something went wrong.")}</p>
      ${problem.hint && html`<p class="quiet">${problem.hint}</p>`}
      <p class="buttons">
        ${onAgain && mayPass(problem) && html`<button class="plain" onClick=${() => (onAgain(), focusTitle())}>${tr("Try again")}</button>`}
        ${onClose && html`<button class="plain" onClick=${() => (onClose(), focusTitle())}>${tr("Close")}</button>`}
      </p>
    </div>`;
}

/** Where the focus goes when what had it is gone. */
export const focusTitle = () => document.querySelector("main h1")?.focus({ preventScroll: true });

/** A heading of a step, which gets the focus. */
export function Title({ children, lead }) {
  return html`<div class="title"><h1 tabindex="-1">${children}</h1>${lead && html`<p class="lead">${lead}</p>`}</div>`;
}
