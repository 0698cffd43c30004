/* The case in a few words: what is predicted now, what is wanted. */

import { originText } from "../actions.js";
import { percent, tr } from "../phrases.js";
import { outcomeText, scoreOf, targetText } from "../targets.js";
import { html } from "../vendor/preact-htm.js";

export function Case({ state }) {
  const { about, now, wish, key } = state;
  const score = scoreOf(about, wish.target, now.scores);
  return html`
    <dl class="case">
      <div><dt>${tr("Case")}</dt><dd>${originText(key)}</dd></div>
      <div><dt>${about.outcome ? tr("{outcome} now", { outcome: about.outcome }) : tr("Prediction now")}</dt><dd><strong>${outcomeText(about, now.label)}</strong></dd></div>
      <div><dt>${tr("Wanted")}</dt><dd><strong>${targetText(about, wish.target)}</strong></dd></div>
      ${score && html`<div><dt>${tr("Probability of {label} now", { label: score.label })}</dt><dd>${percent(score.value)}</dd></div>`}
    </dl>`;
}

/** A share of one as a bar, with a mark where it was before. */
export function Meter({ label, value, before = null, isRare = false, text }) {
  const width = (share) => `${Math.max(0, Math.min(1, share)) * 100}%`;
  return html`
    <div class=${isRare ? "meter rare" : "meter"}>
      <span class="meter-label">${label}</span>
      <span class="meter-text">${text}</span>
      <svg class="meter-bar" aria-hidden="true" width="100%" height="8">
        <rect class="all" width="100%" height="8" rx="4" />
        <rect class="part" width=${width(value)} height="8" rx="4" />
        ${before !== null && html`<rect class="before" x=${width(before)} width="2" height="8" />`}
      </svg>
    </div>`;
}
