"""Random Bayesian networks after the paper's appendix, optionally redrawn until y can be learned.

1. Graph: a directed G(d, 1/2) of networkx over y and the features, kept where it points from the earlier to the
   later node. y comes first, so it is a root; each feature that is no child of y becomes one with probability 1/2.
2. A share of the features is categorical; y is bernoulli.
3. Weights of a node with d parents are Unif(-1, 1) + 3 Bern(3/d), the latter for d > 2 only, where 3/d is a
   probability. The weight of y grows by Unif(3, 4) with probability 0.1.
   Weights are divided by the sum of their absolute values; coefficients are Unif(-1, 1).
4. Calibration: node by node, `bias` and `scale` bring the aggregate g of each node with parents to mean 0 and sd 1
   on a simulated sample.
5. Normal nodes have mean g + N(0, 2) and sd |N(0, 1)| (the text: μ ~ N(g, 1), σ ~ N(0, 2)), at least `SMALLEST_SD`:
   below it a node is all but a function of its parents and the density degenerates.
6. Categorical nodes of K > 2 levels draw slopes Unif(-2, 2) and intercepts Unif(-1, 1) per level.
7. `random_learnable_network` redraws until 0.4 < E[y] < 0.6, XGBoost is accurate on held-out rows and its predictions
   are balanced, 0.3 < E[ŷ] < 0.7. As the density is known, so is the best accuracy any model could reach;
   a draw that falls short of it is dropped before a model is fitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from countarfactuals._optional import optional
from countarfactuals.datasets.networks import BayesianNetwork, Node, Values
from countarfactuals.datasets.process import LABEL
from countarfactuals.exceptions import ParameterError
from countarfactuals.parameters import as_generator, check_float, check_int

EDGE_PROBABILITY = 0.5
_LABEL_EDGE_PROBABILITY = 0.5
_LABEL_WEIGHT_PROBABILITY = 0.1
SMALLEST_SD = 0.05
_CALIBRATION_ROWS = 10_000
# As the study's black boxes: 10 rounds, fitted to the squared error on 5,000 rows, cut at 0.5.
BOOSTING_ROUNDS = 10
_TRAINING_ROWS = 5_000
_HELD_OUT_ROWS = 5_000
_NEED = ("Random networks need", "study")  # what, and the extra that installs it


def random_network(
    n_features: int,
    *,
    categorical_share: float = 0.2,
    n_levels: int | Sequence[int] = 2,
    sine: bool = True,
    random_state: int | np.random.Generator | None = None,
) -> BayesianNetwork:
    """Draw a calibrated network of `n_features` features and a bernoulli root y.

    `n_levels` is the number of levels of the categorical features, or several numbers that each of them draws from.
    """
    choices = _check(n_features, categorical_share, n_levels)
    rng = as_generator(random_state)
    names = [LABEL, *(f"x{index}" for index in range(1, n_features + 1))]
    parents = _random_parents(names, rng)
    n_categorical = round(categorical_share * n_features)
    categorical = set(rng.choice(names[1:], size=n_categorical, replace=False))
    nodes: list[Node] = []
    for name in names:
        discrete = name == LABEL or name in categorical
        levels = 2 if name == LABEL else int(rng.choice(choices))
        nodes.append(_random_node(name, parents[name], levels if discrete else 0, sine, rng))
    return BayesianNetwork(_calibrated(nodes, rng))


def random_learnable_network(
    n_features: int,
    *,
    categorical_share: float = 0.2,
    n_levels: int | Sequence[int] = 2,
    sine: bool = True,
    min_accuracy: float = 0.95,
    max_tries: int = 200,
    random_state: int | np.random.Generator | None = None,
) -> BayesianNetwork:
    """Redraw `random_network` until its labels are balanced and XGBoost predicts them well."""
    if not 0.0 <= min_accuracy < 1.0:
        raise ParameterError(f"min_accuracy is {min_accuracy!r}; it must lie in [0, 1).")
    check_int("max_tries", max_tries, 1)
    xgboost = optional("xgboost", *_NEED)
    rng = as_generator(random_state)
    for _ in range(max_tries):
        network = random_network(
            n_features, categorical_share=categorical_share, n_levels=n_levels, sine=sine, random_state=rng
        )
        if _is_balanced(network) and _is_learnable(network, xgboost, min_accuracy, rng):
            return network
    raise ParameterError(
        f"None of {max_tries} networks of {n_features} features was balanced with an accuracy above {min_accuracy}. "
        "Raise max_tries, lower min_accuracy or categorical_share, or take more features."
    )


def _is_balanced(network: BayesianNetwork) -> bool:
    """Whether 0.4 < E[y] < 0.6; exact, because y is a root."""
    return 0.4 < expit(network.label.aggregate({}, 1)[0]) < 0.6


def _is_learnable(network: BayesianNetwork, xgboost: ModuleType, min_accuracy: float, rng: np.random.Generator) -> bool:
    """Whether XGBoost is accurate and balanced on held-out rows."""
    held_out = network.sample(_HELD_OUT_ROWS, rng)
    if best_accuracy(network, held_out) <= min_accuracy:
        return False
    training = network.sample(_TRAINING_ROWS, rng)
    fitted = xgboost.train(
        {"objective": "reg:squarederror", "nthread": 1, "verbosity": 0},
        xgboost.DMatrix(_codes(training), training[LABEL].to_numpy()),
        num_boost_round=BOOSTING_ROUNDS,
    )
    predicted = fitted.predict(xgboost.DMatrix(_codes(held_out))) >= 0.5
    accuracy = np.mean(predicted == held_out[LABEL].to_numpy())
    return bool(accuracy > min_accuracy and 0.3 < predicted.mean() < 0.7)


def best_accuracy(network: BayesianNetwork, frame: pd.DataFrame) -> float:
    """Accuracy on a frame of the best rule there is: the y of the highest p(x, y)."""
    return float(np.mean(network.log_joint(frame).argmax(axis=1) == frame[LABEL].to_numpy()))


def _codes(frame: pd.DataFrame) -> np.ndarray:
    """Features as floats, categories by level index."""
    return frame.drop(columns=LABEL).astype(float).to_numpy()


def _random_parents(names: list[str], rng: np.random.Generator) -> dict[str, list[str]]:
    """Parents of each node, in order; y is a root with at least one child."""
    networkx = optional("networkx", *_NEED)
    size = len(names)
    while True:
        seed = int(rng.integers(2**31))
        graph = networkx.gnp_random_graph(size, EDGE_PROBABILITY, seed=seed, directed=True)
        graph.remove_edges_from([(start, end) for start, end in graph.edges if start > end])
        added = rng.random(size) < _LABEL_EDGE_PROBABILITY
        graph.add_edges_from((0, end) for end in range(1, size) if added[end])
        if graph.out_degree(0) > 0:
            return {names[end]: [names[start] for start in sorted(graph.predecessors(end))] for end in range(size)}


def _random_node(name: str, parents: list[str], n_levels: int, sine: bool, rng: np.random.Generator) -> Node:
    """A node before calibration; `n_levels` is 0 for a normal node."""
    common: dict[str, Any] = {
        "name": name,
        "parents": tuple(parents),
        "weights": _random_weights(parents, rng),
        "coefficients": tuple(rng.uniform(-1.0, 1.0, size=3).tolist()),
        "sine": sine,
    }
    if n_levels == 0:
        sd = max(abs(float(rng.normal())), SMALLEST_SD)
        return Node(kind="normal", mu=float(rng.normal(0.0, 2.0)), sd=sd, **common)
    if n_levels == 2:
        return Node(kind="bernoulli", **common)
    slopes = tuple(rng.uniform(-2.0, 2.0, size=n_levels).tolist())
    intercepts = tuple(rng.uniform(-1.0, 1.0, size=n_levels).tolist())
    return Node(kind="categorical", slopes=slopes, intercepts=intercepts, **common)


def _random_weights(parents: list[str], rng: np.random.Generator) -> tuple[float, ...]:
    d = len(parents)
    weights = rng.uniform(-1.0, 1.0, size=d)
    if d > 2:
        weights += 3.0 * (rng.random(d) < 3.0 / d)
    if LABEL in parents and rng.random() < _LABEL_WEIGHT_PROBABILITY:
        weights[parents.index(LABEL)] += rng.uniform(3.0, 4.0)
    return tuple((weights / np.abs(weights).sum()).tolist())


def _calibrated(nodes: list[Node], rng: np.random.Generator) -> tuple[Node, ...]:
    """The nodes with `bias` and `scale` set so that g of each node with parents has mean 0 and sd 1."""
    values: Values = {}
    ready = []
    for node in nodes:
        if node.parents:
            raw = node.raw_aggregate(values, _CALIBRATION_ROWS)
            spread = float(raw.std())
            # Parents that never vary in the sample leave nothing to scale.
            scale = 1.0 / spread if spread > 1e-9 else 1.0
            node = replace(node, bias=-float(raw.mean()), scale=scale)
        values[node.name] = node.draw(values, _CALIBRATION_ROWS, rng)
        ready.append(node)
    return tuple(ready)


def _check(n_features: int, categorical_share: float, n_levels: int | Sequence[int]) -> list[int]:
    check_int("n_features", n_features, 1)
    check_float("categorical_share", categorical_share, 0.0, 1.0)
    if not isinstance(n_levels, Sequence):
        return [check_int("n_levels", n_levels, 2, "several, or ")]
    if not n_levels:
        raise ParameterError("n_levels is empty; give whole numbers of at least 2.")
    return [check_int("n_levels", k, 2) for k in n_levels]
