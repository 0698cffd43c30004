"""What figures show."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("matplotlib")

from countarfactuals.study.figures.attainment import median_surface
from countarfactuals.study.figures.boxes import box_values, draw_boxes
from countarfactuals.study.figures.correlations import draw_correlations, reflected_density
from tests.study.test_aggregate import keys_of, make_candidates


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


def test_reflected_density_integrates_to_one() -> None:
    values = np.concatenate([np.ones(20), np.random.default_rng(1).uniform(-1, 1, 60), [-1.0]])
    grid = np.linspace(-1, 1, 4001)
    assert np.trapezoid(reflected_density(values, grid), grid) == pytest.approx(1.0, abs=1e-3)


def test_boxes_show_rows_or_instances() -> None:
    candidates = make_candidates()
    instances = keys_of(candidates).assign(hypervolume=1.0)
    rows = box_values(candidates, instances, "proximity")
    assert len(rows) == candidates["nondominated"].sum()
    np.testing.assert_allclose(rows["value"], 1 - candidates.loc[candidates["nondominated"], "distance"])
    assert len(box_values(candidates, instances, "hypervolume")) == len(instances)


def test_the_grid_has_a_panel_per_measure_and_set_with_the_methods_colours() -> None:
    from countarfactuals.plotting.style import method_colour

    candidates = make_candidates()
    columns = ["hypervolume", "plausible_hypervolume", "n_nondominated", "seconds"]
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
        "ARF, median 0.50",
        "Gower, median 0.25",
    ]
