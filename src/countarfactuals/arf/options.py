"""What the parameters of the forest mean in numbers, given the data."""

from __future__ import annotations

import math
from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

from countarfactuals.arf.dependence import Dependence
from countarfactuals.arf.leaf_fit import AUTO, GLOBAL, LOCAL, UNBOUNDED, LeafOptions
from countarfactuals.exceptions import ParameterError
from countarfactuals.parameters import as_float, check_choice, check_float, check_int

_SHARE_DRAWN = 0.632  # of the rows, per tree: as many as a bootstrap sample has distinct ones
_CELLS_HELD = 20_000_000  # 160 MB as floats
_MOST_DRAWN = 200_000  # beyond, more rows sharpen the leaves' parameters, which see all of them, but hardly the cuts


def leaf_options(family: Any, leaf_fit: Any, finite_bounds: Any, epsilon: Any, alpha: Any) -> LeafOptions:
    """How leaves are fitted."""
    check_choice("family", family, ("truncnorm", "uniform"))
    check_choice("leaf_fit", leaf_fit, ("likelihood", "moments"))
    check_choice("finite_bounds", finite_bounds, (None, "local", "global"))
    bounds = {None: UNBOUNDED, "local": LOCAL, "global": GLOBAL}[finite_bounds]
    if family == "uniform" and bounds == UNBOUNDED:
        bounds = GLOBAL
    auto = isinstance(alpha, str) and alpha == "auto"
    return LeafOptions(
        uniform=family == "uniform",
        likelihood=leaf_fit == "likelihood",
        bounds=bounds,
        epsilon=check_float("epsilon", epsilon, 0.0, math.inf),
        alpha=AUTO if auto else check_float("alpha", alpha, 0.0, math.inf, "'auto' or "),
    )


def as_dependence(asked: Any, options: LeafOptions) -> Any:
    """The dependence that a parameter names: "auto", None for none, or one that was chosen before."""
    if options.uniform or asked is None:
        return None
    if isinstance(asked, str) and asked == "auto":
        return asked
    if isinstance(asked, tuple | list) and len(asked) == 2:
        strength, shared = asked
        rows = math.inf if shared == math.inf else check_float("shared rows of dependence", shared, 0.0, math.inf)
        return Dependence(check_float("strength of dependence", strength, 0.0, 1.5), rows)
    raise ParameterError(f"dependence must be 'auto', None, or the `dependence_` of a fitted forest, got {asked!r}.")


def column_names(parameter: str, said: Any) -> tuple[Any, ...]:
    """The columns that a parameter names."""
    if isinstance(said, str):
        return (said,)
    if not isinstance(said, Collection):
        raise ParameterError(f"{parameter} must be a sequence of column names, got {said!r}.")
    return tuple(said)


def n_features_tried(asked: Any, p: int) -> int:
    """How many of p columns are tried per split."""
    if asked is None:
        return p
    if isinstance(asked, str) and asked == "sqrt":
        return min(p, max(2, math.isqrt(p)))
    if _is_count(asked):
        return min(p, int(asked))
    if _is_share(asked) or (isinstance(asked, float) and asked == 1.0):
        return max(1, round(float(asked) * p))
    raise ParameterError(
        f"max_features must be 'sqrt', an integer from 1, a share in (0, 1] or None for all columns, got {asked!r}."
    )


def n_rows_drawn(asked: Any, n: int) -> int:
    """How many of n rows a tree draws; one at least stays out of bag."""
    if asked is None:
        drawn = min(round(_SHARE_DRAWN * n), _MOST_DRAWN)
    elif _is_count(asked):
        drawn = int(asked)
    elif _is_share(asked):
        drawn = round(float(asked) * n)
    else:
        raise ParameterError(f"max_samples must be None, an integer from 1 or a share in (0, 1), got {asked!r}.")
    return min(max(drawn, 1), n - 1)


def n_rows_held(asked: Any, p: int) -> int:
    """How many rows of p columns are held in memory at a time, of data that is read in pieces."""
    return max(_CELLS_HELD // p, 2) if asked is None else check_int("rows_in_memory", asked, 2, "None or ")


def _is_count(asked: Any) -> bool:
    return isinstance(asked, Integral) and not isinstance(asked, bool) and int(asked) >= 1


def _is_share(asked: Any) -> bool:
    return isinstance(asked, Real) and not isinstance(asked, bool | Integral) and 0 < as_float(asked) < 1
