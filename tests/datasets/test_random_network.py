from __future__ import annotations

import sys

import numpy as np
import pytest

from countarfactuals.datasets import random_learnable_network, random_network
from countarfactuals.datasets.networks import draw_nodes
from countarfactuals.datasets.random_network import SMALLEST_SD, best_accuracy
from countarfactuals.exceptions import MissingDependencyError, ParameterError


@pytest.mark.parametrize("n_features", [1, 2, 5, 20])
def test_structure(n_features: int) -> None:
    network = random_network(n_features, random_state=n_features)
    assert network.feature_names == tuple(f"x{index}" for index in range(1, n_features + 1))
    assert network.nodes[0].name == "y"
    assert network.label.parents == ()
    assert any("y" in node.parents for node in network.features)
    assert sum(node.discrete for node in network.features) == round(0.2 * n_features)
    for node in network.nodes:
        if node.parents:
            assert np.abs(node.weights).sum() == pytest.approx(1.0)
        assert node.kind != "normal" or node.sd >= SMALLEST_SD


@pytest.mark.parametrize("sine", [True, False])
def test_aggregates_are_calibrated(sine: bool) -> None:
    """Fresh rows: means and sds of 0 and 1 up to the error of two samples of 10,000 rows."""
    network = random_network(8, categorical_share=0.4, n_levels=3, sine=sine, random_state=1)
    n = 20_000
    values = draw_nodes(network.nodes, n, np.random.default_rng(2))
    for node in network.nodes:
        g = node.aggregate(values, n)
        if node.parents:
            assert g.mean() == pytest.approx(0.0, abs=0.06)
            assert g.std() == pytest.approx(1.0, abs=0.06)
        else:
            assert (node.bias, node.scale) == (0.0, 1.0)


def test_levels_and_share() -> None:
    network = random_network(10, categorical_share=1.0, n_levels=[2, 3, 6], random_state=3)
    assert {node.n_levels for node in network.features} == {2, 3, 6}
    assert {node.kind for node in network.features} == {"bernoulli", "categorical"}
    assert not any(node.discrete for node in random_network(10, categorical_share=0.0, random_state=3).features)


def test_random_state_determines_the_network() -> None:
    assert random_network(6, random_state=4) == random_network(6, random_state=4)
    assert random_network(6, random_state=4) != random_network(6, random_state=5)
    assert random_learnable_network(4, random_state=4) == random_learnable_network(4, random_state=4)


@pytest.mark.parametrize(("n_features", "n_levels"), [(1, 2), (5, 3), (20, 2), (40, 2)])
def test_learnable_networks_meet_the_criteria(n_features: int, n_levels: int) -> None:
    """On fresh rows and with another learner; margins cover 4 standard errors of 4,000 rows."""
    from xgboost import XGBClassifier

    network = random_learnable_network(n_features, n_levels=n_levels, random_state=6)
    train, test = network.sample(4000, random_state=7), network.sample(4000, random_state=8)
    features = list(network.feature_names)
    assert 0.37 < test["y"].mean() < 0.63
    assert best_accuracy(network, test) > 0.935
    model = XGBClassifier(n_estimators=10, n_jobs=1).fit(train[features].astype(float), train["y"])
    predicted = model.predict(test[features].astype(float))
    assert np.mean(predicted == test["y"]) > 0.93
    assert 0.27 < predicted.mean() < 0.73


def test_hopeless_search_is_an_error() -> None:
    with pytest.raises(ParameterError, match="None of 3 networks of 2 features"):
        random_learnable_network(2, categorical_share=1.0, max_tries=3, random_state=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_features": 0}, "n_features must be an integer from 1, got 0"),
        ({"n_features": 2.5}, "n_features must be an integer from 1, got 2.5"),
        (
            {"n_features": 3, "categorical_share": 1.5},
            r"categorical_share must be a finite number in \[0, 1\], got 1.5",
        ),
        ({"n_features": 3, "n_levels": 1}, "n_levels must be several, or an integer from 2, got 1"),
        ({"n_features": 3, "n_levels": []}, "n_levels is"),
        ({"n_features": 3, "min_accuracy": 1.0}, "min_accuracy is 1.0"),
        ({"n_features": 3, "max_tries": 0}, "max_tries must be an integer from 1, got 0"),
    ],
)
def test_wrong_parameters_are_errors(arguments: dict, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        random_learnable_network(**arguments)


@pytest.mark.parametrize("package", ["networkx", "xgboost"])
def test_missing_packages_are_named(package: str, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingDependencyError, match=rf"{package}.*pip install 'countarfactuals\[study\]'"):
        random_learnable_network(3, random_state=1)
