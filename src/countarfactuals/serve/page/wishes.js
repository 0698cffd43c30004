/* What is wanted and what may change, as the library's own JSON: {target, constraints}. A preset is nothing else, so
   that Python reads it too. Functions here take one and return another; what they do not know they keep. */

export const NOTHING = { target: null, constraints: {} };
const BY_COLUMN = ["ranges", "allowed", "direction", "weights"];

/** What is said of one column. */
export function settingOf({ constraints }, name) {
  const [low, high] = constraints.ranges?.[name] ?? [null, null];
  const weight = constraints.weights?.[name] ?? "normal";
  return {
    locked: (constraints.fixed ?? []).includes(name) || weight === "immutable",
    direction: constraints.direction?.[name] ?? "any",
    low,
    high,
    allowed: constraints.allowed?.[name] ?? null,
    ease: weight === "immutable" ? "normal" : weight,
  };
}

/** The same with some of it said otherwise. */
export function withSetting(wish, name, changed) {
  const said = { ...settingOf(wish, name), ...changed };
  const { low, high } = said;
  const values = {
    ranges: low === null && high === null ? undefined : [low, high],
    allowed: said.allowed ?? undefined,
    direction: said.direction === "any" ? undefined : said.direction,
    weights: said.ease === "normal" ? undefined : said.ease,
  };
  const constraints = { ...wish.constraints };
  const others = (constraints.fixed ?? []).filter((one) => one !== name);
  put(constraints, "fixed", said.locked ? [...others, name] : others);
  for (const kind of BY_COLUMN) {
    const { [name]: _, ...rest } = constraints[kind] ?? {};
    put(constraints, kind, values[kind] === undefined ? rest : { ...rest, [name]: values[kind] });
  }
  return { ...wish, constraints };
}

/** The same with another limit of changes; null for none. */
export function withMost(wish, most) {
  const constraints = { ...wish.constraints };
  delete constraints.max_changed;
  return { ...wish, constraints: most === null ? constraints : { ...constraints, max_changed: most } };
}

/** The same where these columns stay or may change. */
export function withLocks(wish, names, locked) {
  return names.reduce((made, name) => withSetting(made, name, { locked }), wish);
}

/** Whether no column may change. */
export const keepsAll = (wish, columns) => columns.every(({ name }) => settingOf(wish, name).locked);

/** How many columns something is said of. */
export function nSaid(wish, columns) {
  return columns.filter(({ name }) => isSaid(settingOf(wish, name))).length + (wish.constraints.max_changed ? 1 : 0);
}

/** Whether anything is said of a column. */
export function isSaid({ locked, direction, low, high, allowed, ease }) {
  return locked || direction !== "any" || low !== null || high !== null || allowed !== null || ease !== "normal";
}

/** Kinds of constraints that a preset has and the page shows as they are. */
export function furtherKinds({ constraints }) {
  return Object.keys(constraints).filter((kind) => !["fixed", "max_changed", ...BY_COLUMN].includes(kind));
}

/** A preset from outside, or null if it is none. */
export function presetOf(text) {
  try {
    const { target = null, constraints = {} } = JSON.parse(text);
    const isObject = (one) => typeof one === "object" && one !== null && !Array.isArray(one);
    return isObject(constraints) && (target === null || isObject(target)) ? { target, constraints } : null;
  } catch {
    return null;
  }
}

function put(constraints, kind, value) {
  delete constraints[kind];
  if (Object.keys(value).length) constraints[kind] = value;
}
