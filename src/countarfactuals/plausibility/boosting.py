"""Boosted symmetric trees on small codes: few lines, arrays only, and fast to ask.

1. A tree asks the same question at every node of a level, so that d answers are the number of its leaf. A question is
   "code > t", or "code = t" for unordered levels. Code 0 is a missing cell.
2. Questions are chosen greedily by the decrease of squared error of all outputs together, among some columns and some
   rows that are drawn for each tree.
3. `boost_number` learns a mean and a log spread: natural gradients of the Gaussian likelihood, residuals cut at four
   spreads, so that single values far out do not lead. `boost_levels` learns log odds of levels, of two the first's.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from countarfactuals._kernels import inner, kernel
from countarfactuals._tables import by_reference
from countarfactuals.arf.random import next_below

_CUT = 4.0  # spreads beyond which a residual counts as that many
_PRIOR = 0.5  # rows per level
_AHEAD = 1.0 + 1e-9  # times the gain of another question


class Boosting(NamedTuple):
    """How trees are grown."""

    n_trees: int
    depth: int
    rate: float  # of the mean, and of log odds
    spread_rate: float  # of the log spread
    ridge: float  # rows that pull a leaf to zero
    share: float  # of the rows that a tree sees
    n_columns: int  # that a tree may ask about


@by_reference
class Trees(NamedTuple):
    """A boosted function of codes."""

    column: np.ndarray  # int16 (T, D), −1 where a level has no question
    code: np.ndarray  # int16 (T, D)
    value: np.ndarray  # float64 (T, 2^D, K)
    start: np.ndarray  # float64 (K,)


def nothing_learned(n_outputs: int, depth: int) -> Trees:
    """A function that is 0 everywhere."""
    none = np.zeros((0, depth), np.int16)
    return Trees(none, none.copy(), np.zeros((0, 1 << depth, n_outputs)), np.zeros(n_outputs))


@inner
def _some(n, count, state):  # type: ignore[no-untyped-def]
    """`count` of the places 0 … n − 1 at random, all of them if there are no more, ascending."""
    count = min(count, n)
    chosen = np.empty(count + 1, np.int64)  # every place is written down and kept if it is chosen: no branch to guess
    k = np.uint64(0)
    for i in range(n):
        is_chosen = next_below(state, n - i) < count - np.int64(k)
        chosen[k] = i
        k += np.uint64(is_chosen)
    return chosen[:count]


@inner
def _some_of(others, count, state):  # type: ignore[no-untyped-def]
    chosen = _some(len(others), count, state)
    for k in range(len(chosen)):
        chosen[k] = others[chosen[k]]
    return chosen


@inner
def _grow(codes, n_codes, unordered, columns, rows, gradient, weight, ridge, asked, cut):  # type: ignore[no-untyped-def]
    """One tree on some rows: its questions, to be written to `asked` and `cut`, and the leaf of every row.

    Sums are kept from level to level: only rows that answered yes are added up, and the others are the rest.
    """
    n_outputs, n, depth = gradient.shape[1], codes.shape[1], len(asked)
    leaf = np.zeros(n, np.int64)
    most = 2
    for j in columns:
        most = max(most, n_codes[j])
    sums = np.zeros((len(columns), 1 << (depth - 1), most, n_outputs + 1))
    gain, left = np.empty(most), np.empty((n_outputs + 3, most))
    moved = rows
    for level in range(depth):
        n_leaves, half = 1 << level, (1 << level) >> 1
        best, best_column, best_code = 1e-12, -1, 0
        added, place = np.empty((len(moved), n_outputs + 1)), np.empty(len(moved), np.uint64)
        for m in range(np.uint64(len(moved))):  # side by side, as every column reads them
            row = np.uint64(moved[m])
            for k in range(np.uint64(n_outputs)):
                added[m, k] = gradient[row, k]
            added[m, np.uint64(n_outputs)], place[m] = weight[row], leaf[row]
        for c in range(len(columns)):
            j = columns[c]
            column, of = codes[j], sums[c]
            _add_up(column, moved, place, added, of)
            for parent in range(np.uint64(half)):
                for code in range(np.uint64(n_codes[j])):
                    for k in range(np.uint64(n_outputs + 1)):
                        of[parent, code, k] -= of[parent + np.uint64(half), code, k]
            _gains(of, n_leaves, n_codes[j], unordered[j], ridge, left, gain)
            for code in range(n_codes[j] if unordered[j] else n_codes[j] - 1):
                if gain[code] > best * _AHEAD:  # of questions that divide rows alike, the first
                    best, best_column, best_code = gain[code], j, code
        if best_column < 0:
            break
        asked[level], cut[level] = best_column, best_code
        column = codes[best_column]
        is_unordered = unordered[best_column]
        for r in range(np.uint64(n)):
            yes = column[r] == best_code if is_unordered else column[r] > best_code
            leaf[r] |= np.int64(yes) << level
        moved = _that_moved(rows, leaf, level)
    return leaf


@inner
def _that_moved(rows, leaf, level):  # type: ignore[no-untyped-def]
    """The rows that answered the last question with yes."""
    moved, n = np.empty(len(rows), np.int64), 0
    for r in rows:
        if leaf[r] >> level:
            moved[n] = r
            n += 1
    return moved[:n]


@inner
def _add_up(column, moved, place, added, sums):  # type: ignore[no-untyped-def]
    """Add what each row adds to the sums of its leaf and code; the hot loop, so few outputs are written out.

    Unsigned places spare the test whether one counts from the end.
    """
    width = added.shape[1]
    for m in range(np.uint64(len(moved))):
        at, code = place[m], np.uint64(column[np.uint64(moved[m])])
        sums[at, code, 0] += added[m, 0]
        sums[at, code, 1] += added[m, 1]
        if width == 3:
            sums[at, code, 2] += added[m, 2]
        else:
            for k in range(np.uint64(2), np.uint64(width)):
                sums[at, code, k] += added[m, k]


@inner
def _gains(sums, n_leaves, n_codes, is_unordered, ridge, left, gain):  # type: ignore[no-untyped-def]
    """Decrease of squared error by each question, over all leaves; `left` is room for what stands left of a question.

    Questions go abreast, in vector registers.
    """
    w, codes = np.uint64(sums.shape[2] - 1), np.uint64(n_codes)
    of_left, of_right = left[w + np.uint64(1)], left[w + np.uint64(2)]
    for code in range(codes):
        gain[code] = 0.0
    for leaf in range(np.uint64(n_leaves)):
        for code in range(codes):
            of_left[code], of_right[code] = 0.0, 0.0
        before, n = 0.0, 0.0
        for code in range(codes):
            n += sums[leaf, code, w]
        if n <= 0.0:
            continue
        for k in range(w + np.uint64(1)):
            total = 0.0
            for code in range(codes):
                total += sums[leaf, code, k]
                left[k, code] = sums[leaf, code, k] if is_unordered else total
            if k < w:
                before += total * total / (n + ridge)
                for code in range(codes):
                    right = total - left[k, code]
                    of_left[code] += left[k, code] * left[k, code]
                    of_right[code] += right * right
        for code in range(codes):
            after = of_left[code] / (left[w, code] + ridge) + of_right[code] / (n - left[w, code] + ridge)
            gain[code] += after - before


@inner
def _start_of_number(y, offset):  # type: ignore[no-untyped-def]
    """Mean and log spread of y − offset, and both row by row."""
    n, start = len(y), np.zeros(2)
    for i in range(n):
        start[0] += y[i] - offset[i]
    start[0] /= n
    squares = 0.0
    for i in range(n):
        away = y[i] - offset[i] - start[0]
        squares += away * away
    start[1] = math.log(max((squares / n) ** 0.5, 1e-300))
    mean, log_spread = np.empty(n), np.empty(n)
    for i in range(n):
        mean[i], log_spread[i] = offset[i] + start[0], start[1]
    return start, mean, log_spread


@kernel
def boost_number(codes, n_codes, unordered, others, y, offset, seed, options):  # type: ignore[no-untyped-def]
    """Mean and log spread of y − offset, given the other columns' codes."""
    n, n_leaves = codes.shape[1], 1 << options.depth
    state = np.empty(1, np.uint64)
    state[0] = seed
    start, mean, log_spread = _start_of_number(y, offset)
    column = np.full((options.n_trees, options.depth), -1, np.int16)
    code = np.zeros((options.n_trees, options.depth), np.int16)
    value = np.zeros((options.n_trees, n_leaves, 2))
    gradient, even = np.empty((n, 2)), np.ones(n)
    for t in range(options.n_trees):
        for i in range(n):
            e = (y[i] - mean[i]) * math.exp(-log_spread[i])
            e = min(max(e, -_CUT), _CUT)
            gradient[i, 0], gradient[i, 1] = e, 0.5 * (min(e * e, _CUT) - 1.0)
        rows = _some(n, max(1, int(options.share * n)), state)
        columns = _some_of(others, options.n_columns, state)
        leaf = _grow(codes, n_codes, unordered, columns, rows, gradient, even, options.ridge, column[t], code[t])
        sums = np.zeros((n_leaves, 4))
        all_precision = 0.0
        for m in range(np.uint64(len(rows))):  # the mean of a leaf weighs rows by their precision
            r = np.uint64(rows[m])
            precision = math.exp(-2.0 * (log_spread[r] - start[1]))
            all_precision += precision
            sums[leaf[r], 0] += precision * gradient[r, 0] * math.exp(log_spread[r])
            sums[leaf[r], 1] += precision
            sums[leaf[r], 2] += gradient[r, 1]
            sums[leaf[r], 3] += 1.0
        pull = options.ridge * all_precision / len(rows)
        for k in range(n_leaves):
            value[t, k, 0] = options.rate * sums[k, 0] / (sums[k, 1] + pull)
            value[t, k, 1] = options.spread_rate * sums[k, 2] / (sums[k, 3] + options.ridge)
        for i in range(np.uint64(n)):
            mean[i] += value[t, np.uint64(leaf[i]), 0]
            log_spread[i] += value[t, np.uint64(leaf[i]), 1]
    return Trees(column, code, value, start)


@inner
def _start_of_levels(y, n_levels, n_outputs):  # type: ignore[no-untyped-def]
    """Log odds of the levels over all rows."""
    count, total = np.full(n_levels, _PRIOR), 0.0
    for i in range(len(y)):
        count[y[i]] += 1.0
    for k in range(n_levels):
        total += count[k]
    start = np.empty(n_outputs)
    for k in range(n_outputs):
        start[k] = math.log(count[k] / (count[1] if n_levels == 2 else total))
    return start


@kernel
def boost_levels(codes, n_codes, unordered, others, y, n_levels, seed, options):  # type: ignore[no-untyped-def]
    """Log odds of the levels of y, given the other columns' codes; of two levels those of the first alone."""
    n, n_leaves = codes.shape[1], 1 << options.depth
    n_outputs = 1 if n_levels == 2 else n_levels
    rate = 2.0 * options.rate if n_levels == 2 else options.rate  # both levels would move, in opposite directions
    state = np.empty(1, np.uint64)
    state[0] = seed
    start, odds = _start_of_levels(y, n_levels, n_outputs), np.empty((n, n_outputs))
    for i in range(n):
        for k in range(n_outputs):
            odds[i, k] = start[k]
    column = np.full((options.n_trees, options.depth), -1, np.int16)
    code = np.zeros((options.n_trees, options.depth), np.int16)
    value = np.zeros((options.n_trees, n_leaves, n_outputs))
    gradient, curvature, weight = np.empty((n, n_outputs)), np.empty((n, n_outputs)), np.empty(n)
    p = np.empty(n_outputs)
    for t in range(options.n_trees):
        for i in range(np.uint64(n)):
            _probabilities(odds, i, p)
            weight[i] = 0.0
            for k in range(np.uint64(n_outputs)):
                gradient[i, k] = (1.0 if y[i] == k else 0.0) - p[k]
                curvature[i, k] = p[k] * (1.0 - p[k])
                weight[i] += curvature[i, k]
        rows = _some(n, max(1, int(options.share * n)), state)
        columns = _some_of(others, options.n_columns, state)
        leaf = _grow(codes, n_codes, unordered, columns, rows, gradient, weight, options.ridge, column[t], code[t])
        top, bottom = np.zeros((n_leaves, n_outputs)), np.full((n_leaves, n_outputs), options.ridge)
        for m in range(np.uint64(len(rows))):
            r = np.uint64(rows[m])
            at = np.uint64(leaf[r])
            for k in range(np.uint64(n_outputs)):
                top[at, k] += gradient[r, k]
                bottom[at, k] += curvature[r, k]
        for at in range(n_leaves):
            for k in range(n_outputs):
                value[t, at, k] = rate * top[at, k] / bottom[at, k]
        for i in range(np.uint64(n)):
            at = np.uint64(leaf[i])
            for k in range(np.uint64(n_outputs)):
                odds[i, k] += value[t, at, k]
    return Trees(column, code, value, start)


@inner
def _probabilities(odds, i, p):  # type: ignore[no-untyped-def]
    """What the log odds of the i-th row say, of two levels the first's."""
    n = np.uint64(len(p))
    if n == 1:
        p[0] = 1.0 / (1.0 + math.exp(-odds[i, 0]))
        return
    largest = odds[i, 0]
    for k in range(n):
        largest = max(largest, odds[i, k])
    total = 0.0
    for k in range(n):
        p[k] = math.exp(odds[i, k] - largest)
        total += p[k]
    for k in range(n):
        p[k] /= total


def level_log_p(odds: np.ndarray) -> np.ndarray:
    """Log probabilities of all levels, (n, levels), from what the trees of `boost_levels` say."""
    if odds.shape[1] == 1:
        odds = np.concatenate([odds, np.zeros_like(odds)], axis=1)
    return np.asarray(odds - np.logaddexp.reduce(odds, axis=1)[:, None])


@kernel
def outputs(codes, unordered, trees):  # type: ignore[no-untyped-def]
    """What the trees say of each row of codes, (n, K)."""
    n, (n_trees, depth), n_outputs = codes.shape[1], trees.column.shape, trees.value.shape[2]
    result = np.empty((n, n_outputs))
    for i in range(n):
        for k in range(n_outputs):
            result[i, k] = trees.start[k]
        for t in range(n_trees):
            leaf = 0
            for level in range(depth):
                j = trees.column[t, level]
                if j < 0:
                    break
                asked = trees.code[t, level]
                yes = codes[j, i] == asked if unordered[j] else codes[j, i] > asked
                leaf |= np.int64(yes) << level
            for k in range(n_outputs):
                result[i, k] += trees.value[t, leaf, k]
    return result
