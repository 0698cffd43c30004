"""A judge of its own kind: a mixture of full Gaussians, with shares of states, in the columns' own units.

    p(x) = Σ_k w_k N(x_C; μ_k, Σ_k) ∏_j p_kj(state of x_j)

1. Continuous cells C have a full covariance in each component, so that dependence between numbers is seen where the
   leaves of a forest are too small to hold it. Cells that are not continuous are left out: the Gaussian is that of
   the others, exactly.
2. Levels, atoms and gaps have shares per component, smoothed by a third of a row.
3. Expectation and maximisation alternate until the mean log density rises by less than 0.002 nat.
   Covariances are shrunk towards what all components have in common by the weight of some rows.
4. The number of components is climbed up a ladder as long as held-out rows profit.
5. Three mixtures are fitted, each without one third of the rows. Their mean judges new rows; a row of the training
   data is judged by the one that has not seen it.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Self

import numpy as np

from countarfactuals._kernels import kernel
from countarfactuals.plausibility.cells import Cells
from countarfactuals.stored_arrays import taken

LADDER = (1, 4, 12, 25, 45)
_MOST_ROUNDS, _LEAST_RISE = 40, 2e-3
_COMMON_ROWS = 20.0  # weight of the covariance that all components have in common
_COMMON_DIAGONAL = 0.5  # share of its off-diagonal that is left out
_LEAST_VARIANCE = 1e-4  # of standardised columns
_SMOOTHING = 0.3  # rows per state
_ROWS_PER_COMPONENT = 6  # times its numbers and one more, at least
_MOST_PATTERNS = 64  # patterns of gaps and atoms that are fitted; rows of rarer ones are left out
_LLOYD_ROUNDS = 5
_NEGLIGIBLE = 1e-5  # share of a row in a component
_LOG_NEGLIGIBLE = math.log(_NEGLIGIBLE)
_ABREAST = 64  # rows that a kernel takes at once
_FLOOR = -700.0
_LARGEST, _ROUNDING = 1e100, 1e-6  # of a number in a file; of a log probability above 0


class Mixture(NamedTuple):
    """One fitted mixture, on standardised numbers."""

    log_weight: np.ndarray  # (K,)
    mean: np.ndarray  # (K, q)
    covariance: np.ndarray  # (K, q, q)
    centre: np.ndarray  # (q,) of the columns' own units
    scale: np.ndarray  # (q,)
    log_share: np.ndarray  # (K, all states), of the stated columns one after the other, missing last in each


class Mixtures:
    """Several mixtures that each lack a part of the rows, as one judge."""

    name = "mixture"

    def __init__(self, cells: Cells, parts: tuple[Mixture, ...]) -> None:
        self.cells = cells
        self.parts = parts
        self._factors: dict[bytes, list[tuple[np.ndarray, np.ndarray]]] = {}

    @classmethod
    def fit(cls, cells: Cells, matrix: np.ndarray, part_of: np.ndarray, rng: np.random.Generator) -> Self | None:
        """Fitted to rows; the k-th mixture does not see rows with `part_of` k. None where rows are too few."""
        read = _Read.of(cells, matrix)
        usual = np.flatnonzero(_is_usual(read.present))
        if len(usual) < 0.5 * len(matrix):
            return None
        n_parts = int(part_of.max()) + 1
        seeds = rng.integers(2**63, size=n_parts)
        first = usual[part_of[usual] != 0]
        chosen = _climb(cells, read, first, usual[part_of[usual] == 0], int(seeds[0]))
        if chosen is None:
            return None
        n_components = len(chosen.log_weight)
        others = (
            _fit(cells, read.rows(usual[part_of[usual] != k]), n_components, int(seeds[k])) for k in range(1, n_parts)
        )
        return cls(cells, (chosen, *others))

    def log_density(self, rows: np.ndarray, part: int | None = None) -> np.ndarray:
        """Log density of each row, by all mixtures or by one of them."""
        read = _Read.of(self.cells, rows)
        chosen = range(len(self.parts)) if part is None else (part,)
        total = np.full(len(rows), -math.inf)
        for pattern, at in _by_pattern(read.present):
            factors = self._factors_of(pattern)
            some = read.rows(at)
            for k in chosen:
                total[at] = np.logaddexp(total[at], _log_density(self.parts[k], some, pattern, factors[k]))
        return total - math.log(len(chosen))

    def __call__(self, rows: np.ndarray, part: int | None = None) -> np.ndarray:
        """How plausible each row is: its log density less what gaps and atoms cost."""
        return self.measure(rows, self.log_density(rows, part))

    def measure(self, rows: np.ndarray, log_densities: np.ndarray) -> np.ndarray:
        """How plausible rows of known log density are."""
        return log_densities - self.cells.cost(self.cells.states(rows))

    def _factors_of(self, pattern: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        key = pattern.tobytes()
        if key not in self._factors:
            self._factors[key] = [_factors(part.covariance, pattern) for part in self.parts]
        return self._factors[key]

    def arrays(self) -> dict[str, np.ndarray]:
        """What `restored` needs."""
        return {f"{k}.{name}": value for k, part in enumerate(self.parts) for name, value in part._asdict().items()}

    @classmethod
    def restored(cls, cells: Cells, arrays: dict[str, np.ndarray]) -> Self:
        """The inverse of `arrays`; KeyError or ValueError for what can not be."""
        n_parts = 1 + max(int(name.split(".")[0]) for name in arrays)
        parts = (_sound(cells, {name: arrays[f"{k}.{name}"] for name in Mixture._fields}) for k in range(n_parts))
        return cls(cells, tuple(parts))


def _sound(cells: Cells, arrays: dict[str, np.ndarray]) -> Mixture:
    """A mixture from a file."""
    n_components, q = len(arrays["log_weight"]), len(cells.numbers)
    n_states = int((cells.n_states[cells.stated] + 1).sum())
    covariance = taken(arrays, "covariance", np.float64, (n_components, q, q))
    if n_components == 0 or not np.allclose(covariance, covariance.transpose(0, 2, 1)):
        raise ValueError("a mixture has no components, or covariances that can not be")
    np.linalg.cholesky(covariance)  # an error that is a ValueError where one can not be
    return Mixture(
        log_weight=taken(arrays, "log_weight", np.float64, (n_components,), high=_ROUNDING),
        mean=taken(arrays, "mean", np.float64, (n_components, q), -_LARGEST, _LARGEST),
        covariance=covariance,
        centre=taken(arrays, "centre", np.float64, (q,), -_LARGEST, _LARGEST),
        scale=taken(arrays, "scale", np.float64, (q,), 1.0 / _LARGEST, _LARGEST),
        log_share=taken(arrays, "log_share", np.float64, (n_components, n_states), -_LARGEST, _ROUNDING),
    )


class _Read(NamedTuple):
    """Rows as a mixture reads them."""

    numbers: np.ndarray  # (n, q), own units, NaN where a cell is not continuous
    present: np.ndarray  # bool (n, q)
    at: np.ndarray  # int64 (n, stated columns), place of the state among all, −1 where it is not judged
    constant: np.ndarray  # (n,) by which atoms are spread over their width

    @classmethod
    def of(cls, cells: Cells, rows: np.ndarray) -> _Read:
        states = cells.states(rows)
        numbers = cells.continuous(rows, states)
        stated = cells.stated
        start = np.concatenate([[0], np.cumsum(cells.n_states[stated] + 1)])[:-1].astype(np.int64)
        is_gap = states == cells.n_states
        is_atom = np.zeros(rows.shape, np.bool_)
        for j, column in enumerate(cells.columns):
            if column.is_number and len(column.atoms):
                is_atom[:, j] = ~is_gap[:, j] & (states[:, j] >= int(j in cells.numbers))
        # a gap where training had none says nothing
        at = np.where(is_gap[:, stated] & ~cells.has_gaps[stated], -1, start + states[:, stated])
        return cls(numbers, ~np.isnan(numbers), at, -np.where(is_atom, cells.log_step, 0.0).sum(axis=1))

    def rows(self, chosen: np.ndarray) -> _Read:
        return _Read(self.numbers[chosen], self.present[chosen], self.at[chosen], self.constant[chosen])


class _Alike(NamedTuple):
    """Rows whose continuous cells are in the same columns."""

    pattern: np.ndarray  # bool (q,), which columns
    rows: np.ndarray  # positions, ascending
    read: _Read  # of these rows
    z: np.ndarray  # (rows, q) standardised, 0 in other columns
    known: np.ndarray  # (rows, columns of the pattern)

    def of(self, array: np.ndarray) -> np.ndarray:
        """These rows of an array of all."""
        return array if len(self.rows) == len(array) else array[self.rows]


def _is_usual(present: np.ndarray) -> np.ndarray:
    """Which rows have one of the most frequent patterns of continuous cells."""
    _, place, count = np.unique(present, axis=0, return_inverse=True, return_counts=True)
    kept = np.argsort(-count, kind="stable")[:_MOST_PATTERNS]
    return np.isin(place.ravel(), kept)


def _by_pattern(present: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """The distinct patterns of continuous cells, and the rows of each."""
    if len(present) == 0:
        return []
    if present.all():
        return [(present[0], np.arange(len(present)))]
    patterns, place = np.unique(present, axis=0, return_inverse=True)
    return [(pattern, np.flatnonzero(place.ravel() == k)) for k, pattern in enumerate(patterns)]


def _climb(cells: Cells, read: _Read, seen: np.ndarray, unseen: np.ndarray, seed: int) -> Mixture | None:
    """The mixture on the rung of the ladder up to which unseen rows profit; None where one component has too few."""
    most = len(seen) // (_ROWS_PER_COMPONENT * (read.numbers.shape[1] + 1))
    best, best_score = None, -math.inf
    for n_components in LADDER:
        if n_components > most or len(unseen) == 0:
            break
        part = _fit(cells, read.rows(seen), n_components, seed)
        score = 0.0
        for pattern, at in _by_pattern(read.present[unseen]):
            some = read.rows(unseen[at])
            score += float(_log_density(part, some, pattern, _factors(part.covariance, pattern)).sum())
        if score <= best_score:
            break
        best, best_score = part, score
    return best


# Fitting


def _fit(cells: Cells, read: _Read, n_components: int, seed: int) -> Mixture:
    """One mixture by expectation and maximisation."""
    centre, scale = _location(read.numbers)
    z = np.where(read.present, (read.numbers - centre) / scale, 0.0)
    alike = [
        _Alike(pattern, at, read.rows(at), z[at], np.ascontiguousarray(z[np.ix_(at, np.flatnonzero(pattern))]))
        for pattern, at in _by_pattern(read.present)
    ]
    n_states = int((cells.n_states[cells.stated] + 1).sum())
    share = _first_shares(z, n_components, np.random.default_rng(seed))
    last = -math.inf
    part = Mixture(*_parameters(alike, share, None), centre, scale, _log_shares(read.at, share, n_states, cells))
    for _ in range(_MOST_ROUNDS):
        for some in alike:
            factors = _factors(part.covariance, some.pattern)
            share[some.rows] = _log_parts(part, some.read, some.known, some.pattern, factors)
        level = _share_out(share) / len(z)  # from log parts to shares
        if level - last < _LEAST_RISE:
            break
        last = level
        log_weight, mean, covariance = _parameters(alike, share, part)
        part = Mixture(log_weight, mean, covariance, centre, scale, _log_shares(read.at, share, n_states, cells))
    return part


def _location(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    known = ~np.isnan(numbers)
    count = np.maximum(known.sum(axis=0), 1)
    centre = np.where(known, numbers, 0.0).sum(axis=0) / count
    spread = np.sqrt((np.where(known, numbers - centre, 0.0) ** 2).sum(axis=0) / count)
    return centre, np.where(spread > 0.0, spread, 1.0)


def _first_shares(z: np.ndarray, n_components: int, rng: np.random.Generator) -> np.ndarray:
    """Rows shared out to their nearest centres, after a few rounds of Lloyd's algorithm."""
    centres = z[rng.choice(len(z), n_components, replace=len(z) < n_components)]
    share = np.zeros((len(z), n_components))
    share[np.arange(len(z)), _lloyd(np.ascontiguousarray(z), centres)] = 1.0
    return share


@kernel
def _lloyd(z, centres):  # type: ignore[no-untyped-def]
    """The nearest centre of each row; a kernel, as BLAS would wait for threads that other work keeps busy."""
    n, q = z.shape
    nearest = np.zeros(n, np.int64)
    for _ in range(_LLOYD_ROUNDS):
        total, count = np.zeros(centres.shape), np.zeros(len(centres))
        for i in range(n):
            least = math.inf
            for k in range(len(centres)):
                distance = 0.0
                for a in range(q):
                    distance += (z[i, a] - centres[k, a]) ** 2
                if distance < least:
                    least, nearest[i] = distance, k
            for a in range(q):
                total[nearest[i], a] += z[i, a]
            count[nearest[i]] += 1.0
        for k in range(len(centres)):
            if count[k] > 0.0:
                for a in range(q):
                    centres[k, a] = total[k, a] / count[k]
    return nearest


def _parameters(
    alike: list[_Alike], share: np.ndarray, last: Mixture | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log weights, means and covariances that are likeliest given the shares."""
    n_components, q = share.shape[1], alike[0].z.shape[1]
    weight = share.sum(axis=0) + 1e-9
    total, outer = np.zeros((n_components, q)), np.zeros((n_components, q, q))
    for some in alike:
        if some.pattern.all() or last is None:
            _add_rows(some.z, some.of(share), total, outer)
        else:
            _add_filled(some.z, some.of(share), some.pattern, last, total, outer)
    mean = total / weight[:, None]
    scatter = outer - weight[:, None, None] * mean[:, :, None] * mean[:, None, :]
    common = scatter.sum(axis=0) / weight.sum()
    common = (1.0 - _COMMON_DIAGONAL) * common + _COMMON_DIAGONAL * np.diag(np.diag(common))
    covariance = (scatter + _COMMON_ROWS * common) / (weight + _COMMON_ROWS)[:, None, None]
    covariance += _LEAST_VARIANCE * np.eye(q)
    return np.log(weight / weight.sum()), mean, covariance


def _add_filled(
    z: np.ndarray, share: np.ndarray, pattern: np.ndarray, last: Mixture, total: np.ndarray, outer: np.ndarray
) -> None:
    """Add rows of one pattern whose other numbers are expected given those that are there."""
    known, absent = np.flatnonzero(pattern), np.flatnonzero(~pattern)
    for k in range(share.shape[1]):
        covariance, mean = last.covariance[k], last.mean[k]
        slope = np.linalg.solve(covariance[np.ix_(known, known)], covariance[np.ix_(known, absent)])
        filled = z.copy()
        filled[:, absent] = mean[absent] + (z[:, known] - mean[known]) @ slope
        rest = covariance[np.ix_(absent, absent)] - covariance[np.ix_(absent, known)] @ slope
        weight = share[:, k]
        total[k] += weight @ filled
        outer[k] += (filled * weight[:, None]).T @ filled
        outer[k][np.ix_(absent, absent)] += weight.sum() * rest


@kernel
def _add_rows(z, share, total, outer):  # type: ignore[no-untyped-def]
    """Add weighted sums and outer products of rows; most rows belong to few components."""
    n, q = np.uint64(z.shape[0]), np.uint64(z.shape[1])
    for i in range(n):
        for k in range(np.uint64(share.shape[1])):
            weight = share[i, k]
            if weight > _NEGLIGIBLE:
                for a in range(q):
                    value = weight * z[i, a]
                    total[k, a] += value
                    for b in range(a + np.uint64(1)):
                        outer[k, a, b] += value * z[i, b]
    for k in range(share.shape[1]):
        for a in range(q):
            for b in range(a):
                outer[k, b, a] = outer[k, a, b]


def _log_shares(at: np.ndarray, share: np.ndarray, n_states: int, cells: Cells) -> np.ndarray:
    """Log shares of the states in each component, smoothed."""
    counts = np.zeros((n_states, share.shape[1]))
    _count_states(at, share, counts)
    start = 0
    for size in (cells.n_states[cells.stated] + 1).tolist():
        block = counts[start : start + size] + min(_SMOOTHING, 1.0 / size)
        counts[start : start + size] = np.log(block / block.sum(axis=0))
        start += size
    return np.ascontiguousarray(counts.T)


@kernel
def _count_states(at, share, counts):  # type: ignore[no-untyped-def]
    for i in range(np.uint64(at.shape[0])):
        for j in range(np.uint64(at.shape[1])):
            if at[i, j] >= 0:
                state = np.uint64(at[i, j])
                for k in range(np.uint64(share.shape[1])):
                    counts[state, k] += share[i, k]


# Densities


def _factors(covariance: np.ndarray, pattern: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of the pattern's columns, the inverse Cholesky factor of each component and its log determinant."""
    known = np.flatnonzero(pattern)
    factor = np.linalg.cholesky(covariance[:, known[:, None], known[None, :]])
    inverse = np.linalg.inv(factor) if len(known) else factor
    return np.ascontiguousarray(np.tril(inverse)), np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)


def _log_parts(
    part: Mixture, read: _Read, z: np.ndarray, pattern: np.ndarray, factors: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Log density of each component times its weight, (n, K), for rows of one pattern, standardised in `z`."""
    inverse, log_determinant = factors
    known = np.flatnonzero(pattern)
    unit = 0.5 * len(known) * math.log(2.0 * math.pi) + float(np.log(part.scale[known]).sum())
    constant = part.log_weight - log_determinant - unit
    log_parts = _gaussians(z, np.ascontiguousarray(part.mean[:, known]), inverse, constant)
    _add_states(read.at, part.log_share, log_parts)
    log_parts += read.constant[:, None]
    return np.asarray(log_parts)


def _log_density(part: Mixture, read: _Read, pattern: np.ndarray, factors: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    known = np.flatnonzero(pattern)
    z = np.ascontiguousarray((read.numbers[:, known] - part.centre[known]) / part.scale[known])
    return _log_sums(_log_parts(part, read, z, pattern, factors))


@kernel
def _gaussians(z, mean, inverse, constant):  # type: ignore[no-untyped-def]
    """constant_k − ½ |L_k⁻¹ (z − μ_k)|². Some rows go abreast, in vector registers; each sees the same operations
    wherever it stands, so that a row's bits do not depend on its neighbours.
    """
    n, q = z.shape
    n_components = len(mean)
    result = np.empty((n, n_components))
    lanes, away, part = np.empty((q, _ABREAST)), np.empty((q, _ABREAST)), np.empty(_ABREAST)
    squares = np.empty(_ABREAST)
    for first in range(0, n, _ABREAST):
        for lane in range(_ABREAST):
            i = min(first + lane, n - 1)
            for a in range(q):
                lanes[a, lane] = z[i, a]
        for k in range(n_components):
            for a in range(q):
                for lane in range(_ABREAST):
                    away[a, lane] = lanes[a, lane] - mean[k, a]
            squares[:] = 0.0
            for a in range(q):
                part[:] = 0.0
                for b in range(a + 1):
                    factor = inverse[k, a, b]
                    for lane in range(_ABREAST):
                        part[lane] += factor * away[b, lane]
                for lane in range(_ABREAST):
                    squares[lane] += part[lane] * part[lane]
            for lane in range(min(_ABREAST, n - first)):
                result[first + lane, k] = constant[k] - 0.5 * squares[lane]
    return result


@kernel
def _add_states(at, log_share, log_parts):  # type: ignore[no-untyped-def]
    for i in range(at.shape[0]):
        for j in range(at.shape[1]):
            if at[i, j] >= 0:
                for k in range(log_parts.shape[1]):
                    log_parts[i, k] += log_share[k, at[i, j]]


@kernel
def _share_out(log_parts):  # type: ignore[no-untyped-def]
    """Turn log parts into what share of each row every component has; the sum of the rows' log densities."""
    level = 0.0
    for i in range(log_parts.shape[0]):
        largest, total = -math.inf, 0.0
        for k in range(log_parts.shape[1]):
            largest = max(largest, log_parts[i, k])
        for k in range(log_parts.shape[1]):
            away = log_parts[i, k] - largest
            log_parts[i, k] = math.exp(away) if away > _LOG_NEGLIGIBLE else 0.0
            total += log_parts[i, k]
        for k in range(log_parts.shape[1]):
            log_parts[i, k] /= total
        level += largest + math.log(total)
    return level


@kernel
def _log_sums(log_parts):  # type: ignore[no-untyped-def]
    """Log Σ_k e^v of each row; far from all components the sum is kept above underflow."""
    n, n_components = log_parts.shape
    result = np.empty(n)
    for i in range(n):
        largest = -math.inf
        for k in range(n_components):
            largest = max(largest, log_parts[i, k])
        total = 0.0
        for k in range(n_components):
            if log_parts[i, k] - largest > _FLOOR:
                total += math.exp(log_parts[i, k] - largest)
        result[i] = largest + math.log(total)
    return result
