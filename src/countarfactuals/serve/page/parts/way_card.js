/* A way on a card: what changes, what comes out, how real it is. */

import { counted, percent, tr } from "../phrases.js";
import { isNumeric, outcomeText, scoreOf } from "../targets.js";
import { changeText } from "../values.js";
import { html } from "../vendor/preact-htm.js";
import { Meter } from "./case.js";
import { Name } from "./name.js";

const RARE = 0.05, MOST = 6;

export function WayCard({ way, state, isChosen, isPinned, onChoose, onPin, onAway }) {
  const own = way.changes.filter(({ consequence }) => !consequence);
  return html`
    <article class=${`card way ${isChosen ? "chosen" : ""}`} aria-label=${way.summary}>
      <div class="way-head">
        <p class="way-count">${counted(way.n_changed, "{n} change", "{n} changes")}${isPinned && html` · <strong>${tr("pinned")}</strong>`}</p>
        <div class="way-tools">
          <button class="plain small" aria-pressed=${isPinned} onClick=${onPin}>${isPinned ? tr("Unpin") : tr("Pin")}</button>
          <button class="plain small" onClick=${onAway}>${tr("Not this one")}</button>
        </div>
      </div>
      <dl class="changes">
        ${own.slice(0, MOST).map((one) => html`<${Change} about=${state.about} one=${one} />`)}
      </dl>
      ${own.length > MOST && html`<p class="quiet">${counted(own.length - MOST, "and {n} more", "and {n} more")}</p>`}
      <${Merits} way=${way} state=${state} />
      ${way.odd.map((sentence) => html`<p class="odd"><span aria-hidden="true">!</span> ${sentence}</p>`)}
      ${way.is_real_row && html`<p class="quiet">${tr("Such a row is in the data.")}</p>`}
      <details><summary>${tr("As a sentence")}</summary><p>${way.sentence}</p></details>
      <button class="plain" aria-pressed=${isChosen} onClick=${onChoose}>${isChosen ? tr("Chosen") : tr("Look closer")}</button>
    </article>`;
}

function Change({ about, one }) {
  return html`<div><dt><${Name} of=${one.label} /></dt><dd><del>${changeText(about, one, one.from, one.from_text)}</del> <span aria-hidden="true">→</span><span class="unseen"> ${tr("becomes")} </span> <ins>${changeText(about, one, one.to, one.to_text)}</ins></dd></div>`;
}

/** What comes out, and how typical it is, in words and as bars. */
function Merits({ way, state }) {
  const { about, wish, now } = state;
  const before = scoreOf(about, wish.target, now.scores);
  return html`
    <div class="merits">
      ${!isNumeric(about) && before && typeof way.score === "number"
        ? html`<${Meter} label=${tr("Probability of {label}", { label: before.label })} value=${way.score} before=${before.value} text=${percent(way.score)} />`
        : html`<p class="meter"><span class="meter-label">${tr("Prediction")}</span><span class="meter-text">${outcomeText(about, way.prediction)}</span></p>`}
      <${Meter} label=${way.typicality < RARE ? tr("Unusual: more typical than only") : tr("More typical than")} value=${way.typicality} isRare=${way.typicality < RARE}
        text=${typicalityText(about, way.typicality)} />
    </div>`;
}

/** How many real rows are less typical, in words. */
export function typicalityText(about, typicality) {
  return tr("{share} of the real {rows}", { share: percent(typicality), rows: about.rows_are[1] });
}
