/* The frame around all steps: the head, where one is, and what a screen reader is told. */

import { go, takeExplainer, takeLanguage, unlock } from "./actions.js";
import { STEPS } from "./address.js";
import { Batch } from "./audit/batch.js";
import { Busy, ProblemNote } from "./parts/notes.js";
import { tr } from "./phrases.js";
import { TakeAway } from "./steps/take_away.js";
import { Wanted } from "./steps/wanted.js";
import { Ways } from "./steps/ways.js";
import { WhatIf } from "./steps/what_if.js";
import { Whose } from "./steps/whose.js";
import { update, useStore } from "./store.js";
import { html, useEffect, useRef, useState } from "./vendor/preact-htm.js";

const VIEWS = { whose: Whose, wanted: Wanted, ways: Ways, "what-if": WhatIf, "take-away": TakeAway };

const titles = () => ({
  whose: tr("Whose?"),
  wanted: tr("What may change?"),
  ways: tr("Ways there"),
  "what-if": tr("And if …?"),
  "take-away": tr("Take away"),
});

export function App() {
  const state = useStore();
  if (state.phase === "starting") return html`<main class="middle"><${Busy} text=${tr("Loading …")} /></main>`;
  if (state.phase === "token") return html`<${Unlock} problem=${state.problem} />`;
  if (state.phase === "broken") return html`<main class="middle"><h1>countarfactuals</h1><${ProblemNote} problem=${state.problem} /></main>`;
  return html`
    <a class="skip" href="#main" onClick=${skip}>${tr("Skip to the content")}</a>
    <${Head} state=${state} />
    ${state.mode === "one" && html`<${Steps} state=${state} />`}
    <main id="main" tabindex="-1" class=${state.mode === "one" ? state.step : "batch"}>
      ${state.problem && html`<${ProblemNote} problem=${state.problem} onClose=${() => update({ problem: null })} />`}
      <${View} state=${state} />
    </main>
    ${state.mode === "one" && html`<${Foot} state=${state} />`}
    <p class="unseen" role="status" aria-live="polite">${state.said}</p>
  `;
}

function skip(event) {
  event.preventDefault();
  document.getElementById("main").focus();
}

/** One step, whose heading gets the focus when one comes to it. */
function View({ state }) {
  const here = state.mode === "one" ? state.step : "batch";
  const before = useRef(here);
  useEffect(() => {
    document.title = `${here === "batch" ? tr("Many cases") : titles()[here]} – countarfactuals`;
    if (before.current === here) return;
    before.current = here;
    window.scrollTo(0, 0);
    document.querySelector("main h1")?.focus({ preventScroll: true });
  }, [here, state.language]);
  const Shown = here === "batch" ? Batch : VIEWS[here];
  return html`<${Shown} key=${here + state.name} state=${state} />`;
}

function Head({ state }) {
  const { explainers, name, languages, language, mode } = state;
  return html`
    <header class="head">
      <span class="brand"><img src="page/icon.svg" alt="" width="28" height="28" /> <span>countarfactuals</span></span>
      <nav class="modes" aria-label=${tr("One case or many")}>
        <button aria-current=${mode === "one" ? "page" : null} onClick=${() => update({ mode: "one" })}>${tr("One case")}</button>
        <button aria-current=${mode === "many" ? "page" : null} onClick=${() => update({ mode: "many" })}>${tr("Many cases")}</button>
      </nav>
      <div class="settings">
        ${explainers.length > 1 && html`
          <label><span class="unseen">${tr("Model")}</span>
            <select value=${name} onChange=${(event) => takeExplainer(event.target.value)}>
              ${explainers.map((one) => html`<option value=${one.name}>${one.name}</option>`)}
            </select></label>`}
        <label><span class="unseen">${tr("Language")}</span>
          <select value=${language} onChange=${(event) => takeLanguage(event.target.value)}>
            ${languages.map((code) => html`<option value=${code} lang=${code}>${ownName(code)}</option>`)}
          </select></label>
        <${Theme} />
      </div>
    </header>`;
}

const ownName = (code) => new Intl.DisplayNames(code, { type: "language" }).of(code);

const THEME = "countarfactuals.theme";

/** Light, dark, or as the system has it. */
function Theme() {
  const [theme, take] = useState(localStorage.getItem(THEME) ?? "auto");
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem(THEME, theme);
  }, [theme]);
  return html`
    <label><span class="unseen">${tr("Light or dark")}</span>
      <select value=${theme} onChange=${(event) => take(event.target.value)}>
        <option value="auto">${tr("Automatic")}</option>
        <option value="light">${tr("Light")}</option>
        <option value="dark">${tr("Dark")}</option>
      </select></label>`;
}

function Steps({ state }) {
  const names = titles();
  return html`
    <nav class="steps" aria-label=${tr("Steps")}>
      <ol>
        ${STEPS.map((step, i) => html`
          <li><button aria-current=${step === state.step ? "step" : null} disabled=${!state.row && step !== "whose"}
            onClick=${() => go(step)}><span class="count">${i + 1}</span> <span class="name">${names[step]}</span></button></li>`)}
      </ol>
    </nav>`;
}

/** The way on and back; on a phone it stays at the lower edge. */
function Foot({ state }) {
  const at = STEPS.indexOf(state.step);
  const names = titles();
  if (!state.row) return null;
  return html`
    <nav class=${`foot ${state.step}`} aria-label=${tr("Back and on")}>
      ${at > 0 ? html`<button class="plain" onClick=${() => go(STEPS[at - 1])}>← <span class="name">${names[STEPS[at - 1]]}</span></button>` : html`<span></span>`}
      ${at + 1 < STEPS.length ? html`<button class="main" onClick=${() => go(STEPS[at + 1])}>${names[STEPS[at + 1]]}\u00a0→</button>`
        : html`<button class="main" onClick=${() => go("whose")}>${tr("Another case")}</button>`}
    </nav>`;
}

/** Asks for the token that the server wants. */
function Unlock({ problem }) {
  const [token, write] = useState("");
  const submit = (event) => {
    event.preventDefault();
    if (token.trim()) unlock(token.trim());
  };
  return html`
    <main class="middle">
      <h1>${tr("This service asks for a token")}</h1>
      <p class="quiet">${tr("Whoever runs it can tell you. It is kept for this tab only.")}</p>
      ${problem && sessionStorage.getItem("countarfactuals.token") && html`<${ProblemNote} problem=${problem} />`}
      <form onSubmit=${submit}>
        <label class="field"><span>${tr("Token")}</span>
          <input type="password" autocomplete="off" value=${token} onInput=${(event) => write(event.target.value)} /></label>
        <button class="main">${tr("Open")}</button>
      </form>
    </main>`;
}
