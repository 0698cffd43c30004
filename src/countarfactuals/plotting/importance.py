"""How much the prediction varies along each feature, most first: the standard deviations of the curves of `ice`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.counterfactuals.wording import one_line, score_text
from countarfactuals.plotting import style
from countarfactuals.plotting.ice import IceInfo, ice_info
from countarfactuals.plotting.subject import check_most
from countarfactuals.plotting.text import counted, fitted, literal, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BAR, _WIDEST_NAME = 0.24, 1.9  # inches


@dataclass(frozen=True)
class ImportanceInfo:
    """Features, most important first.

    Parameters
    ----------
    features : their names.
    importance : standard deviation of the wanted score along each.
    score_name, target : what was asked for, and what is wanted of it.
    n_left_out : less important features.
    """

    features: tuple[str, ...]
    importance: tuple[float, ...]
    score_name: str
    target: str
    n_left_out: int


def importance_info(curves: IceInfo, most_features: int = 20) -> ImportanceInfo:
    """The importances behind ICE curves."""
    shown = curves.curves[:most_features]
    return ImportanceInfo(
        features=tuple(curve.feature for curve in shown),
        importance=tuple(curve.importance for curve in shown),
        score_name=curves.score_name,
        target=curves.target,
        n_left_out=len(curves.curves) - len(shown),
    )


def plot_importance(
    counterfactuals: Counterfactuals, explainer: Any, *, most_features: int = 20, ax: Axes | None = None
) -> Axes:
    """Bars of the local importance of features.

    Parameters
    ----------
    counterfactuals, explainer : as in `plot_ice`.
    most_features : how many are shown at most.
    ax : axes to draw on; they show as many features as they have room for.
    """
    most = check_most("most_features", most_features)
    if ax is not None:
        most = min(most, max(int(style.inches(ax)[1] / 0.16), 1))
    info = importance_info(ice_info(counterfactuals, explainer), most)
    ax = style.axes_for(ax, _BAR * len(info.features) + 1.1)
    _draw(ax, info)
    rest = [f"{counted(info.n_left_out, 'less important feature')} not shown"] if info.n_left_out else []
    title(ax, [f"target: {one_line(info.target)}", *rest], 0.95)
    return ax


def _draw(ax: Axes, info: ImportanceInfo) -> None:
    style.plain_frame(ax, ("left",))
    places = np.arange(len(info.features))
    bars = ax.barh(places, info.importance, 0.7, color=style.CHANGE_TINTS["↑"], edgecolor=style.BLUE, linewidth=0.8)
    texts = [score_text(value) for value in info.importance]
    ax.bar_label(bars, texts, padding=3, fontsize=style.SMALL, color=style.GREY)
    ax.set_yticks(places, [fitted(name, _WIDEST_NAME) for name in info.features], fontsize=style.SMALL)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(places) - 0.4, -0.6)
    ax.set_xlim(0.0, max(*info.importance, 1e-12) * 1.12)
    ax.grid(axis="x", color=style.FAINT, linewidth=0.6)
    ax.set_axisbelow(True)
    name = literal(one_line(info.score_name, 40))
    ax.set_xlabel(f"standard deviation of {name} along the feature", fontsize=style.TEXT)
