"""Pictures of median attainment surfaces, see `study.surfaces`.

1. The line steps from corner to corner; what lies above and to the right of it is attained in the median.
2. ARF's line is wide and lies below the others, as MOCARF often attains the same.
3. Where the share of features changed has few values, those are the ticks.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from countarfactuals.plotting import style
from countarfactuals.study.design import method_name
from countarfactuals.study.surfaces import Surface, surfaces

_MOST_MARKERS = 8  # on a line, about: more would hide the others
_MOST_TICKS = 5
_WIDE = 2.0  # points
_LABELS = {"distance": "distance to x (Gower)", "share_changed": "share of features changed"}
_LINES: dict[str, tuple[str, str, float, float]] = {  # dash, marker, width, size: nothing is told by colour alone
    "arf": ("-", "o", 4.5, 5.5),
    "mocarf": ("-.", "s", 1.5, 3.5),
    "moc": ("--", "^", 1.5, 3.5),
    "mocctree": ("--", "v", 1.5, 3.5),
    "nice": (":", "D", 1.5, 3.5),
    "whatif": (":", "x", 1.5, 3.5),
}


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
        shown = candidates.loc[(candidates["dataset"] == name) & candidates["nondominated"], column]
        if column == "share_changed" and 0 < shown.nunique() <= _MOST_TICKS:
            ax.set_xticks(sorted(shown.unique()))
    for ax in axes[::n_columns]:
        ax.set_ylabel("minus true log density", fontsize=style.SMALL)
    for ax in axes[len(sets) :]:
        ax.set_visible(False)
    handles = [_line(method, [], []) for method in methods]
    names = [method_name(method) for method in methods]
    figure.legend(handles, names, loc="outside lower center", ncols=len(methods), fontsize=style.SMALL, frameon=False)
    return figure


def _line(method: str, x: np.ndarray | list[float], y: np.ndarray | list[float]) -> Line2D:
    dash, marker, width, size = _LINES.get(method, ("-", ".", 1.5, 3.5))
    line = Line2D(x, y, drawstyle="steps-post", color=style.method_colour(method), linestyle=dash, linewidth=width)
    line.set(marker=marker, markersize=size, zorder=2.0 - 0.1 * width)
    if width > _WIDE:  # pale, so that lines on it are seen
        line.set(color=to_rgba(style.method_colour(method), 0.35), markerfacecolor=style.method_colour(method))
    return line


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
    ax.add_line(line)
    ax.autoscale_view()
