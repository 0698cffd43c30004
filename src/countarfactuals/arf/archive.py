"""A fitted forest as JSON types and arrays, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from countarfactuals.arf.copula import no_copula
from countarfactuals.arf.forest import Forest
from countarfactuals.arf.leaves import LeafTable, with_shortcuts
from countarfactuals.arf.values import Values

# they follow from the rest
_SHORTCUTS = ("inverse", "log_norms", "few_start", "few_logp", "list_column", "list_size", "atoms_of")
_COPULA = ("region", "correlation")


def pack(forest: Forest, leaves: LeafTable) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What JSON holds of a forest and its leaves, and the arrays."""
    arrays = {f"forest.{name}": value for name, value in forest._asdict().items() if name != "depth"}
    kept = set(LeafTable._fields) - {"closed", "values", "copula", *_SHORTCUTS}
    arrays |= {f"leaves.{name}": value for name, value in leaves._asdict().items() if name in kept}
    arrays |= {f"values.{name}": value for name, value in leaves.values._asdict().items()}
    arrays |= {f"copula.{name}": getattr(leaves.copula, name) for name in _COPULA}
    return {"depth": forest.depth, "closed": leaves.closed}, arrays


def unpack(meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray], n_columns: int) -> tuple[Forest, LeafTable]:
    """The inverse of `pack`; KeyError or ValueError for what does not fit together."""
    forest = _take(Forest, "forest", arrays, depth=int(meta["depth"]))
    values, copula = Values.plain(np.zeros(n_columns)), no_copula()
    if "copula.region" in arrays:  # files of version 0.1 have independent leaves and know nothing of values
        values = _take(Values, "values", arrays)
        copula = copula._replace(**{name: arrays[f"copula.{name}"] for name in _COPULA})
    rest = dict.fromkeys(_SHORTCUTS)
    leaves = _take(LeafTable, "leaves", arrays, closed=bool(meta["closed"]), values=values, copula=copula, **rest)
    _check_sizes(forest, leaves, n_columns)
    return forest, with_shortcuts(leaves)


def _take(kind: Any, prefix: str, arrays: Mapping[str, np.ndarray], **rest: Any) -> Any:
    """A named tuple from the stored arrays of that prefix and the rest."""
    return kind(**{name: arrays[f"{prefix}.{name}"] for name in kind._fields if name not in rest}, **rest)


def _check_sizes(forest: Forest, leaves: LeafTable, n_columns: int) -> None:
    """Kernels trust the sizes of arrays: those of a file must agree."""
    per_node = {
        len(getattr(forest, name)) for name in ("feature", "child", "threshold", "missing_left", "words", "parent")
    }
    names = ("log_weight", "low", "high", "mu", "sigma", "log_norm", "missing", "rest_logp")
    per_leaf = {forest.n_leaves} | {len(getattr(leaves, name)) for name in names}
    per_column = {n_columns} | {len(getattr(leaves, f"{name}_of")) for name in ("number", "category", "missing")}
    values, copula, q = leaves.values, leaves.copula, leaves.mu.shape[1]
    per_column |= {len(values.step), len(values.edge), len(values.atom_start) - 1, len(values.value_start) - 1}
    if len(copula.region) and (
        len(copula.region) != forest.n_leaves
        or copula.correlation.shape[1:] != (q, q)
        or copula.region.max() >= len(copula.correlation)
    ):
        raise ValueError("its correlations do not fit its leaves")
    cells = forest.n_leaves * leaves.rest_logp.shape[1] + 1
    if len(per_node) > 1 or len(per_leaf) > 1 or len(per_column) > 1 or len(leaves.level_start) != cells:
        raise ValueError("the sizes of its arrays do not agree")
