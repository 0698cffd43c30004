/* Presets: what is wanted and what may change, without the case. As a file, in this browser, or as a link. */

import { say } from "../actions.js";
import { addressOf } from "../address.js";
import { tr } from "../phrases.js";
import { tell } from "../store.js";
import { html, useRef, useState } from "../vendor/preact-htm.js";
import { NOTHING, presetOf } from "../wishes.js";
import { copied, saveFile } from "./files.js";

export function Presets({ state }) {
  const { name, wish } = state;
  const file = useRef(null);
  const [error, tellError] = useState(null);
  const load = async (event) => {
    const preset = presetOf(await event.target.files[0].text());
    event.target.value = "";
    tellError(preset ? null : tr("This file is no preset. A preset is JSON with a target and constraints."));
    if (preset) (say(preset, preset.target !== null), tell(tr("The preset was taken over.")));
  };
  const save = () => saveFile(`${name}-preset.json`, JSON.stringify(wish, null, 2), "application/json");
  const share = async () => tell((await copied(addressOf(name, wish))) ? tr("The link was copied. It has the wishes, not the case.") : tr("The link could not be copied."));
  return html`
    <section class="card presets" aria-labelledby="presets-title">
      <h2 id="presets-title">${tr("Use these wishes again")}</h2>
      <p class="quiet">${tr("A preset has what is wanted and what may change, and nothing of the case.")}</p>
      <div class="buttons">
        <button class="plain" onClick=${save}>${tr("Save as a file")}</button>
        <button class="plain" onClick=${() => file.current.click()}>${tr("Open a file")}</button>
        <button class="plain" onClick=${share}>${tr("Copy a link")}</button>
        <button class="plain" onClick=${() => say({ ...NOTHING, target: wish.target })}>${tr("Start anew")}</button>
        <input type="file" hidden accept=".json,application/json" ref=${file} onChange=${load} />
      </div>
      ${error && html`<p class="error" role="alert">${error}</p>`}
    </section>`;
}
