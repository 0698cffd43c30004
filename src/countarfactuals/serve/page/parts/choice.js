/* One of a few: radio buttons that look like one bar. Arrow keys choose, as the browser has it. */

import { html } from "../vendor/preact-htm.js";

/** `options` are pairs of a value and its text. */
export function Choice({ name, label, options, value, onChange, isHidden = false }) {
  return html`
    <fieldset class="choice">
      <legend class=${isHidden ? "unseen" : null}>${label}</legend>
      <div class="bar">
        ${options.map(([one, text]) => html`
          <label><input type="radio" name=${name} checked=${one === value} onChange=${() => onChange(one)} /><span>${text}</span></label>`)}
      </div>
    </fieldset>`;
}
