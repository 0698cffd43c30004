/* What is wanted: a class, a probability, or a number. */

import { percent, tr } from "../phrases.js";
import { endsOf, formOf, hasProbabilities, isNumeric, ofEnds, outcomeText, rough } from "../targets.js";
import { numeral, readNumber } from "../values.js";
import { html, useState } from "../vendor/preact-htm.js";
import { Choice } from "./choice.js";

export function TargetForm({ state, onChange }) {
  const { about, now, wish } = state;
  if (isNumeric(about)) return html`<${NumberForm} about=${about} now=${now} target=${wish.target} onChange=${onChange} />`;
  return html`<${ClassForm} about=${about} now=${now} target=${wish.target} onChange=${onChange} />`;
}

function ClassForm({ about, now, target, onChange }) {
  const form = formOf(about, target);
  const label = target?.outcome ?? null;
  const others = about.classes.filter((one) => one !== now?.label);
  const options = [...(others.length > 1 || !now ? [[null, tr("any other outcome")]] : []), ...about.classes.map((one) => [one, String(one)])];
  const low = target?.probability?.[0] ?? 0.5;
  return html`
    ${form === null && html`<p class="note">${tr("The preset says more than can be shown here. It holds until you choose something else.")}</p>`}
    <${Choice} name="class" label=${tr("Outcome")} options=${options} value=${label}
      onChange=${(one) => onChange(one === null ? null : form === "probability" ? { ...target, outcome: one } : { outcome: one })} />
    ${hasProbabilities(about) && label !== null && html`
      <label class="check"><input type="checkbox" checked=${form === "probability"}
        onChange=${(event) => onChange(event.target.checked ? { outcome: label, probability: [0.7, 1] } : { outcome: label })} />
        <span>${tr("with a probability of at least …")}</span></label>
      ${form === "probability" && html`
        <label class="slider"><span class="unseen">${tr("Least probability of {label}", { label })}</span>
          <input type="range" min="1" max="99" value=${Math.round(low * 100)} aria-valuetext=${percent(low)}
            onInput=${(event) => onChange({ outcome: label, probability: [Number(event.target.value) / 100, target.probability[1]] })} />
          <output>${percent(low)}</output></label>`}`}
  `;
}

function NumberForm({ about, now, target, onChange }) {
  const form = formOf(about, target);
  const { low, high } = endsOf(target);
  const way = low !== null && high !== null ? "between" : high !== null ? "below" : "above";
  const choose = (one) => onChange(firstEnds(one, low ?? high ?? 0, now?.label ?? null));
  return html`
    ${now && html`<p class="quiet">${tr("The prediction now is {value}.", { value: outcomeText(about, now.label) })}</p>`}
    ${form === null && target !== null && html`<p class="note">${tr("The preset says more than can be shown here. It holds until you choose something else.")}</p>`}
    <${Choice} name="number" label=${tr("The prediction should be")} options=${[["above", tr("at least")], ["below", tr("at most")], ["between", tr("between")]]} value=${way} onChange=${choose} />
    <div class="ends">
      ${way !== "below" && html`<${End} about=${about} label=${way === "above" ? tr("at least") : tr("from")} value=${low} onChange=${(value) => onChange(ofEnds(value, high))} />`}
      ${way !== "above" && html`<${End} about=${about} label=${way === "below" ? tr("at most") : tr("to")} value=${high} onChange=${(value) => onChange(ofEnds(low, value))} />`}
    </div>`;
}

/** What a form begins with: beyond the prediction now, as nothing would need to change otherwise. */
function firstEnds(way, said, own) {
  const away = own === null ? Math.abs(said) / 10 : Math.abs(own) / 10 || 1;
  const base = own ?? said;
  if (way === "above") return ofEnds(rough(base + away), null);
  return way === "below" ? ofEnds(null, rough(base - away)) : ofEnds(rough(base + away), rough(base + 2 * away));
}

/** One end; what is no number is not passed on. */
function End({ about, label, value, onChange }) {
  const plain = value === null ? "" : numeral(value);
  const [text, write] = useState(plain);
  const type = (event) => {
    write(event.target.value);
    const said = readNumber(event.target.value);
    if (Number.isFinite(said)) onChange(said);
  };
  const leave = () => write(plain);
  return html`<label class="field"><span>${label}</span><span class="unit-field">
    <input type="text" inputmode="decimal" value=${text} onInput=${type} onBlur=${leave} />${about.unit && html`<span class="unit">${about.unit}</span>`}</span></label>`;
}
