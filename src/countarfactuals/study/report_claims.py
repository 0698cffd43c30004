"""The report's section on claims: whether typicality holds by the true density, in sentences, a table and a figure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from countarfactuals.counterfactuals.wording import share_text
from countarfactuals.report.page import bullets, cell, paragraph, text
from countarfactuals.study.design import method_name
from countarfactuals.study.findings import OURS
from countarfactuals.study.report_parts import image, wide_table

if TYPE_CHECKING:
    from countarfactuals.study.study import Tables

_WORDS = (
    "Beside a counterfactual a person is told its typicality: the share of real rows that are less typical. Here it is "
    "held against the share of real rows whose true density is lower. Claimed and true are means over the "
    "non-dominated counterfactuals; the error is the mean distance of the two, in points of per cent, and counts what "
    "is too high and what is too low alike."
)
_NOTHING = "Nothing is claimed in this run: it has no counterfactuals, or an earlier version made them without claims."


def claims_section(tables: Tables, images: Mapping[str, Path]) -> list[str]:
    """The parts of the section."""
    table = tables.calibration()
    if table.empty:
        return [paragraph(text(_NOTHING))]
    said = bullets(text(one) for one in claim_sentences(table))
    return [paragraph(text(_WORDS)), said, _table(table), image("calibration", images)]


def claim_sentences(table: pd.DataFrame) -> list[str]:
    """What our methods claim and what holds, on average over data sets, and the largest error of any method."""
    told = []
    for method in OURS:
        mine = table[table["method"] == method]
        if len(mine):
            claimed, true, error = (float(mine[name].mean()) for name in ("claimed", "true", "error"))
            where = "On average over data sets" if len(mine) > 1 else f"On {mine['dataset'].iloc[0]}"
            told.append(
                f"{where}, a counterfactual of {method_name(method)} is said to be more typical than "
                f"{share_text(claimed)} of real rows and is denser than {share_text(true)} of them{_direction(mine)}. "
                f"The mean error is {_points(error)} points."
            )
    worst = table.loc[table["error"].idxmax()]
    told.append(
        f"The largest mean error of a method on a data set is {_points(worst['error'])} points: "
        f"{method_name(worst['method'])} on {worst['dataset']}, {share_text(worst['claimed'])} claimed and "
        f"{share_text(worst['true'])} true."
    )
    return told


def _direction(mine: pd.DataFrame) -> str:
    """On how many of several data sets claims are too high."""
    if len(mine) < 2:
        return ""
    n_high = int((mine["claimed"] > mine["true"]).sum())
    return f"; on {n_high} of {len(mine)} data sets claims are too high on average"


def _points(share: float) -> str:
    """A difference of shares in points of per cent.

    >>> _points(0.0412), _points(0.25)
    ('4.1', '25.0')
    """
    return f"{100 * share:.1f}"


def _table(table: pd.DataFrame) -> str:
    rows = []
    for line in table.itertuples():
        values = [share_text(line.claimed), share_text(line.true), _points(line.error), f"{line.n_rows:,}"]
        cells = [cell(text(method_name(line.method))), *(cell(text(one), "number") for one in values)]
        rows.append([text(line.dataset), *cells])
    names = ("claimed", "true", "error, points", "counterfactuals")
    heads = [("data set", ""), ("method", ""), *((name, "number") for name in names)]
    return wide_table("Share of real rows that are less typical: what is claimed and what is true", heads, rows)
