/* The table of all rows, of which only those in sight are drawn.

   1. The service is asked for pages of rows that match the search and the filter, in the order of a column.
   2. A tall empty space stands for all rows; those in sight are placed in it. So 50,000 rows scroll as ten do.
   3. Rows stay until those of the next search are there, so that nothing blinks while one writes.
   4. Few pages are asked for at a time, those in sight first: who scrolls past many does not wait for them.
   5. The keyboard moves a row that is marked (arrows, Page up and down, Home, End), and Enter takes it. Of all heads one
      is reached by Tab, the others from there by arrows. */

import * as api from "../api.js";
import { counted, percent, tr } from "../phrases.js";
import { isNumeric, outcomeText } from "../targets.js";
import { tell } from "../store.js";
import { cellText, hasScale } from "../values.js";
import { html, useEffect, useMemo, useRef, useState } from "../vendor/preact-htm.js";
import { Name, partsOf } from "./name.js";
import { Busy, ProblemNote } from "./notes.js";

const HEIGHT = 44, PAGE = 100, SPARE = 6, WAIT = 180, AT_ONCE = 2;
const KEY = 5.5, NARROWEST = 6.5, WIDEST = 17, LETTER = 0.6, EDGES = 2.2; // of columns, in rem

export function RowTable({ state, onTake, onChange }) {
  const { about, name } = state;
  const [asked, ask] = useState({ search: "", prediction: "", sort: "", order: "asc" });
  const found = useRows(name, asked);
  const sortBy = (column, label) => {
    const order = asked.sort === column && asked.order === "asc" ? "desc" : "asc";
    ask({ ...asked, sort: column, order });
    tell(order === "asc" ? tr("Sorted by {name}, smallest first.", { name: label }) : tr("Sorted by {name}, largest first.", { name: label }));
  };
  return html`
    <div class="finder">
      <label class="field grow"><span>${tr("Search")}</span>
        <input type="search" value=${asked.search} placeholder=${tr("Any value, such as a name or a number")} onInput=${(event) => ask({ ...asked, search: event.target.value })} /></label>
      ${!isNumeric(about) && html`
        <label class="field"><span>${tr("Prediction")}</span>
          <select value=${asked.prediction} onChange=${(event) => ask({ ...asked, prediction: event.target.value })}>
            <option value="">${tr("all")}</option>
            ${about.classes.map((label) => html`<option value=${String(label)}>${String(label)}</option>`)}
          </select></label>`}
      <p class="quiet matching" role="status">${countText(found)}</p>
    </div>
    ${found.problem && html`<${ProblemNote} problem=${found.problem} />`}
    ${found.matching === 0 ? html`<p class="empty">${tr("No row matches. Search for less, or choose another prediction.")}</p>`
      : html`<${Grid} about=${about} found=${found} asked=${asked} onSort=${sortBy} onTake=${onTake} onChange=${onChange} />`}
  `;
}

function countText({ total, matching }) {
  if (total === null) return tr("Loading …");
  return matching < total ? tr("{matching} of {total} rows", { matching, total }) : counted(total, "{n} row", "{n} rows");
}

/** Pages of rows as they are needed: {total, matching, run, at(i), need(from, to), problem}; `run` is the search that
    they are from. */
function useRows(name, asked) {
  const [{ run: shown, pages }, put] = useState({ run: null, pages: {} });
  const [counts, count] = useState({ total: null, matching: null, problem: null });
  const current = useRef({});
  const load = async (page, run) => {
    run.asked.add(page);
    run.waiting += 1;
    try {
      const got = await api.rows(name, { ...asked, offset: page * PAGE, limit: PAGE }, run.abort.signal);
      run.waiting -= 1;
      if (current.current !== run) return;
      count({ total: got.total, matching: got.matching, problem: null });
      put((before) => ({ run, pages: { ...(before.run === run ? before.pages : {}), [page]: got.rows } }));
      loadWanted(run);
    } catch (problem) {
      run.waiting -= 1;
      run.asked.delete(page);
      if (problem.name !== "AbortError") count((before) => ({ ...before, problem }));
    }
  };
  const loadWanted = (run) => {
    for (const page of run.wanted) if (!run.asked.has(page) && run.waiting < AT_ONCE) load(page, run);
  };
  useEffect(() => {
    const run = { asked: new Set(), wanted: [0], waiting: 0, abort: new AbortController() };
    current.current = run;
    const timer = setTimeout(() => loadWanted(run), asked.search ? WAIT : 0);
    return () => (clearTimeout(timer), run.abort.abort());
  }, [name, JSON.stringify(asked)]);
  return {
    ...counts,
    run: shown,
    at: (i) => pages[Math.floor(i / PAGE)]?.[i % PAGE],
    need: (from, to) => {
      if (current.current !== shown) return; // the rows of the next search are on their way
      shown.wanted = wantedPages(Math.floor(from / PAGE), Math.floor(to / PAGE), Math.floor((counts.matching - 1) / PAGE));
      loadWanted(shown);
    },
  };
}

/** The pages in sight, then those beside them, which one scrolls to next. */
function wantedPages(first, last, end) {
  const inSight = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  return [...inSight, last + 1, first - 1].filter((page) => page >= 0 && page <= end);
}

function Grid({ about, found, asked, onSort, onTake, onChange }) {
  const frame = useRef(null);
  const [view, look] = useState({ from: 0, to: 20 });
  const [marked, mark] = useState(0);
  const [stop, stopAt] = useState("prediction"); // the head that Tab reaches
  const n = found.matching ?? 0;
  const see = () => {
    const { scrollTop, clientHeight } = frame.current;
    const from = Math.max(Math.floor(scrollTop / HEIGHT) - SPARE, 0);
    const to = Math.min(Math.ceil((scrollTop + clientHeight) / HEIGHT) + SPARE, Math.max(n - 1, 0));
    if (from !== view.from || to !== view.to) look({ from, to });
    if (n) found.need(from, to);
  };
  useEffect(see, [n]);
  useEffect(() => {
    frame.current.scrollTop = 0;
    mark(0);
    see();
  }, [found.run]);
  const move = (event) => {
    const jump = Math.max(Math.floor(frame.current.clientHeight / HEIGHT) - 2, 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: jump, PageUp: -jump, Home: -n, End: n };
    if (event.target.tagName === "BUTTON") return moveAlong(frame.current, event);
    if (event.key in steps) {
      event.preventDefault();
      const at = Math.min(Math.max(marked + steps[event.key], 0), n - 1);
      mark(at);
      reveal(frame.current, at);
    } else if ((event.key === "Enter" || event.key === " ") && found.at(marked)) {
      event.preventDefault();
      onTake(found.at(marked));
    }
  };
  const columns = about.columns;
  const widths = useMemo(() => widthsOf(about), [about]);
  const inSight = Array.from({ length: Math.max(Math.min(view.to, n - 1) - view.from + 1, 0) }, (_, i) => view.from + i);
  return html`
    <p id="grid-help" class="quiet keys">${tr("Click a row to take it. With the keyboard: arrows, then Enter.")}</p>
    <div class="grid" role="grid" tabindex="0" ref=${frame} aria-label=${tr("Rows")} aria-describedby="grid-help" aria-rowcount=${n + 1}
      aria-colcount=${columns.length + 2} aria-activedescendant=${n ? `row-${marked}` : null} style=${widths} onScroll=${see} onKeyDown=${move}>
      <div role="rowgroup" class="grid-head">
        <div role="row" aria-rowindex="1" class="grid-row">
          <div role="columnheader" class="grid-key">${tr("Row")}</div>
          <${Sortable} name="prediction" label=${tr("Prediction")} ...${{ asked, onSort, stop, stopAt }} />
          ${columns.map((column) => html`<${Sortable} name=${column.name} label=${column.label} isNumber=${hasScale(column)} ...${{ asked, onSort, stop, stopAt }} />`)}
        </div>
      </div>
      <div role="rowgroup" class="grid-body" style=${{ height: `${Math.max(n, 1) * HEIGHT}px` }}>
        ${inSight.map((i) => html`<${Line} key=${i} i=${i} one=${found.at(i)} about=${about} isMarked=${i === marked} onTake=${onTake} />`)}
        ${found.total === null && html`<${Busy} text=${tr("Loading …")} />`}
      </div>
    </div>
    ${onChange && found.at(marked) && html`
      <p class="buttons"><button class="plain" onClick=${() => onChange(found.at(marked))}>${tr("Change row {key} before taking it", { key: found.at(marked).key })}</button></p>`}
  `;
}

/** From head to head. */
function moveAlong(frame, event) {
  const heads = [...frame.querySelectorAll(".grid-head button")];
  const at = heads.indexOf(event.target);
  const next = heads[{ ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: heads.length - 1 }[event.key]];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

function reveal(frame, at) {
  const head = frame.querySelector(".grid-head").offsetHeight;
  const top = at * HEIGHT, room = frame.clientHeight - head;
  if (top < frame.scrollTop) frame.scrollTop = top;
  if (top + HEIGHT > frame.scrollTop + room) frame.scrollTop = top + HEIGHT - room;
}

/** How wide the columns are, each for what it holds; what is wider still ends in an ellipsis. */
function widthsOf(about) {
  const ofPrediction = widthFor([tr("Prediction"), ...about.classes.map((label) => `${label}   `)]); // on a tag
  const widths = [KEY, ofPrediction, ...about.columns.map(widthOf)];
  return { "--columns": widths.map((width) => `minmax(${width}rem, 1fr)`).join(" "), "--width": `${widths.reduce((sum, width) => sum + width, 0)}rem` };
}

function widthOf(column) {
  const cells = hasScale(column) ? [cellText(column, column.low), cellText(column, column.high)] : (column.levels ?? []).map(({ label }) => String(label));
  return widthFor([...cells, ...partsOf(column.label)]);
}

function widthFor(texts) {
  const longest = Math.max(...texts.map(({ length }) => length));
  return Math.min(Math.max(longest * LETTER + EDGES, NARROWEST), WIDEST);
}

function Sortable({ name, label, asked, onSort, stop, stopAt, isNumber = false }) {
  const way = asked.sort !== name ? "none" : asked.order === "asc" ? "ascending" : "descending";
  return html`<div role="columnheader" aria-sort=${way} class=${isNumber ? "right" : null}>
    <button tabindex=${stop === name ? 0 : -1} onFocus=${() => stopAt(name)} onClick=${() => onSort(name, label)}><${Name} of=${label} /><span class="arrow" aria-hidden="true">${{ none: "", ascending: " ↑", descending: " ↓" }[way]}</span></button></div>`;
}

function Line({ i, one, about, isMarked, onTake }) {
  const place = { transform: `translateY(${i * HEIGHT}px)` };
  if (!one) return html`<div role="row" aria-rowindex=${i + 2} id=${`row-${i}`} class="grid-row waiting" style=${place}><div role="gridcell">…</div></div>`;
  return html`
    <div role="row" aria-rowindex=${i + 2} id=${`row-${i}`} aria-selected=${isMarked} class="grid-row" style=${place} onClick=${() => onTake(one)}>
      <div role="gridcell" class="grid-key">${String(one.key)}</div>
      <div role="gridcell"><span class="tag">${outcomeText(about, one.prediction)}</span></div>
      ${about.columns.map((column) => {
        const value = one.row[column.name], text = cellText(column, value);
        return html`<div role="gridcell" title=${text} class=${`${hasScale(column) ? "right" : ""} ${value === null ? "quiet" : ""}`}>${text}</div>`;
      })}
    </div>`;
}
