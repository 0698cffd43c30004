"""The hypervolume over the generations of a multi-objective search: did it still improve when it ended?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import MaxNLocator

from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.plotting import style
from countarfactuals.plotting.subject import check_result
from countarfactuals.plotting.text import heading, show_message, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NEARLY = 0.99


@dataclass(frozen=True, eq=False)
class HistoryInfo:
    """The course of a search.

    Parameters
    ----------
    generation, hypervolume : shape (g,).
    nearly_at : the first generation with 99 % of the last hypervolume; None if that is 0.
    """

    generation: np.ndarray
    hypervolume: np.ndarray
    nearly_at: int | None


def history_info(result: Counterfactuals) -> HistoryInfo | None:
    """The course of the search behind a result; None if it has none."""
    if not result.provenance.get("history"):
        return None
    frame = result.history()
    generation = frame["generation"].to_numpy(np.float64)
    hypervolume = frame["hypervolume"].to_numpy(np.float64)
    if not len(generation):
        return None
    last = hypervolume[-1]
    reached = np.flatnonzero(hypervolume >= _NEARLY * last)
    nearly_at = int(generation[reached[0]]) if last > 0 else None
    return HistoryInfo(generation, hypervolume, nearly_at)


def plot_history(counterfactuals: Counterfactuals, *, ax: Axes | None = None) -> Axes:
    """The hypervolume over the generations.

    Parameters
    ----------
    counterfactuals : a result of a method that searches in generations (moc, mocarf, mocctree).
    ax : axes to draw on.
    """
    result = check_result(counterfactuals)
    info = history_info(result)
    if info is None:
        said = f"The method {result.method} recorded no generations. Searches in generations are moc, mocarf, mocctree."
        return show_message(style.axes_for(ax, 1.5), said)
    ax = style.axes_for(ax, 3.0)
    _draw(ax, info, style.method_colour(result.method))
    title(ax, heading(result), 0.95)
    return ax


def _draw(ax: Axes, info: HistoryInfo, colour: str) -> None:
    style.plain_frame(ax)
    ax.grid(axis="y", color=style.FAINT, linewidth=0.6)
    ax.set_axisbelow(True)
    is_single = len(info.generation) == 1
    ax.plot(info.generation, info.hypervolume, color=colour, linewidth=1.8, marker="o" if is_single else "")
    if info.nearly_at is not None and not is_single:
        ax.axvline(info.nearly_at, color=style.QUIET, linewidth=0.8, linestyle=(0, (4, 3)))
        is_left = info.nearly_at < np.mean([info.generation[0], info.generation[-1]])
        ax.annotate(
            f"99 % of the last value at generation {info.nearly_at}",
            (info.nearly_at, 0.04), (5 if is_left else -5, 0), xycoords=("data", "axes fraction"),
            textcoords="offset points", ha="left" if is_left else "right", fontsize=style.SMALL, color=style.GREY,
        )  # fmt: skip
    ax.set_ylim(0.0, max(float(np.nanmax(info.hypervolume)) * 1.06, 1e-12))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("generation", fontsize=style.TEXT)
    ax.set_ylabel("hypervolume (more is better)", fontsize=style.TEXT)
