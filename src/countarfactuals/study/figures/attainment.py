"""Median attainment surfaces: what half of the explanations attain or beat, per method and data set.

1. For each instance the non-dominated counterfactuals are a set of points, both coordinates to be minimised: minus the
   true log density, and the distance to x or the share of features changed.
2. moocore's `eaf` gives the points that half of the sets attain. An instance without a counterfactual attains nothing,
   and counts.
3. The line steps from point to point; what lies above and to the right of it is attained in the median.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import moocore
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from countarfactuals.plotting import style
from countarfactuals.study.design import method_name

_MOST_MARKERS = 8  # on a line, about: more would hide the others
_NOTHING = 1e30  # the coordinates of an instance without a counterfactual
_LABELS = {"distance": "distance to x (Gower)", "share_changed": "share of features changed"}
_DASHES: dict[str, tuple[str, str]] = {  # line and marker, so that nothing is told by colour alone
    "arf": ("-", "o"),
    "mocarf": ("-", "s"),
    "moc": ("--", "^"),
    "mocctree": ("--", "v"),
    "nice": (":", "D"),
    "whatif": (":", "x"),
}


class Surface(NamedTuple):
    """The corners of a median attainment surface, by ascending first coordinate."""

    first: np.ndarray
    second: np.ndarray


def median_surface(points: np.ndarray, instance: np.ndarray, n_instances: int) -> Surface:
    """What half of the instances attain.

    Parameters
    ----------
    points : shape (n, 2), both minimised.
    instance : which instance each point belongs to, from 1 on.
    n_instances : how many there are, those without points included.
    """
    absent = np.setdiff1d(np.arange(1, n_instances + 1), instance)
    known = np.isfinite(points).all(axis=1)
    every = np.concatenate([points[known], np.full((len(absent), 2), _NOTHING)])
    sets = np.concatenate([instance[known], absent])
    if len(every) == 0:
        return Surface(np.empty(0), np.empty(0))
    order = np.argsort(sets, kind="stable")
    found = moocore.eaf(every[order], sets[order], percentiles=[50])[:, :2]
    found = found[(found < _NOTHING).all(axis=1)]
    found = found[np.lexsort((found[:, 1], found[:, 0]))]
    return Surface(found[:, 0], found[:, 1])


def surfaces(candidates: pd.DataFrame, instances: pd.DataFrame, column: str) -> dict[tuple[str, str], Surface]:
    """The surface of each data set and method."""
    best = candidates[candidates["nondominated"]]
    groups = dict(iter(best.groupby(["dataset", "method"], sort=False)))
    found = {}
    for pair, some in instances.groupby(["dataset", "method"], sort=False):
        rows = groups.get(pair, best.iloc[:0])
        points = np.column_stack([rows[column].to_numpy(float), -rows["log_density"].to_numpy(float)])
        found[pair] = median_surface(points, rows["instance"].to_numpy(int), int(some["instance"].max()))
    return found


def draw_attainment(candidates: pd.DataFrame, instances: pd.DataFrame, column: str) -> Figure:
    """One panel per data set."""
    known = surfaces(candidates, instances, column)
    sets, methods = list(instances["dataset"].unique()), list(instances["method"].unique())
    n_columns = min(3, len(sets))
    n_rows = math.ceil(len(sets) / n_columns)
    figure = Figure(figsize=(style.PAGE, 2.3 * n_rows + 0.7), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for ax, name in zip(axes, sets, strict=False):
        drawn = [known[name, method] for method in methods]
        for method, surface in zip(methods, drawn, strict=True):
            _step(ax, surface, drawn, method)
        ax.set_title(name, fontsize=style.TEXT)
        style.plain_frame(ax)
        ax.set_xlabel(_LABELS[column], fontsize=style.SMALL)
    for ax in axes[::n_columns]:
        ax.set_ylabel("minus true log density", fontsize=style.SMALL)
    for ax in axes[len(sets) :]:
        ax.set_visible(False)
    handles = [_line(method, [], []) for method in methods]
    names = [method_name(method) for method in methods]
    figure.legend(handles, names, loc="outside lower center", ncols=len(methods), fontsize=style.SMALL, frameon=False)
    return figure


def _line(method: str, x: np.ndarray | list[float], y: np.ndarray | list[float]) -> Line2D:
    dash, marker = _DASHES.get(method, ("-", "."))
    colour = style.method_colour(method)
    return Line2D(
        x, y, drawstyle="steps-post", color=colour, linestyle=dash, linewidth=1.5, marker=marker, markersize=3.5
    )


def _step(ax: Axes, surface: Surface, drawn: list[Surface], method: str) -> None:
    """The surface, whose ends go on to the edge of what is shown."""
    if len(surface.first) == 0:
        return
    right = max(float(one.first.max()) for one in drawn if len(one.first))
    top = max(float(one.second.max()) for one in drawn if len(one.first))
    x = np.concatenate([surface.first[:1], surface.first, [right]])
    y = np.concatenate([[top], surface.second, surface.second[-1:]])
    line = _line(method, x, y)
    line.set_markevery(list(range(1, len(x) - 1, max(1, len(x) // _MOST_MARKERS))))
    line.set_alpha(0.9)
    ax.add_line(line)
    ax.autoscale_view()
