/* All ways at once: how far each is from the row, and how typical. A dot is chosen by a click, or by the arrow keys in
   the order from close to far. */

import { percent, tr } from "../phrases.js";
import { html, useRef } from "../vendor/preact-htm.js";
import { keyOf } from "../ways.js";

const WIDTH = 520, HEIGHT = 300, LEFT = 46, RIGHT = 16, TOP = 18, BOTTOM = 44, NEAR = 22;

export function TradeOff({ state, cards, way, onChoose }) {
  const { away, answer } = state;
  const frame = useRef(null);
  const ways = answer.ways.filter((one) => !away.includes(keyOf(one))).sort((a, b) => a.distance - b.distance);
  const farthest = Math.max(...ways.map(({ distance }) => distance), 1e-9) * 1.05;
  const x = ({ distance }) => LEFT + (distance / farthest) * (WIDTH - LEFT - RIGHT);
  const y = ({ typicality }) => HEIGHT - BOTTOM - typicality * (HEIGHT - TOP - BOTTOM);
  const at = ways.indexOf(way);
  const rank = (one) => (one === way ? 2 : cards.includes(one) ? 1 : 0); // what is drawn last lies above
  const move = (event) => {
    const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, Home: -ways.length, End: ways.length };
    if (!(event.key in steps)) return;
    event.preventDefault();
    onChoose(ways[Math.min(Math.max(at + steps[event.key], 0), ways.length - 1)]);
  };
  const click = (event) => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(frame.current.getScreenCTM().inverse());
    const far = (one) => Math.hypot(x(one) - point.x, y(one) - point.y);
    const nearest = ways.reduce((best, one) => (far(one) < far(best) ? one : best), ways[0]);
    if (nearest && far(nearest) <= NEAR) onChoose(nearest);
  };
  return html`
    <figure class="card trade-off">
      <figcaption><h2 id="trade-off-title">${tr("Near or typical")}</h2>
        <p class="quiet">${tr("Each dot is a way. To the left it is closer to the case, to the top more typical of real {rows}.", { rows: state.about.rows_are[1] })}</p></figcaption>
      <svg ref=${frame} viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="listbox" tabindex="0" aria-labelledby="trade-off-title" aria-activedescendant=${at >= 0 ? `dot-${at}` : null}
        onKeyDown=${move} onClick=${click}>
        <g aria-hidden="true" class="axes">
          ${[0, 0.25, 0.5, 0.75, 1].map((share) => html`
            <line x1=${LEFT} x2=${WIDTH - RIGHT} y1=${y({ typicality: share })} y2=${y({ typicality: share })} />
            <text x=${LEFT - 8} y=${y({ typicality: share }) + 4} text-anchor="end">${percent(share)}</text>`)}
          <text x=${LEFT} y=${HEIGHT - 12}>← ${tr("closer")}</text>
          <text x=${WIDTH - RIGHT} y=${HEIGHT - 12} text-anchor="end">${tr("farther")} →</text>
        </g>
        ${ways.map((one, i) => [one, i]).sort(([one], [other]) => rank(one) - rank(other)).map(([one, i]) => html`
          <g key=${keyOf(one)} role="option" id=${`dot-${i}`} aria-selected=${one === way} aria-label=${tr("{summary}; more typical than {share}", { summary: one.summary, share: percent(one.typicality) })}
            class=${`dot ${one === way ? "chosen" : ""} ${cards.includes(one) ? "carded" : ""}`}>
            ${one === way && html`<circle class="ring" cx=${x(one)} cy=${y(one)} r="11" />`}
            <circle cx=${x(one)} cy=${y(one)} r=${cards.includes(one) ? 6.5 : 4.5} />
          </g>`)}
      </svg>
      <p class="legend quiet"><span class="key carded" aria-hidden="true"></span> ${tr("on a card")} <span class="key" aria-hidden="true"></span> ${tr("further ways")}</p>
    </figure>`;
}
