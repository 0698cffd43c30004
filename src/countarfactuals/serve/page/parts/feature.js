/* What is said of one feature: whether it may change, and if so in which direction, how far, to which levels, how easily. */

import { tr } from "../phrases.js";
import { cellText, hasOrder, hasScale, levelText, rangeText } from "../values.js";
import { html, useState } from "../vendor/preact-htm.js";
import { isSaid, settingOf } from "../wishes.js";
import { Choice } from "./choice.js";
import { Histogram, Shares } from "./histogram.js";
import { Name } from "./name.js";
import { RangeSlider } from "./range_slider.js";

export function Feature({ column, own, wish, onChange }) {
  const [isOpen, open] = useState(false);
  const said = settingOf(wish, column.name);
  return html`
    <li class=${said.locked ? "feature locked" : "feature"}>
      <div class="feature-line">
        <div class="feature-name"><h3><${Name} of=${column.label} /></h3><p class="own">${own === undefined ? "" : cellText(column, own)}</p></div>
        <div class="feature-picture" aria-hidden="true">${hasScale(column) ? html`<${Histogram} column=${column} own=${own} said=${said} />` : html`<${Shares} column=${column} own=${own} said=${said} />`}</div>
        <p class=${isSaid(said) ? "feature-said is" : "feature-said"}>${saidText(column, said)}</p>
        <label class="switch"><input type="checkbox" role="switch" checked=${!said.locked} onChange=${(event) => onChange({ locked: !event.target.checked })} />
          <span class="track" aria-hidden="true"></span><span><span class="unseen">${column.label} </span>${tr("may change")}</span></label>
        <button class="plain small" aria-expanded=${isOpen} disabled=${said.locked} onClick=${() => open(!isOpen)}>${isOpen ? tr("Close") : tr("Adjust")}<span class="unseen"> ${column.label}</span></button>
      </div>
      ${isOpen && !said.locked && html`<${Details} column=${column} own=${own} said=${said} onChange=${onChange} />`}
    </li>`;
}

function Details({ column, own, said, onChange }) {
  const directions = [["any", tr("either way")], ["increase", tr("only up")], ["decrease", tr("only down")]];
  const eases = [["easy", tr("easy")], ["normal", tr("normal")], ["hard", tr("hard")]];
  return html`
    <div class="feature-details">
      ${hasOrder(column) && html`<${Choice} name=${`direction-${column.name}`} label=${tr("Direction")} options=${directions} value=${said.direction} onChange=${(direction) => onChange({ direction })} />`}
      <${Choice} name=${`ease-${column.name}`} label=${tr("A change is")} options=${eases} value=${said.ease} onChange=${(ease) => onChange({ ease })} />
      ${hasScale(column) && html`<${RangeSlider} column=${column} own=${own} low=${said.low} high=${said.high} onChange=${onChange} />`}
      ${!hasScale(column) && column.levels && html`<${Allowed} column=${column} said=${said} onChange=${onChange} />`}
    </div>`;
}

function Allowed({ column, said, onChange }) {
  const every = column.levels.map(({ value }) => value);
  const allowed = said.allowed ?? every;
  const flip = (value) => {
    const made = every.filter((one) => (one === value ? !allowed.includes(one) : allowed.includes(one)));
    if (made.length) onChange({ allowed: made.length === every.length ? null : made });
  };
  return html`
    <fieldset class="levels"><legend>${tr("It may become")}</legend>
      <div class="checks">${every.map((value) => html`<label class="check"><input type="checkbox" checked=${allowed.includes(value)} disabled=${allowed.length === 1 && allowed.includes(value)}
        onChange=${() => flip(value)} /><span>${levelText(column, value)}</span></label>`)}</div></fieldset>`;
}

/** All that is said, in a few words. */
function saidText(column, { locked, direction, low, high, allowed, ease }) {
  if (locked) return tr("stays as it is");
  const parts = [
    direction === "increase" ? tr("only up") : direction === "decrease" ? tr("only down") : "",
    low !== null || high !== null ? rangeText(low, high, (value) => cellText(column, value)) : "",
    allowed ? allowed.map((value) => levelText(column, value)).join(", ") : "",
    ease === "hard" ? tr("hard") : ease === "easy" ? tr("easy") : "",
    typeof ease === "number" ? tr("weight {weight}", { weight: ease }) : "",
  ].filter(Boolean);
  return parts.join(" · ");
}
