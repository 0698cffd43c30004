"""Plausibility, proximity and sparsity against each other.

1. Across: the distance to x, which stands at 0. Up: the typicality, the share of real rows that are less plausible.
2. Colour and size tell how many features change: dark and small for few.
3. Better is up and to the left. Counterfactuals are numbered as in the result where the numbers do not collide.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.lines import Line2D

from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.exceptions import ParameterError, listed
from countarfactuals.plotting import style
from countarfactuals.plotting.subject import check_result
from countarfactuals.plotting.text import counted, heading, nothing_to_show, percent, show_message, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SMALLEST, _LARGEST = 26.0, 110.0  # areas of markers, in points
_MOST_LEGEND, _ROOM = 7, (0.055, 0.075)  # room of a number, as shares of the axes


@dataclass(frozen=True, eq=False)
class ParetoInfo:
    """One point per counterfactual whose typicality is known.

    Parameters
    ----------
    number : its number in the result.
    proximity, typicality, n_changed : shape (n,).
    x_typicality : of x, NaN if it is not known.
    n_unknown : counterfactuals without a typicality.
    """

    number: np.ndarray
    proximity: np.ndarray
    typicality: np.ndarray
    n_changed: np.ndarray
    x_typicality: float
    n_unknown: int


def pareto_info(result: Counterfactuals) -> ParetoInfo:
    """What the picture shows of a result."""
    if "proximity" not in result.objectives:
        raise ParameterError(
            f"This picture needs the objective 'proximity', the result has {listed(result.objectives) or 'none'}."
        )
    known = np.flatnonzero(~np.isnan(result.typicality) & np.isfinite(result.objectives["proximity"]))
    return ParetoInfo(
        number=known,
        proximity=result.objectives["proximity"][known],
        typicality=result.typicality[known],
        n_changed=result.changed.sum(axis=1)[known],
        x_typicality=result.x_typicality,
        n_unknown=len(result) - len(known),
    )


def plot_pareto(counterfactuals: Counterfactuals, *, ax: Axes | None = None) -> Axes:
    """Points: typicality over the distance to x, coloured by the number of changes.

    Parameters
    ----------
    counterfactuals : a result of `explain`.
    ax : axes to draw on.
    """
    result = check_result(counterfactuals)
    if not len(result):
        return show_message(style.axes_for(ax, 1.5), nothing_to_show(result))
    info = pareto_info(result)
    if not len(info.number):
        return show_message(style.axes_for(ax, 1.5), "The typicality of these counterfactuals is not known.")
    ax = style.axes_for(ax, 3.8)
    _draw(ax, info)
    unknown = [f"{info.n_unknown} without typicality"] if info.n_unknown else []
    title(ax, [*heading(result), *unknown], 0.95)
    return ax


def _draw(ax: Axes, info: ParetoInfo) -> None:
    style.plain_frame(ax)
    ax.grid(color=style.FAINT, linewidth=0.6)
    ax.set_axisbelow(True)
    shade = _shade(info.n_changed, info.n_changed)
    size = _SMALLEST + (_LARGEST - _SMALLEST) * shade
    # large ones first, so that they hide none
    order = np.argsort(-size, kind="stable")
    colours = style.AMOUNT(shade)
    ax.scatter(
        info.proximity[order], info.typicality[order], size[order], colours[order], edgecolors="white", linewidths=0.6,
        zorder=3,
    )  # fmt: skip
    ax.scatter([0.0], [info.x_typicality], 46.0, style.X_COLOUR, marker="D", zorder=4)
    right = max(float(info.proximity.max()) * 1.06, 1e-9)
    ax.set_xlim(-0.02 * right, right)
    ax.set_ylim(-0.04, 1.04)
    ax.yaxis.set_major_formatter(percent)
    ax.set_xlabel("distance to x", fontsize=style.TEXT)
    ax.set_ylabel("typicality (real rows less plausible)", fontsize=style.TEXT)
    for i in _numbered(info, right):
        at = (info.proximity[i], info.typicality[i])
        ax.annotate(
            f"#{info.number[i]}",
            at,
            (5, 3),
            textcoords="offset points",
            fontsize=style.SMALL,
            color=style.GREY,
            zorder=5,
        )
    _legend(ax, info)


def _shade(counts: np.ndarray, every: np.ndarray) -> np.ndarray:
    """Numbers of changes from 0 (fewest) to 1 (most)."""
    low, high = every.min(), every.max()
    return (counts - low) / (high - low) if high > low else np.zeros(len(counts))


def _numbered(info: ParetoInfo, right: float) -> list[int]:
    """Points whose number has room of its own: no other point, and no number, close to the right of it."""
    places = np.column_stack([info.proximity / right, info.typicality])
    blocked = np.append(places, [[0.0, np.nan_to_num(info.x_typicality, nan=-9.0)]], axis=0)
    kept: list[int] = []
    for i in range(len(places)):
        away = blocked - places[i] - np.array([_ROOM[0] / 2, _ROOM[1] / 3])
        near = (np.abs(away[:, 0]) < _ROOM[0] / 2) & (np.abs(away[:, 1]) < _ROOM[1] / 2)
        near[i] = False
        apart = np.abs(places[kept] - places[i])
        collides = ((apart[:, 0] < _ROOM[0]) & (apart[:, 1] < _ROOM[1])).any() if kept else False
        if not near.any() and not collides and places[i, 0] < 0.95:
            kept.append(i)
    return kept


def _legend(ax: Axes, info: ParetoInfo) -> None:
    counts = np.unique(info.n_changed)
    if len(counts) > _MOST_LEGEND:
        counts = counts[np.linspace(0, len(counts) - 1, _MOST_LEGEND).round().astype(int)]
    shades = _shade(counts, info.n_changed)
    handles = [Line2D([], [], color=style.X_COLOUR, marker="D", linestyle="", markersize=6, label="x")]
    for count, shade in zip(counts.tolist(), shades.tolist(), strict=True):
        size = float(np.sqrt(_SMALLEST + (_LARGEST - _SMALLEST) * shade))
        word = counted(count, "change")
        handles.append(Line2D([], [], color=style.AMOUNT(shade), marker="o", linestyle="", markersize=size, label=word))
    ax.legend(
        handles=handles,
        fontsize=style.SMALL,
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        frameon=False,
        borderaxespad=0,
    )
