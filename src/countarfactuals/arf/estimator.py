"""`AdversarialRandomForest`: a density of mixed tabular data behind scikit-learn's conventions.

A thin shell: it checks parameters, translates frames and conditions, and delegates to `adversarial` (training),
`leaves` (FORDE), `density`, `sampling` (FORGE) and `expectation`.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from numbers import Integral
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from countarfactuals.arf.adversarial import Settings, train
from countarfactuals.arf.archive import faults_named, pack, read_archive, unpack, write_archive
from countarfactuals.arf.conditions import merge, parse_given
from countarfactuals.arf.dependence import Dependence, fit_dependence, pool_scores
from countarfactuals.arf.evidence import FREE, POINT, PRESENT, Evidence
from countarfactuals.arf.expectation import expect_levels, expect_number
from countarfactuals.arf.forest import Forest, Layout, with_columns
from countarfactuals.arf.grown_on_dask import RowsOnDask, rows_on_dask
from countarfactuals.arf.grown_on_parts import MOST_PARTS, Dealing, choose, deal, fit_parts
from countarfactuals.arf.leaf_fit import LeafOptions, fit_leaves
from countarfactuals.arf.leaves import LeafTable
from countarfactuals.arf.merge import join_forests, join_tables
from countarfactuals.arf.options import (
    as_dependence,
    column_names,
    leaf_options,
    n_features_tried,
    n_rows_drawn,
    n_rows_held,
)
from countarfactuals.arf.sampling import draw_rows, narrow, round_inside
from countarfactuals.arf.tree_walk import LeafWeights, leaf_weights, log_density
from countarfactuals.exceptions import (
    DataError,
    DensityWarning,
    EvidenceError,
    NotFittedError,
    ParameterError,
    listed,
)
from countarfactuals.parameters import RandomState, as_generator, check_choice, check_float, check_int, check_n_jobs
from countarfactuals.schema import Column, Kind, Schema
from countarfactuals.schema.clock import times
from countarfactuals.schema.pieces import as_pieces
from countarfactuals.schema.sketches import infer_sketched, sketch

_FORMAT, _VERSION = "countarfactuals.AdversarialRandomForest", 1
_HIGH_ACCURACY = 0.6
_CONDITIONS_AT_ONCE = 512
_LARGEST_NUMBER = 1e150
_UNSEEN = -1.0  # the code of a level that the training data has not


class AdversarialRandomForest(BaseEstimator):
    """Density of mixed tabular data that can be evaluated, marginalised, conditioned and sampled.

    Parameters
    ----------
    n_estimators : int
        Number of trees.
    min_samples_leaf : int or "auto"
        Least number of real rows, of those drawn for the tree, in each leaf. "auto" chooses it by the held-out
        likelihood of small pilot forests (`min_samples_leaf_` afterwards).
    max_features : "sqrt", int, float or None
        Columns tried per split: max(2, ⌊√p⌋), a number, a share, or all of them.
    max_iter : int
        Most adversarial rounds after the first forest.
    delta : float
        Training stops when real and synthetic rows are told apart with accuracy at most ½ + delta.
    early_stopping : bool
        Also stop when accuracy no longer falls.
    always_split : sequence of column names
        Columns tried at every split, on top of `max_features`.
    never_split : sequence of column names
        Columns that leaves describe but trees do not see: the density of the others is as if these were not there, and
        a condition on them weighs leaves.
    max_samples : int, float or None
        Rows drawn per tree without replacement, as number or share; None means 63.2 %, and 200,000 at most. The
        others are out of bag. Leaf parameters are fitted to all rows.
    family : "truncnorm" or "uniform"
        Distribution of numbers in a leaf.
    leaf_fit : "likelihood" or "moments"
        Truncated normals by maximum likelihood, or by the leaf's mean and standard deviation.
    finite_bounds : None, "local" or "global"
        Close open ends of leaves at the leaf's or the data's range. None leaves them open, so that draws may go
        beyond the data, except for uniforms, which need bounds and take "global".
    epsilon : float
        Share of the range by which closed ends are widened, half on each side. With 0 the smallest value itself lies
        on the open end of its interval and has density 0, as in the reference implementation.
    alpha : "auto" or float
        Laplace smoothing of level shares and shares of missing values, in rows per level; 0 gives unseen levels
        probability 0. "auto" is a tenth of a row per level, and a fifth of one for all levels together at most.
    dependence : "auto", None or a `dependence_`
        How the numbers in a leaf depend on each other. None is the published forest, whose leaves are independent.
        "auto" gives leaves a Gaussian copula over their own distributions where that raises the held-out likelihood,
        and chooses its strength together with the leaf size. What another forest chose can be handed on. Uniform
        leaves are independent.
    values : "auto", None or a dict
        Whether to look for repeated values, grids and hard edges of numbers, which are then drawn and judged as such.
        A dict says by column which values there are, see `Schema.infer`; the other columns are looked at.
    rows_in_memory : int or None
        Rows that are held in memory at a time, of data that is read in pieces (see `fit`). Data of no more rows is
        fitted as a frame is. None is as many as make 20 million cells, 160 MB.
    n_jobs : int or None
        Threads. The result does not depend on it.
    random_state : int, Generator, SeedSequence, RandomState or None
        Seed of everything random in `fit`, and of `sample` and `impute` unless they get their own. Files keep an
        integer only.
    verbose : bool
        Print the accuracy of each round.

    Attributes
    ----------
    accuracies_ : tuple of float
        Out-of-bag accuracy of every round; the first is against independent columns, later ones against rows from the
        leaves of the forest before.
    n_rounds_ : int
        Number of forests grown, the first included.
    min_samples_leaf_ : int
        The leaf size that was used.
    dependence_ : tuple or None
        What correlations were multiplied by, and the weight, in rows, of the forest's common correlations beside a
        region's own; None for independent leaves.
    schema_, forest_, leaves_ : Schema, Forest, LeafTable
        Columns, trees and leaf parameters.

    Examples
    --------
    >>> from countarfactuals.datasets import load_loan
    >>> X = load_loan().X
    >>> arf = AdversarialRandomForest(n_estimators=20, random_state=1).fit(X)
    >>> arf.score_samples(X.head(2)).shape
    (2,)
    >>> rows = arf.sample(3, given={"age": (25, 35), "housing": "own"}, random_state=1)
    >>> bool(rows["age"].between(25, 35).all()), list(rows["housing"])
    (True, ['own', 'own', 'own'])
    """

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        min_samples_leaf: int | str = "auto",
        max_features: int | float | str | None = "sqrt",
        max_iter: int = 10,
        delta: float = 0.0,
        early_stopping: bool = True,
        always_split: Sequence[Any] = (),
        never_split: Sequence[Any] = (),
        max_samples: int | float | None = None,
        family: str = "truncnorm",
        leaf_fit: str = "likelihood",
        finite_bounds: str | None = None,
        epsilon: float = 0.01,
        alpha: float | str = "auto",
        dependence: str | tuple[float, float] | None = "auto",
        values: str | Mapping[Any, Any] | None = "auto",
        rows_in_memory: int | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: bool = False,
    ) -> None:
        self.n_estimators = n_estimators
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.max_iter = max_iter
        self.delta = delta
        self.early_stopping = early_stopping
        self.always_split = always_split
        self.never_split = never_split
        self.max_samples = max_samples
        self.family = family
        self.leaf_fit = leaf_fit
        self.finite_bounds = finite_bounds
        self.epsilon = epsilon
        self.alpha = alpha
        self.dependence = dependence
        self.values = values
        self.rows_in_memory = rows_in_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # Training

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train on a frame, or on data in pieces; `y` is ignored and there for scikit-learn's conventions.

        A `pyarrow.dataset.Dataset`, the path of a Parquet file or folder, a Dask or a Spark frame may be larger than
        memory: what `rows_in_memory` does not hold is read in pieces, see `grown_on_parts`. Where a
        `distributed.Client` is active, the trees of a Dask frame are grown on its workers.
        """
        pieces = as_pieces(X)
        if pieces is None:
            schema = Schema.infer(X, values=self.values)
            return self.fit_encoded(schema, schema.encode(X))
        found = sketch(pieces.read(), self._rows_held)
        schema = infer_sketched(found, values=self.values)
        if found.is_whole:
            return self.fit_encoded(schema, schema.encode(found.sample))
        there = rows_on_dask(pieces.partitions, schema.encode, len(schema.columns))
        return self.fit_batches(schema, there or (lambda: map(schema.encode, pieces.read())), found.n_rows)

    def fit_encoded(self, schema: Schema, matrix: np.ndarray, *, quiet: bool = False) -> Self:
        """Train on a matrix in the codes of a schema, for those who have it already; `quiet` warns of nothing."""
        check_n_jobs(self.n_jobs)
        if len(matrix) < 2:
            raise DataError(f"A density needs at least 2 rows, got {len(matrix)}. Pass more data.")
        _checked(schema, matrix)
        layout, rng, grown_on = Layout.of(schema), as_generator(self.random_state), self._columns_to_split(schema)
        settings, options = self._settings(schema, grown_on, len(matrix)), self._leaf_options()
        seen, seen_layout = matrix[:, grown_on], layout.some(grown_on)
        dependence, auto_size = as_dependence(self.dependence, options), self.min_samples_leaf == "auto"
        size, dependence = choose(seen, seen_layout, settings, dependence, rng, self.n_jobs, auto_size=auto_size)
        training = train(seen, seen_layout, settings._replace(min_real=size), rng, self.n_jobs, self._report)
        forest = with_columns(training.growth.forest, grown_on)
        leaves = fit_leaves(forest, training.growth.members, matrix, layout, options, self.n_jobs)
        if isinstance(dependence, Dependence):
            pool = pool_scores(forest, training.growth.members, matrix, leaves, self.n_jobs)
            leaves = fit_dependence(pool, leaves, dependence)
        self._set_fitted(schema, forest, leaves, training.accuracies, size, dependence)
        if not quiet:
            self._warn_if_distinguishable()
        return self

    def fit_batches(
        self, schema: Schema, batches: Callable[[], Iterator[np.ndarray]] | RowsOnDask, n_rows: int
    ) -> Self:
        """Train on matrices in the codes of a schema that `batches` yields, anew each time and in the same order."""
        check_n_jobs(self.n_jobs)
        layout, rng, grown_on = Layout.of(schema), as_generator(self.random_state), self._columns_to_split(schema)
        settings, options = self._settings(schema, grown_on, n_rows), self._leaf_options()
        most_rows = self._rows_held(len(schema.columns))
        n_parts = min(MOST_PARTS, settings.n_trees, math.ceil(n_rows / most_rows))
        seed = int(rng.integers(2**63)) if n_parts > 1 else 0
        dealing, check = Dealing(n_rows, len(schema.columns), n_parts, most_rows, seed), partial(_checked, schema)
        with TemporaryDirectory(prefix="countarfactuals-") as folder:
            grown = fit_parts(
                batches.deal(dealing, check)
                if isinstance(batches, RowsOnDask)
                else deal(map(check, batches()), dealing, Path(folder)),
                n_parts,
                batches,
                layout,
                grown_on,
                settings,
                options,
                as_dependence(self.dependence, options),
                rng,
                self.n_jobs,
                self._report,
                auto_size=self.min_samples_leaf == "auto",
            )
        self._set_fitted(schema, *grown)
        self._warn_if_distinguishable()
        return self

    def merge(self, others: Self | Sequence[Self]) -> Self:
        """One forest of this one's trees and those of others, fitted to data with the same columns.

        Its density is the mean of theirs, each weighed by its number of trees. This forest stays as it is.

        >>> from countarfactuals.datasets import load_loan
        >>> X = load_loan().X
        >>> schema = Schema.infer(X)
        >>> halves = [schema.encode(X.iloc[:1000]), schema.encode(X.iloc[1000:])]
        >>> forests = [AdversarialRandomForest(n_estimators=5).fit_encoded(schema, half) for half in halves]
        >>> forests[0].merge(forests[1]).n_estimators
        10
        """
        forests = [self, *([others] if isinstance(others, AdversarialRandomForest) else others)]
        for forest in forests:
            _check_mergeable(self, forest)
        n_trees = [forest.forest_.n_trees for forest in forests]
        merged = type(self)(**self.get_params() | {"n_estimators": sum(n_trees)})
        merged._set_fitted(
            self.schema_,
            join_forests([forest.forest_ for forest in forests]),
            join_tables([forest.leaves_ for forest in forests], n_trees),
            self.accuracies_,
            self.min_samples_leaf_,
            next((forest.dependence_ for forest in forests if forest.dependence_ is not None), None),
        )
        return merged

    def _leaf_options(self) -> LeafOptions:
        return leaf_options(self.family, self.leaf_fit, self.finite_bounds, self.epsilon, self.alpha)

    def _rows_held(self, n_columns: int) -> int:
        return n_rows_held(self.rows_in_memory, n_columns)

    def _columns_to_split(self, schema: Schema) -> np.ndarray:
        left_out = [schema.index(name) for name in column_names("never_split", self.never_split)]
        if both := [schema.names[j] for j in left_out if schema.names[j] in column_names("", self.always_split)]:
            raise ParameterError(
                f"Column(s) {listed(both)} stand in always_split and in never_split. Drop one of them."
            )
        if len(set(left_out)) == len(schema.columns):
            raise ParameterError("never_split names all columns, so that no tree can grow. Leave some out.")
        return np.setdiff1d(np.arange(len(schema.columns)), left_out)

    def _settings(self, schema: Schema, grown_on: np.ndarray, n: int) -> Settings:
        auto = isinstance(self.min_samples_leaf, str) and self.min_samples_leaf == "auto"
        always = [schema.index(name) for name in column_names("always_split", self.always_split)]
        return Settings(
            n_trees=check_int("n_estimators", self.n_estimators, 1),
            max_features=n_features_tried(self.max_features, len(grown_on)),
            always=np.searchsorted(grown_on, np.array(always, np.int64)),
            min_real=1 if auto else check_int("min_samples_leaf", self.min_samples_leaf, 1, "'auto' or "),
            n_drawn=n_rows_drawn(self.max_samples, n),
            max_iter=check_int("max_iter", self.max_iter, 0),
            delta=check_float("delta", self.delta, 0.0, 0.5),
            early_stopping=bool(self.early_stopping),
        )

    def _set_fitted(
        self,
        schema: Schema,
        forest: Forest,
        leaves: LeafTable,
        accuracies: Sequence[float],
        min_samples_leaf: int,
        dependence: Any = None,
    ) -> None:
        self.schema_ = schema
        self.forest_ = forest
        self.leaves_ = leaves
        self.accuracies_ = tuple(accuracies)
        self.n_rounds_ = len(accuracies)
        self.min_samples_leaf_ = min_samples_leaf
        self.dependence_ = None if dependence is None else Dependence(*dependence)
        self.n_features_in_ = len(schema.columns)
        self.feature_names_in_ = np.array(schema.names, dtype=object)

    def _report(self, number: int, accuracy: float) -> None:
        if self.verbose:
            print(f"round {number}: out-of-bag accuracy {accuracy:.3f}", flush=True)

    def _warn_if_distinguishable(self) -> None:
        last = self.accuracies_[-1]
        # the first round's accuracy is against independent columns and says nothing of this density; nor do later ones
        # where leaves are dependent, as they are against independent draws from leaves
        if self.dependence_ is None and self.n_rounds_ > 1 and last > _HIGH_ACCURACY and last > 0.5 + self.delta:
            warnings.warn(
                f"A forest still tells the data from what this density produces with accuracy {last:.2f} (0.5 would be "
                "ideal): the density misses structure. More rows, a smaller min_samples_leaf, max_features=None, a "
                "larger max_iter or early_stopping=False may help.",
                DensityWarning,
                stacklevel=4,
            )

    # Density

    def score_samples(self, X: Any, given: Any = None) -> np.ndarray:
        """Log density of each row, of those columns that X has (others are summed out), given evidence.

        A missing cell counts as the event "is missing" where the training data had missing values in that column, and
        is summed out otherwise. `given` holds one condition for all rows or one for each.
        """
        schema, forest, leaves = self._fitted()
        matrix = schema.encode(X, subset=True)
        rows = self._points(X, matrix)
        if given is None:
            return log_density(forest, leaves, rows, self.n_jobs)
        evidence = parse_given(given, schema, leaves.missing_of >= 0)
        if len(evidence.kind) not in (1, len(matrix)):
            raise EvidenceError(
                f"`given` has {len(evidence.kind)} conditions for {len(matrix)} rows. Pass one for all or one for each."
            )
        log_total = self._log_total(evidence)
        merged, contradicted = merge(rows, evidence, matrix)
        joint = log_density(forest, leaves, merged, self.n_jobs)
        return np.where(contradicted, -np.inf, joint - log_total)

    def _points(self, X: Any, matrix: np.ndarray) -> Evidence:
        """What the rows of a frame say; columns that it lacks say nothing."""
        schema, _, leaves = self._fitted()
        present = np.zeros(len(schema.columns), np.bool_)
        present[list(schema.present(X))] = True
        return Evidence.points(matrix, present & (leaves.missing_of >= 0))

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log density of the rows.

        Levels that the training data has not are summed out, with a warning: the folds of a cross-validation may lack
        a rare one, and every candidate is judged alike.
        """
        schema, forest, leaves = self._fitted()
        matrix = schema.encode(X, subset=True, unseen=_UNSEEN)
        is_unseen = (matrix == _UNSEEN) & ~np.array([column.is_number for column in schema.columns])
        rows = self._points(X, np.where(is_unseen, np.nan, matrix))
        rows.kind[is_unseen] = PRESENT
        if is_unseen.any():
            lacking = listed(schema.names[j] for j in np.flatnonzero(is_unseen.any(axis=0)))
            warnings.warn(
                f"{int(is_unseen.any(axis=1).sum())} of {len(matrix)} rows have a level of {lacking} that the training "
                "data has not; it is summed out.",
                DensityWarning,
                stacklevel=2,
            )
        return float(np.mean(log_density(forest, leaves, rows, self.n_jobs)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "density_estimator"
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = True
        return tags

    def _more_tags(self) -> dict[str, Any]:  # of scikit-learn before 1.6
        return {"allow_nan": True, "X_types": ["2darray", "categorical", "string"]}

    def log_probability(self, given: Any) -> Any:
        """Log probability of a condition, or log density of its point parts; −∞ for what no leaf allows.

        A number for a dict, an array for a list of dicts or a frame.
        """
        schema, forest, leaves = self._fitted()
        evidence = parse_given(given, schema, leaves.missing_of >= 0)
        log_total = log_density(forest, leaves, evidence, self.n_jobs)
        return float(log_total[0]) if isinstance(given, Mapping) or given is None else log_total

    # Drawing

    def sample(self, n_samples: int = 1, given: Any = None, random_state: RandomState = None) -> Any:
        """Draw `n_samples` rows for each condition, condition by condition, as a frame like the training frame.

        Of several conditions those that are impossible give rows of gaps, with a warning; a single one is an error.
        """
        schema, _, leaves = self._fitted()
        check_int("n_samples", n_samples, 1)
        evidence = parse_given(given, schema, leaves.missing_of >= 0)
        possible = self._possible(evidence)
        rows = np.full((len(evidence.kind), n_samples, len(schema.columns)), np.nan)
        rows[possible] = self._draw(evidence.rows(possible), n_samples, random_state).reshape(-1, *rows.shape[1:])
        return schema.decode(rows.reshape(-1, rows.shape[2]))

    def impute(
        self, X: Any, n_imputations: int = 1, *, method: str = "sample", random_state: RandomState = None
    ) -> Any:
        """Fill missing cells given the rest of the row.

        `method="sample"` draws them jointly; "expected" takes the mean of a number and the likeliest level of a
        category. With several imputations a list of frames is returned, otherwise one frame.
        """
        schema, _, _ = self._fitted()
        check_int("n_imputations", n_imputations, 1)
        check_choice("method", method, ("sample", "expected"))
        matrix = schema.encode(X)
        blank = np.isnan(matrix)
        holes = np.flatnonzero(blank.any(axis=1))
        filled = [matrix.copy() for _ in range(n_imputations)]
        if len(holes):
            evidence = Evidence.points(matrix[holes], np.zeros(matrix.shape[1], np.bool_))
            evidence.kind[blank[holes]] = PRESENT
            if method == "sample":
                drawn = self._draw(evidence, n_imputations, random_state).reshape(len(holes), n_imputations, -1)
                for k, one in enumerate(filled):
                    one[holes] = drawn[:, k]
            else:
                expected = self._fill_expected(evidence)
                for one in filled:
                    one[holes] = expected
        frames = [schema.decode(one) for one in filled]
        if isinstance(X, pd.DataFrame) and schema.backend == "pandas":
            frames = [frame.set_index(X.index) for frame in frames]
        return frames[0] if n_imputations == 1 else frames

    def _draw(self, evidence: Evidence, n_samples: int, random_state: RandomState) -> np.ndarray:
        schema, forest, leaves = self._fitted()
        rng = as_generator(self.random_state if random_state is None else random_state)
        step = np.array([column.step for column in schema.columns])
        blocks = []
        for some in _blocks(evidence):
            weights = self._weights(some)
            blocks.append(draw_rows(forest, leaves, some, weights, step, n_samples, rng, self.n_jobs))
        rows = np.concatenate(blocks)
        for j, column in enumerate(schema.columns):
            if column.stored_as is not np.float64 and column.step == 0:
                cells = rows[:, j].reshape(len(evidence.kind), n_samples)
                rows[:, j] = narrow(cells, evidence, j, column.stored_as).ravel()
            if column.kind is Kind.INTEGER:
                rows[:, j] = np.clip(rows[:, j], *column.integer_limits)
        return rows

    def _fill_expected(self, evidence: Evidence) -> np.ndarray:
        schema, _, _ = self._fitted()
        filled = evidence.value.copy()
        for j, column in enumerate(schema.columns):
            blank = evidence.kind[:, j] == PRESENT
            if not blank.any():
                continue
            expected = self._expected(evidence.rows(blank), j)
            if column.is_number:
                filled[blank, j] = [self._settled(column, x) for x in expected]
            else:
                filled[blank, j] = expected.argmax(axis=1)
        return filled

    def _settled(self, column: Column, x: float) -> float:
        """The value of a column that is nearest to an expected one."""
        if column.values:
            return min(column.values, key=lambda value: abs(value - x))
        return float(round_inside(x, column.low, column.high, column.step, column.grid[1] if column.grid else 0.0))

    def _expected(self, evidence: Evidence, column: int) -> np.ndarray:
        """Means of a number, or probabilities of a category's levels, given each condition."""
        _, forest, leaves = self._fitted()
        expect = expect_number if leaves.number_of[column] >= 0 else expect_levels
        return np.concatenate([expect(forest, leaves, some, self._weights(some), column) for some in _blocks(evidence)])

    # Expectations

    def expect(self, columns: Sequence[Any] | None = None, given: Any = None) -> pd.DataFrame:
        """Means of numbers and probabilities of levels given each condition, one row per condition.

        The columns are named `age` for a number and `housing=own` for a level. Without `columns`, those that no
        condition fixes to a value. Impossible conditions among several give gaps, with a warning.
        """
        schema, _, leaves = self._fitted()
        evidence = parse_given(given, schema, leaves.missing_of >= 0)
        possible = self._possible(evidence)
        if columns is None:
            chosen = np.flatnonzero((evidence.kind != POINT).any(axis=0)).tolist()
        else:
            chosen = [schema.index(name) for name in ([columns] if isinstance(columns, str) else columns)]
        result: dict[Any, np.ndarray] = {}
        for j in chosen:
            column, found = schema.columns[j], self._expected(evidence.rows(possible), j)
            expected = np.full((len(possible), *found.shape[1:]), np.nan)
            expected[possible] = found
            if column.is_number:
                result[column.name] = times(expected, column.clock).to_numpy() if column.clock else expected
            else:
                result |= {f"{column.name}={level}": expected[:, k] for k, level in enumerate(column.levels)}
        return pd.DataFrame(result, index=range(len(evidence.kind)))

    # Storage

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted forest to a file, without pickle."""
        schema, forest, leaves = self._fitted()
        parameters = self.get_params()
        state = parameters["random_state"]
        parameters["random_state"] = int(state) if isinstance(state, Integral) else None
        for name in ("always_split", "never_split"):
            parameters[name] = list(column_names(name, parameters[name]))
        packed, arrays = pack(forest, leaves)
        meta = {
            "format": _FORMAT,
            "version": _VERSION,
            "written_by": f"countarfactuals {version('countarfactuals')}",
            "parameters": parameters,
            "schema": schema.to_dict(),
            "accuracies": self.accuracies_,
            "min_samples_leaf": self.min_samples_leaf_,
            "dependence": self.dependence_,
            **packed,
        }
        write_archive(path, meta, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a forest that `save` wrote; its densities are identical to the last bit."""
        meta, arrays = read_archive(path, _FORMAT, _VERSION)
        with faults_named(path):
            parameters = meta["parameters"]
            names = {name: _as_names(parameters[name]) for name in ("always_split", "never_split")}
            independent = {"dependence": None, "values": None}  # of files of version 0.1
            check_n_jobs(parameters["n_jobs"])  # of all parameters the one that counts after fitting
            estimator = cls(**independent | parameters | names)
            schema = Schema.from_dict(meta["schema"])
            forest, leaves = unpack(meta, arrays, schema)
            estimator._set_fitted(
                schema, forest, leaves, meta["accuracies"], int(meta["min_samples_leaf"]), meta.get("dependence")
            )
        return estimator

    # Checks

    def _fitted(self) -> tuple[Schema, Forest, LeafTable]:
        if not hasattr(self, "forest_"):
            raise NotFittedError(
                f"This {type(self).__name__} is not fitted. Call `fit(X)` or `{type(self).__name__}.load(path)` first."
            )
        return self.schema_, self.forest_, self.leaves_

    def _weights(self, evidence: Evidence) -> LeafWeights:
        _, forest, leaves = self._fitted()
        weights = leaf_weights(forest, leaves, evidence)
        self._refuse_impossible(evidence, weights.log_total)
        return weights

    def _possible(self, evidence: Evidence) -> np.ndarray:
        """Which conditions are possible; a warning tells of the others, and an error if there is nothing else."""
        _, forest, leaves = self._fitted()
        if len(evidence.kind) == 1:  # refused where it is used, if it must be
            return np.ones(1, np.bool_)
        log_total = log_density(forest, leaves, evidence, self.n_jobs)
        possible = log_total > -np.inf
        if not possible.any():
            self._refuse_impossible(evidence, log_total)
        if not possible.all():
            warnings.warn(
                f"{int((~possible).sum())} of {len(possible)} conditions have probability 0, such as number "
                f"{int(np.argmin(possible))} (counted from 0): their rows are gaps.",
                DensityWarning,
                stacklevel=3,
            )
        return possible

    def _log_total(self, evidence: Evidence) -> np.ndarray:
        _, forest, leaves = self._fitted()
        log_total = log_density(forest, leaves, evidence, self.n_jobs)
        self._refuse_impossible(evidence, log_total)
        return log_total

    def _refuse_impossible(self, evidence: Evidence, log_total: np.ndarray) -> None:
        impossible = np.flatnonzero(log_total == -np.inf)
        if len(impossible) == 0:
            return
        schema, forest, leaves = self._fitted()
        rest = evidence.rows(impossible[:1])
        for j in np.flatnonzero(rest.kind[0] != FREE).tolist():
            fewer = rest.without(j)
            if log_density(forest, leaves, fewer)[0] == -np.inf:
                rest = fewer
        clash = [schema.names[j] for j in np.flatnonzero(rest.kind[0] != FREE)]
        which = f"Condition {impossible[0]} " if len(evidence.kind) > 1 else "The condition "
        together = "on its own" if len(clash) == 1 else "together"
        raise EvidenceError(
            f"{which}has probability 0: no leaf allows what it says of {listed(clash)} {together}. Widen or drop one "
            "of these conditions, or fit with alpha > 0 and finite_bounds=None."
        )


def _checked(schema: Schema, matrix: np.ndarray) -> np.ndarray:
    """A matrix, whose numbers may be squared."""
    too_large = np.flatnonzero((np.abs(matrix) > _LARGEST_NUMBER).any(axis=0))
    if len(too_large):
        raise DataError(
            f"Column(s) {listed(schema.names[j] for j in too_large)} hold numbers beyond ±{_LARGEST_NUMBER:g}, "
            "whose squares no float holds. Rescale them."
        )
    return matrix


def _check_mergeable(one: AdversarialRandomForest, other: Any) -> None:
    """Refuse to join a forest with what is no fitted forest of the same columns."""
    if not isinstance(other, AdversarialRandomForest):
        raise ParameterError(f"merge takes fitted forests, got {type(other).__name__}.")
    (own, _, _), (its, _, _) = one._fitted(), other._fitted()
    if list(own.names) != list(its.names):
        raise DataError(
            f"The other forest has the columns {listed(its.names)}, this one {listed(own.names)}. Forests can be "
            "merged that were fitted with one schema, see `fit_encoded`."
        )
    if differing := [a.name for a, b in zip(own.columns, its.columns, strict=True) if a != b]:
        raise DataError(
            f"The other forest has other kinds, levels, decimals or values in {listed(differing)}. Forests can be "
            "merged that were fitted with one schema: pass the same one to `fit_encoded` of both."
        )


def _blocks(evidence: Evidence) -> Iterator[Evidence]:
    """Some conditions at a time: one that fixes little lists nearly every leaf."""
    for start in range(0, len(evidence.kind), _CONDITIONS_AT_ONCE):
        yield evidence.rows(slice(start, start + _CONDITIONS_AT_ONCE))


def _as_names(stored: Sequence[Any]) -> tuple[Any, ...]:
    """Column names from JSON, which knows lists where pandas has tuples."""
    return tuple(tuple(name) if isinstance(name, list) else name for name in stored)
