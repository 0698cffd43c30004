"""Parallel coordinates: x and its counterfactuals as lines across the features.

1. The axes are the features that change most often, in the order of the data; where all fit, all of them.
2. Numbers run over the range of x and the counterfactuals and, with an explainer, the middle 96 % of its data. Levels
   are labelled steps. Missing values stand at a mark of their own below the axis.
3. Lines are paler the more there are; x is drawn last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D

from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.plotting import style
from countarfactuals.plotting.scale import Scale
from countarfactuals.plotting.subject import background_for, check_most, check_result, most_changed
from countarfactuals.plotting.text import counted, fitted, heading, name_of, nothing_to_show, show_message, title_beside

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MISSING_AT = -0.16
_MOST_TICKS, _MOST_LEVELS = 5, 8
_LEGEND = 2.6  # inches
_ONE_LINE = 4  # up to so many features their names stand on one line


@dataclass(frozen=True, eq=False)
class ParallelInfo:
    """Places of the lines.

    Parameters
    ----------
    features : names, left to right.
    ticks : per feature (place, text), places from 0 to 1 and `MISSING_AT` for missing.
    x : places of x, shape (k,).
    rows : places of the counterfactuals, shape (n, k); NaN for a level without a place, where very many are in use.
    n_left_out : features that are not shown.
    """

    features: tuple[str, ...]
    ticks: tuple[tuple[tuple[float, str], ...], ...]
    x: np.ndarray
    rows: np.ndarray
    n_left_out: int


def parallel_info(result: Counterfactuals, data: np.ndarray | None = None, most_features: int = 8) -> ParallelInfo:
    """Places of x and the counterfactuals; `data` are real rows, which the axes shall hold too."""
    p = len(result.schema.columns)
    shown = tuple(range(p)) if p <= most_features else most_changed(result, most_features)
    ticks, places = [], []
    for j in shown:
        used = np.append(result.x[j], result.rows[:, j])
        scale = Scale.of(result.schema.columns[j], used, None if data is None else data[:, j], _MOST_LEVELS)
        ticks.append(tuple((_place(scale, at), text) for at, text in scale.ticks(_ticks(scale))))
        places.append([_place(scale, at) for at in scale.place(used).tolist()])
    every = np.array(places).reshape(len(shown), len(result) + 1).T
    names = tuple(name_of(result.schema.names[j]) for j in shown)
    return ParallelInfo(names, tuple(ticks), every[0], every[1:], p - len(shown))


def _ticks(scale: Scale) -> int:
    return _MOST_LEVELS if scale.levels else _MOST_TICKS


def _place(scale: Scale, at: float) -> float:
    if scale.has_missing and at == scale.missing_at:
        return MISSING_AT
    return float(scale.share(np.array(at)))


def plot_parallel(
    counterfactuals: Counterfactuals, explainer: Any = None, *, most_features: int = 8, ax: Axes | None = None
) -> Axes:
    """Lines of x and its counterfactuals across the features.

    Parameters
    ----------
    counterfactuals : a result of `explain`.
    explainer : the one that made it; axes then run over the range of its data.
    most_features : how many are shown at most, those that change most often.
    ax : axes to draw on.
    """
    result = check_result(counterfactuals)
    most = check_most("most_features", most_features)
    data = None if explainer is None else background_for(result, explainer).matrix
    if not len(result):
        return show_message(style.axes_for(ax, 1.5), nothing_to_show(result))
    info = parallel_info(result, data, most)
    ax = style.axes_for(ax, 3.6, max(style.PAGE, 0.8 * len(info.features)))
    _draw(ax, info)
    rest = [f"{counted(info.n_left_out, 'feature')} not shown"] if info.n_left_out else []
    title_beside(ax, [*heading(result), *rest], _LEGEND)
    return ax


def _draw(ax: Axes, info: ParallelInfo) -> None:
    style.no_frame(ax)
    k, n = len(info.features), len(info.rows)
    has_missing = any(place == MISSING_AT for ticks in info.ticks for place, _ in ticks)
    ax.set_xlim(-0.15, k - 1 + 0.85)
    ax.set_ylim(MISSING_AT - 0.05 if has_missing else -0.05, 1.05)
    ax.vlines(np.arange(k), 0.0, 1.0, color=style.GREY, linewidth=0.8)
    alpha = float(np.clip(6.0 / n, 0.12, 0.75))
    marker = 3.0 if n > 30 else 4.5
    line: dict[str, Any] = {"color": style.COUNTERFACTUAL_COLOUR, "linewidth": 1.1, "marker": "o", "markersize": marker}
    for row in info.rows:
        ax.plot(np.arange(k), row, alpha=alpha, zorder=2, **line)
    x_line: dict[str, Any] = {"color": style.X_COLOUR, "linewidth": 2.0, "marker": "D", "markersize": 5.5}
    ax.plot(np.arange(k), info.x, zorder=3, **x_line)
    spacing = style.inches(ax)[0] / k
    for j, ticks in enumerate(info.ticks):
        _draw_ticks(ax, j, ticks, spacing)
    lines = 1 if k <= _ONE_LINE else 2
    # less than the spacing, as the first name makes the axes narrower where it sticks out
    room = lines * style.inches(ax)[0] / (k + 1.5) - 0.15
    names = [fitted(name, room, style.TEXT) for name in info.features]
    ax.set_xticks(np.arange(k), names, fontsize=style.TEXT)
    ax.tick_params(axis="x", length=0)
    for tick in ax.xaxis.get_major_ticks()[1::2] if lines == 2 else ():
        tick.set_pad(2.0 * style.TEXT)
    count = counted(n, "counterfactual")
    handles = [Line2D([], [], label="x", **x_line), Line2D([], [], label=count, **line)]
    options = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "ncols": 2, "borderaxespad": 0.3}
    ax.legend(handles=handles, fontsize=style.SMALL, frameon=False, **options)


def _draw_ticks(ax: Axes, j: int, ticks: tuple[tuple[float, str], ...], spacing: float) -> None:
    behind = {"facecolor": "white", "edgecolor": "none", "alpha": 0.9, "pad": 0.6}
    for place, text in ticks:
        is_missing = place == MISSING_AT
        ax.plot([j], [place], marker="x" if is_missing else "_", color=style.GREY, markersize=5, zorder=1.5)
        shown = fitted(text, spacing - 0.18)
        look: dict[str, Any] = {"fontsize": style.SMALL, "color": style.GREY, "bbox": behind, "zorder": 4}
        ax.annotate(shown, (j, place), (6, 0), textcoords="offset points", ha="left", va="center", **look)
