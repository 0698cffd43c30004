"""Growing one tree that tells real rows from synthetic ones.

Columns come as 16-bit codes: ranks of the distinct values for numbers, levels for categories, MISSING for neither.
Rows 0 … n − 1 are real, rows n … 2n − 1 synthetic.

1. Draw the same number of real and of synthetic rows without replacement; the others are out of bag. Every list of
   rows stays sorted (selection sampling, stable partitions): memory is read forwards, and in each node the real rows
   stand before the synthetic ones, so that no label is ever looked up.
2. At a node, draw `max_features` columns that vary there; columns in `always` are tried on top.
3. Count real and synthetic rows in bins between the node's smallest and largest code, about one bin per four rows,
   and take the cut with the largest decrease of Gini impurity that leaves `min_real` real in-bag rows on each side;
   it is exact where the codes of a node span no more than 32 values. Missing values are tried on either side and
   alone against the rest. Unordered categories are put in the order of their share of real rows in this node;
   missing is one level more.
4. Move all rows, in bag or out of it, to the children. A leaf out-of-bag row gets the leaf's in-bag share of real
   rows as its vote, so accuracy needs no second pass; the real rows of each leaf are listed for the leaf parameters.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from countarfactuals._kernels import inner, kernel
from countarfactuals.arf.random import next_below

MISSING = 65535  # the code of a missing value, above every rank and level
MAX_CODES = 65534
VOTE_SCALE = 1 << 16  # votes are whole numbers, so that their sum does not depend on the order of the trees
_MAX_BINS = 256
_MIN_BINS = 32


class GrownTree(NamedTuple):
    """One tree in codes. Node 0 is the root, the right child stands after the left one."""

    feature: np.ndarray  # int32, −1 in a leaf
    child: np.ndarray  # int32, the left child; in a leaf its number among the leaves
    left_max: np.ndarray  # uint16, largest code that went left
    right_min: np.ndarray  # uint16, smallest code that went right, MISSING if only missing values did
    missing_left: np.ndarray  # bool
    words: np.ndarray  # int32, where the node's set of left levels starts in `bits`, −1 for a cut
    bits: np.ndarray  # uint64
    rows: np.ndarray  # int32, the real rows, leaf by leaf
    leaf_start: np.ndarray  # int32, where each leaf's rows start; one more entry for the end


@inner
def _draw_rows(first: int, n: int, n_drawn: int, state: np.ndarray, drawn: np.ndarray, rest: np.ndarray) -> None:
    """Selection sampling: `n_drawn` of the rows first … first + n − 1, both lists in ascending order.

    Every row is written to both lists, which need room for one more: chance is a branch that no processor guesses.
    """
    k = np.uint64(0)
    for i in range(np.uint64(n)):
        is_drawn = next_below(state, n - np.int64(i)) < n_drawn - np.int64(k)
        drawn[k] = rest[i - k] = first + np.int64(i)
        k += np.uint64(is_drawn)


@njit(inline="always")
def _gain(r: int, n: int, all_r: int, all_n: int) -> float:
    """Decrease of Gini impurity times all_n² / 2, for r of n rows real on the left.

    In floats: numba takes the counts as 64-bit integers, whose square overflows from 100,000 rows on.
    """
    excess = float(r) * float(all_n) - float(all_r) * float(n)
    return excess * excess / (float(n) * float(all_n - n))


@njit(inline="always")
def _gather(column, rows, start, n_r, n, buffer):  # type: ignore[no-untyped-def]
    """Fill `buffer` with the codes of a node: the smallest and the largest, how many real ones and all are missing.

    Unsigned places spare the test whether one counts from the end; in 16 bits extremes take vector registers.
    """
    for i in range(np.uint64(n)):
        buffer[i] = column[np.uint64(rows[np.uint64(start) + i])]
    least, most = buffer[0], buffer[0]
    for i in range(np.uint64(n)):
        least, most = min(least, buffer[i]), max(most, buffer[i])
    low, high, miss_r, miss = np.int64(least), np.int64(most), 0, 0
    if high == MISSING:
        low, high = MISSING, -1
        for i in range(n):
            code = np.int64(buffer[i])
            if code == MISSING:
                miss += 1
                miss_r += i < n_r
            else:
                low, high = min(low, code), max(high, code)
    return low, high, miss_r, miss


@njit(inline="always")
def _count_bins(buffer, start, end, low, shift, has_missing, count):  # type: ignore[no-untyped-def]
    """Count the present codes of buffer[start:end] in bins."""
    if has_missing:
        for i in range(start, end):
            if buffer[i] != MISSING:
                count[(np.int64(buffer[i]) - low) >> shift] += 1
    else:
        for i in range(np.uint64(start), np.uint64(end)):
            count[np.uint64((np.int64(buffer[i]) - low) >> shift)] += 1


@inner
def _cut_number(column, rows, start, n_r, n, min_real, buffer, real, other):  # type: ignore[no-untyped-def]
    """Best cut of a ranked column: gain (−1 if the column is constant here), largest code left, missing on the left."""
    low, high, miss_r, miss = _gather(column, rows, start, n_r, n, buffer)
    if low >= high and (miss == 0 or miss == n):
        return -1.0, 0, False
    wanted = max(_MIN_BINS, min(_MAX_BINS, n >> 2))
    shift = 0
    while ((high - low) >> shift) >= wanted:
        shift += 1
    n_bins = ((high - low) >> shift) + 1
    for k in range(n_bins):
        real[k] = 0
        other[k] = 0
    _count_bins(buffer, 0, n_r, low, shift, miss > 0, real)
    _count_bins(buffer, n_r, n, low, shift, miss > 0, other)
    best, best_bin, best_side = 0.0, -1, False
    left_r, left = 0, 0
    for k in range(np.uint64(n_bins - 1 + (miss > 0))):
        left_r += real[k]
        left += real[k] + other[k]
        if left_r >= min_real and n_r - left_r >= min_real and left < n:
            gain = _gain(left_r, left, n_r, n)
            if gain > best:
                # where no missing value tells its side, it goes with the majority of real rows, as unseen levels do
                best, best_bin, best_side = gain, np.int64(k), miss == 0 and 2 * left_r > n_r
        if miss > 0 and left + miss < n and left_r + miss_r >= min_real and n_r - left_r - miss_r >= min_real:
            gain = _gain(left_r + miss_r, left + miss, n_r, n)
            if gain > best:
                best, best_bin, best_side = gain, np.int64(k), True
    return best, low + ((best_bin + 1) << shift) - 1, best_side


@inner
def _cut_levels(column, rows, start, n_r, n, n_levels, min_real, real, total, share, goes_left):  # type: ignore[no-untyped-def]
    """Best two-set split of an unordered column: gain (−1 if constant); `goes_left` is filled, missing last."""
    for k in range(n_levels + 1):
        real[k] = 0
        total[k] = 0
    for i in range(np.uint64(n)):
        code = np.int64(column[np.uint64(rows[np.uint64(start) + i])])
        k = np.uint64(n_levels if code == MISSING else code)
        real[k] += i < np.uint64(n_r)
        total[k] += 1
    present = 0
    for k in range(n_levels + 1):
        present += total[k] > 0
        share[k] = real[k] / total[k] if total[k] > 0 else 2.0  # absent levels sort last
    if present < 2:
        return -1.0
    order = np.argsort(share[: n_levels + 1])
    best, best_left = 0.0, 0
    left_r, left = 0, 0
    for i in range(present - 1):
        left_r += real[order[i]]
        left += total[order[i]]
        if left_r >= min_real and n_r - left_r >= min_real:
            gain = _gain(left_r, left, n_r, n)
            if gain > best:
                best, best_left = gain, i + 1
    left_r = 0
    for i in range(best_left):
        left_r += real[order[i]]
    # levels that no row of this node has go where most real rows go
    goes_left[: n_levels + 1] = 2 * left_r > n_r
    for i in range(present):
        goes_left[order[i]] = i < best_left
    return best


@inner
def _partition(column, rows, start, end, is_cut, cut, missing_left, n_levels, goes_left, spare):  # type: ignore[no-untyped-def]
    """Stable partition of rows[start:end]; the middle, the largest code left and the smallest right.

    Every row is written to both sides, and what counts moves on: a side is a branch that no processor guesses.
    """
    middle, n_right = np.uint64(start), np.uint64(0)
    left_max, right_min = -1, MISSING
    for i in range(np.uint64(start), np.uint64(end)):
        row = rows[i]
        code = np.int64(column[np.uint64(row)])
        if is_cut:
            is_missing = code == MISSING
            left = (is_missing & missing_left) | (~is_missing & (code <= cut))
            left_max = max(left_max, code if left & ~is_missing else -1)
            right_min = min(right_min, MISSING if left else code)
        else:
            left = goes_left[np.uint64(n_levels if code == MISSING else code)]
        rows[middle] = spare[n_right] = row
        middle += np.uint64(left)
        n_right += np.uint64(not left)
    for i in range(n_right):
        rows[middle + i] = spare[i]
    return np.int64(middle), left_max, right_min


@njit(inline="always")
def _count_real(rows, start, end, n_real):  # type: ignore[no-untyped-def]
    """How many of the sorted rows[start:end] are real (bisection)."""
    low, high = start, end
    while low < high:
        middle = (low + high) >> 1
        if rows[middle] < n_real:
            low = middle + 1
        else:
            high = middle
    return low - start


@njit(inline="always")
def _find_split(codes, n_levels, max_features, always, min_real, bag, start, n_r, n, state, room):  # type: ignore[no-untyped-def]
    """The best split of a node: column (−1 for none), largest code left, missing on the left, left levels."""
    best, best_column, best_cut, best_side = 1e-9, -1, 0, False
    goes_left, best_goes_left = room.goes_left, room.best_goes_left
    columns, is_always, buffer = room.columns, room.is_always, room.buffer
    real, total, share = room.real, room.total, room.share
    n_columns, n_always = len(codes), len(always)
    tried, i = 0, 0
    while i < n_always or (tried < max_features and i - n_always < n_columns):
        if i < n_always:
            j = always[i]
        else:  # the next column of a random order that is drawn only as far as it is needed
            k = i - n_always
            other = k + next_below(state, n_columns - k)
            j = columns[other]
            columns[other], columns[k] = columns[k], j
        i += 1
        if is_always[j] and i > n_always:
            continue
        cut, side = 0, False
        if n_levels[j] > 0:
            gain = _cut_levels(codes[j], bag, start, n_r, n, n_levels[j], min_real, real, total, share, goes_left)
        else:
            gain, cut, side = _cut_number(codes[j], bag, start, n_r, n, min_real, buffer, real, total)
        if gain >= 0.0 and i > n_always:
            tried += 1
        if gain > best:
            best, best_column, best_cut, best_side = gain, j, cut, side
            if n_levels[j] > 0:
                for level in range(n_levels[j] + 1):
                    best_goes_left[level] = goes_left[level]
    return best_column, best_cut, best_side, best_goes_left


class _Room(NamedTuple):
    """Scratch space for one tree."""

    columns: np.ndarray
    is_always: np.ndarray
    buffer: np.ndarray
    real: np.ndarray
    total: np.ndarray
    share: np.ndarray
    goes_left: np.ndarray
    best_goes_left: np.ndarray


@inner
def _make_room(n_levels, always, n_bag):  # type: ignore[no-untyped-def]
    size = _MAX_BINS
    is_always, columns = np.zeros(len(n_levels), np.bool_), np.empty(len(n_levels), np.int64)
    for j in range(len(n_levels)):
        columns[j], size = j, max(size, n_levels[j] + 1)
    for j in always:
        is_always[j] = True
    return _Room(
        columns,
        is_always,
        np.empty(n_bag, np.uint16),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty(size),
        np.empty(size, np.bool_),
        np.empty(size, np.bool_),
    )


@njit(inline="always")
def _push(stack, depth, node, start, end, out_start, out_end):  # type: ignore[no-untyped-def]
    stack[depth, 0], stack[depth, 1], stack[depth, 2] = node, start, end
    stack[depth, 3], stack[depth, 4] = out_start, out_end


@inner
def _vote(out, out_start, out_end, share, votes, n_votes):  # type: ignore[no-untyped-def]
    """Out-of-bag rows of a leaf vote with the leaf's in-bag share of real rows, less one half."""
    vote = np.int64(share * VOTE_SCALE) - VOTE_SCALE // 2
    for k in range(np.uint64(out_start), np.uint64(out_end)):
        row = np.uint64(out[k])
        votes[row] += vote
        n_votes[row] += 1


@inner
def _store_levels(bits, n_words, goes_left, n_levels):  # type: ignore[no-untyped-def]
    """Append a set of levels; returns the array (grown if needed) and how much of it is used."""
    n_new = (n_levels >> 6) + 1
    if n_words + n_new > len(bits):
        grown = np.zeros(2 * (n_words + n_new), np.uint64)
        for k in range(n_words):
            grown[k] = bits[k]
        bits = grown
    for k in range(n_levels):
        if goes_left[k]:
            bits[n_words + (k >> 6)] |= np.uint64(1) << np.uint64(k & 63)
    return bits, n_words + n_new


@kernel
def grow_tree(codes, n_levels, max_features, always, min_real, n_drawn, seed, votes, n_votes):  # type: ignore[no-untyped-def]
    """Grow one tree (see the module's text); votes of its out-of-bag rows are added to `votes` and `n_votes`.

    `codes` is (p, 2n); `n_levels[j]` is 0 for ranked columns and the number of levels for unordered ones.
    """
    n_rows = codes.shape[1]
    n_real = n_rows // 2
    state = np.empty(1, np.uint64)
    state[0] = seed
    n_out = n_rows - 2 * n_drawn
    bag, out = np.empty(2 * n_drawn + 1, np.int32), np.empty(n_out + 1, np.int32)
    _draw_rows(np.int64(0), n_real, n_drawn, state, bag, out)
    _draw_rows(n_real, n_real, n_drawn, state, bag[n_drawn:], out[n_real - n_drawn :])
    room, spare = _make_room(n_levels, always, 2 * n_drawn), np.empty(n_rows, np.int32)

    most_leaves = max(1, n_drawn // min_real)
    feature, child = np.full(2 * most_leaves, -1, np.int32), np.zeros(2 * most_leaves, np.int32)
    left_max, right_min = np.zeros(2 * most_leaves, np.uint16), np.zeros(2 * most_leaves, np.uint16)
    missing_left, words = np.zeros(2 * most_leaves, np.bool_), np.full(2 * most_leaves, -1, np.int32)
    bits, n_words = np.zeros(16, np.uint64), np.int64(0)
    leaf_rows, leaf_start = np.empty(n_real, np.int32), np.zeros(most_leaves + 1, np.int32)
    n_leaves, n_listed = 0, 0

    stack = np.empty((most_leaves + 2, 5), np.int64)
    _push(stack, 0, 0, 0, 2 * n_drawn, 0, n_out)
    depth, used = 1, 1
    while depth > 0:
        depth -= 1
        node, start, end, out_start, out_end = stack[depth]
        n_r = _count_real(bag, start, end, n_real)
        j = -1
        if n_r >= 2 * min_real and n_r < end - start:
            j, cut, side, goes_left = _find_split(
                codes, n_levels, max_features, always, min_real, bag, start, n_r, end - start, state, room
            )
        if j < 0:
            child[node] = n_leaves
            _vote(out, out_start, out_end, n_r / (end - start), votes, n_votes)
            n_r_out = _count_real(out, out_start, out_end, n_real)
            for k in range(n_r):
                leaf_rows[n_listed + k] = bag[start + k]
            for k in range(n_r_out):
                leaf_rows[n_listed + n_r + k] = out[out_start + k]
            n_listed += n_r + n_r_out
            n_leaves += 1
            leaf_start[n_leaves] = n_listed
            continue
        is_cut = n_levels[j] == 0
        if not is_cut:
            side = goes_left[n_levels[j]]
            words[node] = n_words
            bits, n_words = _store_levels(bits, n_words, goes_left, n_levels[j])
        middle, left_a, right_a = _partition(
            codes[j], bag, start, end, is_cut, cut, side, n_levels[j], goes_left, spare
        )
        out_middle, left_b, right_b = _partition(
            codes[j], out, out_start, out_end, is_cut, cut, side, n_levels[j], goes_left, spare
        )
        feature[node], child[node], missing_left[node] = j, used, side
        left_max[node], right_min[node] = max(left_a, left_b, 0), min(right_a, right_b)
        _push(stack, depth, used + 1, middle, end, out_middle, out_end)
        _push(stack, depth + 1, used, start, middle, out_start, out_middle)
        depth += 2
        used += 2

    return GrownTree(
        feature[:used].copy(),
        child[:used].copy(),
        left_max[:used].copy(),
        right_min[:used].copy(),
        missing_left[:used].copy(),
        words[:used].copy(),
        bits[:n_words].copy(),
        leaf_rows,
        leaf_start[: n_leaves + 1].copy(),
    )
