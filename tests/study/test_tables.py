"""Tables by hand-computed cases and slow twins."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from countarfactuals.study import tables
from countarfactuals.study.measures import MEASURES


def make_candidates(seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    n = 240
    frame = pd.DataFrame({name: rng.random(n) for name in MEASURES})
    frame["share_changed"] = rng.integers(1, 4, n) / 4
    frame["log_density"] = np.log(rng.random(n))
    frame["nondominated"] = rng.random(n) < 0.3
    frame["x1"] = rng.normal(size=n)
    frame.insert(0, "dataset", rng.choice(["one", "two"], n))
    frame.insert(1, "method", rng.choice(["arf", "moc"], n))
    frame.insert(2, "instance", rng.integers(1, 4, n))
    return frame


def keys_of(candidates: pd.DataFrame) -> pd.DataFrame:
    keys = candidates[["dataset", "method", "instance"]].drop_duplicates()
    return keys.sort_values(["dataset", "method", "instance"]).reset_index(drop=True)


def union_of_boxes(points: np.ndarray, worst: np.ndarray) -> float:
    """Hypervolume by a grid whose lines are all coordinates."""
    axes = [np.unique(np.append(points[:, j], worst[j])) for j in range(3)]
    volume = 0.0
    lows = np.stack(np.meshgrid(*(axis[:-1] for axis in axes), indexing="ij"), axis=-1).reshape(-1, 3)
    sizes = np.stack(np.meshgrid(*(np.diff(axis) for axis in axes), indexing="ij"), axis=-1).reshape(-1, 3)
    for low, size in zip(lows, sizes, strict=True):
        if (points <= low).all(axis=1).any():
            volume += size.prod()
    return volume


def test_every_line_agrees_with_a_twin() -> None:
    candidates = make_candidates()
    real = {name: np.linspace(-5.0, 0.0, 11) for name in ("one", "two")}
    keys = keys_of(candidates)
    found = tables.per_instance(candidates, keys, real)
    pd.testing.assert_frame_equal(found[list(keys)], keys)
    for line in found.itertuples():
        of_set = candidates[candidates.dataset == line.dataset]
        values = np.column_stack([of_set.distance, of_set.share_changed, 1 - np.exp(of_set.log_density)])
        scaled = (values - values.mean(axis=0)) / values.std(axis=0, ddof=1)
        mine = ((of_set.method == line.method) & (of_set.instance == line.instance)).to_numpy()
        best = mine & of_set.nondominated.to_numpy()
        assert line.hypervolume == pytest.approx(union_of_boxes(scaled[best], scaled.max(axis=0)))
        typical = [1 - np.mean(real["one"] < value) for value in of_set.log_density[best]]
        points = np.column_stack([of_set.distance[best], of_set.share_changed[best], typical])
        assert line.plausible_hypervolume == pytest.approx(union_of_boxes(points, np.ones(3)))
        assert line.n_candidates == mine.sum()
        assert line.n_nondominated == best.sum()
        assert line.spearman_arf == pytest.approx(spearmanr(of_set.log_density[mine], of_set.arf_plausibility[mine])[0])
        gower = spearmanr(of_set.log_density[mine], of_set.gower_plausibility[mine])[0]
        assert line.spearman_gower == pytest.approx(gower)
        assert line.log_density == np.median(of_set.log_density[best])
        assert line.closeness == pytest.approx(1 - np.median(of_set.distance[best]))


def test_an_explanation_without_counterfactuals_counts() -> None:
    candidates = make_candidates()
    keys = pd.concat([keys_of(candidates), pd.DataFrame([{"dataset": "one", "method": "nice", "instance": 1}])])
    found = tables.per_instance(candidates, keys, {"one": np.zeros(1), "two": np.zeros(1)})
    line = found.iloc[-1]
    assert (line.n_candidates, line.n_nondominated, line.hypervolume, line.plausible_hypervolume) == (0, 0, 0.0, 0.0)
    assert np.isnan(line.log_density)
    assert np.isnan(line.spearman_arf)
    table = tables.summary(candidates, found).set_index(["dataset", "method"])
    assert table.loc[("one", "nice"), "n_unexplained"] == 1
    assert table["n_unexplained"].sum() == 1
    assert np.isnan(table.loc[("one", "nice"), "log_density"])


def test_summary_takes_medians_over_rows_and_over_instances() -> None:
    candidates = make_candidates()
    instances = tables.per_instance(candidates, keys_of(candidates), {})
    table = tables.summary(candidates, instances)
    assert table[["dataset", "method"]].drop_duplicates().shape == table[["dataset", "method"]].shape
    for line in table.itertuples():
        rows = candidates.query("dataset == @line.dataset and method == @line.method and nondominated")
        explanations = instances.query("dataset == @line.dataset and method == @line.method")
        assert line.log_density == rows.log_density.median()
        assert line.share_kept == pytest.approx(1 - rows.share_changed.median())
        assert line.hypervolume == explanations.hypervolume.median()
        assert line.n_nondominated == explanations.n_nondominated.median()
        of_instances = [np.median(best.log_density) for _, best in rows.groupby("instance")]
        assert line.log_density_by_instance == np.median(of_instances)


def test_pooled_counts_a_row_of_two_methods_once() -> None:
    candidates = make_candidates()
    candidates = candidates[(candidates.dataset == "one") & (candidates.instance == 1)]
    again = candidates.assign(method="nice")
    once, twice = tables.pooled(candidates), tables.pooled(pd.concat([candidates, again]))
    pd.testing.assert_frame_equal(once, twice)
    assert once.loc[0, "n_candidates"] == len(candidates)
    expected = spearmanr(candidates.log_density, candidates.arf_plausibility)[0]
    assert once.loc[0, "spearman_arf"] == pytest.approx(expected)


def test_spearman_without_spread_is_undefined() -> None:
    assert np.isnan(tables.spearman(pd.Series([1.0]), pd.Series([1.0])))
    assert np.isnan(tables.spearman(pd.Series([1.0, 2.0]), pd.Series([3.0, 3.0])))
    ends = pd.Series([-np.inf, 1.0, 2.0])  # a true density of 0 has a rank too
    assert tables.spearman(ends, pd.Series([1.0, 2.0, 3.0])) == 1.0
