"""`Explainer`: what all methods share. A method only says how it searches.

1. `fit` reads the data once: schema, the model's scores, distances, and a forest over features and scores.
2. `explain` checks the row, the target and the constraints, and makes a `Problem` of them.
3. The method's `_search` proposes rows and has them evaluated.
4. What the ledger holds is judged here once more: valid, allowed, unique, non-dominated. Nothing else can leave.
5. If nothing is left, a diagnosis says why.
"""

from __future__ import annotations

import math
import os
import time
from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from countarfactuals.arf import AdversarialRandomForest
from countarfactuals.arf.options import column_names
from countarfactuals.constraints import Constraints, as_constraints
from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch
from countarfactuals.exceptions import (
    DataError,
    DataTypeError,
    ModelTypeError,
    NotFittedError,
    ParameterError,
    listed,
)
from countarfactuals.explainers import archive
from countarfactuals.explainers.answer import answer
from countarfactuals.explainers.background import Background, matrix_with_scores, with_scores
from countarfactuals.explainers.many import Request, explain_rows
from countarfactuals.explainers.observed import fit_observed
from countarfactuals.explainers.problem import Cost, GiveUp, Objective, Problem, row_generator
from countarfactuals.objectives import Gower
from countarfactuals.parameters import (
    RandomState,
    as_generator,
    check_choice,
    check_float,
    check_int,
    check_n_jobs,
)
from countarfactuals.plausibility import MEASURES, fit_plausibility
from countarfactuals.plausibility.wording import judgement
from countarfactuals.prediction import make_predictor, resolve
from countarfactuals.relations import Relation
from countarfactuals.schema import Schema, Values

_TAKEN = {"validity", "proximity", "sparsity", "plausibility", "prediction"}  # names that results have already
_TAKEN |= {"log_density", "density_cost", "typicality", "typicality_low", "typicality_high", "is_real_row"}


class Explainer(BaseEstimator):
    """Base of all methods.

    Parameters
    ----------
    model : anything `make_predictor` takes; None with `outcome="observed"`.
    density : AdversarialRandomForest or None
        A forest to judge plausibility by: a fitted one whose first columns are the features, or an unfitted one with
        the settings to use. None fits one with default settings.
    max_evaluations : int
        Most rows per explanation that the model is asked about.
    classes, task : see `make_predictor`.
    outcome : "predicted" or "observed"
        Whether the model's prediction shall change, or the outcome itself, as learned by the forest from `fit(X, y)`.
    distance : callable or None
        Takes a frame of rows and a frame with the one row explained and returns one distance per row, instead of Gower.
    extra_objectives : dict of callables or None
        Further objectives to minimise, called like `distance`.
    measure : "median", "density" or None
        None lets judges of several kinds earn their seats on the data (see `plausibility`), unless the method says
        otherwise. The others judge by the forest alone: by the median of its trees' log densities or the log of their
        mean.
    min_plausibility : float
        Share of real rows that must be less plausible than a counterfactual.
    allow_real_rows : bool
        Whether a counterfactual may equal a row of the data. If not, no cell is given a value that fewer than five
        rows have either, unless the method can only copy cells.
    trade_off : float or None
        Orders the result by (1 − t) · proximity + t · (1 − typicality), best first. None orders by proximity. The
        search is the same: it looks for the whole Pareto set, whose best row by any such mean it finds as surely.
    n_jobs : int or None
        Threads for fitting the forest.
    random_state : int, Generator, SeedSequence, RandomState or None
        Seed of everything random.
    """

    method: ClassVar[str]
    max_changed: int | None = None  # of methods that have such a parameter: it limits every result

    def __init__(
        self,
        model: Any,
        *,
        density: AdversarialRandomForest | None = None,
        max_evaluations: int = 1000,
        classes: Sequence[Any] | None = None,
        task: str | None = None,
        outcome: str = "predicted",
        distance: Objective | None = None,
        extra_objectives: Mapping[str, Objective] | None = None,
        measure: str | None = None,
        min_plausibility: float = 0.0,
        allow_real_rows: bool = True,
        trade_off: float | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.model = model
        self.density = density
        self.max_evaluations = max_evaluations
        self.classes = classes
        self.task = task
        self.outcome = outcome
        self.distance = distance
        self.extra_objectives = extra_objectives
        self.measure = measure
        self.min_plausibility = min_plausibility
        self.allow_real_rows = allow_real_rows
        self.trade_off = trade_off
        self.n_jobs = n_jobs
        self.random_state = random_state

    # Fitting

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        ordered: Mapping[Hashable, Sequence[Any]] | None = None,
        values: Values = "auto",
    ) -> Self:
        """Learn what is plausible from data like the model's.

        Parameters
        ----------
        X : a frame like those that the model takes.
        y : the observed outcomes, needed with `outcome="observed"` only.
        ordered : levels, lowest first, of columns that have an order which their type does not tell.
        values : which numbers occur, learned from the data unless declared here; see `Schema.infer`. Only such are
            handed out; `schema_.describe()` tells them.
        """
        self._check_parameters()
        seed = _as_seed(self.random_state)
        if isinstance(values, str) and values == "auto" and not self._learns_values():
            values = None
        schema = Schema.infer(X, ordered=ordered, values=values)
        matrix = schema.encode(X)
        if self.outcome == "observed":
            predictor, scores, forest, full = fit_observed(schema, matrix, y, self._unfitted_forest(seed), self.task)
        else:
            predictor = make_predictor(self.model, schema, X, classes=self.classes, task=self.task)
            scores = predictor.scores(matrix)
            full_schema, full = with_scores(schema, predictor), matrix_with_scores(matrix, scores, predictor)
            forest = self._forest(schema, full_schema, full, seed)
            full = full[:, : len(forest.schema_.columns)]
        gower = Gower.of(schema, matrix)
        measure = self.measure or self._default_measure()
        plausibility = fit_plausibility(forest, schema, full, measure, gower, np.random.default_rng([seed, 1]))
        self._set_fitted(Background(schema, matrix, scores, predictor, gower, plausibility), seed)
        return self

    def fit_like(self, other: Explainer) -> Self:
        """Take over what another explainer has learned of data, model and forest; nothing is fitted anew.

        Both must ask for the same model and outcome. Methods can be compared like this on one forest; settings of an
        unfitted `density` of this one are not used.
        """
        self._check_parameters()
        background = other._fitted()
        differing = [] if self.model is other.model else ["model"]
        for name in ("outcome", "task", "classes"):
            if not np.array_equal(np.asarray(getattr(self, name), object), np.asarray(getattr(other, name), object)):
                differing.append(name)
        if differing:
            raise ParameterError(
                f"The other explainer has another {listed(differing)}. Make both with the same, or call `fit`."
            )
        if hasattr(self.density, "forest_") and self.density is not background.plausibility.forest:
            raise ParameterError(
                "density is a fitted forest, but the other explainer has learned another one. Leave density out, or "
                "call `fit`."
            )
        taught = None if background.plausibility.skills else background.plausibility.measure
        if self.measure not in (None, taught):
            raise ParameterError(
                f"The other explainer was fitted with measure={taught!r}, this one asks for "
                f"{self.measure!r}. Call `fit`."
            )
        self._set_fitted(background, other.seed_ if self.random_state is None else _as_seed(self.random_state))
        return self

    def prepare(self) -> Self:
        """Fit now what the method would fit in its first explanation, if anything."""
        self._fitted()
        return self

    def _set_fitted(self, background: Background, seed: int) -> None:
        self.background_ = background
        self.seed_ = seed
        self.schema_ = background.schema
        self.n_features_in_ = len(background.schema.columns)

    def _check_parameters(self) -> None:
        check_int("max_evaluations", self.max_evaluations, 1)
        check_choice("outcome", self.outcome, ("predicted", "observed"))
        check_choice("measure", self.measure, (None, *MEASURES))
        check_float("min_plausibility", self.min_plausibility, 0.0, 1.0)
        check_n_jobs(self.n_jobs)
        check_choice("allow_real_rows", self.allow_real_rows, (True, False))
        if self.trade_off is not None:
            check_float("trade_off", self.trade_off, 0.0, 1.0, "None or ")
        if self.model is None and self.outcome == "predicted":
            raise ModelTypeError("No model was given. Pass one, or `outcome='observed'` to explain y itself.")
        if self.density is not None and not isinstance(self.density, AdversarialRandomForest):
            raise ParameterError(f"density must be an AdversarialRandomForest or None, got {self.density!r}.")
        if self.extra_objectives is not None and not isinstance(self.extra_objectives, Mapping):
            raise ParameterError(
                f"extra_objectives must be a dict of names and functions, got {self.extra_objectives!r}."
            )
        if self.outcome == "observed" and hasattr(self.density, "forest_"):
            raise ParameterError(
                "With outcome='observed' the forest must learn y too. Pass an unfitted `density` with its settings."
            )
        for name, function in {"distance": self.distance, **(self.extra_objectives or {})}.items():
            if function is not None and not callable(function):
                raise ParameterError(f"The objective {name!r} must be callable (rows, x) → numbers, got {function!r}.")
        if taken := _TAKEN & set(self.extra_objectives or {}):
            raise ParameterError(
                f"extra_objectives can not be named {listed(sorted(taken))}: these exist. Rename them."
            )

    def _unfitted_forest(self, seed: int) -> AdversarialRandomForest:
        chosen = self.density or self._default_forest()
        parameters = chosen.get_params()
        if parameters["random_state"] is None:
            parameters["random_state"] = seed
        if parameters["n_jobs"] is None:
            parameters["n_jobs"] = self.n_jobs
        return AdversarialRandomForest(**parameters)

    def _default_forest(self) -> AdversarialRandomForest:
        return AdversarialRandomForest()

    def _default_measure(self) -> str | None:
        return None

    def _splits_on_scores(self) -> bool:
        """Whether trees see the model's scores, or leaves only describe them."""
        return False

    def _learns_values(self) -> bool:
        """Whether the method asks which numbers occur, or takes any within the range of the data."""
        return True

    def _forest(self, schema: Schema, full_schema: Schema, full: np.ndarray, seed: int) -> AdversarialRandomForest:
        """The forest over features and scores, or the user's own."""
        if self.density is not None and hasattr(self.density, "forest_"):
            known = self.density.schema_.columns
            p, names = len(schema.columns), [column.name for column in known]
            expected = full_schema.columns[: len(known)]
            if [c.name for c in schema.columns] != names[:p] or names not in (
                list(schema.names),
                list(full_schema.names),
            ):
                raise DataError(
                    f"The given density has the columns {listed(names)}. Its first columns must be the features, "
                    f"{listed(schema.names)}, in this order; after them may stand {listed(full_schema.names[p:])}."
                )
            other = [
                own.name
                for own, given in zip(expected, known, strict=True)
                if (own.kind, own.levels) != (given.kind, given.levels)
                or (own.unit != given.unit and own in schema.columns)
            ]
            if other:
                raise DataError(
                    f"The given density has other kinds, levels or decimals than the data in {listed(other)}. Fit it "
                    "to the same frame, or let the explainer fit its own."
                )
            return self.density
        forest = self._unfitted_forest(seed)
        scores = full_schema.names[len(schema.columns) :]
        parameter = "always_split" if self._splits_on_scores() else "never_split"
        forest.set_params(**{parameter: (*column_names(parameter, getattr(forest, parameter)), *scores)})
        return forest.fit_encoded(full_schema, full)

    def describe(self) -> str:
        """What was learned of the data, in plain words: which values columns have, and how well plausibility is judged.

        Figures of the latter are in `background_.plausibility.summary()`.
        """
        background = self._fitted()
        kept = [f"In all rows {relation.describe(background.schema)}." for relation in background.relations]
        said = judgement(background.plausibility.summary())
        return "\n".join([background.schema.describe(), *(["", *kept] if kept else []), "", *said])

    # Explaining

    def explain(self, x: Any, target: Any = None, constraints: Constraints | None = None) -> Counterfactuals:
        """Counterfactuals of one row.

        Parameters
        ----------
        x : a frame with one row, a Series or a dict.
        target : a `Target`, a class, for a regression (low, high); None for the other class of a binary model.
        constraints : `Constraints` or a dict with its fields.
        """
        return self._explain(self.encode_row(x), target, as_constraints(constraints))

    def explain_many(
        self,
        X: Any,
        target: Any = None,
        constraints: Constraints | None = None,
        *,
        n_jobs: int | None = None,
        progress: bool = True,
        time_budget: float | None = None,
        on_error: str = "record",
    ) -> CounterfactualsBatch:
        """Counterfactuals of every row; each is the same as `explain` would give.

        Parameters
        ----------
        X : a frame.
        target, constraints : as in `explain`, the same for all rows.
        n_jobs : processes, as joblib counts them.
        progress : show a bar in terminals and notebooks.
        time_budget : seconds after which no further row is begun; rows left out are listed in `unfinished`.
        on_error : "record" notes the error of a row and goes on, "raise" stops.
        """
        self._fitted()
        check_n_jobs(n_jobs)
        check_choice("on_error", on_error, ("record", "raise"))
        if time_budget is not None:
            check_float("time_budget", time_budget, 0.0, math.inf, "None or ")
        request = Request(self, target, as_constraints(constraints), on_error)
        return explain_rows(request, X, n_jobs, progress, time_budget)

    def trace(
        self, x: Any, target: Any = None, constraints: Constraints | None = None
    ) -> tuple[Counterfactuals, Problem]:
        """What `explain` gives, and the problem, whose `ledger()` has every row that was evaluated; for studies."""
        return self._trace(self.encode_row(x), target, as_constraints(constraints))

    def _explain(self, x: np.ndarray, target: Any, constraints: Constraints) -> Counterfactuals:
        return self._trace(x, target, constraints)[0]

    def _trace(self, x: np.ndarray, target: Any, constraints: Constraints) -> tuple[Counterfactuals, Problem]:
        started = time.perf_counter()
        problem = self.problem(x, target, constraints)
        chosen: np.ndarray | None = None
        if not problem.is_solved:
            with suppress(GiveUp):
                chosen = self._search(problem)
        settings = self.get_params(deep=False) | {"method": self.name, "seed": self.seed_}
        result = answer(problem, chosen, settings, constraints, is_pareto=self._is_pareto(), started=started)
        return result, problem

    def problem(self, x: np.ndarray, target: Any, constraints: Constraints) -> Problem:
        """The problem of an encoded row, before anything is searched."""
        background = self._fitted()
        self._check_parameters()  # they may have been set since
        x_scores = background.predictor.scores(x[None])
        goal = resolve(target, background.predictor, x_scores[0])
        limits = constraints.limited(self.max_changed).bind(background.schema, x)
        return Problem(
            background=background,
            x=x,
            x_scores=x_scores[0],
            goal=goal,
            limits=limits,
            gower=background.gower.weighted(limits.weights),
            budget=int(self.max_evaluations) - 1,  # x itself was one
            rng=row_generator(self.seed_, x, goal),
            distance=self.distance,
            extra=self.extra_objectives or {},
            cost=self._cost(x),
            least_typicality=float(self.min_plausibility),
            allow_real_rows=bool(self.allow_real_rows),
            relations=self._relations(background, x),
            only_real_rows=not self._invents_rows(),
            only_real_cells=not self._invents_cells(),
        )

    def _relations(self, background: Background, x: np.ndarray) -> tuple[Relation, ...]:
        """What all rows of the data keep, as far as x does; nothing for methods that have a definition to keep."""
        if not (self._learns_values() and self._invents_cells()):
            return ()
        return tuple(relation for relation in background.relations if not relation.broken(x[None])[0])

    def _cost(self, x: np.ndarray) -> Cost | None:
        """The method's own cost of being implausible, None for minus the forest's measure."""
        return None

    @property
    def name(self) -> str:
        """What results call the method."""
        return self.method

    @abstractmethod
    def _search(self, problem: Problem) -> np.ndarray | None:
        """Propose rows and evaluate them; which rows of the ledger may be handed out, None for all."""

    def _extra_arrays(self) -> dict[str, np.ndarray]:
        """What a method learns besides the background, for `save`."""
        return {}

    def _restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take back what `_extra_arrays` gave; KeyError for what is not there."""

    def _invents_rows(self) -> bool:
        """Whether the method finds rows that are not in the data."""
        return True

    def _invents_cells(self) -> bool:
        """Whether the method gives cells values of its own making."""
        return self._invents_rows()

    def _is_pareto(self) -> bool:
        """Whether the result is reduced to its non-dominated rows."""
        return True

    def encode_row(self, x: Any) -> np.ndarray:
        """A frame with one row, a Series or a dict as matrix codes, with the digits that its columns can hold."""
        background = self._fitted()
        return background.representable(background.check_whole(self._read_row(x, background.schema)[None]))[0]

    def _read_row(self, x: Any, schema: Schema) -> np.ndarray:
        if isinstance(x, pd.Series):
            x = dict(zip(x.index.tolist(), x.tolist(), strict=True))
        if isinstance(x, Mapping):
            for name in x:
                schema.index(name)
            if absent := [name for name in schema.names if name not in x]:
                raise DataError(f"The row lacks {listed(absent)}. Give every feature; an unknown one may be None.")
            return np.array([schema.encode_value(j, x[name]) for j, name in enumerate(schema.names)])
        if isinstance(x, np.ndarray) and x.ndim == 1:
            x = x.reshape(1, -1)
        if isinstance(x, list | tuple | str | int | float) or x is None:
            raise DataTypeError(f"A row is a one-row frame, a Series or a dict, got {x!r}.")
        matrix = schema.encode(x)
        if len(matrix) != 1:
            raise DataError(f"`explain` takes one row, got {len(matrix)}. Use `explain_many` for several.")
        return matrix[0]

    def _fitted(self) -> Background:
        if not hasattr(self, "background_"):
            name = type(self).__name__
            raise NotFittedError(f"This {name} is not fitted. Call `fit(X)` or `{name}.load(path, model)` first.")
        return self.background_

    # Storage

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted explainer to a file, without pickle and without the model, which `load` takes again."""
        self._fitted()
        archive.save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], model: Any = None, **callables: Any) -> Self:
        """Read what `save` wrote; `Explainer.load` reads every method.

        The model is handed in again, and so are `distance` and `extra_objectives`.
        """
        return archive.load(cls, path, model, callables)


def _as_seed(random_state: RandomState) -> int:
    """One number that all generators of an explainer start from."""
    rng = as_generator(random_state)
    return int(random_state) if isinstance(random_state, Integral) else int(rng.integers(2**63))
