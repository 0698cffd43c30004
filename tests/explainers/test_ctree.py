"""Conditional inference trees: splits and draws against slow twins."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from countarfactuals.explainers.moc.ctree import ConditionalTree
from countarfactuals.explainers.moc.ctree_sampler import ConditionalTrees, fit_conditional_trees
from countarfactuals.schema import Column, Kind, Schema

from ..arf.twins import mixed
from .statistics_twin import algebraic_test, influence, scipy_test

ALPHA = 0.05


def schema_of(*kinds: str) -> Schema:
    """Columns by a word: "real", "integer", "cents", "ordered4" or "level3" for the number of levels."""

    def column(i: int, word: str) -> Column:
        name = f"x{i}"
        if word.startswith(("level", "ordered")):
            kind, n = (Kind.CATEGORY, word[5:]) if word.startswith("level") else (Kind.ORDERED, word[7:])
            return Column(name, kind, tuple(range(int(n))))
        return {
            "real": Column(name, Kind.REAL),
            "integer": Column(name, Kind.INTEGER, decimals=0),
            "cents": Column(name, Kind.REAL, decimals=2),
        }[word]

    return Schema(tuple(column(i, word) for i, word in enumerate(kinds)), "pandas")


def fit(matrix: np.ndarray, schema: Schema, **parameters) -> ConditionalTrees:
    return fit_conditional_trees(matrix, schema, rng=np.random.default_rng(0), **parameters)


@cache
def mixed_rows() -> tuple[Schema, np.ndarray]:
    """All kinds of columns, with missing cells in four of six."""
    schema = Schema.infer(mixed(600))
    return schema, schema.encode(mixed(600))


def is_level(column: Column) -> bool:
    return column.kind in (Kind.CATEGORY, Kind.BOOLEAN)


# Splits


def statistic_of_cut(left: np.ndarray, y: np.ndarray, y_is_level: bool, of_spread: bool = False) -> float:
    return algebraic_test(left * 1.0, y, True, y_is_level, of_spread)[0]


def left_rows(tree: ConditionalTree, node: int, rows: np.ndarray) -> np.ndarray:
    """Which rows a split sends to the left: a slow twin."""
    x = rows[:, tree.feature[node]]
    place = tree.first_level[node]
    by_level = [tree.goes_left[place + int(v)] if place >= 0 and v == v else v <= tree.cut[node] for v in x]
    return np.where(np.isnan(x), tree.missing_left[node], np.array(by_level, np.bool_))


def members(tree: ConditionalTree, rows: np.ndarray) -> list[np.ndarray]:
    """Positions of the rows that pass through each node: a slow twin."""
    inside = [np.arange(len(rows))] + [np.empty(0, np.int64)] * (len(tree.feature) - 1)
    for node in np.flatnonzero(tree.feature >= 0):
        goes_left = left_rows(tree, node, rows[inside[node]])
        inside[tree.left[node]] = inside[node][goes_left]
        inside[tree.right[node]] = inside[node][~goes_left]
    return inside


def depth_of(tree: ConditionalTree, node: int) -> int:
    return 0 if node == 0 else 1 + depth_of(tree, int(tree.parent[node]))


def in_order(x: np.ndarray, y: np.ndarray, y_is_level: bool, of_spread: bool) -> np.ndarray:
    """The place of each row's level in the order of step 3; which end is first does not matter."""
    columns = (y == stats.mode(y).mode)[:, None] if y_is_level else influence(y, False, of_spread)
    columns = np.linalg.qr(columns - columns.mean(axis=0))[0]
    levels, count = np.unique(x, return_counts=True)
    means = np.stack([columns[x == k].mean(axis=0) for k in levels])
    line = np.linalg.svd(np.sqrt(count)[:, None] * means)[2][0]
    place = np.argsort(np.argsort(means @ line, kind="stable"))
    return place[np.searchsorted(levels, x)]


def has_cut(x: np.ndarray, y: np.ndarray, x_is_level: bool, y_is_level: bool, of_spread: bool, least: int = 20) -> bool:
    """Whether x can be cut with enough rows on both sides."""
    if x_is_level:
        x = in_order(x, y, y_is_level, of_spread)
    return any(least <= (x <= value).sum() <= len(x) - least for value in np.unique(x))


@pytest.mark.parametrize("j", range(6))
def test_every_node_is_split_as_the_definition_says(j):
    schema, matrix = mixed_rows()
    levels = [is_level(column) for column in schema.columns]
    rows = matrix[~np.isnan(matrix[:, j])]
    tree = fit(matrix, schema).tree(j)
    assert tree.feature[0] >= 0
    for node, inside in enumerate(members(tree, rows)):
        pairs = {}
        for f in set(range(6)) - {j}:
            known = inside[~np.isnan(rows[inside, f])]
            pair = rows[known, f], rows[known, j], levels[f], levels[j]
            if len(np.unique(pair[0])) > 1 and len(np.unique(pair[1])) > 1:
                pairs[f] = pair
        tests = [{f: algebraic_test(*pair, of_spread) for f, pair in pairs.items()} for of_spread in (False, True)]
        n_tests = len(pairs) + sum(tests[1][f][1] > tests[0][f][1] for f in pairs)
        chosen = [
            (f, log_p)
            for of_spread in (False, True)
            for log_p, f in sorted(
                (stats.chi2.logsf(*tests[of_spread][f]) + math.log(n_tests), f)
                for f, pair in pairs.items()
                if has_cut(*pair, of_spread)
            )
            if log_p <= math.log(ALPHA)
        ]
        if depth_of(tree, node) == 5 or not chosen:
            assert tree.feature[node] == -1
        else:
            assert tree.feature[node] == chosen[0][0]
            assert tree.log_p[node] == pytest.approx(chosen[0][1], rel=1e-6)


@pytest.mark.parametrize("y_is_level", [False, True])
@given(seed=st.integers(0, 10**6))
def test_the_cut_has_the_largest_statistic_of_all(y_is_level, seed):
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(0, 1, 70), 1)
    y = np.clip(np.round(x + rng.normal(0, 0.5, 70)) + 5, 0, 11)
    schema = schema_of("real", "level12" if y_is_level else "real")
    tree = fit(np.column_stack([x, y]), schema, min_samples_leaf=10, max_depth=1).tree(1)
    values = np.unique(x)
    cuts = [(a + b) / 2 for a, b in pairwise(values) if 10 <= (x <= a).sum() <= 60]
    best = max(statistic_of_cut(x <= cut, y, y_is_level) for cut in cuts)
    assert tree.feature[0] == 0
    assert statistic_of_cut(x <= tree.cut[0], y, y_is_level) == pytest.approx(best, rel=1e-9)
    assert any(tree.cut[0] == pytest.approx(cut) for cut in cuts)


@pytest.mark.parametrize("y_is_level", [False, True])
def test_levels_are_cut_in_the_order_of_their_response(y_is_level):
    rng = np.random.default_rng(1)
    code = rng.integers(0, 6, 300)
    shift = np.array([0.0, 3.0, 0.4, 3.4, 0.2, 1.0])[code]
    y = (shift + rng.normal(0, 0.5, 300) > 1.5) * 1.0 if y_is_level else shift + rng.normal(0, 0.5, 300)
    schema = schema_of("level8", "level2" if y_is_level else "real")  # two levels do not occur
    tree = fit(np.column_stack([code, y]), schema, max_depth=1).tree(1)
    goes_left = tree.goes_left[:6].tolist()
    assert goes_left == [goes_left[0], not goes_left[0]] * 2 + [goes_left[0]] * 2  # levels 1 and 3 against the others
    larger = np.diff([tree.start[tree.left[0]], tree.stop[tree.left[0]]])[0] >= 150
    assert tree.goes_left[6:].tolist() == [larger, larger]
    assert math.isnan(tree.cut[0])


SHAPES = {
    "ring": lambda a, u, e: (np.cos(2 * np.pi * a), np.sin(2 * np.pi * a) + 0.1 * e),
    "cross": lambda a, u, e: (a - 0.5, np.where(u < 0.5, 1, -1) * (a - 0.5) + 0.02 * e),
    "funnel": lambda a, u, e: (a, e * (0.1 + a)),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_that_leave_the_mean_unchanged_are_cut_where_spreads_differ_most(shape):
    rng = np.random.default_rng(4)
    x, y = SHAPES[shape](rng.random(400), rng.random(400), rng.normal(size=400))
    assert stats.chi2.sf(*scipy_test(x, y, False, False)) > ALPHA / 2  # tests of means alone would not split it
    tree = fit(np.column_stack([x, y]), schema_of("real", "real"), max_depth=1).tree(1)
    assert tree.feature[0] == 0
    ordered = np.sort(x)
    cuts = (ordered[19:-20] + ordered[20:-19]) / 2
    best = max(statistic_of_cut(x <= cut, y, False, of_spread=True) for cut in cuts)
    assert statistic_of_cut(x <= tree.cut[0], y, False, of_spread=True) == pytest.approx(best, rel=1e-9)
    deep = fit(np.column_stack([x, y]), schema_of("real", "real")).tree(1)
    assert (deep.feature < 0).sum() > 3


def test_draws_on_a_ring_stay_near_it():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 3000)
    rows = np.column_stack([np.cos(angle), np.sin(angle)]) * rng.normal(1, 0.05, 3000)[:, None]
    drawn = rows.copy()
    drawn[:, 1] = fit(rows, schema_of("real", "real")).draw(rows, 1, rng)
    shuffled = np.column_stack([rows[:, 0], rng.permutation(rows[:, 1])])
    off = [np.abs(np.hypot(*some.T) - 1) for some in (drawn, shuffled)]
    assert np.median(off[0]) < 0.5 * np.median(off[1])


def test_levels_are_cut_in_the_order_of_their_spread_where_means_are_equal():
    rng = np.random.default_rng(8)
    code = rng.integers(0, 4, 800)
    y = rng.normal(size=800) * np.array([1.0, 4.0, 1.2, 3.5])[code]
    tree = fit(np.column_stack([code, y]), schema_of("level4", "real"), max_depth=1).tree(1)
    assert tree.goes_left.tolist() in ([True, False, True, False], [False, True, False, True])


def test_the_right_feature_and_cut_on_a_constructed_case():
    rng = np.random.default_rng(5)
    X = rng.random((400, 5))
    X[:, 4] = np.where(X[:, 2] > 0.37, 2.0, 0.0) + rng.normal(0, 0.3, 400)
    tree = fit(X, schema_of(*["real"] * 5), max_depth=1).tree(4)
    assert tree.feature.tolist() == [2, -1, -1]
    below, above = X[X[:, 2] <= 0.37, 2].max(), X[X[:, 2] > 0.37, 2].min()
    assert tree.cut[0] == (below + above) / 2
    np.testing.assert_array_equal(tree.values[: tree.stop[1]], X[X[:, 2] <= 0.37, 4])


def test_independent_columns_are_hardly_ever_split():
    """At most a share alpha of such data sets is split: 400 of them, with a standard error of 0.011."""
    schema = schema_of("real", "level3", "integer", "real")
    n_split = np.zeros(2)
    for seed in range(400):
        rng = np.random.default_rng(seed)
        columns = [rng.normal(size=150), rng.integers(0, 3, 150), rng.poisson(3, 150), rng.exponential(size=150)]
        trees = fit(np.column_stack(columns), schema, max_depth=1)
        n_split += [trees.tree(0).feature[0] >= 0, trees.tree(1).feature[0] >= 0]
    share = n_split / 400
    assert (share > 0.015).all()
    assert (share < 0.085).all()


def test_no_cut_gives_way_to_the_next_feature():
    rng = np.random.default_rng(2)
    rare, common = np.arange(200) < 5, rng.random(200)
    y = 4.0 * rare + 0.1 * common + rng.normal(0, 0.1, 200)
    rows, schema = np.column_stack([rare, common, y]), schema_of("level2", "real", "real")
    assert fit(rows, schema, min_samples_leaf=5).tree(2).feature[0] == 0
    assert fit(rows, schema, min_samples_leaf=6).tree(2).feature[0] == 1


def test_ordered_levels_are_cut_in_their_order():
    rng = np.random.default_rng(4)
    code = rng.integers(0, 5, 400) * 1.0
    y = np.where(code >= 3, 4.0, 0.0) + np.where(code == 1, -1.0, 0.0) + rng.normal(0, 0.1, 400)
    tree = fit(np.column_stack([code, y]), schema_of("ordered5", "real"), max_depth=1).tree(1)
    assert tree.cut[0] == 2.5
    assert tree.first_level[0] == -1


def test_alpha_and_depth_and_leaf_size_are_kept():
    rng = np.random.default_rng(0)
    x = rng.random(1000)
    matrix, schema = np.column_stack([x, x + rng.normal(0, 0.02, 1000)]), schema_of("real", "real")
    sizes = {}
    for depth in (0, 1, 3, 5):
        tree = fit(matrix, schema, max_depth=depth, min_samples_leaf=15).tree(1)
        is_leaf = tree.feature < 0
        assert max(depth_of(tree, node) for node in range(len(is_leaf))) <= depth
        assert (tree.stop - tree.start)[is_leaf].min() >= 15
        sizes[depth] = len(is_leaf)
    assert sizes[0] == 1 < sizes[1] < sizes[3] < sizes[5]
    assert len(fit(matrix, schema, alpha=0.0).tree(1).feature) == 1


@pytest.mark.parametrize("j", range(6))
def test_nodes_hold_the_values_of_the_rows_that_fall_into_them(j):
    schema, matrix = mixed_rows()
    tree = fit(matrix, schema, min_samples_leaf=10).tree(j)
    rows = matrix[~np.isnan(matrix[:, j])]
    for node, inside in enumerate(members(tree, rows)):
        assert sorted(tree.values[tree.start[node] : tree.stop[node]]) == sorted(rows[inside, j])
        if tree.feature[node] >= 0:
            known = inside[~np.isnan(rows[inside, tree.feature[node]])]
            n_left = left_rows(tree, node, rows[known]).sum()
            assert tree.missing_left[node] == (n_left >= len(known) - n_left)


# Draws


def expected_bandwidth(values: np.ndarray) -> float:
    return 0.9 * min(np.std(values, ddof=1), stats.iqr(values) / 1.34) * len(values) ** -0.2


def kernel_cdf(values: np.ndarray, at: np.ndarray, low: float, high: float) -> np.ndarray:
    """Distribution function of a value plus noise that keeps it in [low, high]."""
    h = expected_bandwidth(values)
    z = [stats.truncnorm.cdf(at, (low - v) / h, (high - v) / h, v, h) for v in values]
    return np.mean(z, axis=0)


def two_clouds(seed: int = 0) -> tuple[Schema, np.ndarray]:
    """A number, whole and in cents too, and a category, whose distributions depend on another number."""
    rng = np.random.default_rng(seed)
    x = rng.random(300)
    number = np.where(x > 0.5, rng.normal(5, 1, 300), rng.exponential(1, 300))
    level = np.where(x > 0.5, rng.choice(4, 300, p=[0.6, 0.3, 0.1, 0]), rng.choice(4, 300, p=[0, 0.1, 0.2, 0.7]))
    columns = [x, number, np.rint(3 * number), np.round(number, 2), level]
    return schema_of("real", "real", "integer", "cents", "level4"), np.column_stack(columns)


def only_x(j: int, **parameters) -> tuple[ConditionalTrees, np.ndarray]:
    """Trees on the first column and column j of the clouds."""
    schema, matrix = two_clouds()
    return fit(matrix[:, [0, j]], schema.select([0, j]), max_depth=1, **parameters), matrix[:, [0, j]]


@pytest.mark.parametrize("side", [0.2, 0.8])
def test_numbers_follow_the_kernel_density_of_the_node(side):
    trees, matrix = only_x(1)
    node = matrix[(matrix[:, 0] <= trees.tree(1).cut[0]) == (side < 0.5), 1]
    assert 100 < len(node) < 200
    drawn = trees.draw(np.tile([side, np.nan], (3000, 1)), 1, np.random.default_rng(1))
    ends = matrix[:, 1].min(), matrix[:, 1].max()
    assert stats.kstest(drawn, lambda at: kernel_cdf(node, at, *ends)).pvalue > 0.01
    assert stats.ks_2samp(drawn, node).pvalue > 0.01  # smoothing is slight
    other = np.setdiff1d(matrix[:, 1], node)
    assert stats.ks_2samp(drawn, other).pvalue < 1e-6


@pytest.mark.parametrize("j", [2, 3])
def test_rounded_numbers_follow_the_density_around_each_grid_point(j):
    trees, matrix = only_x(j)
    step = trees.schema.columns[1].step
    node = matrix[matrix[:, 0] <= trees.tree(1).cut[0], 1]
    drawn = trees.draw(np.tile([0.1, np.nan], (4000, 1)), 1, np.random.default_rng(1))
    low, high = matrix[:, 1].min(), matrix[:, 1].max()
    edges = np.unique(np.quantile(drawn, np.linspace(0, 1, 12)[:-1])) - step / 2
    edges[0] = low - step / 2
    cdf = np.append(kernel_cdf(node, edges, low - step / 2, high + step / 2), 1.0)
    observed = np.bincount(np.searchsorted(edges, drawn) - 1, minlength=len(edges))
    assert stats.chisquare(observed, np.diff(cdf) * 4000).pvalue > 0.01


def test_levels_follow_the_shares_of_the_node():
    trees, matrix = only_x(4)
    for side in (0.2, 0.8):
        node = matrix[(matrix[:, 0] <= trees.tree(1).cut[0]) == (side < 0.5), 1].astype(int)
        drawn = trees.draw(np.tile([side, 0.0], (3000, 1)), 1, np.random.default_rng(1)).astype(int)
        share, observed = np.bincount(node, minlength=4) / len(node), np.bincount(drawn, minlength=4)
        assert (observed[share == 0] == 0).all()
        assert stats.chisquare(observed[share > 0], 3000 * share[share > 0]).pvalue > 0.01


def test_rows_get_draws_of_their_own_leaves():
    trees, _ = only_x(1)
    rows = np.column_stack([np.tile([0.1, 0.9], 500), np.zeros(1000)])
    drawn = trees.draw(rows, 1, np.random.default_rng(0))
    assert np.median(drawn[::2]) < 1.5 < 4 < np.median(drawn[1::2])


@given(seed=st.integers(0, 10**6))
def test_draws_are_values_that_the_columns_can_have(seed):
    schema, matrix = mixed_rows()
    trees = mixed_trees()
    rng = np.random.default_rng(seed)
    rows = np.column_stack([rng.permutation(column)[:50] for column in matrix.T])
    rows[rng.random(rows.shape) < 0.3] = np.nan
    for j, column in enumerate(schema.columns):
        drawn = trees.draw(rows, j, rng)
        assert drawn.shape == (50,)
        assert (drawn >= np.nanmin(matrix[:, j])).all()
        assert (drawn <= np.nanmax(matrix[:, j])).all()
        if not column.is_number:
            assert set(drawn) <= set(matrix[:, j])
        elif column.step:
            scale = round(1 / column.step)
            np.testing.assert_array_equal(np.rint(drawn * scale) / scale, drawn)
        else:
            assert len(np.unique(drawn)) > 40


@cache
def mixed_trees() -> ConditionalTrees:
    schema, matrix = mixed_rows()
    return fit(matrix, schema)


# What is allowed


def test_allowed_numbers_follow_the_density_given_the_interval():
    trees, matrix = only_x(1)
    low, high = matrix[:, 1].min(), matrix[:, 1].max()
    node = matrix[matrix[:, 0] <= trees.tree(1).cut[0], 1]
    drawn = trees.draw(np.tile([0.1, 0.0], (3000, 1)), 1, np.random.default_rng(2), allowed=(0.8, 2.5))
    below, inside = kernel_cdf(node, np.array([0.8, 2.5]), low, high)

    def cdf(at):
        return (kernel_cdf(node, at, low, high) - below) / (inside - below)

    assert drawn.min() >= 0.8
    assert drawn.max() <= 2.5
    assert stats.kstest(drawn, cdf).pvalue > 0.01


def test_allowed_intervals_hold_on_the_grid():
    trees, _ = only_x(2)
    rows = np.tile([0.9, 99.0], (300, 1))
    assert set(trees.draw(rows, 1, np.random.default_rng(0), allowed=(12.5, 15.2))) == {13.0, 14.0, 15.0}
    assert set(trees.draw(rows, 1, np.random.default_rng(0), allowed=(12.5, 13.2))) == {13.0}
    assert set(trees.draw(rows, 1, np.random.default_rng(0), allowed=(12.2, 12.9))) == {99.0}  # no grid point
    assert set(trees.draw(rows, 1, np.random.default_rng(0), allowed=(1e3, 1e4))) == {99.0}  # beyond the data
    cents, _ = only_x(3)
    drawn = cents.draw(rows, 1, np.random.default_rng(0), allowed=(5.07, 5.09))
    assert set(drawn) == {5.07, 5.08, 5.09}


def test_an_interval_that_allows_all_changes_nothing():
    trees, matrix = only_x(3)
    free = trees.draw(matrix, 1, np.random.default_rng(0))
    np.testing.assert_array_equal(trees.draw(matrix, 1, np.random.default_rng(0), allowed=(-math.inf, math.inf)), free)


def test_allowed_levels_follow_their_shares():
    trees, matrix = only_x(4)
    node = matrix[matrix[:, 0] <= trees.tree(1).cut[0], 1]
    allowed = np.array([False, True, True, False])
    drawn = trees.draw(np.tile([0.1, 0.0], (2000, 1)), 1, np.random.default_rng(0), allowed=allowed)
    share = (node == 1).sum() / np.isin(node, [1, 2]).sum()
    assert set(drawn) == {1.0, 2.0}
    assert stats.binomtest(int((drawn == 1).sum()), 2000, share).pvalue > 0.01


def test_what_the_leaf_lacks_comes_from_the_node_above():
    rng = np.random.default_rng(0)
    x = rng.random(400)
    level = np.where(x < 0.5, 0, np.where(x < 0.75, rng.choice([1, 2], 400), rng.choice([2, 3], 400)))
    trees = fit(np.column_stack([x, level]), schema_of("real", "level5"), max_depth=2)
    rows = np.tile([0.6, 4.0], (100, 1))

    def drawn(*allowed: int) -> set[float]:
        return set(trees.draw(rows, 1, rng, allowed=np.isin(np.arange(5), allowed)))

    assert set(trees.draw(rows, 1, rng)) == {1.0, 2.0}
    assert drawn(0, 3) == {3.0}
    assert drawn(0, 4) == {0.0}
    assert drawn(4) == {4.0}  # no row has it: the cell stays
    rows[:, 1] = 1.0
    assert drawn(4) == {1.0}


# Gaps, constants and edges


@pytest.mark.parametrize("common", [0, 1])
@pytest.mark.parametrize("kind", ["level3", "real"])
def test_missing_query_cells_and_unseen_levels_go_to_the_larger_side(common, kind):
    rng = np.random.default_rng(0)
    x = np.where(rng.random(300) < 0.7, common, 1 - common)
    trees = fit(np.column_stack([x, 10.0 * x + rng.normal(0, 0.1, 300)]), schema_of(kind, "real"))
    unknown = [np.nan, 2.0] if kind == "level3" else [np.nan]
    for cell in (*unknown, common):
        drawn = trees.draw(np.tile([cell, 0.0], (50, 1)), 1, rng)
        assert np.abs(drawn - 10 * common).max() < 1
    assert np.abs(trees.draw(np.tile([1.0 - common, 0.0], (50, 1)), 1, rng) - 10 * (1 - common)).max() < 1


def test_rows_without_the_response_are_left_out():
    schema, matrix = two_clouds()
    gaps = np.concatenate([matrix, np.column_stack([matrix[:, 0], np.full((300, 4), np.nan)])])
    for name in ConditionalTree._fields:
        with_gaps, without = fit(gaps, schema).tree(1), fit(matrix, schema).tree(1)
        np.testing.assert_array_equal(getattr(with_gaps, name), getattr(without, name))


def test_missing_predictors_in_training_are_left_out_of_the_test():
    _, matrix = two_clouds()
    rows = matrix[:, :2].copy()
    rows[::3, 0] = np.nan
    tree = fit(rows, schema_of("real", "real"), max_depth=1).tree(1)
    known = ~np.isnan(rows[:, 0])
    expected = stats.chi2.logsf(*scipy_test(*rows[known].T, False, False)) + math.log(2)  # two tests can be made
    assert tree.log_p[0] == pytest.approx(expected)
    assert tree.stop[0] == 300


def test_constant_columns():
    rng = np.random.default_rng(0)
    rows = np.column_stack([np.full(100, 0.1), np.zeros(100), rng.random(100), np.full(100, 3.0)])
    trees = fit(rows, schema_of("real", "level2", "real", "integer"))
    for j in range(4):
        tree = trees.tree(j)
        assert tree.feature.tolist() == [-1]
        if j != 2:
            assert set(trees.draw(rows, j, rng)) == {rows[0, j]}


def test_a_node_of_equal_values_draws_that_value():
    x = np.linspace(0, 1, 100)
    trees = fit(np.column_stack([x, np.where(x > 0.5, x, 0.25)]), schema_of("real", "real"), max_depth=1)
    rows = np.array([[0.1, 0.0]] * 20)
    assert set(trees.draw(rows, 1, np.random.default_rng(0))) == {0.25}
    assert set(trees.draw(rows, 1, np.random.default_rng(0), allowed=(0.2, 0.7))) == {0.25}
    above = trees.draw(rows, 1, np.random.default_rng(0), allowed=(0.6, 0.7))
    assert above.min() >= 0.6
    assert above.max() <= 0.7


@pytest.mark.parametrize("kind", ["real", "integer", "level3"])
def test_one_feature_is_drawn_from_all_rows(kind):
    column = np.repeat([0.0, 1.0, 2.0], [60, 30, 10])
    trees = fit(column[:, None], schema_of(kind))
    drawn = trees.draw(np.zeros((500, 1)), 0, np.random.default_rng(0))
    assert abs(drawn.mean() - 0.5) < 0.15
    assert drawn.min() >= 0
    assert drawn.max() <= 2


def test_a_column_without_values_stays_as_it_is():
    rows = np.column_stack([np.full(50, np.nan), np.arange(50.0)])
    trees = fit(rows, schema_of("real", "real"))
    query = np.array([[4.0, 1.0], [np.nan, 2.0]])
    for allowed in (None, (0.0, 5.0)):
        np.testing.assert_array_equal(trees.draw(query, 0, np.random.default_rng(0), allowed), [4.0, np.nan])
    assert trees.tree(1).feature.tolist() == [-1]


def test_no_rows_give_no_draws():
    assert mixed_trees().draw(np.empty((0, 6)), 0, np.random.default_rng(0)).shape == (0,)


def test_identifiers_are_no_reason_to_split():
    rng = np.random.default_rng(0)
    rows = np.column_stack([np.arange(300), rng.permutation(300), rng.random(300)])
    trees = fit(rows, schema_of("level300", "level300", "real"))
    assert all(trees.tree(j).feature[0] == -1 for j in range(3))


# Chance, and what is left alone


def test_draws_depend_on_the_generator_alone():
    schema, matrix = mixed_rows()
    trees = mixed_trees()
    for j in range(6):
        first = trees.draw(matrix, j, np.random.default_rng(8))
        np.testing.assert_array_equal(first, fit(matrix, schema).draw(matrix, j, np.random.default_rng(8)))
        assert (first != trees.draw(matrix, j, np.random.default_rng(9))).any()


def test_a_draw_does_not_depend_on_the_cell_it_replaces():
    _, matrix = mixed_rows()
    other = matrix.copy()
    other[:, 0] = np.nan
    drawn = [mixed_trees().draw(rows, 0, np.random.default_rng(0)) for rows in (matrix, other)]
    np.testing.assert_array_equal(*drawn)


def test_inputs_are_left_as_they_are():
    schema, matrix = mixed_rows()
    rows = matrix.copy()
    rows.setflags(write=False)
    trees = fit(rows, schema)
    allowed = np.ones(4, np.bool_)
    allowed.setflags(write=False)
    for j in range(6):
        trees.draw(rows, j, np.random.default_rng(0))
    trees.draw(rows, 3, np.random.default_rng(0), allowed)
    np.testing.assert_array_equal(rows, matrix)


def test_a_changed_input_does_not_reach_trees_that_are_not_grown_yet():
    schema, matrix = mixed_rows()
    rows = matrix.copy()
    trees = fit(rows, schema)
    rows[:] = 0.0
    np.testing.assert_array_equal(trees.tree(1).values, mixed_trees().tree(1).values)


def test_trees_are_grown_once():
    trees = mixed_trees()
    assert trees.tree(2) is trees.tree(2)


def test_many_rows_are_thinned_but_the_range_is_that_of_all():
    rng = np.random.default_rng(0)
    rows = np.arange(2000.0)[:, None]
    one, same, other = (
        fit_conditional_trees(rows, schema_of("real"), rng=np.random.default_rng(seed), max_rows=100)
        for seed in (1, 1, 2)
    )
    assert len(np.unique(one.tree(0).values)) == 100
    np.testing.assert_array_equal(one.tree(0).values, same.tree(0).values)
    assert (one.tree(0).values != other.tree(0).values).any()
    assert (one.low[0], one.high[0]) == (0.0, 1999.0)
    drawn = one.draw(rows, 0, rng)
    assert drawn.min() >= 0
    assert drawn.max() <= 1999
