/* How a feature is spread among real rows, small: bars, the part that is allowed, and where the own value is. */

import { onScale } from "../values.js";
import { html } from "../vendor/preact-htm.js";

const WIDTH = 200;

/** The ends of what is drawn and slid: those of the data, and the own value where it lies outside. */
export function endsOf(column, own) {
  const edges = (column.edges ?? []).map((edge) => onScale(column, edge));
  const places = [edges[0], edges.at(-1), onScale(column, column.low), onScale(column, column.high), onScale(column, own)].filter((one) => Number.isFinite(one));
  const low = Math.min(...places), high = Math.max(...places);
  return low < high ? [low, high] : [low, low + 1];
}

export function Histogram({ column, own, said = {}, height = 32 }) {
  const [low, high] = endsOf(column, own);
  const at = (value) => ((value - low) / (high - low)) * WIDTH;
  const edges = (column.edges ?? []).map((edge) => onScale(column, edge));
  const counts = (column.counts ?? []).map((count) => count ?? 2);
  const most = Math.max(...counts, 1);
  const from = onScale(column, said.low ?? null) ?? -Infinity, to = onScale(column, said.high ?? null) ?? Infinity;
  const place = onScale(column, own ?? null);
  return html`
    <svg class="histogram" viewBox=${`0 0 ${WIDTH} ${height}`} preserveAspectRatio="none" aria-hidden="true">
      ${counts.map((count, i) => {
        const tall = count ? Math.max((count / most) * (height - 2), 1.5) : 0;
        const isOut = edges[i + 1] < from || edges[i] > to;
        return html`<rect class=${isOut ? "out" : "in"} x=${at(edges[i]) + 0.5} y=${height - tall} width=${Math.max(at(edges[i + 1]) - at(edges[i]) - 1, 0.5)} height=${tall} />`;
      })}
      ${place !== null && html`<rect class="own-mark" x=${Math.min(Math.max(at(place) - 1, 0), WIDTH - 2)} y="0" width="2" height=${height} />`}
    </svg>`;
}

/** The shares of levels as bars beside each other. */
export function Shares({ column, own, said = {}, height = 32 }) {
  const levels = column.levels ?? [];
  const most = Math.max(...levels.map(({ share }) => share ?? 0), 1e-9);
  const width = WIDTH / Math.max(levels.length, 1);
  return html`
    <svg class="histogram" viewBox=${`0 0 ${WIDTH} ${height}`} preserveAspectRatio="none" aria-hidden="true">
      ${levels.map(({ value, share }, i) => {
        const tall = Math.max(((share ?? 0) / most) * (height - 2), 1.5);
        const part = value === own ? "own-mark" : said.allowed && !said.allowed.includes(value) ? "out" : "in";
        return html`<rect class=${part} x=${i * width + 1} y=${height - tall} width=${Math.max(width - 2, 1)} height=${tall} />`;
      })}
    </svg>`;
}
