"""How true typicality is: what is claimed against what holds, one panel per data set.

1. Each dot is a non-dominated counterfactual: across the share of real rows that are said to be less typical, up the
   share that is less dense by the true process.
2. The line joins the means within tenths of what is claimed (see `study.calibration`). Below the grey diagonal, claims
   are too high.
3. ARF and MOCARF are drawn; the title tells the mean error of each.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from countarfactuals.plotting import style
from countarfactuals.study.calibration import binned, calibration
from countarfactuals.study.design import method_name
from countarfactuals.study.findings import OURS

_LINES = {"arf": ("-", "o", 2.2, 5.0), "mocarf": ("-.", "s", 1.2, 3.2)}  # dash, marker, width, size: not colour alone
_TITLE = 7.0  # points: two errors have to fit
_EDGE = 0.03  # dots at 0 and 1 are whole


def draw_calibration(known: pd.DataFrame) -> Figure | None:
    """One panel per data set of `calibration.claims`; None where nothing is claimed of our methods."""
    ours = known[known["method"].isin(OURS)]
    if ours.empty:
        return None
    sets, methods = list(ours["dataset"].unique()), [method for method in OURS if method in set(ours["method"])]
    n_columns = min(3, len(sets))
    n_rows = math.ceil(len(sets) / n_columns)
    width = style.PAGE * max(n_columns / 3, 0.5)  # one panel has room for its title
    figure = Figure(figsize=(width, 2.3 * n_rows + 0.4), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for ax, name in zip(axes, sets, strict=False):
        _panel(ax, ours[ours["dataset"] == name], methods)
        ax.set_title(_title(str(name), ours[ours["dataset"] == name], methods), fontsize=_TITLE)
        ax.set_xlabel("claimed typicality", fontsize=style.SMALL)
    for ax in axes[::n_columns]:
        ax.set_ylabel("true typicality", fontsize=style.SMALL)
    for ax in axes[len(sets) :]:
        ax.set_visible(False)
    handles = [_line(method, [], []) for method in methods]
    names = [method_name(method) for method in methods]
    figure.legend(handles, names, loc="outside lower center", ncols=len(methods), fontsize=style.SMALL, frameon=False)
    return figure


def _panel(ax: Axes, some: pd.DataFrame, methods: list[str]) -> None:
    ax.plot([0.0, 1.0], [0.0, 1.0], color=style.GREY, linewidth=0.8, linestyle=":", zorder=1.0)
    for method in methods:
        mine = some[some["method"] == method]
        if mine.empty:
            continue
        claimed, true = mine["claimed"].to_numpy(), mine["true"].to_numpy()
        colour = style.method_colour(method)
        ax.scatter(claimed, true, s=7.0, marker=_LINES[method][1], color=colour, alpha=0.18, linewidths=0, zorder=1.5)
        ax.add_line(_line(method, *binned(claimed, true)))
    ax.set(xlim=(-_EDGE, 1.0 + _EDGE), ylim=(-_EDGE, 1.0 + _EDGE), aspect="equal")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_ticks([0.0, 0.5, 1.0])
        axis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=" %"))
    style.plain_frame(ax)


def _line(method: str, claimed: np.ndarray | list[float], true: np.ndarray | list[float]) -> Line2D:
    dash, marker, width, size = _LINES[method]
    line = Line2D(claimed, true, color=style.method_colour(method), linestyle=dash, linewidth=width)
    line.set(marker=marker, markersize=size, zorder=2.5 - 0.1 * width)
    return line


def _title(name: str, some: pd.DataFrame, methods: list[str]) -> str:
    """The data set, and how far claims are from the truth, in points of per cent."""
    errors = calibration(some).set_index("method")["error"]
    told = [f"{method_name(method)} {100 * errors[method]:.0f}" for method in methods if method in errors]
    return f"{name}\nmean error {', '.join(told)} points"
