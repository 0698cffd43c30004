"""The study's explanations are those of the explainers, and its measures those of `evaluation`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("xgboost")
pytest.importorskip("networkx")

from countarfactuals.evaluation import evaluate
from countarfactuals.explainers import ARFExplainer
from countarfactuals.study.design import METHODS, Design
from countarfactuals.study.measures import explain, measure_name, measured, share_background
from countarfactuals.study.sets import CUT, Case, generate_case, load_case

DISTANCE, N_CHANGED, IMPLAUSIBILITY = "distance", "n_changed", "implausibility"  # as `evaluate` calls its costs
DESIGN = Design(preset="default", max_evaluations=150, n_estimators=8)


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    folder = tmp_path_factory.mktemp("data")
    generate_case(folder, "bn_5", seed=3, n_rows=400, n_instances=2)
    return load_case(folder, "bn_5", 2)


@pytest.fixture(scope="module")
def shared(case: Case) -> ARFExplainer:
    explainer = DESIGN.explainer("arf", case.model, case.n_features)
    assert isinstance(explainer, ARFExplainer)
    return explainer.fit(case.X)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore::countarfactuals.exceptions.DensityWarning")
def test_every_method(case: Case, shared: ARFExplainer, method: str) -> None:
    explainer = DESIGN.explainer(method, case.model, case.n_features)
    share_background(explainer, shared)
    x = case.instances.iloc[[0]]
    target = case.target(x)
    explanation = explain(explainer, x, target)
    result = explainer.explain(x, target)
    np.testing.assert_array_equal(explanation.result.rows, result.rows)
    assert explanation.n_evaluated == result.provenance["evaluations"] <= 150
    assert explanation.seconds > 0

    frame = measured(case, explainer, explanation)
    features = frame[list(case.X)]
    was_low = case.model(x)[0] < CUT
    scores = case.model(features)
    assert ((scores >= CUT) if was_low else (scores <= CUT)).all()
    np.testing.assert_allclose(frame["score"], scores, rtol=1e-6)
    assert (frame["validity"] == 0.0).all()
    assert not frame[list(case.X)].duplicated().any()

    typed = features.copy()
    for name in case.X:
        is_level = case.X[name].dtype == "category"
        typed[name] = features[name].astype(int).astype(str).astype(case.X[name].dtype) if is_level else features[name]
    judged = evaluate(typed, x, shared, target)
    np.testing.assert_allclose(frame["distance"], judged[DISTANCE])
    np.testing.assert_allclose(frame["share_changed"], judged[N_CHANGED] / case.n_features)
    np.testing.assert_array_equal(frame["n_changed"], judged["n_changed"])
    plausibility = explainer.background_.plausibility
    codes = explainer.background_.schema.encode(typed)
    np.testing.assert_allclose(frame["arf_plausibility"], plausibility.overall(codes), atol=1e-12)
    np.testing.assert_allclose(frame["gower_plausibility"], -judged["nearest_distance"], atol=1e-12)
    np.testing.assert_allclose(frame["log_density"], case.process.log_density(typed))

    own = frame[["distance", "share_changed", "own_cost"]].to_numpy()
    better = (own[:, None] <= own[None]).all(axis=2) & (own[:, None] < own[None]).any(axis=2)
    best = frame["nondominated"].to_numpy()
    assert not better.any(axis=0)[best].any()
    assert (better.any(axis=0) | best | _repeats(own)).all()
    if method in ("moc", "mocctree"):
        np.testing.assert_allclose(frame["own_cost"], -frame["gower_plausibility"], atol=1e-12)
    elif method == "nice":
        np.testing.assert_allclose(frame["own_cost"], explainer.reconstruction_error(case_codes(case, typed)))
    else:
        np.testing.assert_allclose(frame["own_cost"], judged[IMPLAUSIBILITY])
    np.testing.assert_allclose(frame["typicality"], np.where(best, judged["typicality"], np.nan))
    if method not in ("nice", "whatif"):
        assert best.sum() >= len(result.rows)  # of which some have changes that are not needed


def _repeats(values: np.ndarray) -> np.ndarray:
    """Which rows equal an earlier one."""
    first = np.unique(values, axis=0, return_index=True)[1]
    return ~np.isin(np.arange(len(values)), first)


def case_codes(case: Case, frame: object) -> np.ndarray:
    from countarfactuals.schema import Schema

    return Schema.infer(case.X).encode(frame)


def test_generated_data_is_read_like_the_published(case: Case, tmp_path: Path) -> None:
    assert case.X.shape == (400, 4)
    assert set(case.y) == {0, 1}
    assert len(case.instances) == 2
    assert np.isfinite(case.real_log_density).all()
    assert np.mean((case.model(case.X) >= CUT) == case.y) > 0.85
    generate_case(tmp_path, "bn_5", seed=3, n_rows=400, n_instances=2)
    again = load_case(tmp_path, "bn_5", 2)
    np.testing.assert_array_equal(again.X.astype(float), case.X.astype(float))
    generate_case(tmp_path / "other", "bn_5", seed=4, n_rows=400, n_instances=2)
    assert not np.array_equal(load_case(tmp_path / "other", "bn_5", 2).X.astype(float), case.X.astype(float))


def test_the_measure_is_named_by_who_judges(shared: ARFExplainer) -> None:
    plausibility = shared.background_.plausibility
    alone = replace(plausibility, leader="forest", seats=("forest",))
    assert measure_name(alone) == "median of the trees' log densities"
    several = replace(plausibility, leader="mixture", seats=("mixture", "conditionals"))
    told = "least rank among real rows, by a Gaussian mixture and each column given the others"
    assert measure_name(several) == told
