"""`Counterfactuals`: the answer for one row.

Everything is kept in matrix codes (see `schema`) beside the schema that turns them into the user's values. Nothing can
be changed after it is made; `select` and `filter` give new results. Counterfactuals are numbered from 0, in frames,
in `changes` and on the screen.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from countarfactuals.constraints import Constraints, Limits
from countarfactuals.counterfactuals import display, frames, select, storage
from countarfactuals.counterfactuals.diagnosis import Diagnosis, read_only
from countarfactuals.counterfactuals.from_above import FromAbove
from countarfactuals.counterfactuals.importance import importance
from countarfactuals.counterfactuals.remarks import FILTERED, Note, Oddity
from countarfactuals.exceptions import CountarfactualsError, DataError, ParameterError, listed
from countarfactuals.language import Language, speaking
from countarfactuals.language.vocabulary import words_of
from countarfactuals.objectives import changed
from countarfactuals.parameters import as_float, check_float, check_int
from countarfactuals.prediction import Score, Target
from countarfactuals.schema import Labels, Schema

STATUSES = ("found", "already", "none", "error")


@dataclass(frozen=True, eq=False, repr=False)
class Counterfactuals(storage.Stored):
    """Counterfactuals of one row, with all that is known of them.

    Parameters
    ----------
    schema : of the features.
    x : the row that is explained, in matrix codes, shape (p,).
    rows : the counterfactuals, shape (n, p).
    target : the wanted outcome; None where it could not be understood.
    method : name of the explainer.
    status : "found", "already" (x has the outcome), "none" or "error".
    score_columns, x_scores, scores : what the scores are (s), those of x (s,) and of the rows (n, s).
    x_label, labels : predicted label or value of x and of each row.
    objectives : by name, shape (n,), smaller is better.
    log_density, x_log_density : log p̂ of the rows and of x, by the forest as a whole.
    typicality, x_typicality : share of real rows that are less typical, by all judges that have a seat.
    typicality_range : from the least to the largest word of single judges, shape (n, 2); NaN where it is not known.
    objectors : by row, the judge that had the least word.
    oddities : by row, the changed cells that are unusual given the rest.
    is_real_row : whether a row equals a row of the training data.
    consequence : which cells differ from x because others do, shape (n, p).
    notes : what a reader should know; a text counts as a note of its own.
    diagnosis : why nothing was found.
    constraints : what was asked of the changes.
    provenance : how it was made: versions, seed, evaluations, seconds, settings; JSON types.
    measure : what the objective "implausibility" measures.
    error : what went wrong, with status "error".
    x_cells : cells of x, by position, that came as other objects than the schema writes, such as -0.0 and `np.str_`;
        frames have them where they did not change.
    failure : the error itself, where it is one of this package's; it is not stored.
    n_found : how many counterfactuals there were before `select` and `filter`; None for as many as there are rows.
    """

    to_html = FromAbove("countarfactuals.report", "to_html")
    letter = FromAbove("countarfactuals.letter", "make_letter")

    schema: Schema
    x: np.ndarray
    rows: np.ndarray
    target: Target | None
    method: str
    status: str
    score_columns: tuple[Score, ...]
    x_scores: np.ndarray
    scores: np.ndarray
    x_label: Any
    labels: tuple[Any, ...]
    objectives: dict[str, np.ndarray]
    log_density: np.ndarray
    x_log_density: float
    typicality: np.ndarray
    x_typicality: float
    is_real_row: np.ndarray
    notes: tuple[Note, ...] = ()
    diagnosis: Diagnosis | None = None
    constraints: Constraints = field(default_factory=Constraints)
    provenance: dict[str, Any] = field(default_factory=dict)
    measure: str = "log density"
    error: str | None = None
    n_found: int = None  # type: ignore[assignment]
    typicality_range: np.ndarray = None  # type: ignore[assignment]
    objectors: tuple[str, ...] = ()
    oddities: tuple[tuple[Oddity, ...], ...] = ()
    consequence: np.ndarray = None  # type: ignore[assignment]
    x_cells: Mapping[int, Any] = None  # type: ignore[assignment]
    failure: CountarfactualsError | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self._freeze()
        _check(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # unpickled arrays can be written to
        self.__dict__.update(state)
        self._freeze()

    def _freeze(self) -> None:
        def put(name: str, value: Any) -> None:
            object.__setattr__(self, name, value)

        for name in ("x", "x_scores", "log_density", "typicality"):
            put(name, read_only(getattr(self, name)))
        for name, columns in (("rows", len(self.x)), ("scores", len(self.x_scores))):
            values = np.asarray(getattr(self, name), dtype=np.float64)
            put(name, read_only(values.reshape(0, columns) if values.size == 0 and values.ndim < 2 else values))
        put("is_real_row", read_only(self.is_real_row, np.bool_))
        put("objectives", {str(name): read_only(values) for name, values in self.objectives.items()})
        put("labels", tuple(storage.plain_label(label) for label in self.labels))
        put("x_label", storage.plain_label(self.x_label))
        put("x_log_density", float(self.x_log_density))
        put("x_typicality", float(self.x_typicality))
        put("score_columns", tuple(self.score_columns))
        put("notes", tuple(map(Note.of, self.notes)))
        n = len(self.rows)
        if self.__dict__.get("typicality_range") is None:
            put("typicality_range", np.full((n, 2), np.nan))
        put("typicality_range", read_only(np.asarray(self.typicality_range, np.float64).reshape(-1, 2)))
        if self.__dict__.get("consequence") is None:
            put("consequence", np.zeros(self.rows.shape))
        put("consequence", read_only(self.consequence, np.bool_))
        put("x_cells", dict(self.__dict__.get("x_cells") or {}))
        put("objectors", tuple(self.__dict__.get("objectors") or [""] * n))
        put("oddities", tuple(tuple(cells) for cells in self.__dict__.get("oddities") or [()] * n))
        if self.__dict__.get("n_found") is None:  # also pickled by earlier versions
            put("n_found", len(self.rows))
        put("provenance", storage.plain_json(self.provenance, "provenance"))

    @classmethod
    def empty(
        cls,
        schema: Schema,
        x: np.ndarray | None,
        *,
        target: Target | None,
        method: str,
        status: str,
        score_columns: Sequence[Score] = (),
        x_scores: Any = (),
        x_label: Any = None,
        objectives: Sequence[str] = (),
        **known: Any,
    ) -> Counterfactuals:
        """A result without rows; `x` is None where it could not be read, `known` are further fields."""
        nothing = np.zeros(0)
        fields: dict[str, Any] = {"x_log_density": np.nan, "x_typicality": np.nan, **known}
        return cls(
            schema=schema,
            x=np.full(len(schema.columns), np.nan) if x is None else x,
            rows=np.zeros((0, len(schema.columns))),
            target=target,
            method=method,
            status=status,
            score_columns=tuple(score_columns),
            x_scores=x_scores,
            scores=np.zeros((0, len(score_columns))),
            x_label=x_label,
            labels=(),
            objectives=dict.fromkeys(objectives, nothing),
            log_density=nothing,
            typicality=nothing,
            is_real_row=nothing,
            **fields,
        )

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def score_names(self) -> tuple[str, ...]:
        """What the scores are called in frames."""
        return tuple(score.name for score in self.score_columns)

    @cached_property
    def changed(self) -> np.ndarray:
        """Which cells differ from x, shape (n, p); two missing cells do not differ."""
        return read_only(changed(self.rows, self.x), np.bool_)

    @cached_property
    def n_changed(self) -> np.ndarray:
        """How many features differ from x that do not follow from others, shape (n,)."""
        return read_only((self.changed & ~self.consequence).sum(axis=1), np.int64)

    @cached_property
    def changes_at(self) -> tuple[tuple[list[int], list[int]], ...]:
        """By row, the columns that change of their own, and those that change because others do."""
        own, along = (_true_at(self.changed & cells) for cells in (~self.consequence, self.consequence))
        return tuple(zip(own, along, strict=True))

    @cached_property
    def label_texts(self) -> frozenset[str]:
        """All labels that x, the rows and the scores have, as text."""
        return frozenset(map(str, (self.x_label, *self.labels, *(score.label for score in self.score_columns))))

    @cached_property
    def density_cost(self) -> np.ndarray:
        """The paper's measure e^(−p̂), shape (n,); 1 to the last bit where p̂ is below 1e-17."""
        with np.errstate(over="ignore"):
            return read_only(np.exp(-np.exp(self.log_density)))

    @property
    def limits(self) -> Limits | None:
        """The constraints, bound to x; None for those of a file that this version can not bind."""
        try:
            return self.constraints.bind(self.schema, self.x)
        except CountarfactualsError:
            return None

    def history(self) -> pd.DataFrame:
        """What became of an evolutionary search, one line per generation; without lines for other methods.

        The hypervolume is that of all counterfactuals found so far; `best …` and `mean …` are those of each objective
        in the population.
        """
        stored = self.provenance.get("history") or {"generation": [], "hypervolume": []}
        parts = {f"{part} {name}": values for part in ("best", "mean") for name, values in stored.get(part, {}).items()}
        return pd.DataFrame({"generation": stored["generation"], "hypervolume": stored["hypervolume"], **parts})

    def to_frame(self, objectives: bool = False) -> Any:
        """The rows in the library and types of the training data; cells that did not change are those that came.

        With `objectives`, columns are added: scores, prediction, objectives, log_density, density_cost, typicality,
        typicality_low, typicality_high, is_real_row.
        For users of numpy that frame is of pandas. An added name that is a feature already gets an underscore.
        """
        cells = frames.unchanged_cells((self,))
        if not objectives:
            return self.schema.decode(self.rows, cells=cells)
        return frames.frame_of(self.schema, self.rows, self.measures(), cells=cells)

    def measures(self) -> dict[str, Any]:
        """What `to_frame(objectives=True)` adds, by name."""
        others = {name: getattr(self, name) for name in ("log_density", "density_cost", "typicality")}
        others |= {"typicality_low": self.typicality_range[:, 0], "typicality_high": self.typicality_range[:, 1]}
        others["is_real_row"] = self.is_real_row
        return frames.measures(self.score_names, self.scores, self.labels, self.objectives, others)

    def changes(self) -> Any:
        """What differs from x, one line per changed cell: counterfactual, feature, from, to, consequence (pandas).

        A consequence follows from the other changes.
        """
        return frames.long_frame(frames.change_list(self))

    def importance(self, k: int | None = None) -> pd.DataFrame:
        """How often and how far each feature changes, the most frequent first.

        The columns are feature, share, up, down, follows, size, amount.

        `share`, `up`, `down` and `follows` (changes because others do) are shares of the counterfactuals; `size` and
        `amount` are means where it changes, as a share of the data's range and in the column's own units.

        Parameters
        ----------
        k : how many counterfactuals count, chosen as by `select`; None for all.
        """
        return importance((self,), k)

    def select(
        self, k: int = 3, prefer: str | Mapping[str, float] | None = None, diversity: float = 0.5
    ) -> Counterfactuals:
        """At most k rows that are good and unlike each other, the best first; `n_found` still counts all.

        Near-twins are one, so that there may be fewer than k.

        Parameters
        ----------
        k : how many.
        prefer : the objective that counts, or weights by objective; None for easy and likely ones, in the order of the
            result, unusual ones last. "robust" is short for "fragility", which `with_robustness` adds.
        diversity : from 0 (the best rows, however alike) to 1 (the best one, and those farthest from each other).
        """
        return self._take(np.array(self.positions(check_int("k", k, 1), prefer, diversity), np.intp))

    def positions(
        self, k: int | None = 3, prefer: str | Mapping[str, float] | None = None, diversity: float = 0.5
    ) -> list[int]:
        """Which rows `select` takes, by their number; all of them, in their order, for None."""
        diversity = check_float("diversity", diversity, 0.0, 1.0)
        weights = None if prefer is None else select.check_prefer(prefer, self.objectives)
        if k is None:
            return list(range(len(self)))
        if weights is None:
            cost = select.burden(self.objectives, self.typicality, np.array([*map(bool, self.oddities)], np.bool_))
        else:
            cost = select.cost_of(self.objectives, weights, len(self))
        return select.choose(self.schema, self.x, self.rows, cost, check_int("k", k, 1), diversity)

    def with_robustness(self, frame: pd.DataFrame) -> Counterfactuals:
        """The same with one more objective, "fragility": `select(prefer="robust")` then takes the least fragile.

        Parameters
        ----------
        frame : what `Explainer.robustness` gave for this result; its column "fragility" counts, a line per row.
        """
        fragility = _fragility(frame)
        if len(fragility) != len(self):
            raise DataError(
                f"The frame has {len(fragility)} lines for {len(self)} counterfactuals. Pass that of this very result, "
                "before `select` or `filter`."
            )
        return replace(self, objectives={**self.objectives, select.FRAGILITY: fragility})

    def filter(
        self,
        max_changed: int | None = None,
        min_typicality: float | None = None,
        max_distance: float | None = None,
        real_rows: bool | None = None,
        where: Callable[[Any], Any] | None = None,
    ) -> Counterfactuals:
        """The rows that pass every condition given; `n_found` still counts all.

        Parameters
        ----------
        max_changed : most features changed.
        min_typicality : least share of real rows that are less plausible, from 0 to 1.
        max_distance : largest distance to x.
        real_rows : only rows of the training data (True), or none of them (False).
        where : a function of the frame of `to_frame(objectives=True)`, one bool per row.
        """
        keep = np.ones(len(self), np.bool_)
        conditions = []
        if max_changed is not None:
            keep &= self.n_changed <= _limit("max_changed", max_changed)
            conditions.append(f"max_changed={max_changed}")
        if min_typicality is not None:
            keep &= self.typicality >= check_float("min_typicality", min_typicality, 0.0, 1.0)
            conditions.append(f"min_typicality={min_typicality}")
        if max_distance is not None:
            keep &= self._objective("distance") <= _limit("max_distance", max_distance)
            conditions.append(f"max_distance={max_distance}")
        if real_rows is not None:
            if not isinstance(real_rows, bool | np.bool_):
                raise ParameterError(f"`real_rows` must be True, False or None, got {real_rows!r}.")
            keep &= self.is_real_row == real_rows
            conditions.append(f"real_rows={real_rows}")
        if where is not None:
            keep &= select.mask_of(where, self.to_frame(objectives=True), len(self))
            conditions.append("where")
        kept = self._take(np.flatnonzero(keep))
        if len(kept) or not len(self):
            return kept
        note = Note(FILTERED, values={"n": len(self), "filters": ", ".join(conditions)})
        return replace(kept, status="none", notes=(*self.notes, note))

    def _objective(self, name: str) -> np.ndarray:
        if name not in self.objectives:
            raise ParameterError(f"This result has no objective {name!r}; it has {listed(self.objectives)}.")
        return self.objectives[name]

    def _take(self, at: np.ndarray) -> Counterfactuals:
        return replace(
            self,
            rows=self.rows[at],
            scores=self.scores[at],
            labels=tuple(self.labels[i] for i in at.tolist()),
            objectives={name: values[at] for name, values in self.objectives.items()},
            log_density=self.log_density[at],
            typicality=self.typicality[at],
            typicality_range=self.typicality_range[at],
            objectors=tuple(self.objectors[i] for i in at.tolist()),
            oddities=tuple(self.oddities[i] for i in at.tolist()),
            is_real_row=self.is_real_row[at],
            consequence=self.consequence[at],
        )

    def describe(
        self,
        k: int | None = 3,
        *,
        units: Mapping[Hashable, Any] | None = None,
        labels: Labels | None = None,
        rows: Any = "rows",
        outcome: str | None = None,
        prefer: str | Mapping[str, float] | None = None,
        diversity: float = 0.5,
        format: str = "text",
        language: Language | None = None,
    ) -> str:
        """In plain language.

        Parameters
        ----------
        k : how many counterfactuals, chosen as by `select`; None for all, in their order.
        units : by column, such as {"duration": "months", "income": "€"}; (singular, plural) where the singular is not
            the plural without its s. The outcome's unit goes by its name.
        labels : what columns and levels are called, see `labelled`.
        rows : what rows are called, such as "applicants" or ("person", "people").
        outcome : what the model predicts, such as "price".
        prefer, diversity : as in `select`.
        format : "text", or "markdown", which lists several and emphasises the outcome.
        language : such as "de", see `countarfactuals.language.catalogue_of`; None for the one that is spoken.
        """
        from countarfactuals.counterfactuals.sentences import description, style_of

        style, result = style_of(format), self.labelled(labels)
        with speaking(language):
            words = words_of(self.schema.names, units, rows, outcome, style)
            return description(result, result.positions(k, prefer, diversity), words)

    def with_cells(self, cells: Mapping[int, Any]) -> Counterfactuals:
        """The same with cells of x as they came, `x_cells`."""
        return replace(self, x_cells=cells) if cells else self

    def labelled(self, labels: Labels | None) -> Counterfactuals:
        """The same result with other names for columns and levels, in all that people read of it.

        Parameters
        ----------
        labels : by column a text, a dict from levels to texts, or a pair of both: {"emp_len": "years in the job",
            "purpose": {"A40": "new car"}}. Frames and JSON keep the names of the data.
        """
        schema = self.schema.labelled(labels)
        return self if schema is self.schema else replace(self, schema=schema)

    def note_texts(self) -> list[str]:
        """The notes, with columns as readers call them."""
        return [str(note.titled(self.schema)) for note in self.notes]

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON types, with the name and version of the format."""
        return storage.result_to_dict(self)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Counterfactuals:
        """The inverse of `to_dict`."""
        return storage.result_from_dict(stored)

    def __repr__(self) -> str:
        return display.result_text(self)

    def _repr_html_(self) -> str:
        return display.result_html(self)


def _true_at(table: np.ndarray) -> list[list[int]]:
    """By row, where a table is true."""
    return [[j for j, is_true in enumerate(row) if is_true] for row in table.tolist()]


def _fragility(frame: Any) -> np.ndarray:
    if not isinstance(frame, pd.DataFrame) or select.FRAGILITY not in frame:
        raise ParameterError(f"Pass the frame that `Explainer.robustness` returns, got {type(frame).__name__}.")
    return frame[select.FRAGILITY].to_numpy(np.float64)


def _limit(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not as_float(value) >= 0:
        raise ParameterError(f"`{name}` must be a number of at least 0, got {value!r}.")
    return as_float(value)


def _check(result: Counterfactuals) -> None:
    """Refuse fields that do not go together; a damaged file gets here too."""
    n, p, s = len(result.rows), len(result.schema.columns), len(result.score_names)
    wanted = {"x": (p,), "rows": (n, p), "x_scores": (s,), "scores": (n, s)}
    wanted |= dict.fromkeys(("log_density", "typicality", "is_real_row"), (n,))
    wanted |= {"typicality_range": (n, 2), "consequence": (n, p)}
    arrays = {name: getattr(result, name) for name in wanted} | {
        f"objectives[{name!r}]": values for name, values in result.objectives.items()
    }
    for name, values in arrays.items():
        if values.shape != wanted.get(name, (n,)):
            raise DataError(f"`{name}` has shape {values.shape}, expected {wanted.get(name, (n,))}.")
    for name in ("labels", "objectors", "oddities"):
        if len(getattr(result, name)) != n:
            raise DataError(f"There are {len(getattr(result, name))} {name} for {n} row(s); give one per row.")
    if any(not 0 <= at < p for cells in result.oddities for cell in cells for at in (cell.column, cell.beside or 0)):
        raise DataError(f"`oddities` name columns beyond the {p} features.")
    if isinstance(result.n_found, bool) or not isinstance(result.n_found, int) or result.n_found < n:
        raise DataError(f"`n_found` must be a whole number of at least {n}, as many as rows; got {result.n_found!r}.")
    if result.status not in STATUSES:
        raise DataError(f"The status must be one of {listed(STATUSES)}, got {result.status!r}.")
