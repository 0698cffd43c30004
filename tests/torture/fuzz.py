"""Calls of the public interface with odd values: each gives a result or an error of ours, and leaves its inputs alone.

1. A call is drawn: a schema, a density, one row or many, a target, constraints, parameters, what is done with results
   and what is read of them, with values of which some are odd.
2. One that fails otherwise than by an error of ours is told with its number, which is its seed.
3. Inputs are compared with copies that were made before. A call that takes more than 20 seconds of CPU is told.

Run it: `python -m tests.torture.fuzz 20000`
"""

from __future__ import annotations

import copy
import datetime
import json
import pickle
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from countarfactuals import AdversarialRandomForest, Constraints, Counterfactuals, Target, make_explainer
from countarfactuals.evaluation import evaluate
from countarfactuals.exceptions import CountarfactualsError
from countarfactuals.schema import Schema
from tests.torture import small

SLOW = 20.0
_KEYS = (str, bool, int, float, complex, bytes, type(None), type(pd.NA), type(pd.NaT), datetime.date)
_KINDS = ("fixed", "vary", "ranges", "change", "steps", "allowed", "direction", "max_changed", "groups", "weights")
_KINDS += ("rules", "exactly_one", "derived", "allow_missing")
_ODD: tuple[Any, ...] = (
    *(None, True, 0, 1, -1, 2, 0.5, -0.0, 1e308, np.nan, np.inf, -np.inf, 10**400, -(10**400), 2**63, 1j),
    *("", "yes", "age", "town", "t1", "increase", "\ud800", "é" * 5_000, "50%", "±5", "age + 1", "__import__('os')"),
    *((), [], {}, set(), (0, 1), (1, 0), [1, 2, 3], {"age": 1}, ("age",), (None, None), [[]], b"bytes", object()),
    *(np.array([1, 2]), np.array([["age"]]), np.float32(2), np.str_("age"), np.array([(1, 2.0)], "i4,f8")),
    *(
        pd.NA,
        pd.NaT,
        pd.Timestamp("2021-05-05"),
        datetime.date(2021, 5, 5),
        pd.Series([1, 2]),
        pd.DataFrame({"a": [1]}),
    ),
    *(len, Ellipsis, range(3), slice(1), Fraction(1, 3), Fraction(10**400), Decimal("1e400"), Decimal("NaN")),
)


def attack(count: int, seed: int) -> dict[str, Any]:
    """How many calls ended how."""
    warnings.simplefilter("ignore")
    outcomes: Counter[str] = Counter()
    told: list[str] = []
    world = _World()
    for k in range(count):
        rng = np.random.default_rng([seed, k])
        outcome = _made(*world.call(rng))
        outcomes[outcome.partition(":")[0]] += 1
        if outcome.startswith(("foreign", "changed", "slow")):
            told.append(f"{k}: {outcome}")
    return {"calls": count, **dict.fromkeys(("foreign", "changed", "slow"), 0), **outcomes, "told": told[:20]}


class _World:
    """What calls are made on."""

    def __init__(self) -> None:
        self.rows = small.table()
        self.forest = AdversarialRandomForest(n_estimators=3, random_state=1).fit(self.rows)
        self.explainer = small.fit("whatif", max_evaluations=30)
        self.few = self.rows.iloc[:3]
        self.result = self.explainer.explain(self.rows.iloc[[0]])
        self.batch = self.explainer.explain_many(self.few)

    def call(self, rng: np.random.Generator) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """A call and what is passed to it."""
        x, of = self.rows.iloc[[int(rng.integers(20))]], _Drawn(rng)
        match int(rng.integers(12)):
            case 0:
                return self.forest.score_samples, (of.frame(self.rows),)
            case 1:
                return lambda n, given: self.forest.sample(n, given=given), (of.count(), of.by_column())
            case 2:
                return self.explainer.explain, (of.frame(x), "yes")
            case 3:
                return lambda row, how: self.explainer.explain(row, Target(**how)), (x, of.target())
            case 4 | 5:
                return lambda row, how: self.explainer.explain(row, "yes", Constraints(**how)), (x, of.constraints())
            case 6:
                return self.explainer.explain, (x, of.odd())
            case 7:
                return lambda rows, how: Schema.infer(rows, **how), (of.frame(self.rows), of.reading())
            case 8:
                return lambda rows, how: self.explainer.explain_many(rows, **how), (of.frame(self.few), of.of_many())
            case 9:
                method, how = of.of_result()
                return lambda how: getattr(self.result, method)(**how), (how,)
            case 10:
                return self._measured(of)
            case _:
                return lambda how: make_explainer("whatif", small.model, **how).fit(self.rows), (of.parameters(),)

    def _measured(self, of: _Drawn) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """A call that judges rows, results or what is stored of them."""
        x = self.rows.iloc[[0]]
        match int(of.rng.integers(6)):
            case 0:
                return lambda rows, how: evaluate(rows, x, self.explainer, **how), (of.frame(self.few), of.measuring())
            case 1:
                return lambda how: self.batch.recourse(**how), (
                    {"by": "age"} | of.some(("by", "bins", "prefer", "confidence")),
                )
            case 2:
                return lambda how: self.explainer.common_ways(self.batch, **how), (of.some(("k", "max_changes")),)
            case 3:
                return lambda frame, how: self.explainer.explain_frame(frame, **how), (
                    self.few,
                    of.some(("top", "key")),
                )
            case 4:
                stored = of.changed(json.loads(self.result.to_json()))
                return Counterfactuals.from_dict, (stored,)
            case _:
                stored = of.changed({"fixed": ["age"], "ranges": [["age", [1, 2]]], "max_changed": 2})
                return Constraints.from_dict, (stored,)


class _Drawn:
    """Values as they are drawn."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def odd(self) -> Any:
        return copy.copy(_ODD[int(self.rng.integers(len(_ODD)))])

    def one_of(self, values: Any) -> Any:
        return values[int(self.rng.integers(len(values)))]

    def count(self) -> Any:
        return self.one_of((1, 2, 0, -1, 1.5, None, "2"))

    def name(self) -> Any:
        return self.one_of(("age", "income", "debt", "term", "town", "home", "member", "since", "no such"))

    def value(self) -> Any:
        return self.odd() if self.rng.random() < 0.7 else (self.odd(), self.odd())

    def by_column(self) -> Any:
        if self.rng.random() < 0.2:
            return self.odd()
        return {self.key(): self.value() for _ in range(int(self.rng.integers(1, 3)))}

    def key(self) -> Any:
        """A name, seldom an odd one."""
        odd = self.odd()
        return odd if self.rng.random() < 0.05 and isinstance(odd, _KEYS) else self.name()

    def constraints(self) -> dict[str, Any]:
        kinds = [self.one_of(_KINDS) for _ in range(int(self.rng.integers(1, 3)))]
        return {kind: self.one_of((self.odd, self.by_column, lambda: [self.name(), self.odd()]))() for kind in kinds}

    def target(self) -> dict[str, Any]:
        names = ("outcome", "probability", "above", "below", "between", "any_of", "none_of", "change", "function")
        return {self.one_of(names): self.value() for _ in range(int(self.rng.integers(1, 3)))}

    def cells(self, n: int) -> pd.Series:
        cells = np.empty(n, object)
        cells[:] = [self.odd() for _ in range(n)]
        return pd.Series(cells, dtype=object)

    def some(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Odd values of one or two parameters."""
        return {self.one_of(names): self.value() for _ in range(int(self.rng.integers(1, 3)))}

    def reading(self) -> dict[str, Any]:
        return {self.one_of(("values", "ordered")): self.one_of((self.by_column, self.odd))()}

    def of_many(self) -> dict[str, Any]:
        ways = (self.odd, lambda: [self.odd() for _ in range(3)], lambda: self.cells(3))
        names = ("target", "constraints", "time_budget", "on_error", "together")
        return {"progress": False, self.one_of(names): self.one_of(ways)()}

    def measuring(self) -> dict[str, Any]:
        return {"target": "yes"} | self.some(("target", "constraints", "k", "weights"))

    def of_result(self) -> tuple[str, dict[str, Any]]:
        names = {
            "select": ("k", "prefer", "diversity"),
            "filter": ("max_changed", "min_typicality", "max_distance", "real_rows", "where"),
            "describe": ("k", "units", "labels", "rows", "outcome", "format", "language"),
            "to_html": ("title", "k", "units", "labels", "rows"),
            "importance": ("k",),
            "labelled": ("labels",),
        }
        method = self.one_of(tuple(names))
        return method, {name: self.one_of((self.odd, self.by_column))() for name in [self.one_of(names[method])]}

    def changed(self, stored: dict[str, Any]) -> dict[str, Any]:
        """A stored dict, of which a part is odd."""
        part, key = stored, self.one_of(tuple(stored))
        while isinstance(part[key], dict) and part[key] and self.rng.random() < 0.7:
            part = part[key]
            key = self.one_of(tuple(part))
        part[key] = self.odd()
        return stored

    def parameters(self) -> dict[str, Any]:
        names = ("max_evaluations", "min_typicality", "random_state", "classes", "allow_real_rows", "relations")
        return {"classes": ("no", "yes"), self.one_of(names): self.odd()}

    def frame(self, rows: pd.DataFrame) -> Any:
        """Rows with an odd cell, column or name, or something else."""
        changed = rows.copy()
        name = self.one_of(list(rows.columns))
        match int(self.rng.integers(5)):
            case 0:
                return self.odd()
            case 1:
                changed[name] = self.cells(len(rows)).set_axis(rows.index)
            case 2:
                column = rows[name].astype(object)
                column.iat[0] = self.odd()
                changed[name] = column
            case 3:
                changed = changed.drop(columns=name)
            case _:
                return rows.iloc[0].to_dict() | {name: self.odd()}
        return changed


def _made(call: Callable[..., Any], passed: tuple[Any, ...]) -> str:
    """What comes of a call."""
    before, started = _known(passed), time.process_time()
    try:
        call(*passed)
        outcome = "result"
    except CountarfactualsError as error:
        str(error)
        outcome = "error of ours"
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        outcome = f"foreign: {type(error).__name__} in {where}: {str(error)[:150]!a} of {str(passed)[-200:]!a}"
    if time.process_time() - started > SLOW:
        return f"slow: {str(passed)[-200:]!a}"
    if before is not None and before != _known(passed):
        return f"changed: {str(passed)[-200:]!a}"
    return outcome


def _known(passed: tuple[Any, ...]) -> bytes | None:
    """Inputs as bytes, None for what has none; frames by their cells, as pandas keeps what it has computed in them."""
    plain = [_cells(one) if isinstance(one, pd.DataFrame) else one for one in passed]
    try:
        return pickle.dumps(plain)
    except Exception:
        return None


def _cells(frame: pd.DataFrame) -> Any:
    columns = [(name, str(column.dtype), column.tolist()) for name, column in frame.items()]
    return frame.index.tolist(), columns


if __name__ == "__main__":
    figures = attack(int(sys.argv[1]), seed=int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    print(json.dumps(figures, indent=1))
