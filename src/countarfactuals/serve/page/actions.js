/* What a person does, as changes of the state. Questions to the service that were overtaken are given up. */

import * as api from "./api.js";
import { fromAddress } from "./address.js";
import { counted, percent, speak, tr } from "./phrases.js";
import { now, tell, update } from "./store.js";
import { firstTarget } from "./targets.js";
import { keyOf } from "./ways.js";
import { keepsAll, NOTHING } from "./wishes.js";

const LANGUAGE = "countarfactuals.language";
const TOP = 200;
let asking = null;

/** Everything that is needed before the first step. */
export async function start() {
  const said = fromAddress();
  try {
    const { explainers, default: first, languages } = await api.explainers();
    const known = explainers.map(({ name }) => name);
    const wanted = said.language ?? localStorage.getItem(LANGUAGE) ?? navigator.language.slice(0, 2);
    const language = languages.includes(wanted) ? wanted : "en";
    speak(language, await api.phrasesOf(language));
    const name = known.includes(said.explainer) ? said.explainer : (first ?? known[0]);
    const about = await api.explainer(name, language);
    const wish = said.wish ?? NOTHING;
    update({ phase: "ready", explainers, languages, language, name, about, wish, isOwnTarget: wish.target !== null, problem: null });
    if (said.wish) tell(tr("The wishes of the link were taken over."));
  } catch (problem) {
    update({ phase: problem.status === 401 || problem.status === 403 ? "token" : "broken", problem });
  }
}

/** Try again with a token. */
export function unlock(token) {
  api.keepToken(token);
  update({ phase: "starting" });
  return start();
}

/** Another model: all that was about the one before is forgotten. */
export async function takeExplainer(name) {
  await guarded(async () => {
    const about = await api.explainer(name, now().language);
    update({ name, about, row: null, now: null, wish: NOTHING, isOwnTarget: false, step: "whose", edited: null, batch: idle(), ...unanswered() });
  });
}

/** Another language: what the server words is asked for anew. */
export async function takeLanguage(language) {
  await guarded(async () => {
    const words = await api.phrasesOf(language);
    const about = await api.explainer(now().name, language);
    localStorage.setItem(LANGUAGE, language);
    speak(language, words);
    update({ language, about, asked: null });
    if (now().step === "ways" || now().step === "take-away") explain();
  });
}

/** Go to a step; the ways are sought when they are looked at. */
export function go(step) {
  update({ step, mode: "one" });
  if (step === "ways" || step === "take-away") explain();
}

/** Take a row: one of the table by its key, or one that was entered. */
export async function takeRow(row, key = null) {
  await guarded(async () => {
    const [prediction] = (await api.predict(now().name, { rows: [row] })).predictions;
    const { about, wish, isOwnTarget } = now();
    const target = isOwnTarget ? wish.target : firstTarget(about, prediction);
    update({ row, key, now: prediction, wish: { ...wish, target }, edited: null, step: "wanted", mode: "one", ...unanswered() });
    tell(tr("Taken: {origin}. The prediction is {label}.", { origin: originText(key), label: prediction.label }));
  });
}

/** Say what is wanted and what may change. */
export function say(wish, isOwnTarget = now().isOwnTarget) {
  update({ wish, isOwnTarget });
}

/** Seek ways, if they are not known already; others than before with `more`. */
export async function explain(more = false) {
  const { about, name, row, wish, language, asked, answer } = now();
  if (keepsAll(wish, about.columns)) return update(unanswered());
  const asks = JSON.stringify([name, row, wish, language]);
  if (!row || (asked === asks && answer.phase !== "problem" && !more)) return;
  const seed = asked === asks && more ? (answer.seed ?? 0) + 1 : 0;
  const known = more ? answer.ways : [];
  asking?.abort();
  asking = new AbortController();
  const { signal } = asking;
  update({ asked: asks, answer: { ...answer, phase: "busy", problem: null, ...(more ? {} : { ways: [], view: null }) }, ...(more ? {} : fresh()) });
  tell(tr("Looking for ways …"));
  try {
    const body = { row, ...wish, language, top: TOP, ...(seed ? { seed } : {}) };
    const { result, view } = await api.explain(name, body, signal);
    const keys = new Set(known.map(keyOf));
    const ways = [...known, ...view.ways.filter((way) => !keys.has(keyOf(way)))];
    const stays = more && now().answer.view;
    update({ answer: { phase: "done", ways, view: stays || view, result: stays ? answer.result : result, problem: null, seed } });
    tell(ways.length ? counted(ways.length, "{n} way was found.", "{n} ways were found.") : view.headline);
  } catch (problem) {
    if (problem.name !== "AbortError") update({ asked: null, answer: { ...now().answer, phase: "problem", problem } });
  }
}

/** Give up what is asked. */
export function stop() {
  asking?.abort();
  update({ asked: null, answer: { ...now().answer, phase: "stopped" } });
  tell(tr("Stopped."));
}

/** Keep a way on top, or no longer. */
export function pin(way) {
  const { pinned } = now();
  const is = pinned.some((one) => keyOf(one) === keyOf(way));
  update({ pinned: is ? pinned.filter((one) => keyOf(one) !== keyOf(way)) : [...pinned, way] });
  tell(is ? tr("No longer pinned.") : tr("Pinned: it stays on top."));
}

/** Put a way away. */
export function putAway(way) {
  const { away, pinned, chosen } = now();
  const key = keyOf(way);
  update({ away: [...away, key], pinned: pinned.filter((one) => keyOf(one) !== key), chosen: chosen === key ? null : chosen });
  tell(tr("Put away. Another one takes its place."));
}

/** Look at a way closely. */
export function choose(way) {
  update({ chosen: keyOf(way) });
  tell(tr("Chosen: {summary}. More typical than {share}.", { summary: way.summary, share: percent(way.typicality) }));
}

/** Where a row is from, in words. */
export const originText = (key) => (key === null ? tr("own entry") : tr("row {key}", { key }));

const idle = () => ({ phase: "idle", lines: [], total: 0, id: null, problem: null });
const fresh = () => ({ chosen: null, away: [], seen: [], pinned: [] });
const unanswered = () => ({ asked: null, answer: { phase: "idle", ways: [], view: null, problem: null }, ...fresh() });

async function guarded(deed) {
  try {
    update({ problem: null });
    await deed();
  } catch (problem) {
    if (problem.status === 401) update({ phase: "token", problem });
    else update({ problem });
  }
}
