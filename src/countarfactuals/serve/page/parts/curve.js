/* What the model says while one cell changes and all others stay; below it where real rows are. */

import * as api from "../api.js";
import { number, percent, tr } from "../phrases.js";
import { isNumeric, outcomeText } from "../targets.js";
import { cellText, fromScale, hasScale, onScale } from "../values.js";
import { html, useEffect, useRef, useState } from "../vendor/preact-htm.js";

const WIDTH = 520, HEIGHT = 240, LEFT = 56, RIGHT = 14, TOP = 14, BOTTOM = 74, FOOT = 34, PAUSE = 80;

export function Curve({ state, cells, column, onTake }) {
  const got = useCurve(state, cells, column);
  const id = "curve-title";
  return html`
    <figure class="card curve" aria-labelledby=${id}>
      <figcaption><h2 id=${id}>${tr("If only {name} changed", { name: column.label })}</h2>
        <p class="quiet">${tr("The line is what the model says; the bars below are where real {rows} are.", { rows: state.about.rows_are[1] })}</p></figcaption>
      ${got && got.column === column.name ? (hasScale(column) ? html`<${Line} ...${{ state, cells, column, got, onTake }} />` : html`<${Bars} ...${{ state, cells, column, got, onTake }} />`)
        : html`<p class="quiet">${tr("Loading …")}</p>`}
    </figure>`;
}

function useCurve({ name, wish, language }, cells, column) {
  const [got, take] = useState(null);
  const { [column.name]: _, ...others } = cells;
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      try {
        take(await api.curve(name, { row: cells, column: column.name, target: wish.target }, abort.signal));
      } catch {
        // the note of the evaluation tells what is wrong; an older curve is better than none
      }
    }, PAUSE);
    return () => (clearTimeout(timer), abort.abort());
  }, [name, column.name, JSON.stringify(others), JSON.stringify(wish.target)]);
  return got;
}

const scoreText = (about, value) => (isNumeric(about) ? outcomeText(about, value) : about.scores.some(({ kind }) => kind === "probability") ? percent(value) : number(value));

function bounds(about, got) {
  if (!isNumeric(about) && about.scores.some(({ kind }) => kind === "probability")) return [0, 1];
  const all = [...got.scores, ...(got.threshold === null ? [] : [got.threshold])];
  const low = Math.min(...all), high = Math.max(...all), spare = (high - low || Math.abs(high) || 1) * 0.08;
  return [low - spare, high + spare];
}

function Line({ state, cells, column, got, onTake }) {
  const { about } = state;
  const frame = useRef(null);
  const values = got.values.map((value) => onScale(column, value));
  const own = onScale(column, cells[column.name]);
  const ends = [...values, ...(own === null ? [] : [own])];
  const low = Math.min(...ends), high = Math.max(...ends);
  const [bottom, top] = bounds(about, got);
  const x = (value) => LEFT + ((value - low) / (high - low || 1)) * (WIDTH - LEFT - RIGHT);
  const y = (score) => TOP + (1 - (score - bottom) / (top - bottom)) * (HEIGHT - TOP - BOTTOM);
  const points = values.map((value, i) => `${x(value).toFixed(1)},${y(got.scores[i]).toFixed(1)}`).join(" ");
  const click = (event) => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(frame.current.getScreenCTM().inverse());
    const value = low + ((point.x - LEFT) / (WIDTH - LEFT - RIGHT)) * (high - low);
    onTake(fromScale(column, Math.min(Math.max(value, low), high)));
  };
  const said = tr("From {low} to {high} the curve goes from {first} to {last}.", {
    low: cellText(column, got.values[0]), high: cellText(column, got.values.at(-1)), first: scoreText(about, got.scores[0]), last: scoreText(about, got.scores.at(-1)) });
  return html`
    <svg ref=${frame} viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label=${said} onClick=${click} class="clickable">
      <${Scale} about=${about} bottom=${bottom} top=${top} y=${y} />
      ${got.threshold !== null && got.threshold !== undefined && html`<g class="threshold"><line x1=${LEFT} x2=${WIDTH - RIGHT} y1=${y(got.threshold)} y2=${y(got.threshold)} />
        <text x=${WIDTH - RIGHT} y=${y(got.threshold) - 5} text-anchor="end">${tr("wanted from here")}</text></g>`}
      <${Crowd} column=${column} x=${x} low=${low} high=${high} />
      <polyline class="line" points=${points} />
      ${own !== null && html`<line class="own-line" x1=${x(own)} x2=${x(own)} y1=${TOP} y2=${HEIGHT - BOTTOM + FOOT + 6} />`}
      <text class="tick" x=${LEFT} y=${HEIGHT - 10}>${cellText(column, fromScale(column, low))}</text>
      <text class="tick" x=${WIDTH - RIGHT} y=${HEIGHT - 10} text-anchor="end">${cellText(column, fromScale(column, high))}</text>
    </svg>`;
}

function Scale({ about, bottom, top, y }) {
  return html`<g class="axes">${[0, 0.5, 1].map((part) => {
    const score = bottom + part * (top - bottom);
    return html`<line x1=${LEFT} x2=${WIDTH - RIGHT} y1=${y(score)} y2=${y(score)} /><text x=${LEFT - 8} y=${y(score) + 4} text-anchor="end">${scoreText(about, score)}</text>`;
  })}</g>`;
}

/** Where real rows are, as bars below the curve. */
function Crowd({ column, x, low, high }) {
  const edges = (column.edges ?? []).map((edge) => onScale(column, edge));
  const counts = (column.counts ?? []).map((count) => count ?? 0);
  const most = Math.max(...counts, 1);
  const base = HEIGHT - BOTTOM + FOOT + 6;
  return html`<g class="crowd">${counts.map((count, i) => {
    const from = Math.max(edges[i], low), to = Math.min(edges[i + 1], high);
    const tall = (count / most) * FOOT;
    return to > from && count > 0 && html`<rect x=${x(from)} width=${Math.max(x(to) - x(from) - 0.8, 0.6)} y=${base - tall} height=${tall} />`;
  })}</g>`;
}

/** Levels: what the model says of each, as a list of buttons with bars. */
function Bars({ state, cells, column, got, onTake }) {
  const { about } = state;
  const [, top] = bounds(about, got);
  const bottom = Math.min(0, ...got.scores); // a bar that begins elsewhere exaggerates
  const share = (score) => Math.max((score - bottom) / (top - bottom), 0);
  const crowd = new Map((column.levels ?? []).map(({ value, share: part }) => [value, part]));
  return html`
    <ul class="level-bars">
      ${got.values.map((value, i) => html`
        <li><button aria-pressed=${value === cells[column.name]} onClick=${() => onTake(value)}>
          <span class="level-name">${cellText(column, value)}</span>
          <svg aria-hidden="true" width="100%" height="8"><rect class="all" width="100%" height="8" rx="4" /><rect class="part" width=${`${share(got.scores[i]) * 100}%`} height="8" rx="4" /></svg>
          <span class="level-score">${scoreText(about, got.scores[i])}</span>
          <span class="quiet level-share">${crowd.get(value) === null || crowd.get(value) === undefined ? "" : tr("{share} of real {rows}", { share: percent(crowd.get(value)), rows: about.rows_are[1] })}</span>
        </button></li>`)}
    </ul>`;
}
