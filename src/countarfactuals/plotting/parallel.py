"""Parallel coordinates: x and its counterfactuals as lines across the features.

1. The axes are the features that change most often, in the order of the data; where all fit, all of them.
2. Numbers run over the range of x and the counterfactuals and, with an explainer, the middle 96 % of its data. Levels
   are labelled steps. Missing values stand at a mark of their own below the axis.
3. Lines are paler the more there are; x is drawn last. Where a cell follows from other changes its mark is hollow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.explainers.made_by import background_for
from countarfactuals.language import counted, tr
from countarfactuals.parameters import check_int
from countarfactuals.plotting import style
from countarfactuals.plotting.style import fitted, name_of
from countarfactuals.plotting.subject import Scale, check_result, most_changed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MISSING_AT = -0.16
_MOST_TICKS, _MOST_LEVELS = 5, 8
_ONE_LINE = 4  # up to so many features their names stand on one line


@dataclass(frozen=True, eq=False)
class ParallelInfo:
    """Places of the lines, from 0 to 1 and at `MISSING_AT` for missing."""

    features: tuple[str, ...]  # left to right
    ticks: tuple[tuple[tuple[float, str], ...], ...]  # per feature: place, text
    x: np.ndarray  # shape (k,)
    rows: np.ndarray  # shape (n, k); NaN for a level without a place
    follows: np.ndarray  # shape (n, k): which cells follow from other changes
    n_left_out: int  # features


def parallel_info(result: Counterfactuals, data: np.ndarray | None = None, most_features: int = 8) -> ParallelInfo:
    """Places of x and the counterfactuals; `data` are real rows, which the axes shall hold too."""
    p = len(result.schema.columns)
    shown = list(range(p)) if p <= most_features else most_changed(result.changed, most_features)
    ticks, places = [], []
    for j in shown:
        used = np.append(result.x[j], result.rows[:, j])
        scale = Scale.of(result.schema.columns[j], used, None if data is None else data[:, j], _MOST_LEVELS)
        most_ticks = _MOST_LEVELS if scale.levels else _MOST_TICKS
        ticks.append(tuple((_place(scale, at), text) for at, text in scale.ticks(most_ticks)))
        places.append([_place(scale, at) for at in scale.place(used).tolist()])
    every = np.array(places).reshape(len(shown), len(result) + 1).T
    names = tuple(name_of(result.schema.titles[j]) for j in shown)
    follows = result.changed & result.consequence
    return ParallelInfo(names, tuple(ticks), every[0], every[1:], follows[:, shown], p - len(shown))


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
    most = check_int("most_features", most_features, 1)
    data = None if explainer is None else background_for(result, explainer).matrix
    if not len(result):
        return style.nothing_to_show(ax, result)
    info = parallel_info(result, data, most)
    ax = style.axes_for(ax, 3.6, max(style.PAGE, 0.8 * len(info.features)))
    handles = _draw(ax, info)
    left_out = counted(info.n_left_out, "{n:,} feature not shown", "{n:,} features not shown")
    parts = [*style.heading(result), *([left_out] if info.n_left_out else [])]
    style.title_and_legend(ax, parts, handles, borderaxespad=0.3)
    return ax


def _draw(ax: Axes, info: ParallelInfo) -> list[Any]:
    """Draw all but the title and the legend, whose marks are returned."""
    style.no_frame(ax)
    k, n = len(info.features), len(info.rows)
    has_missing = any(place == MISSING_AT for ticks in info.ticks for place, _ in ticks)
    ax.set_xlim(-0.15, k - 1 + 0.85)
    ax.set_ylim(MISSING_AT - 0.05 if has_missing else -0.05, 1.05)
    ax.vlines(np.arange(k), 0.0, 1.0, color=style.GREY, linewidth=0.8)
    alpha = float(np.clip(6.0 / n, 0.12, 0.75))
    line = (style.COUNTERFACTUAL_COLOUR, "o", 3.0 if n > 30 else 4.5, 1.1)
    x_line = (style.X_COLOUR, "D", 5.5, 2.0)
    for row in info.rows:
        _draw_line(ax, row, line, alpha=alpha, zorder=2)
    hollow: dict[str, Any] = {"markerfacecolor": "white", "markeredgecolor": style.COUNTERFACTUAL_COLOUR}
    size = line[2] + 0.5  # covers the full one
    for row, follows in zip(info.rows, info.follows, strict=True):
        at = np.flatnonzero(follows)
        ax.plot(at, row[at], "o", markersize=size, zorder=2.5, **hollow)
    _draw_line(ax, info.x, x_line, zorder=3)
    for j, ticks in enumerate(info.ticks):
        _draw_ticks(ax, j, ticks, style.inches(ax)[0] / k)
    _name_axes(ax, info.features)
    count = counted(n, "{n:,} counterfactual", "{n:,} counterfactuals")
    looks = (("x", x_line), (count, line))
    marks = [style.mark(label, *look[:3], linestyle="-", linewidth=look[3]) for label, look in looks]
    following = style.mark(tr("follows from others"), style.COUNTERFACTUAL_COLOUR, size=size, **hollow)
    return [*marks, following] if info.follows.any() else marks


def _draw_line(ax: Axes, places: np.ndarray, look: tuple[str, str, float, float], **options: Any) -> None:
    colour, marker, size, width = look
    ax.plot(np.arange(len(places)), places, color=colour, marker=marker, markersize=size, linewidth=width, **options)


def _name_axes(ax: Axes, names: tuple[str, ...]) -> None:
    """Names below the axes; of many every other one stands lower."""
    k = len(names)
    lines = 1 if k <= _ONE_LINE else 2
    # less than the spacing, as the first name makes the axes narrower where it sticks out
    room = lines * style.inches(ax)[0] / (k + 1.5) - 0.15
    ax.set_xticks(np.arange(k), [fitted(name, room, style.TEXT) for name in names], fontsize=style.TEXT)
    ax.tick_params(axis="x", length=0)
    for tick in ax.xaxis.get_major_ticks()[1::2] if lines == 2 else ():
        tick.set_pad(2.0 * style.TEXT)


def _draw_ticks(ax: Axes, j: int, ticks: tuple[tuple[float, str], ...], spacing: float) -> None:
    behind = {"facecolor": "white", "edgecolor": "none", "alpha": 0.9, "pad": 0.6}
    for place, text in ticks:
        is_missing = place == MISSING_AT
        ax.plot([j], [place], marker="x" if is_missing else "_", color=style.GREY, markersize=5, zorder=1.5)
        shown = fitted(text, spacing - 0.18)
        look: dict[str, Any] = {"fontsize": style.SMALL, "color": style.GREY, "bbox": behind, "zorder": 4}
        ax.annotate(shown, (j, place), (6, 0), textcoords="offset points", ha="left", va="center", **look)
