/* Targets as the library's JSON, in the three forms that people choose from: a class, a probability, a number. */

import { number, percent, tr } from "./phrases.js";
import { rangeText, withUnit } from "./values.js";

export const isNumeric = ({ task }) => task === "regression";

/** What is wanted of a row until a person says otherwise: the other class, or a tenth more. */
export function firstTarget(about, prediction) {
  if (isNumeric(about)) return { above: rough(prediction.label * (prediction.label < 0 ? 0.9 : 1.1)) };
  const others = about.classes.filter((label) => label !== prediction.label);
  return others.length === 1 ? { outcome: others[0] } : null;
}

/** A number that people would say. */
export const rough = (value) => Number(value.toPrecision(3));

/** Whether classes have probabilities here. */
export const hasProbabilities = ({ scores }) => scores.some(({ kind }) => kind === "probability");

/** Which form a target has: "class", "probability" or "number"; null for one that only a file can say. */
export function formOf(about, target) {
  if (target === null) return isNumeric(about) ? null : "class";
  const said = Object.keys(target).filter((name) => target[name] !== null);
  if (isNumeric(about)) return said.every((name) => ["above", "below", "between"].includes(name)) ? "number" : null;
  if (said.length === 1 && said[0] === "outcome") return "class";
  return said.length === 2 && said.includes("outcome") && said.includes("probability") ? "probability" : null;
}

/** The ends of a target that is a number. */
export function endsOf(target) {
  const [low, high] = target?.between ?? [target?.above ?? null, target?.below ?? null];
  return { low, high };
}

/** A target by its ends; null if both are open. */
export function ofEnds(low, high) {
  if (low !== null && high !== null) return { between: [Math.min(low, high), Math.max(low, high)] };
  if (low !== null) return { above: low };
  return high !== null ? { below: high } : null;
}

/** A target in words. */
export function targetText(about, target) {
  if (target === null) return tr("any other outcome");
  const form = formOf(about, target);
  if (form === "class") return String(target.outcome);
  if (form === "number") {
    const { low, high } = endsOf(target);
    return rangeText(low, high, (value) => outcomeText(about, value));
  }
  if (form === "probability") {
    const [low, high] = target.probability;
    const range = rangeText(low > 0 ? low : null, high < 1 ? high : null, percent);
    return tr("{label} with a probability of {range}", { label: target.outcome, range });
  }
  return tr("as the preset says");
}

/** What a model says, in words: a class, or a number with its unit. */
export function outcomeText(about, label) {
  return isNumeric(about) && typeof label === "number" ? withUnit(number(label, Math.abs(label) >= 100 ? 0 : 2), about.unit) : String(label);
}

/** The probability that counts: that of the wanted class. A model of two classes may tell that of one alone. */
export function scoreOf(about, target, scores) {
  const label = target?.outcome;
  const at = about.scores.findIndex((score) => score.kind === "probability" && score.label === label);
  if (at >= 0) return { label, value: scores[at] };
  const isMirrored = about.classes.length === 2 && about.classes.includes(label) && about.scores[0]?.kind === "probability";
  return isMirrored ? { label, value: 1 - scores[0] } : null;
}
