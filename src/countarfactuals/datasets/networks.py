"""Bayesian networks of normal and categorical nodes with an exact density.

1. Nodes stand in topological order. A node's parents give h = Σ weight · parent (0 for a root), h = sin h if `sine`;
   a categorical parent counts with the index of its level.
2. The aggregate is g = (c0 + c1 h + c2 h² + bias) · scale.
3. A `normal` node is N(g + mu, sd²). A `bernoulli` node is 1 with probability sigmoid(g). A `categorical` node has
   level k of K with probability softmax_k(slope_k · g + intercept_k); the bernoulli is the case of slopes 0, 1.
4. p(x) = Σ_y Π_j p(x_j | parents): only y and its children depend on y, every other factor is computed once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import log_expit, log_softmax, logsumexp

from countarfactuals.datasets.plane import normal_log_density
from countarfactuals.datasets.process import (
    LABEL,
    Process,
    check_features,
    check_numbers,
)
from countarfactuals.exceptions import DataError, did_you_mean, listed
from countarfactuals.parameters import as_generator, check_int

_NODE_KINDS = ("normal", "bernoulli", "categorical")

Values = dict[str, np.ndarray]


@dataclass(frozen=True)
class Node:
    """One variable given its parents; which of the last fields count depends on `kind`."""

    name: str
    kind: str
    parents: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()
    coefficients: tuple[float, float, float] = (0.0, 0.0, 0.0)
    sine: bool = True
    bias: float = 0.0
    scale: float = 1.0
    mu: float = 0.0
    sd: float = 1.0
    slopes: tuple[float, ...] = (0.0, 1.0)
    intercepts: tuple[float, ...] = (0.0, 0.0)

    def __post_init__(self) -> None:
        if self.kind not in _NODE_KINDS:
            raise DataError(
                f"Node {self.name!r} has the unknown kind {self.kind!r}. Known: {listed(_NODE_KINDS)}."
                f"{did_you_mean(self.kind, _NODE_KINDS)}"
            )
        if len(self.weights) != len(self.parents):
            raise DataError(f"Node {self.name!r} has {len(self.parents)} parents and {len(self.weights)} weights.")
        if len(self.coefficients) != 3:
            raise DataError(f"Node {self.name!r} has {len(self.coefficients)} coefficients; c0, c1 and c2 are needed.")
        if self.kind == "normal" and not self.sd > 0:
            raise DataError(f"Node {self.name!r} has sd {self.sd!r}; it must be above 0.")
        if len(self.slopes) != len(self.intercepts) or len(self.slopes) < 2:
            raise DataError(
                f"Node {self.name!r} has {len(self.slopes)} slopes and {len(self.intercepts)} intercepts; "
                "give one of each per level, for two levels or more."
            )

    @property
    def discrete(self) -> bool:
        """Whether the node has levels."""
        return self.kind != "normal"

    @property
    def n_levels(self) -> int:
        """Number of levels of a discrete node."""
        return len(self.slopes) if self.kind == "categorical" else 2

    @property
    def levels(self) -> list[str]:
        """Levels of a discrete node as frames show them: '0', '1', …"""
        return [str(level) for level in range(self.n_levels)]

    def raw_aggregate(self, values: Values, n: int) -> np.ndarray:
        """c0 + c1 h + c2 h², before `bias` and `scale`."""
        h = np.zeros(n)
        for parent, weight in zip(self.parents, self.weights, strict=True):
            h = h + weight * values[parent]
        if self.sine:
            h = np.sin(h)
        c0, c1, c2 = self.coefficients
        return c0 + c1 * h + c2 * h**2

    def aggregate(self, values: Values, n: int) -> np.ndarray:
        """g, the aggregate of the parents that drives the node."""
        return (self.raw_aggregate(values, n) + self.bias) * self.scale

    def log_levels(self, g: np.ndarray) -> np.ndarray:
        """Log probabilities (rows, levels) of a discrete node."""
        if self.kind == "bernoulli":
            return np.stack([log_expit(-g), log_expit(g)], axis=1)
        return log_softmax(np.multiply.outer(g, self.slopes) + np.asarray(self.intercepts), axis=1)

    def draw(self, values: Values, n: int, rng: np.random.Generator) -> np.ndarray:
        """Values of the node given its parents; a discrete node gives level indices."""
        g = self.aggregate(values, n)
        if not self.discrete:
            return rng.normal(g + self.mu, self.sd)
        below = np.cumsum(np.exp(self.log_levels(g)), axis=1)[:, :-1]
        return (rng.random(n)[:, None] > below).sum(axis=1).astype(float)

    def log_density(self, values: Values, n: int) -> np.ndarray:
        """Log p(node | parents); a number that is no level of a discrete node has probability 0."""
        g = self.aggregate(values, n)
        own = values[self.name]
        if not self.discrete:
            return normal_log_density(own, g + self.mu, self.sd)
        known = (own >= 0) & (own < self.n_levels) & (own == np.floor(own))
        index = np.where(known, own, 0).astype(int)
        return np.where(known, self.log_levels(g)[np.arange(n), index], -np.inf)

    def to_dict(self) -> dict[str, Any]:
        """The node as `dgp.json` holds it: only what its kind needs."""
        common: dict[str, Any] = {
            "sine": self.sine,
            "name": self.name,
            "parents": list(self.parents),
            "weights": list(self.weights),
            "coefficients": list(self.coefficients),
            "bias": self.bias,
            "scale": self.scale,
            "kind": self.kind,
        }
        if self.kind == "normal":
            return {**common, "mu": self.mu, "sd": self.sd}
        if self.kind == "categorical":
            levels = {"slopes": list(self.slopes), "intercepts": list(self.intercepts)}
            return {**common, "n_levels": self.n_levels, **levels}
        return common

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Node:
        """The node that `to_dict` described."""
        kind = entry["kind"]
        extra: dict[str, Any] = {}
        if kind == "normal":
            extra = {"mu": float(entry["mu"]), "sd": float(entry["sd"])}
        if kind == "categorical":
            extra = {"slopes": _floats(entry["slopes"]), "intercepts": _floats(entry["intercepts"])}
            if len(extra["slopes"]) != entry["n_levels"]:
                raise DataError(
                    f"Node {entry['name']!r} has n_levels {entry['n_levels']} and {len(extra['slopes'])} slopes."
                )
        return cls(
            name=entry["name"],
            kind=kind,
            parents=tuple(entry["parents"]),
            weights=_floats(entry["weights"]),
            coefficients=_floats(entry["coefficients"]),  # type: ignore[arg-type]  # the length is checked above
            sine=bool(entry["sine"]),
            bias=float(entry["bias"]),
            scale=float(entry["scale"]),
            **extra,
        )


@dataclass(frozen=True)
class BayesianNetwork(Process, kind="bayesian_network"):
    """Nodes in topological order; the node `y` is the label, every other node a feature."""

    nodes: tuple[Node, ...]

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for node in self.nodes:
            if node.name in seen:
                raise DataError(f"Node {node.name!r} occurs twice; names must differ.")
            early = [parent for parent in node.parents if parent not in seen]
            if early:
                raise DataError(f"Node {node.name!r} stands before its parents {listed(early)}; sort topologically.")
            seen.add(node.name)
        if LABEL not in seen or len(seen) < 2:
            raise DataError(
                f"The nodes are {listed(seen)}; a node named {LABEL!r} and at least one feature are needed."
            )
        if not self.label.discrete:
            raise DataError(
                f"Node {LABEL!r} is normal; it must be bernoulli or categorical, so that it can be summed out."
            )

    @property
    def label(self) -> Node:
        """The node y."""
        return next(node for node in self.nodes if node.name == LABEL)

    @property
    def features(self) -> tuple[Node, ...]:
        """All nodes but y."""
        return tuple(node for node in self.nodes if node.name != LABEL)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the feature columns."""
        return tuple(node.name for node in self.features)

    def sample(self, n: int, random_state: int | np.random.Generator | None = None) -> pd.DataFrame:
        """Draw `n` rows: the features, then y."""
        n = check_int("n", n, 1)
        values = draw_nodes(self.nodes, n, as_generator(random_state))
        columns: dict[str, Any] = {node.name: _as_column(node, values[node.name]) for node in self.features}
        return pd.DataFrame({**columns, LABEL: values[LABEL].astype(np.int64)})

    def log_joint(self, frame: Any) -> np.ndarray:
        """Log p(x, y) as a matrix (rows, values of y); y in the frame is ignored."""
        return self._log_joint(check_features(frame, self.feature_names))

    def _log_density(self, features: pd.DataFrame) -> np.ndarray:
        return logsumexp(self._log_joint(features), axis=1)

    def _log_joint(self, features: pd.DataFrame) -> np.ndarray:
        n = len(features)
        values = {node.name: _as_values(node, features[node.name]) for node in self.features}
        with_label = [node for node in self.nodes if node.name == LABEL or LABEL in node.parents]
        without = [node for node in self.nodes if node not in with_label]
        common = sum((node.log_density(values, n) for node in without), start=np.zeros(n))
        joint = np.empty((n, self.label.n_levels))
        for level in range(self.label.n_levels):
            given = {**values, LABEL: np.full(n, float(level))}
            joint[:, level] = sum((node.log_density(given, n) for node in with_label), start=common)
        return joint

    def to_dict(self) -> dict[str, Any]:
        """The process as `dgp.json` holds it."""
        return {"kind": self.kind, "nodes": [node.to_dict() for node in self.nodes]}

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> BayesianNetwork:
        """The process that `to_dict` described."""
        return cls(tuple(Node.from_dict(entry) for entry in description["nodes"]))


def draw_nodes(nodes: tuple[Node, ...], n: int, rng: np.random.Generator) -> Values:
    """Values of all nodes, each drawn given its parents."""
    values: Values = {}
    for node in nodes:
        values[node.name] = node.draw(values, n, rng)
    return values


def _as_column(node: Node, values: np.ndarray) -> Any:
    if not node.discrete:
        return values
    return pd.Categorical.from_codes(values.astype(int), categories=node.levels, ordered=False)


def _as_values(node: Node, column: pd.Series) -> np.ndarray:
    if not node.discrete:
        return check_numbers(column)
    # Levels come as '0', '1' from `sample` and as 0.0, 1.0 from the published files.
    numbers = pd.to_numeric(column.astype(object), errors="coerce").astype(float)
    if numbers.isna().any():
        strange = column[numbers.isna()].unique()
        raise DataError(
            f"Column {node.name!r} has the unknown levels {listed(strange)}. Allowed: {listed(node.levels)}, "
            "as text or as numbers."
        )
    return numbers.to_numpy()


def _floats(items: Any) -> tuple[float, ...]:
    return tuple(float(item) for item in items)
