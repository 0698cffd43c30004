/* Which ways are shown, and in which order.

   1. A way counts the less the farther it is from the row and the less typical: (1 - b) distance + b (1 - typicality),
      where b is the slider from closer to more typical and the distance is a share of the largest.
   2. Pinned ones come first, in the order in which they were pinned.
   3. Then the best that were neither put away nor seen before; each changes other features than those above it, as long
      as there are such ways. */

export const SHOWN = 3;

/** What a way is known by: the row that it leads to. */
export const keyOf = (way) => JSON.stringify(way.row);

/** Which features a way changes by itself. */
export const changedBy = (way) => way.changes.filter(({ consequence }) => !consequence).map(({ column }) => column);

/** All ways in their order. */
export function ordered(ways, balance) {
  const farthest = Math.max(...ways.map(({ distance }) => distance), 1e-12);
  const cost = (way) => (1 - balance) * (way.distance / farthest) + balance * (1 - way.typicality);
  return ways.map((way) => [cost(way), way]).sort(([a], [b]) => a - b).map(([, way]) => way);
}

/** The ways that are on cards. */
export function shown({ ways, balance, pinned, away, seen }) {
  const out = new Set([...away, ...seen, ...pinned.map(keyOf)]);
  const rest = ordered(ways.filter((way) => !out.has(keyOf(way))), balance);
  const taken = new Set();
  const different = rest.filter((way) => {
    const features = changedBy(way).sort().join("\n");
    return !taken.has(features) && taken.add(features);
  });
  const others = rest.filter((way) => !different.includes(way));
  return [...pinned, ...[...different, ...others].slice(0, SHOWN)];
}

/** How many ways wait behind those on cards. */
export function nWaiting({ ways, pinned, away, seen }) {
  const out = new Set([...away, ...seen, ...pinned.map(keyOf)]);
  return Math.max(ways.filter((way) => !out.has(keyOf(way))).length - SHOWN, 0);
}
