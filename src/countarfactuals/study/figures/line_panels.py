"""Curves with one panel per data set: median attainment surfaces, and typicality as it is claimed against the truth.

1. A surface (see `study.trade_off`) steps from corner to corner; what lies above and to the right of it is attained in
   the median. ARF's line is wide and lies below the others, as MOCARF often attains the same. Where the share of
   features changed has few values, those are the ticks.
2. In the other figure each dot is a non-dominated counterfactual of ARF or MOCARF: across the share of real rows that
   are said to be less typical, up the share that is less dense by the true process. Lines join the means within tenths
   of what is claimed (see `study.tables`). Below the grey diagonal, claims are too high; titles tell the mean errors.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from countarfactuals.language import tr
from countarfactuals.plotting import style
from countarfactuals.study.design import OURS, method_colour, method_name
from countarfactuals.study.tables import binned, calibration
from countarfactuals.study.trade_off import Surface, surfaces

_MOST_MARKERS = 8  # on a line, about: more would hide the others
_MOST_TICKS = 5
_TITLE = 7.0  # points: two errors have to fit
_EDGE = 0.03  # dots at 0 and 1 are whole
_LABELS = {"distance": "distance to x (Gower)", "share_changed": "share of features changed"}
_LINES = {  # dash and marker: nothing is told by colour alone
    "arf": ("-", "o"),
    "mocarf": ("-.", "s"),
    "moc": ("--", "^"),
    "mocctree": ("--", "v"),
    "nice": (":", "D"),
    "whatif": (":", "x"),
}


def draw_attainment(candidates: pd.DataFrame, instances: pd.DataFrame, column: str) -> Figure:
    """The surfaces against the distance or the share of features changed."""
    by_pair = surfaces(candidates, instances, column)
    sets, methods = list(instances["dataset"].unique()), list(instances["method"].unique())
    figure, axes = _panels(sets, (tr(_LABELS[column]), tr("minus true log density")), style.PAGE, 0.7)
    for ax, name in zip(axes, sets, strict=True):
        drawn = [by_pair[name, method] for method in methods]
        for method, surface in zip(methods, drawn, strict=True):
            _step(ax, surface, drawn, method)
        ax.set_title(name, fontsize=style.TEXT)
        shares = candidates.loc[(candidates["dataset"] == name) & candidates["nondominated"], column]
        if column == "share_changed" and 0 < shares.nunique() <= _MOST_TICKS:
            ax.set_xticks(sorted(shares.unique()))
    _legend(figure, {method: _surface_line(method, [], []) for method in methods})
    return figure


def draw_calibration(claims: pd.DataFrame) -> Figure | None:
    """The claims of our methods (`tables.claims`); None where nothing is claimed of them."""
    ours = claims[claims["method"].isin(OURS)]
    if ours.empty:
        return None
    sets, methods = list(ours["dataset"].unique()), [method for method in OURS if method in set(ours["method"])]
    width = style.PAGE * max(min(3, len(sets)) / 3, 0.5)  # one panel has room for its title
    figure, axes = _panels(sets, (tr("claimed typicality"), tr("true typicality")), width, 0.4)
    for ax, name in zip(axes, sets, strict=True):
        rows = ours[ours["dataset"] == name]
        _claims_panel(ax, rows, methods)
        errors = calibration(rows).set_index("method")["error"]
        told = [f"{method_name(method)} {100 * errors[method]:.0f}" for method in methods if method in errors]
        ax.set_title(tr("{set}\nmean error {errors} points", set=name, errors=", ".join(told)), fontsize=_TITLE)
    _legend(figure, {method: _claims_line(method, [], []) for method in methods})
    return figure


def _panels(sets: list[str], labels: tuple[str, str], width: float, below: float) -> tuple[Figure, list[Axes]]:
    """A panel for each data set, three in a row, with room below for the legend."""
    n_columns = min(3, len(sets))
    n_rows = math.ceil(len(sets) / n_columns)
    figure = Figure(figsize=(width, 2.3 * n_rows + below), layout="constrained")
    axes = list(figure.subplots(n_rows, n_columns, squeeze=False).ravel())
    for place, ax in enumerate(axes):
        ax.set_visible(place < len(sets))
        ax.set_xlabel(labels[0], fontsize=style.SMALL)
        style.plain_frame(ax)
        if place % n_columns == 0:
            ax.set_ylabel(labels[1], fontsize=style.SMALL)
    return figure, axes[: len(sets)]


def _legend(figure: Figure, handles: dict[str, Line2D]) -> None:
    names = [method_name(method) for method in handles]
    place: dict[str, Any] = {"loc": "outside lower center", "ncols": len(names)}
    figure.legend(list(handles.values()), names, **place, fontsize=style.SMALL, frameon=False)


def _line(method: str, x: Any, y: Any, width: float, size: float, height: float) -> Line2D:
    dash, marker = _LINES.get(method, ("-", "."))
    line = Line2D(x, y, color=method_colour(method), linestyle=dash, linewidth=width, marker=marker, markersize=size)
    line.set_zorder(height - 0.1 * width)
    return line


def _surface_line(method: str, x: Any, y: Any) -> Line2D:
    if method != "arf":
        line = _line(method, x, y, 1.5, 3.5, 2.0)
    else:  # pale, so that lines on it are seen
        line = _line(method, x, y, 4.5, 5.5, 2.0)
        line.set(color=to_rgba(method_colour(method), 0.35), markerfacecolor=method_colour(method))
    line.set_drawstyle("steps-post")
    return line


def _claims_line(method: str, claimed: Any, true: Any) -> Line2D:
    width, size = (2.2, 5.0) if method == "arf" else (1.2, 3.2)
    return _line(method, claimed, true, width, size, 2.5)


def _step(ax: Axes, surface: Surface, drawn: list[Surface], method: str) -> None:
    """The surface, whose ends go on to the edge of what is shown."""
    if len(surface.first) == 0:
        return
    right = max(float(other.first.max()) for other in drawn if len(other.first))
    top = max(float(other.second.max()) for other in drawn if len(other.first))
    x = np.concatenate([surface.first[:1], surface.first, [right]])
    y = np.concatenate([[top], surface.second, surface.second[-1:]])
    line = _surface_line(method, x, y)
    line.set_markevery(list(range(1, len(x) - 1, max(1, len(x) // _MOST_MARKERS))))
    ax.add_line(line)
    ax.autoscale_view()


def _claims_panel(ax: Axes, rows: pd.DataFrame, methods: list[str]) -> None:
    ax.plot([0.0, 1.0], [0.0, 1.0], color=style.GREY, linewidth=0.8, linestyle=":", zorder=1.0)
    for method in [method for method in methods if method in set(rows["method"])]:
        claimed, true = rows.loc[rows["method"] == method, ["claimed", "true"]].to_numpy().T
        dots: dict[str, Any] = {"color": method_colour(method), "marker": _LINES[method][1], "s": 7.0, "alpha": 0.18}
        ax.scatter(claimed, true, linewidths=0, zorder=1.5, **dots)
        ax.add_line(_claims_line(method, *binned(claimed, true)))
    ax.set(xlim=(-_EDGE, 1.0 + _EDGE), ylim=(-_EDGE, 1.0 + _EDGE), aspect="equal")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_ticks([0.0, 0.5, 1.0])
        axis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=" %"))
