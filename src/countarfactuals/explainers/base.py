"""`Explainer`: what all methods share. A method only says how it searches.

1. `fit` reads the data once: schema, the model's scores, distances, and a forest over features and scores.
2. `explain` checks the row, the target and the constraints, and makes a `Problem` of them.
3. The method's `_search` proposes rows and has them evaluated. It is a coroutine (`questions`), so that many rows can
   be searched in step, with one call of the model for all (`together`).
4. What the ledger holds is judged here once more: valid, allowed, unique, non-dominated. Nothing else can leave.
5. If nothing is left, a diagnosis says why.
"""

from __future__ import annotations

import math
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Generator, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from countarfactuals._parallel import few_threads
from countarfactuals.arf import AdversarialRandomForest
from countarfactuals.arf.options import column_names, n_rows_held
from countarfactuals.constraints import Constraints, as_constraints
from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch
from countarfactuals.counterfactuals.select import FRAGILITY
from countarfactuals.counterfactuals.ways import CommonWays
from countarfactuals.exceptions import DataError, DataTypeError, ModelTypeError, NotFittedError, ParameterError, listed
from countarfactuals.explainers import explainer_file
from countarfactuals.explainers.answer import Own, answer
from countarfactuals.explainers.background import Background, matrix_with_scores, with_scores
from countarfactuals.explainers.common_ways import Settings, common_ways
from countarfactuals.explainers.explained_frame import explained_frame
from countarfactuals.explainers.large_background import LargeData, read_data, sampled_rows
from countarfactuals.explainers.many_rows import explain_rows
from countarfactuals.explainers.observed import fit_observed
from countarfactuals.explainers.problem import ANY_ROWS, GiveUp, Problem, UserFunction, row_generator
from countarfactuals.explainers.questions import Asking, alone
from countarfactuals.explainers.robustness import checked_noise, robustness
from countarfactuals.explainers.second_answers import answers_alike, kept_for_second_answers
from countarfactuals.explainers.take_back import reserve, take_back
from countarfactuals.explainers.together import MOST_ROWS, Together
from countarfactuals.language import tr
from countarfactuals.objectives import KEYS, Gower, Objective
from countarfactuals.parameters import RandomState, as_generator, check_choice, check_float, check_int, check_n_jobs
from countarfactuals.plausibility import MEASURES, fit_plausibility
from countarfactuals.plausibility.judgement import judgement
from countarfactuals.prediction import Predictor, make_predictor, resolve
from countarfactuals.prediction.rowwise import is_rowwise
from countarfactuals.relations import Relation, Relations
from countarfactuals.schema import Labels, Schema, Values

_PAPER_FOREST: dict[str, Any] = {"n_estimators": 10, "min_samples_leaf": 2, "leaf_fit": "moments"}
_PAPER_FOREST |= {"dependence": None, "values": None}
KEEP, NOTE = "keep", "note"  # what becomes of relations between columns
_MOST_TOLD = 30  # relations
_TAKEN = {*KEYS, "prediction", "log_density", "density_cost"}  # names that results have already
_TAKEN |= {"typicality", "typicality_low", "typicality_high", "is_real_row", FRAGILITY}


@dataclass(kw_only=True, eq=False, repr=False)
class Explainer(BaseEstimator, ABC):
    """Base of all methods.

    A new method is a dataclass like this one, with its own parameters as fields and a name in `method`. It implements

    1. `_search(problem)`: propose rows and have them evaluated, by `scores = yield from problem.ask(rows)`, or by
       `scores = problem.evaluate(rows)`, which asks the model for each row to explain apart. This one it must have.
    2. `_check_parameters()`: refuse values of its own parameters, after `super()._check_parameters()`.
    3. `_cost(x)`: its own cost of being implausible, if it has one.

    `hands_out`, `is_pareto` and `takes_back` say what it promises; `register(Method(…))` makes it known by name.

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
    min_typicality : float
        Share of real rows that must be less plausible than a counterfactual.
    allow_real_rows : bool
        Whether a counterfactual may equal a row of the data. If not, no cell is given a value that fewer than five
        rows have either, unless the method can only copy cells.
    relations : "keep", "note", None or a list
        What becomes of relations between columns that the data keeps, `relations_`: counterfactuals keep those that x
        keeps, columns that follow from others are computed; or a note tells which are broken; or nothing. A list has
        those to keep, from `relations_` or by their phrases. Methods that copy real rows or cells keep none.
    trade_off : float or None
        Orders the result by (1 − t) · distance + t · (1 − typicality), best first. None puts easy and likely rows
        first, as `select` does. The search is the same: it looks for the whole Pareto set, whose best row by any
        such mean it finds as surely.
    n_jobs : int or None
        Threads for fitting the forest.
    random_state : int, Generator, SeedSequence, RandomState or None
        Seed of everything random.
    """

    method: ClassVar[str]
    hands_out: ClassVar[str] = ANY_ROWS
    is_pareto: ClassVar[bool] = True  # whether the result is reduced to its non-dominated rows
    takes_back: ClassVar[bool] = True  # whether changes that are not needed are taken back, where any rows are made

    model: Any = field(kw_only=False)
    density: AdversarialRandomForest | None = None
    max_evaluations: int = 1000
    classes: Sequence[Any] | None = None
    task: str | None = None
    outcome: str = "predicted"
    distance: UserFunction | None = None
    extra_objectives: Mapping[str, UserFunction] | None = None
    measure: str | None = None
    min_typicality: float = 0.0
    allow_real_rows: bool = True
    relations: str | Sequence[Relation | str] | None = KEEP
    trade_off: float | None = None
    n_jobs: int | None = None
    random_state: RandomState = None

    # Fitting

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        ordered: Mapping[Hashable, Sequence[Any]] | None = None,
        values: Values = "auto",
        labels: Labels | None = None,
    ) -> Self:
        """Learn what is plausible from data like the model's.

        Parameters
        ----------
        X : a frame like those that the model takes. Or data that may be larger than memory, of which a model gets
            pandas frames: a `pyarrow.dataset.Dataset`, the path of a Parquet file or folder, a Dask or a Spark frame.
            The forest describes all rows; of what `density.rows_in_memory` does not hold a random sample is kept for
            all else, `kept_rows_` (see `large_background`).
        y : the observed outcomes, needed with `outcome="observed"`, and by NICE with `only_correct`.
        ordered : levels, lowest first, of columns that have an order which their type does not tell.
        values : which numbers occur, learned from the data unless declared here; see `Schema.infer`. Only such are
            handed out; `schema_.describe()` tells them.
        labels : what readers call columns and levels, in everything that is shown: {"emp_len": "years in the job",
            "purpose": {"A40": "new car"}}, or a pair of both.
        """
        self._check_parameters()
        self._check_outcome(y)
        seed = _as_seed(self.random_state)
        if isinstance(values, str) and values == "auto" and self._as_published:
            values = None
        X, schema, large = read_data(X, self._rows_held, ordered, values)
        matrix = schema.encode(X)
        if large is not None and (y is not None or self.outcome == "observed"):
            large.refuse_outcome()
        if self.outcome == "observed":
            predictor, scores, forest, full = fit_observed(schema, matrix, y, self._unfitted_forest(seed), self.task)
        else:
            predictor = make_predictor(self.model, schema, X, classes=self.classes, task=self.task)
            scores = predictor.scores(matrix)
            full_schema, full = with_scores(schema, predictor), matrix_with_scores(matrix, scores, predictor)
            forest = self._forest(full_schema, full, seed, predictor, large)
            full = full[:, : len(forest.schema_.columns)]
        gower = Gower.of(schema, matrix)
        measure = self.measure or ("density" if self._as_published else None)
        plausibility = fit_plausibility(forest, schema, full, measure, gower, np.random.default_rng([seed, 1]))
        schema = schema.labelled(labels)
        sampled = None if large is None else large.sampled
        self._set_fitted(Background(schema, matrix, scores, predictor, gower, plausibility, sampled=sampled), seed, y)
        if self.relations is not None and not self._as_published:
            self._asked_relations()  # looked for now, and not in the first explanation
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

    def _set_fitted(self, background: Background, seed: int, y: Any = None) -> None:
        self.background_ = background
        self.seed_ = seed
        self.schema_ = background.schema
        self.n_features_in_ = len(background.schema.columns)

    def _check_parameters(self) -> None:
        check_int("max_evaluations", self.max_evaluations, 1)
        check_choice("outcome", self.outcome, ("predicted", "observed"))
        check_choice("measure", self.measure, (None, *MEASURES))
        check_float("min_typicality", self.min_typicality, 0.0, 1.0)
        check_n_jobs(self.n_jobs)
        check_choice("allow_real_rows", self.allow_real_rows, (True, False))
        _check_relations(self.relations)
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

    def _check_outcome(self, y: Any) -> None:
        """Refuse to fit without outcomes that the method needs."""

    def _unfitted_forest(self, seed: int) -> AdversarialRandomForest:
        chosen = self.density or AdversarialRandomForest(**(_PAPER_FOREST if self._as_published else {}))
        parameters = chosen.get_params()
        if parameters["random_state"] is None:
            parameters["random_state"] = seed
        if parameters["n_jobs"] is None:
            parameters["n_jobs"] = self.n_jobs
        return AdversarialRandomForest(**parameters)

    @property
    def _as_published(self) -> bool:
        """Whether the paper's forest is grown and judged: it splits on scores, and cells may have any value."""
        return False

    def _rows_held(self, n_columns: int) -> int:
        """How many rows memory shall hold, of data that is read in pieces."""
        return n_rows_held(None if self.density is None else self.density.rows_in_memory, n_columns)

    def _forest(
        self, full_schema: Schema, full: np.ndarray, seed: int, predictor: Predictor, large: LargeData | None
    ) -> AdversarialRandomForest:
        """The forest over features and scores, or the user's own."""
        schema = predictor.schema
        if self.density is not None and hasattr(self.density, "forest_"):
            _check_columns(self.density.schema_, schema, full_schema)
            return self.density
        forest = self._unfitted_forest(seed)
        scores = full_schema.names[len(schema.columns) :]
        parameter = "always_split" if self._as_published else "never_split"
        forest.set_params(**{parameter: (*column_names(parameter, getattr(forest, parameter)), *scores)})
        return forest.fit_encoded(full_schema, full) if large is None else large.grow(forest, full_schema, predictor)

    def describe(self) -> str:
        """What was learned of the data, in plain words: which values columns have, and how well plausibility is judged.

        Figures of the latter are in `background_.plausibility.summary()`.
        """
        background = self._fitted()
        relations = background.relations.sentences()
        if (more := len(relations) - _MOST_TOLD) > 0:
            relations = [*relations[:_MOST_TOLD], tr("… {n:,} more are in `relations_`", n=more)]
        judged = judgement(background.plausibility.summary())
        judged += sampled_rows(background)
        return "\n".join([background.schema.describe(), *(["", *relations] if relations else []), "", *judged])

    # Explaining

    def explain(self, x: Any, target: Any = None, constraints: Constraints | None = None) -> Counterfactuals:
        """Counterfactuals of one row.

        Parameters
        ----------
        x : a frame with one row, a Series or a dict.
        target : a `Target`, a class, for a regression (low, high); None for another class than the predicted one.
        constraints : `Constraints` or a dict with its fields.
        """
        return self.trace(x, target, constraints)[0]

    def explain_many(
        self,
        X: Any,
        target: Any = None,
        constraints: Any = None,
        *,
        n_jobs: int | None = None,
        progress: bool = True,
        time_budget: float | None = None,
        on_error: str = "record",
        together: bool | None = None,
    ) -> CounterfactualsBatch:
        """Counterfactuals of every row; each is the same as `explain` would give.

        Parameters
        ----------
        X : a frame.
        target, constraints : as in `explain`, the same for all rows; or one per row: a list, a Series, which goes by
            the labels of the rows, or a function that gets a row as a dict. None in it stands for the default.
        n_jobs : processes, as joblib counts them.
        progress : show a bar in terminals and notebooks.
        time_budget : seconds after which no further row is begun; rows left out are listed in `unfinished`.
        on_error : "record" notes the error of a row and goes on, "raise" stops.
        together : whether the model is asked in one call about rows of many searches. None does so where a row has the
            same score, to the last bit, alone as among others: known of trees and libsvm, measured of functions and
            others, never of what multiplies matrices. True does so always, False explains one row after the other.
        """
        self._fitted()
        check_n_jobs(n_jobs)
        check_choice("together", together, (None, True, False))
        check_choice("on_error", on_error, ("record", "raise"))
        if time_budget is not None:
            check_float("time_budget", time_budget, 0.0, math.inf, "None or ")
        return explain_rows(self, X, (target, constraints), on_error, n_jobs, progress, time_budget, together)

    def explain_frame(
        self,
        frame: Any,
        target: Any = None,
        constraints: Any = None,
        top: int | None = 3,
        *,
        key: Hashable | None = None,
    ) -> Any:
        """Counterfactuals of every row, as a frame of the same library: one line each, or one with the reason for none.

        A pure function of each row, so that engines may cut a table as they like. Its columns are always the same: row,
        status, rank, changes, changes_json, n_changed, distance, typicality, prediction, score, x_prediction, x_score,
        reason.

        Parameters
        ----------
        frame : as `explain_many` takes; columns that are no features are left out.
        target, constraints : as in `explain_many`. A function gets all columns of the row.
        top : most counterfactuals of a row, chosen as by `select`; None for all.
        key : the column that tells rows apart; None for the labels of a pandas frame, or positions.
        """
        self._fitted()
        if top is not None:
            check_int("top", top, 1, "None or ")
        return explained_frame(self, frame, target, constraints, top, key)

    def common_ways(
        self,
        rows: Any,
        target: Any = None,
        constraints: Constraints | None = None,
        *,
        k: int = 3,
        max_changes: int = 3,
        min_typicality: float = 0.05,
        max_candidates: int = 150,
    ) -> CommonWays:
        """A few changes that would help most rows, such as "income at least 40,000 and term at most 24"; and whom.

        Parameters
        ----------
        rows : a batch of `explain_many`, whose targets and constraints count, or a frame, which is explained first.
        target, constraints : as in `explain_many`; for a frame only.
        k : how many ways at most, each for those whom the ways before it do not help.
        max_changes : how many columns a way may change.
        min_typicality : share of real rows that must be less typical than a row whom a way helps.
        max_candidates : how many sets of changes are tried, with one call of the model each.
        """
        self._fitted()
        check_float("min_typicality", min_typicality, 0.0, 1.0)
        counts = {"k": k, "max_changes": max_changes, "max_candidates": max_candidates}
        checked = {name: check_int(name, value, 1) for name, value in counts.items()}
        if not isinstance(rows, CounterfactualsBatch):
            rows = self.explain_many(rows, target, constraints, progress=False)
        elif target is not None or constraints is not None:
            raise ParameterError("A batch has its own target and constraints. Leave them out, or pass a frame.")
        self._check_batch(rows)
        return common_ways(self, rows, Settings(min_typicality=min_typicality, **checked))

    def robustness(
        self,
        counterfactuals: Counterfactuals | CounterfactualsBatch,
        models: Sequence[Any] | None = None,
        *,
        bootstrap: int | None = None,
        X: Any = None,
        y: Any = None,
        noise: float | None = 0.02,
        n_noise: int = 100,
    ) -> pd.DataFrame:
        """Whether counterfactuals stay valid under other models, and under small changes of their values.

        One line per counterfactual, of a batch with the label of its row: `models_agree` is the share of models by
        which it has the wanted outcome, `noise_valid` the share of its moved copies that have it, `fragility` one
        minus the mean of those that were asked for. `with_robustness` takes the frame, so that
        `select(prefer="robust")` chooses by it.

        Parameters
        ----------
        counterfactuals : a result of `explain`, or a batch of `explain_many`.
        models : other models, such as refitted ones, of any kind that the explainer takes.
        bootstrap : how many clones of the model are fitted to rows drawn from the training data.
        X, y : the training data for `bootstrap`; X is what the explainer was fitted to where it is not given.
        noise : by which share of its column's range every number moves at most, by one step at least; None asks for
            other models only.
        n_noise : how many moved copies of each counterfactual the model is asked about.
        """
        self._fitted()
        if not isinstance(counterfactuals, Counterfactuals | CounterfactualsBatch):
            got = type(counterfactuals).__name__
            raise DataTypeError(f"Pass what `explain` or `explain_many` returned, got {got}.")
        if bootstrap is not None:
            check_int("bootstrap", bootstrap, 1, "None or ")
        self._check_batch((counterfactuals,) if isinstance(counterfactuals, Counterfactuals) else counterfactuals)
        wanted = checked_noise(noise, n_noise, self.seed_)
        return robustness(self, counterfactuals, models, bootstrap, (X, y), wanted)

    def _check_batch(self, results: Sequence[Counterfactuals]) -> None:
        for result in results[:1]:
            self._fitted().check_columns(result.schema)

    def trace(
        self, x: Any, target: Any = None, constraints: Constraints | None = None
    ) -> tuple[Counterfactuals, Problem]:
        """What `explain` gives, and the problem, whose `ledger()` has every row that was evaluated; for studies."""
        x_codes, wanted = self.encode_row(x), as_constraints(constraints)
        with few_threads():
            result, problem = alone(self._traced(x_codes, target, wanted), self._fitted().predictor)
        return result.with_cells(self._odd_cells(x)), problem

    def search(self, x: Any, target: Any = None, constraints: Constraints | None = None) -> Asking[Counterfactuals]:
        """`explain` as a coroutine, for `Together`: it yields rows of codes and is sent their scores.

        What is wrong with the row or with what is wanted of it is raised when the coroutine begins.
        """
        codes = self.encode_row(x)
        result, _ = yield from self._traced(codes, target, as_constraints(constraints))
        return result.with_cells(self._odd_cells(x))

    def together(self, *, joint: bool | None = None, most_rows: int = MOST_ROWS) -> Together[Any, Any]:
        """Where searches of this explainer, and of others with the same model, run in step.

        Parameters
        ----------
        joint : whether the model is asked in one call about rows of several searches; None where it is known to score
            rows one by one, so that every search finds what it finds alone.
        most_rows : most rows in a joint call.
        """
        predictor = self._fitted().predictor
        return Together(predictor, joint=bool(is_rowwise(self.model)) if joint is None else joint, most_rows=most_rows)

    def _traced(
        self, x: np.ndarray, target: Any, constraints: Constraints, own: Own | None = None
    ) -> Asking[tuple[Counterfactuals, Problem]]:
        started = time.perf_counter()
        if own is None:
            x_scores, seconds = yield x[None]
            started = time.perf_counter() - seconds  # without what other rows took meanwhile
        problem = self.problem(x, target, constraints, x_scores[0] if own is None else own.scores[0])
        kept = kept_for_second_answers(problem)
        problem.budget -= kept
        chosen: np.ndarray | None = None
        if not problem.is_solved:
            problem.reserve = reserve(problem) if self._takes_back else 0
            with suppress(GiveUp):
                search = self._search(problem)
                chosen = (yield from search) if isinstance(search, Generator) else search
            if self._takes_back and problem.found:
                chosen = yield from take_back(problem)
        problem.budget += kept if problem.found else 0
        settings = self._plain_parameters() | {"method": self.name, "seed": self.seed_}
        noted = self._asked_relations() if self.relations == NOTE else Relations(self.schema_)
        result = yield from answer(
            problem, chosen, settings, constraints, noted, is_pareto=self.is_pareto, started=started, own=own
        )
        return result, problem

    def problem(
        self, x: np.ndarray, target: Any, constraints: Constraints, x_scores: np.ndarray | None = None
    ) -> Problem:
        """The problem of an encoded row, before anything is searched; its scores are asked for where not given."""
        background = self._fitted()
        self._check_parameters()  # they may have been set since
        scores = background.predictor.scores(x[None])[0] if x_scores is None else x_scores
        goal = resolve(target, background.predictor, scores)
        limits = constraints.limited(getattr(self, "max_changed", None)).bind(background.schema, x)
        return Problem(
            background=background,
            x=x,
            x_scores=scores,
            goal=goal,
            limits=limits,
            gower=background.gower.weighted(limits.weights),
            budget=int(self.max_evaluations) - 1,  # x itself was one
            rng=row_generator(self.seed_, x, goal),
            distance=self.distance,
            extra=self.extra_objectives or {},
            cost=self._cost(x),
            least_typicality=float(self.min_typicality),
            allow_real_rows=bool(self.allow_real_rows),
            relations=() if self.relations == NOTE else self._asked_relations().items,
            hands_out=self.hands_out,
            asks_again=not answers_alike(self.model),
        )

    @property
    def _takes_back(self) -> bool:
        """Whether changes that are not needed are taken back: not by what is published, which keeps its definition."""
        return self.takes_back and self.is_pareto and self.hands_out == ANY_ROWS and not self._as_published

    @property
    def kept_rows_(self) -> np.ndarray:
        """Places, from 0, of the rows of the data that neighbours, typicality and relations are told by."""
        background = self._fitted()
        return np.arange(len(background.matrix)) if background.sampled is None else background.sampled.places

    @property
    def relations_(self) -> Relations:
        """Relations between columns that the data keeps, as data and sentences, whether they are kept or not."""
        return self._fitted().relations

    def _asked_relations(self) -> Relations:
        """The relations that are to be kept or noted."""
        if self.relations is None or self._as_published or self.hands_out != ANY_ROWS:
            return Relations(self.schema_)
        if isinstance(self.relations, str):
            return self.relations_
        return self.relations_.chosen(self.relations)

    def _cost(self, x: np.ndarray) -> Objective | None:
        """The method's own cost of being implausible, None for minus the forest's measure."""
        return None

    @property
    def name(self) -> str:
        """What results call the method."""
        return self.method

    @abstractmethod
    def _search(self, problem: Problem) -> Asking[np.ndarray | None] | np.ndarray | None:
        """Propose rows and have them evaluated; which rows of the ledger may be handed out, None for all."""

    def _plain_parameters(self) -> dict[str, Any]:
        """The parameters with objects as dicts, for files and provenance."""
        plain = dict(self.get_params(deep=False))
        if not isinstance(self.relations, str | None):
            plain["relations"] = self._asked_relations().phrases()
        return plain

    @classmethod
    def _from_plain(cls, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """What `_plain_parameters` gave, of this version or an older one, as parameters."""
        plain = dict(parameters)
        if "min_plausibility" in plain:  # as it was called up to version 2
            plain["min_typicality"] = plain.pop("min_plausibility")
        return plain

    def _extra_arrays(self) -> dict[str, np.ndarray]:
        """What a method learns besides the background, for `save`."""
        return {}

    def _restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take back what `_extra_arrays` gave; KeyError for what is not there."""

    def encode_row(self, x: Any) -> np.ndarray:
        """A frame with one row, a Series or a dict as matrix codes, with the digits that its columns can hold."""
        background = self._fitted()
        return background.representable(background.check_whole(self._read_row(x, background.schema)[None]))[0]

    def _odd_cells(self, x: Any) -> dict[int, Any]:
        """Cells of a row, in a form that `encode_row` takes, that results give back as they came."""
        return self.schema_.odd_cells(_as_rows(x))[0]

    def _read_row(self, x: Any, schema: Schema) -> np.ndarray:
        x = _as_rows(x)
        if isinstance(x, Mapping):
            for name in x:
                schema.index(name)
            if absent := [name for name in schema.names if name not in x]:
                raise DataError(f"The row lacks {listed(absent)}. Give every feature; an unknown one may be None.")
            return np.array([schema.encode_value(j, x[name]) for j, name in enumerate(schema.names)])
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
        explainer_file.save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], model: Any = None, **callables: Any) -> Self:
        """Read what `save` wrote; `Explainer.load` reads every method.

        The model is handed in again, and so are `distance` and `extra_objectives`.
        """
        return explainer_file.load(cls, path, model, callables)


def _as_rows(x: Any) -> Any:
    """One row as a dict or a frame, if it is one."""
    if isinstance(x, pd.Series):
        return dict(zip(x.index.tolist(), x.tolist(), strict=True))
    return x.reshape(1, -1) if isinstance(x, np.ndarray) and x.ndim == 1 else x


def _as_seed(random_state: RandomState) -> int:
    """One number that all generators of an explainer start from."""
    rng = as_generator(random_state)
    return int(random_state) if isinstance(random_state, Integral) else int(rng.integers(2**63))


def _check_relations(relations: Any) -> None:
    is_list = isinstance(relations, Sequence) and not isinstance(relations, str)
    is_word = relations is None or (isinstance(relations, str) and relations in (KEEP, NOTE))
    if is_word if not is_list else all(isinstance(item, str | Relation) for item in relations):
        return
    raise ParameterError(
        f"relations must be {KEEP!r}, {NOTE!r}, None, or a list of some of `relations_` or their phrases; got "
        f"{relations!r}."
    )


def _check_columns(given: Schema, schema: Schema, full_schema: Schema) -> None:
    """Refuse a density of other columns than the features, alone or with the scores after them."""
    names = list(given.names)
    if names not in (list(schema.names), list(full_schema.names)):
        raise DataError(
            f"The given density has the columns {listed(names)}. Its first columns must be the features, "
            f"{listed(schema.names)}, in this order; after them may stand "
            f"{listed(full_schema.names[len(schema.columns) :])}."
        )
    differing = [
        own.name
        for own, other in zip(full_schema.columns, given.columns, strict=False)
        if (own.kind, own.levels) != (other.kind, other.levels) or (own.unit != other.unit and own in schema.columns)
    ]
    if differing:
        raise DataError(
            f"The given density has other kinds, levels or decimals than the data in {listed(differing)}. Fit it to "
            "the same frame, or let the explainer fit its own."
        )
