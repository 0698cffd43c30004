/* The state of the page, one frozen object at a time; who reads it is told when it is replaced. */

import { useEffect, useState } from "./vendor/preact-htm.js";
import { NOTHING } from "./wishes.js";

const AT_FIRST = {
  phase: "starting", // "starting", "token", "broken" or "ready"
  problem: null,
  language: "en",
  languages: ["en"],
  explainers: [],
  name: null,
  about: null,
  mode: "one", // "one" case or "many"
  step: "whose",
  row: null,
  key: null, // of the row in the table, null for one that was entered
  now: null, // its prediction
  wish: NOTHING,
  isOwnTarget: false, // whether a person chose the target
  answer: { phase: "idle", ways: [], view: null, problem: null },
  asked: null, // what the answer is about
  chosen: null, // key of a way
  pinned: [], // ways
  away: [], // keys of ways that are not wanted
  seen: [], // keys of ways that gave way to others
  balance: 0.5, // from closer to more typical
  edited: null,
  said: "", // the last thing that a screen reader was told
  batch: { phase: "idle", lines: [], total: 0, id: null, problem: null },
};

let state = Object.freeze(AT_FIRST);
const readers = new Set();

/** The state as it is. */
export const now = () => state;

/** Replace some of it. */
export function update(changed) {
  state = Object.freeze({ ...state, ...changed });
  for (const read of readers) read(state);
}

/** The state for a component, which is drawn anew when it is replaced. */
export function useStore() {
  const [seen, see] = useState(state);
  useEffect(() => {
    readers.add(see);
    see(state);
    return () => readers.delete(see);
  }, []);
  return seen;
}

/** Tell a screen reader; the same sentence twice is told twice. */
export function tell(sentence) {
  update({ said: sentence === state.said ? `${sentence}\u00a0` : sentence });
}
