/* Step 4: and if …? Any cell can be written over; what comes out, and how real it is, follow at once. */

import * as api from "../api.js";
import { Case, Meter } from "../parts/case.js";
import { CellInput } from "../parts/cell_input.js";
import { Curve } from "../parts/curve.js";
import { Name } from "../parts/name.js";
import { ProblemNote, Title } from "../parts/notes.js";
import { typicalityText } from "../parts/way_card.js";
import { counted, percent, tr } from "../phrases.js";
import { tell, update } from "../store.js";
import { isNumeric, outcomeText, scoreOf } from "../targets.js";
import { cellText } from "../values.js";
import { html, useEffect, useState } from "../vendor/preact-htm.js";
import { keyOf, shown } from "../ways.js";

const PAUSE = 20, SILENCE = 700, RARE = 0.05, MANY = 12;

export function WhatIf({ state }) {
  const { about, row, edited } = state;
  const cells = edited ?? row;
  const [looked, look] = useState(about.columns[0].name);
  const [got, problem] = useEvaluation(state, cells);
  const write = (name, value) => update({ edited: { ...cells, [name]: value } });
  return html`
    <${Title} lead=${tr("Write over any value and see at once what would come out.")}>${tr("And if …?")}<//>
    <${Case} state=${state} />
    ${problem && html`<${ProblemNote} problem=${problem} />`}
    <div class="trying">
      <${Cells} ...${{ state, cells, got, looked, look, write }} />
      <div class="outcome">
        <${Outcome} state=${state} got=${got} />
        <${Curve} state=${state} cells=${cells} column=${about.columns.find(({ name }) => name === looked)} onTake=${(value) => write(looked, value)} />
      </div>
    </div>`;
}

/** The evaluation of the cells as they are; the one before stays until the next is there. */
function useEvaluation({ name, row, wish, language }, cells) {
  const [got, take] = useState(null);
  const [problem, tellProblem] = useState(null);
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      try {
        take(await api.evaluate(name, { row: cells, x: row, ...wish, language }, abort.signal));
        tellProblem(null);
      } catch (error) {
        if (error.name !== "AbortError") tellProblem(error);
      }
    }, PAUSE);
    return () => (clearTimeout(timer), abort.abort());
  }, [name, JSON.stringify(cells), JSON.stringify(wish), language]);
  return [got, problem];
}

function Cells({ state, cells, got, looked, look, write }) {
  const { about, row } = state;
  const [sought, seek] = useState("");
  const odd = new Set(got?.odd.map(({ column }) => column));
  const columns = about.columns.filter(({ label }) => String(label).toLowerCase().includes(sought.toLowerCase()));
  return html`
    <section class="card cells" aria-labelledby="cells-title">
      <div class="beside"><h2 id="cells-title">${tr("The values")}</h2><${Start} state=${state} /></div>
      ${about.columns.length > MANY && html`<label class="field"><span>${tr("Find a feature")}</span><input type="search" value=${sought} onInput=${(event) => seek(event.target.value)} /></label>`}
      <ul>
        ${columns.map((column) => {
          const { name, label } = column;
          const isChanged = cells[name] !== row[name];
          return html`
            <li key=${name} class=${`cell ${isChanged ? "changed" : ""} ${name === looked ? "looked" : ""} ${odd.has(name) ? "odd-cell" : ""}`}>
              <label for=${`cell-${name}`}><${Name} of=${label} /></label>
              <span class="cell-input"><${CellInput} id=${`cell-${name}`} column=${column} value=${cells[name]} describedBy=${`was-${name}`} onChange=${(value) => write(name, value)} onFocus=${() => look(name)} /></span>
              <span class="was quiet" id=${`was-${name}`}>${isChanged ? tr("was {value}", { value: cellText(column, row[name]) }) : ""}</span>
              <button class="plain small" onClick=${() => (look(name), showCurve())} aria-pressed=${name === looked} title=${tr("Curve of {name}", { name: label })}><span aria-hidden="true">∿</span><span class="unseen">${tr("Curve of {name}", { name: label })}</span></button>
            </li>`;
        })}
      </ul>
    </section>`;
}

/** On a phone the curve stands below all cells. */
const showCurve = () => document.querySelector(".curve").scrollIntoView({ block: "nearest" });

/** Where one starts from: the case itself, or a way. */
function Start({ state }) {
  const { answer, chosen, edited } = state;
  const onCards = answer.ways.length ? shown({ ...state, ways: answer.ways }) : [];
  const ways = [...new Set([...onCards, ...answer.ways.filter((one) => keyOf(one) === chosen)])];
  const at = edited === null ? "own" : ways.findIndex((one) => keyOf(one) === JSON.stringify(edited));
  return html`
    <label class="field inline"><span>${tr("Begin with")}</span>
      <select value=${String(at)} onChange=${(event) => update({ edited: event.target.value === "own" ? null : ways[Number(event.target.value)].row })}>
        ${at === -1 && html`<option value="-1">${tr("as written")}</option>`}
        <option value="own">${tr("the case itself")}</option>
        ${ways.map((one, i) => html`<option value=${String(i)}>${one.summary}</option>`)}
      </select></label>`;
}

function Outcome({ state, got }) {
  const { about, wish, now } = state;
  useSpoken(about, got);
  if (!got) return html`<section class="card"><p class="quiet">${tr("Loading …")}</p></section>`;
  const before = scoreOf(about, wish.target, now.scores);
  const warnings = [...got.odd.map(({ sentence }) => sentence), ...got.violated, ...got.broken];
  return html`
    <section class=${`card result ${got.reached ? "reached" : ""}`} aria-labelledby="result-title">
      <h2 id="result-title">${tr("What would come out")}</h2>
      <p class="big">${outcomeText(about, got.prediction)} <span class=${got.reached ? "tag good" : "tag"}>${got.reached ? tr("as wanted") : tr("not yet as wanted")}</span></p>
      <div class="merits">
      ${!isNumeric(about) && before && typeof got.score === "number" && html`<${Meter} label=${tr("Probability of {label}", { label: before.label })} value=${got.score} before=${before.value} text=${percent(got.score)} />`}
      <${Meter} label=${got.typicality < RARE ? tr("Unusual: more typical than only") : tr("More typical than")} value=${got.typicality} isRare=${got.typicality < RARE} text=${typicalityText(about, got.typicality)} />
      </div>
      <p class="quiet">${got.n_changed ? counted(got.n_changed, "{n} change", "{n} changes") : tr("Nothing is changed yet.")}</p>
      ${warnings.map((sentence) => html`<p class="odd"><span aria-hidden="true">!</span> ${sentence}</p>`)}
    </section>`;
}

/** Tells a screen reader what came out, once a person has stopped writing. */
function useSpoken(about, got) {
  useEffect(() => {
    if (!got) return;
    const sentence = tr("{label}, {reached}; more typical than {share}", {
      label: outcomeText(about, got.prediction), reached: got.reached ? tr("as wanted") : tr("not yet as wanted"), share: percent(got.typicality) });
    const timer = setTimeout(() => tell(sentence), SILENCE);
    return () => clearTimeout(timer);
  }, [got?.prediction, got?.reached, got && percent(got.typicality)]);
}
