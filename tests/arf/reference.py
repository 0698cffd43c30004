"""Reads the reference numbers: R's trees as our `Forest`, its parameters and conditions as arrays."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from countarfactuals.arf.evidence import ANY_OF, INTERVALS, POINT, Evidence
from countarfactuals.arf.forest import Forest, Layout, Members, make_forest

FOLDER = Path(__file__).parent.parent / "reference"
CASES = ("numeric2", "mixed", "counterfactual", "single_obs")


@cache
def table(*parts: str) -> pd.DataFrame:
    return pd.read_csv(FOLDER.joinpath(*parts), keep_default_na=False, na_values=[""])


class Case(NamedTuple):
    name: str
    names: tuple[str, ...]
    levels: dict[str, list[str]]
    codes: dict[str, dict[str, int]]  # R's, which differ from ours
    layout: Layout
    train: np.ndarray
    query: np.ndarray
    forest: Forest
    members: Members
    leaf_of: dict[tuple[int, int], int]  # (tree from 1, R's node from 0) → our leaf

    def index(self, name: str) -> int:
        return self.names.index(name)

    def leaves_of_psi(self, suffix: str = "") -> np.ndarray:
        """Our leaf for R's f_idx 1, 2, …"""
        psi = table(self.name, f"psi_forest{suffix}.csv")
        return np.array([self.leaf_of[tree, leaf - 1] for tree, leaf in zip(psi.tree, psi.leaf, strict=True)])


@cache
def read_case(name: str) -> Case:
    train, query = table(name, "train.csv"), table(name, "query.csv")
    codes: dict[str, dict[str, int]] = defaultdict(dict)
    if (FOLDER / name / "factor_codes.csv").exists():
        for row in table(name, "factor_codes.csv").itertuples():
            codes[row.variable][row.level] = row.code
    levels = {column: sorted(of) for column, of in codes.items()}
    names = tuple(train.columns)
    layout = Layout(
        np.array([len(levels.get(column, ())) for column in names], np.int64),
        np.array([column in levels for column in names]),
        np.zeros(len(names)),
    )
    forest, leaf_of = _forest(name, names, levels, codes)
    return Case(
        name,
        names,
        levels,
        dict(codes),
        layout,
        _matrix(train, levels),
        _matrix(query, levels),
        forest,
        _members(name, forest, leaf_of),
        leaf_of,
    )


def _matrix(frame: pd.DataFrame, levels: dict[str, list[str]]) -> np.ndarray:
    return np.column_stack([frame[c].map(levels[c].index) if c in levels else frame[c] for c in frame.columns]).astype(
        float
    )


def _forest(name, names, levels, codes) -> tuple[Forest, dict[tuple[int, int], int]]:
    nodes: list[list] = []  # feature, child, threshold, words
    bits: list[int] = []
    roots, leaf_of = [], {}
    for tree, rows in table(name, "trees.csv").groupby("tree"):
        rows = rows.set_index("node")

        def follow(node: int, rows=rows) -> int:
            """Through pruned splits to the node that remains."""
            while rows.left[node] == rows.right[node] != 0:
                node = rows.left[node]
            return node

        roots.append(len(nodes))
        nodes.append([-1, 0, np.nan, -1])
        open_nodes = [(follow(0), len(nodes) - 1)]
        while open_nodes:
            theirs, ours = open_nodes.pop()
            if rows.left[theirs] == 0:
                nodes[ours][1] = leaf_of[tree, theirs] = len(leaf_of)
                continue
            column = names[rows.split_var[theirs]]
            nodes[ours][:2] = [rows.split_var[theirs], len(nodes)]
            if column in levels:
                nodes[ours][3] = len(bits)
                left = [codes[column][level] <= rows.split_value[theirs] for level in levels[column]]
                bits.append(sum(1 << k for k, is_left in enumerate(left) if is_left))
            else:
                nodes[ours][2] = rows.split_value[theirs]
            nodes += [[-1, 0, np.nan, -1], [-1, 0, np.nan, -1]]
            open_nodes.append((follow(rows.right[theirs]), len(nodes) - 1))
            open_nodes.append((follow(rows.left[theirs]), len(nodes) - 2))
    feature, child, threshold, words = (np.array(part) for part in zip(*nodes, strict=True))
    forest = make_forest(
        feature=feature.astype(np.int32),
        child=child.astype(np.int32),
        threshold=threshold.astype(float),
        missing_left=np.zeros(len(nodes), np.bool_),
        words=words.astype(np.int64),
        bits=np.array(bits, np.uint64),
        root=np.array(roots, np.int32),
    )
    return forest, leaf_of


def leaves_of_rows(name: str, which: str, leaf_of: dict[tuple[int, int], int]) -> np.ndarray:
    """R's leaf of each row and tree in our numbers, (rows, trees)."""
    frame = table(name, f"{which}_leaf.csv")
    trees = [column for column in frame.columns if column.startswith("tree")]
    return np.column_stack(
        [[leaf_of[tree, node] for node in frame[column]] for tree, column in enumerate(trees, start=1)]
    )


def _members(name: str, forest: Forest, leaf_of) -> Members:
    leaf = leaves_of_rows(name, "train", leaf_of)
    rows = np.stack([np.argsort(column, kind="stable") for column in leaf.T]).astype(np.int32)
    counts = np.bincount(leaf.ravel(), minlength=forest.n_leaves)
    start = np.concatenate([np.cumsum(part) - part for part in np.split(counts, forest.leaf_start[1:-1])])
    return Members(rows, start, start + counts)


class Condition(NamedTuple):
    name: str
    mode: str
    evidence: Evidence  # one row per c_idx


def read_conditions(case: Case) -> list[Condition]:
    conditions = []
    for (name, mode), rows in table(case.name, "conditions.csv").groupby(["cond", "mode"], sort=False):
        evidence = Evidence.empty(rows.c_idx.max(), len(case.names))
        low: list[float] = []
        high: list[float] = []
        for (c_idx, variable), parts in rows.groupby(["c_idx", "variable"], sort=False):
            i, j = c_idx - 1, case.index(variable)
            ends = [_ends(part, variable, case) for part in parts.itertuples()]
            if len(ends) == 1 and ends[0][0] == ends[0][1]:
                evidence.kind[i, j], evidence.value[i, j] = POINT, ends[0][0]
                continue
            evidence.kind[i, j] = ANY_OF if ends[0][0] == ends[0][1] else INTERVALS
            evidence.start[i, j], evidence.stop[i, j] = len(low), len(low) + len(ends)
            low += [one for one, _ in ends]
            high += [two for _, two in ends]
        conditions.append(Condition(name, mode, evidence._replace(low=np.array(low), high=np.array(high))))
    return conditions


def _ends(part, variable: str, case: Case) -> tuple[float, float]:
    if not pd.isna(part.val):
        value = float(case.levels[variable].index(part.val)) if variable in case.levels else float(part.val)
        return value, value
    return float(part.min), float(part.max)
