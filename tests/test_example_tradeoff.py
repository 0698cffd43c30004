"""Figure 1 of the paper: what is drawn is true, and the nearest-neighbour measure is fooled by a gap."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from countarfactuals import AdversarialRandomForest
from countarfactuals.objectives import Gower
from countarfactuals.schema import Schema

EXAMPLE = Path(__file__).parent.parent / "examples" / "tradeoff.py"
SEEDS = (1, 4)


@pytest.fixture(scope="module")
def example() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("tradeoff_example", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["tradeoff_example"] = module  # its dataclasses look themselves up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["tradeoff_example"]


@pytest.fixture(scope="module")
def gaps(example):
    return {seed: example.make_panel(example.GAP, seed) for seed in SEEDS}


@pytest.fixture(scope="module")
def trade_off(example):
    return example.make_panel(example.TRADE_OFF)


def in_gap(point: np.ndarray) -> bool:
    """Between the two dense regions, three of their standard deviations from each."""
    return abs(point[0]) < 1.05 and -0.5 < point[1] < 3.1


@pytest.mark.parametrize("seed", SEEDS)
def test_gower_prefers_the_gap_and_the_forest_does_not(example, gaps, seed):
    panel = gaps[seed]
    gap, dense = panel.plausible_by_gower, panel.plausible_by_arf
    assert in_gap(gap.point)
    assert not in_gap(dense.point)
    assert gap.distance < dense.distance
    # to Gower the gap is as good as half of all real rows, to the forest and in truth hardly any is worse
    assert gap.by_gower >= 0.5
    assert gap.by_arf < 0.1
    assert gap.in_truth < 0.1
    assert dense.by_arf >= 0.5
    assert dense.in_truth > 0.25


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_by_the_measures_themselves(example, gaps, seed):
    """Against rows of the dense regions, without the example's functions."""
    panel = gaps[seed]
    schema = Schema.infer(panel.data)
    matrix = schema.encode(panel.data)
    rng = np.random.default_rng(seed)
    dense = np.stack([rng.choice([-2.1, 2.1], 500) + rng.normal(0, 0.35, 500), rng.normal(1.3, 0.6, 500)], axis=1)
    gap = panel.plausible_by_gower.point
    distance = Gower.of(schema, matrix).nearest(np.vstack([gap, dense]), matrix, 1)[0][:, 0]
    scale = np.ptp(matrix, axis=0)
    assert distance[0] == pytest.approx((np.abs(matrix - gap) / scale).mean(axis=1).min())
    assert (distance[0] < distance[1:]).mean() > 0.4
    forest = AdversarialRandomForest(random_state=seed).fit(panel.data)
    log_density = forest.score_samples(pd.DataFrame(np.vstack([gap, dense]), columns=["x1", "x2"]))
    assert (log_density[0] < log_density[1:]).mean() > 0.9


def test_the_nearest_counterfactual_is_implausible(trade_off):
    near, plausible = trade_off.nearest, trade_off.plausible_by_arf
    assert near.distance < plausible.distance
    assert near.in_truth == 0
    assert near.by_arf < 0.15
    assert plausible.in_truth > 0.25
    assert plausible.by_arf >= 0.5


def test_the_ways_of_panel_a_are_apart(trade_off):
    near, far = (answer.point - trade_off.scene.x for answer in (trade_off.nearest, trade_off.plausible_by_arf))
    angle = np.degrees(np.arctan2(near[1], near[0]) - np.arctan2(far[1], far[0]))
    assert 10 < abs(angle) < 90


@pytest.mark.parametrize("seed", SEEDS)
def test_no_shade_crosses_the_empty_middle(example, trade_off, seed):
    panel = trade_off if seed == example.SEED else example.make_panel(example.TRADE_OFF, seed)
    middle = np.abs(panel.grid[:, 0]) < example.MIDDLE
    assert panel.in_truth[middle].max() < 0.005
    assert panel.typicality[middle].max() < min(example.SHADES)
    assert not (panel.data["x1"].abs() < example.MIDDLE).any()


def test_shares_of_the_truth_by_hand(example, trade_off):
    """In panel a the true density falls with the distance to the middle of the wanted class, in its own scale."""
    fresh, wanted = example.TRADE_OFF.sample(example.N_FRESH, example.SEED + 1)
    real = fresh[wanted]

    def squared(x1, x2):
        return ((x1 - 2.2) / 0.5) ** 2 + ((x2 - 0.5) / 0.8) ** 2

    rightmost = trade_off.grid[:, 0] > 1
    far = squared(*trade_off.grid[rightmost].T)
    share = (squared(real["x1"], real["x2"]).to_numpy()[None] > far[:, None]).mean(axis=1)
    assert trade_off.in_truth[rightmost] == pytest.approx(share, abs=0.002)


def test_answers_are_the_nearest_that_are_wanted(trade_off, gaps):
    for panel in (trade_off, *gaps.values()):
        scale = np.ptp(panel.data.to_numpy(), axis=0)
        distance = (np.abs(panel.grid - panel.scene.x) / scale).mean(axis=1)
        assert panel.nearest.distance == pytest.approx(distance[panel.score > 0].min())
        plausible = (panel.score > 0) & (panel.typicality >= 0.5)
        assert panel.plausible_by_arf.distance == pytest.approx(distance[plausible].min())
        for answer in (panel.nearest, panel.plausible_by_gower, panel.plausible_by_arf):
            at = np.flatnonzero((panel.grid == answer.point).all(axis=1))
            assert len(at) == 1
            assert panel.score[at[0]] > 0
            assert panel.typicality[at[0]] == answer.by_arf


def test_the_true_density_integrates_to_one(example):
    along = np.linspace(-8, 8, 801)
    points = np.stack(np.meshgrid(along, along), axis=-1).reshape(-1, 2)
    for scene in (example.TRADE_OFF, example.GAP):
        mass = np.exp(scene.log_density(points)).sum() * (along[1] - along[0]) ** 2
        assert mass == pytest.approx(1, abs=1e-6)


def test_rows_come_from_the_density(example):
    rows, wanted = example.GAP.sample(20_000, seed=5)
    assert wanted.mean() == pytest.approx(0.55, abs=0.01)
    strays = rows[wanted & (rows["x1"].abs() < 0.8)]
    assert len(strays) / len(rows) == pytest.approx(0.01 * 0.9545, abs=0.002)
    assert rows[~wanted]["x2"].mean() == pytest.approx(-3.3, abs=0.02)


def test_the_picture_has_both_panels(example, trade_off, gaps):
    figure = example.draw(trade_off, gaps[1])
    left, right = figure.axes
    assert (left.get_title(loc="left")[0], right.get_title(loc="left")[0]) == ("a", "b")
    texts = {text.get_text() for ax in (left, right) for text in ax.texts}
    assert "plausible by the\nnearest real row" in texts
    assert "plausible by\nthe forest" in texts
    for ax in (left, right):
        assert ax.get_xlabel()
        assert ax.get_ylabel()
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert len(legend) == 6
    assert legend[-2:] == [f"forest: beats {share} % of real rows of the wanted class" for share in (25, 50)]
    assert figure.legends[0].get_window_extent().width < figure.bbox.width
    figure.draw_without_rendering()
    for ax in (left, right):  # labels inside their panels, and apart from each other
        boxes = [text.get_window_extent() for text in ax.texts if text.get_text()]
        for box in boxes:
            assert ax.bbox.x0 <= box.x0
            assert box.x1 <= ax.bbox.x1 + 5
        assert not boxes[0].overlaps(boxes[1])


def test_it_writes_a_file(example, trade_off, gaps, tmp_path, capsys, monkeypatch):
    made = {id(example.TRADE_OFF): trade_off, id(example.GAP): gaps[1]}
    monkeypatch.setattr(example, "make_panel", lambda scene: made[id(scene)])
    example.main(str(tmp_path / "figure.png"))
    assert (tmp_path / "figure.png").read_bytes()[:4] == b"\x89PNG"
    text = capsys.readouterr().out
    assert "b  the nearest that Gower calls plausible" in text
    middle = np.abs(trade_off.grid[:, 0]) < 0.4
    said = re.search(r"a  the highest in the empty middle +(\d+)% +(\d+)%$", text, re.MULTILINE)
    assert said
    assert int(said[1]) == round(100 * trade_off.typicality[middle].max())
    assert int(said[2]) == 0
