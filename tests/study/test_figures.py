"""What figures show."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import trapezoid

pytest.importorskip("matplotlib")

from countarfactuals.explainers import methods
from countarfactuals.study.figures.boxes import box_values, draw_boxes
from countarfactuals.study.figures.correlations import draw_correlations, reflected_density
from countarfactuals.study.figures.line_panels import draw_attainment
from countarfactuals.study.trade_off import Surface, median_surface, share_attained
from tests.study.test_tables import keys_of, make_candidates


def attained(first: np.ndarray, second: np.ndarray, at: np.ndarray) -> np.ndarray:
    return np.array([((first <= x) & (second <= y)).any() for x, y in at])


@pytest.mark.parametrize("n_instances", [1, 4, 5, 7])
def test_median_surface_is_what_half_of_the_instances_attain(n_instances: int) -> None:
    rng = np.random.default_rng(n_instances)
    with_points = max(1, n_instances - 1)  # one instance has none, and counts
    points = rng.random((40, 2))
    instance = rng.permutation(np.arange(40) % with_points + 1)
    surface = median_surface(points, instance, n_instances)
    at = rng.random((300, 2)) * 1.2
    of_each = [attained(*points[instance == i].T, at) for i in range(1, n_instances + 1)]
    expected = np.sum(of_each, axis=0) >= n_instances / 2
    np.testing.assert_array_equal(attained(surface.first, surface.second, at), expected)
    assert (np.diff(surface.first) > 0).all()
    assert (np.diff(surface.second) < 0).all()


def test_median_surface_without_enough_points_is_empty() -> None:
    surface = median_surface(np.array([[0.1, 0.2]]), np.array([1]), 5)
    assert len(surface.first) == 0
    assert len(median_surface(np.empty((0, 2)), np.empty(0, int), 3).first) == 0
    # a true density of 0 attains nothing
    assert len(median_surface(np.array([[0.1, np.inf]]), np.array([1]), 1).first) == 0
    impossible = np.array([[0.1, 1.0], [0.1, np.inf], [0.2, np.inf]])
    assert len(median_surface(impossible, np.array([1, 2, 3]), 3).first) == 0


def test_reflected_density_integrates_to_one() -> None:
    values = np.concatenate([np.ones(20), np.random.default_rng(1).uniform(-1, 1, 60), [-1.0]])
    grid = np.linspace(-1, 1, 4001)
    assert trapezoid(reflected_density(values, grid), grid) == pytest.approx(1.0, abs=1e-3)


def test_boxes_show_rows_or_instances() -> None:
    candidates = make_candidates()
    instances = keys_of(candidates).assign(hypervolume=1.0)
    rows = box_values(candidates, instances, "closeness")
    assert len(rows) == candidates["nondominated"].sum()
    np.testing.assert_allclose(rows["value"], 1 - candidates.loc[candidates["nondominated"], "distance"])
    assert len(box_values(candidates, instances, "hypervolume")) == len(instances)


def test_the_grid_has_a_panel_per_measure_and_set_with_the_methods_colours() -> None:
    from countarfactuals.plotting.style import method_colour

    candidates = make_candidates()
    columns = ["hypervolume", "plausible_hypervolume", "n_nondominated", "seconds_with_own_fit"]
    rng = np.random.default_rng(1)
    instances = keys_of(candidates)
    instances = instances.join(pd.DataFrame(rng.random((len(instances), 4)), columns=columns))
    figure = draw_boxes(candidates, instances)
    assert len(figure.axes) == 14
    assert [ax.get_title() for ax in figure.axes[:2]] == ["one", "two"]
    assert all(ax.get_ylabel() for ax in figure.axes[::2])
    from matplotlib.colors import to_hex

    for ax in figure.axes:
        assert [to_hex(box.get_facecolor()).upper() for box in ax.patches] == [
            method_colour("arf"),
            method_colour("moc"),
        ]
    assert [label.get_text() for label in figure.axes[-1].get_xticklabels()] == ["ARF", "MOC"]


@pytest.mark.filterwarnings("error")
def test_correlations_are_drawn_without_any() -> None:
    instances = pd.DataFrame({"dataset": ["one"], "spearman_arf": [0.5], "spearman_gower": [np.nan]})
    figure = draw_correlations(instances, instances)
    figure.draw_without_rendering()
    assert [text.get_text() for text in figure.axes[0].texts] == ["no pair is defined"]
    whole = draw_correlations(instances.assign(spearman_gower=0.25), instances)
    assert [text.get_text() for text in whole.axes[0].get_legend().get_texts()] == [
        "learned, median 0.50",
        "Gower, median 0.25",
    ]


def test_share_attained_by_a_slow_twin() -> None:
    rng = np.random.default_rng(1)
    make = [Surface(*np.sort(rng.random((2, 12)), axis=1) * [[1], [-1]]) for _ in range(3)]
    ours, *others = make
    corners = [(x, y) for one in others for x, y in zip(*one, strict=True)]
    expected = [any(a <= x and b <= y for a, b in zip(*ours, strict=True)) for x, y in corners]
    assert 0 < sum(expected) < len(expected)
    assert share_attained(ours, others) == pytest.approx(np.mean(expected))
    assert share_attained(ours, [ours]) == 1.0
    nothing = Surface(np.empty(0), np.empty(0))
    assert share_attained(nothing, others) == 0.0
    assert np.isnan(share_attained(ours, [nothing]))
    assert np.isnan(share_attained(ours, []))


def test_equal_surfaces_are_both_seen_and_few_shares_are_ticks() -> None:
    candidates = make_candidates().assign(method="arf", instance=1, nondominated=True, dataset="one")
    twice = pd.concat([candidates, candidates.assign(method="mocarf")])
    twice["share_changed"] = np.where(twice["share_changed"] > 0.5, 1.0, 0.5)
    instances = keys_of(twice)
    (ax,) = draw_attainment(twice, instances, "share_changed").axes
    arf, mocarf = ax.get_lines()
    np.testing.assert_array_equal(arf.get_xydata(), mocarf.get_xydata())
    assert arf.get_linewidth() > 2 * mocarf.get_linewidth()
    assert arf.get_zorder() < mocarf.get_zorder()
    assert arf.get_linestyle() != mocarf.get_linestyle()
    assert list(ax.get_xticks()) == [0.5, 1.0]


def test_hypervolumes_of_many_decades_have_a_log_axis() -> None:
    candidates = make_candidates()
    instances = keys_of(candidates).assign(plausible_hypervolume=0.3, n_nondominated=5, seconds_with_own_fit=1.0)
    small = (instances["dataset"] == "two") & (instances["method"] == "moc")
    figure = draw_boxes(candidates, instances.assign(hypervolume=np.where(small, 1e-5, 20.0)))
    one, two = figure.axes[6:8]
    assert (one.get_yscale(), two.get_yscale()) == ("linear", "log")
    assert two.get_ylim()[0] < 1e-5
    assert [text.get_text() for text in two.texts] == ["log"]
    figure = draw_boxes(candidates, instances.assign(hypervolume=np.where(small, 0.0, 20.0)))
    assert figure.axes[7].get_yscale() == "linear"  # 0 is on no log axis


def test_pair_plots_have_labels_that_do_not_touch_and_no_colours_of_methods() -> None:
    from matplotlib.colors import to_hex

    from countarfactuals.study.figures.pairs import draw_pairs
    from countarfactuals.study.sets import Case

    rng = np.random.default_rng(1)
    low, high = [-4.2, 0, -3, -6, -0.1, -40, 0, -4.2, -9], [3.2, 5, 4, 4, 0.1, 60, 900, 3.2, 1]
    X = pd.DataFrame(rng.uniform(low, high, (300, 9)), columns=[f"x{i}" for i in range(9)])
    case = Case("many", X, pd.Series(rng.integers(0, 2, 300)), None, X.head(5), None)  # type: ignore[arg-type]
    figure = draw_pairs(case)
    figure.draw_without_rendering()
    bottom = [ax for ax in figure.axes if ax.get_visible() and ax.get_xlabel()]
    assert len(bottom) == 9
    boxes = [
        label.get_window_extent()
        for ax in bottom
        for tick, label in zip(ax.get_xticks(), ax.get_xticklabels(), strict=True)
        if ax.get_xlim()[0] <= tick <= ax.get_xlim()[1]
    ]
    ends = sorted((box.x0, box.x1) for box in boxes)
    assert len(ends) >= 18
    assert all(left[1] < right[0] for left, right in pairwise(ends))
    used = {to_hex(c).upper() for ax in figure.axes for dots in ax.collections for c in dots.get_facecolor()}
    assert len(used) == 3
    assert not used & {method.colour for method in methods().values()}
