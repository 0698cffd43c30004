"""`Plausibility`: the judges of a table, who leads the search, and what is told to a person.

1. Judges are fitted: the forest, a mixture of Gaussians, each column given the others. Who is seated is in `seats`.
2. The *measure* leads the search and orders the Pareto set: the mean, in nats, of what those say who lead (`leaders`).
3. What is told is the word of all who are seated, and mostly of such as the search has not optimised. Each ranks a row
   among held-out real rows; the least of these ranks counts, and *typicality* is the share of held-out real rows whose
   own least rank is lower. Real rows are therefore typical by 50 % on average, whoever judges. (The mean of the
   ranks, or the leader's alone, is farther from the truth on generated networks: see ARCHITECTURE.md.)
4. A row of the training data is judged by models that have not seen it.
5. The *range* runs from the least to the largest word of single judges and of their parts, which have seen other rows.
6. Where each column given the others has a seat, a row's least plausible cell has a word too, if few real rows have
   one so odd; and cells that are more surprising than nearly all real ones are named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from countarfactuals.objectives import Gower, canonical
from countarfactuals.plausibility.cells import Cells
from countarfactuals.plausibility.conditionals import Conditionals
from countarfactuals.plausibility.forest_judge import ForestJudge, ForestParts
from countarfactuals.plausibility.mixture import Mixtures
from countarfactuals.plausibility.seats import Skill, leader_of, leaders_of, mixed_rows, seated, skill, sums_count
from countarfactuals.schema import Schema

FOREST, MIXTURE, CONDITIONALS, WORST_CELL = "forest", "mixture", "conditionals", "worst cell"
PARTS = 3
_FEWEST_ROWS = 100  # below, thirds of the rows say too little
_MOST_ROWS = 10_000  # that judges besides the forest are fitted to
_FEWEST_COLUMNS = 3  # for which a column given the others is a question of its own
_CLEAR_RISE = 2.0  # nats of a cell's log p by which another cell is the reason for its oddity
_OBJECTION = 0.2  # share of real rows that the least plausible cell may object to
ODD = 0.005  # share of real cells of a column that may be as surprising as one that is called odd


class Claims(NamedTuple):
    """What is told of rows."""

    typicality: np.ndarray  # (n,) share of real rows that are less typical
    low: np.ndarray  # (n,) the least word of any judge
    high: np.ndarray  # (n,) the largest
    objector: np.ndarray  # (n,) who had the least word, by position in `Plausibility.voices`
    cell: np.ndarray  # (n, p) share of real cells of the column that are more surprising; NaN where nobody can tell


@dataclass(frozen=True, eq=False)
class Plausibility:
    """The judges of one table.

    Parameters
    ----------
    forest_judge : the forest.
    forest_parts : how it judges rows that it has not seen; None where it has no seat, or rows are too few.
    mixtures, conditionals : the other judges, None where they were not asked or have no seat.
    leader : who leads the search, alone or with others, "forest" or "mixture".
    seats : whose word counts for claims, the leader first.
    held : by voice, what held-out real rows got; NaN for rows that were not judged. One number per row of `matrix`.
    held_cells : of `held`'s rows, log p of each cell given the others; (0, p) without such a judge.
    part_of : by row of `matrix`, which part of the judges has not seen it.
    skills : by judge, how well it knows real rows; empty where the forest judges alone.
    matrix : the rows that were judged held out.
    """

    forest_judge: ForestJudge
    forest_parts: ForestParts | None
    mixtures: Mixtures | None
    conditionals: Conditionals | None
    leader: str
    seats: tuple[str, ...]
    held: Mapping[str, np.ndarray]
    held_cells: np.ndarray
    part_of: np.ndarray
    skills: Mapping[str, Skill]
    matrix: np.ndarray

    # The measure, by the leader

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """The measure of each row, larger is more plausible."""
        return self._mean_of({leader: self._word(leader, rows) for leader in self.leaders})

    @cached_property
    def leaders(self) -> tuple[str, ...]:
        """Whose words make the measure."""
        return leaders_of(self.skills, self.seats) if self.skills else self.seats

    def _mean_of(self, words: Mapping[str, np.ndarray]) -> np.ndarray:
        """The mean of what densities say, and of this and what the cells say."""
        densities = [word for leader, word in words.items() if leader != CONDITIONALS]
        mean = densities[0] if len(densities) == 1 else 0.5 * (densities[0] + densities[1])
        return 0.5 * (mean + words[CONDITIONALS]) if CONDITIONALS in words else mean

    def _word(self, leader: str, rows: np.ndarray) -> np.ndarray:
        """Of cells by one part alone: a third of the time, and the others stay such as the search has not optimised."""
        if leader == CONDITIONALS:
            return np.asarray(self._conditionals.cell_log_p(rows, 0).sum(axis=1))
        return self.forest_judge(rows) if leader == FOREST else self._mixtures(rows)

    def log_density(self, rows: np.ndarray) -> np.ndarray:
        """The forest's log density of each row."""
        return self.forest_judge.log_density(rows)

    def judge(self, rows: np.ndarray, leaf_shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The measure of each row, and its probability of what has the given probability in each leaf."""
        if FOREST not in self.leaders:
            return self(rows), self.forest_judge.votes(rows, leaf_shares)
        own, votes = self.forest_judge.judge(rows, leaf_shares)
        words = {leader: own if leader == FOREST else self._word(leader, rows) for leader in self.leaders}
        return self._mean_of(words), votes

    def leaf_shares(self, condition: Any) -> np.ndarray:
        """The probability of one condition in each leaf of the forest."""
        return self.forest_judge.leaf_shares(condition)

    @cached_property
    def real(self) -> np.ndarray:
        """The measure of held-out real rows, ascending."""
        held = self._mean_of({leader: self.held[leader] for leader in self.leaders})
        return np.sort(held[~np.isnan(held)])

    def rank(self, measure: np.ndarray) -> np.ndarray:
        """Share of real rows whose measure is below each value."""
        return np.searchsorted(self.real, measure, side="left") / max(len(self.real), 1)

    @property
    def forest(self) -> Any:
        """The forest, which also draws."""
        return self.forest_judge.forest

    @property
    def measure(self) -> str:
        """How the forest sums up its trees."""
        return self.forest_judge.measure

    @property
    def name(self) -> str:
        """What the measure is called."""
        if len(self.leaders) > 1:
            return "mean log density of several judges"
        return self.forest_judge.name if self.leader == FOREST else "log density of a Gaussian mixture"

    # Claims, by all who are seated

    @property
    def voices(self) -> tuple[str, ...]:
        """Whose ranks count: those who are seated, and the least plausible cell where cells are judged."""
        heard = [seat for seat in self.seats if seat != CONDITIONALS or sums_count(self.skills, self.leader, seat)]
        return (*heard, WORST_CELL) if CONDITIONALS in self.seats else tuple(heard)

    def claims(self, rows: np.ndarray) -> Claims:
        """What is told of rows; those of the training data are judged by models that have not seen them."""
        place = self._places_of(rows)
        words, cells = self._words(rows, place)
        ranks = {voice: self._held_or(voice, self._ranks(voice, said), place) for voice, said in words.items()}
        means = np.array([rank.mean(axis=0) for rank in ranks.values()])
        typicality = self._share_below(means.min(axis=0))
        every = np.concatenate([*(ranks[voice] for voice in self.voices if voice != WORST_CELL), typicality[None]])
        return Claims(typicality, every.min(axis=0), every.max(axis=0), means.argmin(axis=0), cells)

    def _words(self, rows: np.ndarray, place: np.ndarray) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """By voice what each of its parts says of every row, (parts, n); and the ranks of the cells."""
        words: dict[str, np.ndarray] = {}
        cells = np.full(rows.shape, np.nan)
        for seat in self.seats:
            if seat == FOREST:
                parts = self.forest_parts
                words[seat] = (
                    self.forest_judge(rows)[None] if parts is None else np.array([parts(rows, k) for k in range(PARTS)])
                )
            elif seat == MIXTURE:
                words[seat] = np.array([self._mixtures(rows, k) for k in range(PARTS)])
            else:
                log_p = np.array([self._conditionals.cell_log_p(rows, k) for k in range(PARTS)])
                if seat in self.voices:
                    words[seat] = log_p.sum(axis=2)
                words[WORST_CELL] = np.array([self._cell_ranks(part).min(axis=1) for part in log_p])
                mean = log_p.mean(axis=0)
                mean[place >= 0] = self.held_cells[place[place >= 0]]
                cells = self._cell_ranks(mean)
        return words, cells

    def _held_or(self, voice: str, ranks: np.ndarray, place: np.ndarray) -> np.ndarray:
        """The ranks, (parts, n), of known rows those that they got when they were held out."""
        held = np.where(place >= 0, self.held[voice][np.maximum(place, 0)], np.nan)
        judged = ~np.isnan(held)
        ranks[:, judged] = self._ranks(voice, held[judged])
        return ranks

    def _share_below(self, least: np.ndarray) -> np.ndarray:
        """Share of held-out real rows whose least rank is lower."""
        return np.searchsorted(self._least_ranks, least, side="left") / max(len(self._least_ranks), 1)

    def overall(self, rows: np.ndarray) -> np.ndarray:
        """One number per row, larger is more plausible, by all who are seated; of a judge alone its measure."""
        if len(self.voices) == 1:
            return self(rows)
        words, _ = self._words(rows, np.full(len(rows), -1))
        return np.asarray(np.min([self._ranks(voice, said).mean(axis=0) for voice, said in words.items()], axis=0))

    def typicality(self, rows: np.ndarray) -> np.ndarray:
        """Share of real rows that are less typical than each row."""
        return self.claims(rows).typicality

    def is_typical(self, rows: np.ndarray, least: float) -> np.ndarray:
        """Which rows have a typicality of at least `least`."""
        return self.typicality(rows) >= least

    def summary(self) -> dict[str, Any]:
        """Who judges and how well, in JSON types: the figures of the best judge that has a seat come first."""
        best = max(
            (self.skills[seat] for seat in self.seats if seat in self.skills), key=lambda one: one.far, default=None
        )
        return {
            "leader": self.leader,
            "leaders": list(self.leaders),
            "seats": list(self.seats),
            "far": None if best is None else round(best.far, 4),
            "near": None if best is None else round(best.near, 4),
            "skills": {name: {"near": one.near, "far": one.far} for name, one in self.skills.items()},
        }

    def odd_partners(self, rows: np.ndarray, column: int) -> list[int | None]:
        """The other cell that makes a column's cell odd: the one with whose usual value it would surprise least.

        None where no single cell makes a clear difference.
        """
        n, p = rows.shape
        variants = np.repeat(rows, p, axis=0).reshape(n, p, p)
        variants[:, np.arange(p), np.arange(p)] = self._usual
        variants[:, column] = rows  # the cell itself stays: what the row is like now
        log_p = self._conditionals.column_log_p(variants.reshape(n * p, p), column).reshape(n, p)
        best = log_p.argmax(axis=1)
        is_clear = log_p[np.arange(n), best] >= log_p[:, column] + _CLEAR_RISE
        return [int(k) if clear else None for k, clear in zip(best, is_clear, strict=True)]

    @property
    def _mixtures(self) -> Mixtures:
        assert self.mixtures is not None
        return self.mixtures

    @property
    def _conditionals(self) -> Conditionals:
        assert self.conditionals is not None
        return self.conditionals

    def _ranks(self, voice: str, words: np.ndarray) -> np.ndarray:
        """Share of held-out real rows that got less, smooth between them and strictly rising beyond."""
        held = self._sorted[voice]
        n = len(held)
        if n < 2:
            return np.full(words.shape, 0.5)
        rank = np.interp(words, held, (np.arange(n) + 1.0) / (n + 1.0))
        with np.errstate(invalid="ignore", over="ignore"):  # impossible rows have −∞
            spread = np.fmax(held[n // 2] - held[0], 1e-12)
            below = np.exp(np.clip((words - held[0]) / spread, -700.0, 0.0)) / (n + 1.0)
            above = 1.0 - np.exp(np.clip((held[-1] - words) / spread, -700.0, 0.0)) / (n + 1.0)
        rank = np.where(words < held[0], below, np.where(words > held[-1], above, rank))
        # most real rows have some cell that is a little odd: only what few of them have is an objection
        return np.minimum(rank / _OBJECTION, 1.0) if voice == WORST_CELL else rank

    @cached_property
    def _sorted(self) -> dict[str, np.ndarray]:
        return {voice: np.sort(held[~np.isnan(held)]) for voice, held in self.held.items()}

    @cached_property
    def _least_ranks(self) -> np.ndarray:
        """The least rank of each held-out real row that every voice has judged, ascending."""
        held = np.array([self.held[voice] for voice in self.voices])
        held = held[:, ~np.isnan(held).any(axis=0)]
        return np.sort(np.min([self._ranks(v, words) for v, words in zip(self.voices, held, strict=True)], axis=0))

    def _cell_ranks(self, log_p: np.ndarray) -> np.ndarray:
        """Share of held-out real cells of the same column that are more surprising."""
        ranks = np.empty(log_p.shape)
        for j in range(log_p.shape[1]):
            held = self._sorted_cells[:, j]
            ranks[:, j] = (np.searchsorted(held, log_p[:, j], side="left") + 1.0) / (len(held) + 1.0)
            # beyond all of them, how far still matters to the least plausible cell
            far = log_p[:, j] < held[0]
            ranks[far, j] = np.exp(np.maximum(log_p[far, j] - held[0], -700.0)) / (len(held) + 1.0)
        return ranks

    @cached_property
    def _sorted_cells(self) -> np.ndarray:
        return np.sort(self.held_cells, axis=0)

    @cached_property
    def _usual(self) -> np.ndarray:
        """A usual value of each column: the middle one of its values, which for levels is one of the frequent."""
        usual = np.empty(self.matrix.shape[1])
        for j, column in enumerate(self.forest_judge.forest.schema_.columns[: len(usual)]):
            known = np.sort(self.matrix[~np.isnan(self.matrix[:, j]), j])
            if len(known) == 0:  # none of the rows that were judged has it
                usual[j] = np.nan
                continue
            values, counts = np.unique(known, return_counts=True)
            usual[j] = known[len(known) // 2] if column.is_number else values[np.argmax(counts)]
        return usual

    def _places_of(self, rows: np.ndarray) -> np.ndarray:
        """Where each row stands among those that were judged held out, −1 for a new one."""
        return np.array([self._index.get(row.tobytes(), -1) for row in canonical(rows)], np.int64)

    @cached_property
    def _index(self) -> dict[bytes, int]:
        return {row.tobytes(): i for i, row in reversed(list(enumerate(canonical(self.matrix))))}


@threadpool_limits.wrap(limits=1)  # matrices are small: threads would wait for each other
def fit_plausibility(
    forest: Any, schema: Schema, full: np.ndarray, measure: str | None, gower: Gower, rng: np.random.Generator
) -> Plausibility:
    """The judges of a table.

    Parameters
    ----------
    forest : fitted to `full`, whose first columns are the features.
    schema : of the features.
    measure : "median" or "density" for the forest alone; None lets other judges earn seats.
    gower : the distance by which rows are near.
    """
    p = len(schema.columns)
    judge = ForestJudge(forest, p, measure or "median")
    rngs = rng.spawn(5)
    rows = np.sort(rngs[0].permutation(len(full))[:_MOST_ROWS])
    matrix = np.ascontiguousarray(full[rows, :p])
    part_of = rngs[1].permutation(len(rows)) % PARTS
    if len(full) < _FEWEST_ROWS:  # a third of so few rows would tell nothing: they are judged as they were seen
        return _forest_alone(judge, None, {FOREST: judge(matrix)}, part_of, matrix)
    forest_parts = ForestParts.fit(judge, full[rows], part_of, rngs[2])
    measures, log_densities = np.ascontiguousarray(_held_out(forest_parts.with_log_density, matrix, part_of).T)
    held = {FOREST: measures}
    if measure is not None:
        return _forest_alone(judge, forest_parts, held, part_of, matrix)
    cells = Cells.of(schema, matrix)
    mixtures = Mixtures.fit(cells, matrix, part_of, rngs[3])
    conditionals = Conditionals.fit(cells, matrix, part_of, rngs[4]) if p >= _FEWEST_COLUMNS else None
    mixed = mixed_rows(matrix, part_of, np.arange(len(matrix)), gower, rng)
    of_base = part_of[mixed.base]

    def skill_of(values: np.ndarray, judged: Any, log_densities: np.ndarray | None = None) -> Skill:
        return skill(values[mixed.base], log_densities, _by_part(judged, of_base), mixed)

    skills = {FOREST: skill_of(measures, forest_parts, log_densities)}
    if mixtures is not None:
        log_densities = _held_out(mixtures.log_density, matrix, part_of)
        held[MIXTURE] = mixtures.measure(matrix, log_densities)
        skills[MIXTURE] = skill_of(held[MIXTURE], mixtures, log_densities)
    held_cells = np.empty((0, p))
    if conditionals is not None:
        held_cells = _held_out(conditionals.cell_log_p, matrix, part_of)
        held[CONDITIONALS] = held_cells.sum(axis=1)
        skills[CONDITIONALS] = skill_of(
            held[CONDITIONALS], lambda some, part: conditionals.cell_log_p(some, part).sum(axis=1)
        )
    leader = leader_of(skills, preferred=MIXTURE)
    seats = seated(skills, leader)
    panel = Plausibility(
        judge,
        forest_parts if FOREST in seats else None,
        mixtures if MIXTURE in seats else None,
        conditionals if CONDITIONALS in seats else None,
        leader,
        seats,
        {name: values for name, values in held.items() if name in seats},
        held_cells if CONDITIONALS in seats else held_cells[:0],
        part_of,
        skills,
        matrix,
    )
    if CONDITIONALS not in seats:
        return panel
    worst = panel._cell_ranks(held_cells).min(axis=1)
    object.__setattr__(panel, "held", {**panel.held, WORST_CELL: worst})
    return panel


def _forest_alone(
    judge: ForestJudge,
    parts: ForestParts | None,
    held: dict[str, np.ndarray],
    part_of: np.ndarray,
    matrix: np.ndarray,
) -> Plausibility:
    """A panel of one."""
    nothing = np.empty((0, matrix.shape[1]))
    return Plausibility(judge, parts, None, None, FOREST, (FOREST,), held, nothing, part_of, {}, matrix)


def _held_out(judge: Any, matrix: np.ndarray, part_of: np.ndarray) -> np.ndarray:
    """What each row gets from the part that has not seen it."""
    parts = [(np.flatnonzero(part_of == k), k) for k in range(PARTS)]
    values = [(at, judge(matrix[at], k)) for at, k in parts]
    result = np.empty((len(matrix), *values[0][1].shape[1:]))
    for at, value in values:
        result[at] = value
    return result


def _by_part(judge: Any, part_of: np.ndarray) -> Any:
    """A judge of rows whose bases belong to these parts."""
    return lambda rows: _held_out(judge, rows, part_of)
