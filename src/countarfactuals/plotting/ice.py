"""The prediction along each feature: ICE curves, most important first, and how much it varies.

1. The score that is wanted is asked for at rows that differ from x in one feature, at up to 20 values that the data
   has, evenly spaced in their order (as `local_importance` does for the search).
2. The importance of a feature is the standard deviation of the score over these values and x's own.
3. `plot_ice`: each feature has a strip of one common axis; the region where the target is reached is tinted.
4. `plot_importance`: bars of the importances.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.counterfactuals.outcomes import text_of_target
from countarfactuals.exceptions import DataError
from countarfactuals.explainers.curves import MOST_POINTS, ice_curves
from countarfactuals.explainers.made_by import background_for, goal_of
from countarfactuals.language import counted, tr
from countarfactuals.language.spelling import score_text
from countarfactuals.parameters import check_int
from countarfactuals.plotting import style
from countarfactuals.plotting.style import fitted
from countarfactuals.plotting.subject import Scale, check_result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from countarfactuals.schema import Column

_STRIP, _MARGIN = 0.8, 0.1  # share of a strip's width that its curve takes
_MOST_TICKS, _WIDEST_TICK = 5, 0.85


@dataclass(frozen=True, eq=False)
class IceCurve:
    """The score along one feature."""

    feature: str
    importance: float  # standard deviation of the score
    values: np.ndarray  # codes at which the model was asked, ascending; x's own unless it is missing
    scores: np.ndarray  # the wanted score at them
    x: float  # x's own value
    scale: Scale


@dataclass(frozen=True, eq=False)
class IceInfo:
    """Curves of all features, most important first."""

    curves: tuple[IceCurve, ...]
    score_name: str
    x_score: float  # x's own
    target: str  # in words
    low: float  # scores that reach the target: infinite where it is open, NaN where another class must lose
    high: float


def ice_info(counterfactuals: Counterfactuals, explainer: Any) -> IceInfo:
    """ICE curves through x; the arguments are those of `plot_ice`."""
    result = check_result(counterfactuals)
    background = background_for(result, explainer)
    goal, x = goal_of(result, background), result.x
    if goal is None:
        raise DataError("The result does not say what was asked for. Pass one that `explain` returned.")
    own = float(result.x_scores[goal.column])
    asked = ice_curves(background, x)
    curves = [
        _curve(column, x[j], asked[j].values, asked[j].scores[:, goal.column], own)
        for j, column in enumerate(result.schema.columns)
    ]
    curves.sort(key=lambda curve: -curve.importance)  # ties keep the order of the data
    return IceInfo(
        curves=tuple(curves),
        score_name=background.predictor.score_names[goal.column],
        x_score=own,
        target=text_of_target(goal.target, background.predictor.score_columns),
        low=math.nan if goal.wins else goal.low,
        high=math.nan if goal.wins else goal.high,
    )


def _curve(column: Column, x: float, values: np.ndarray, scores: np.ndarray, own: float) -> IceCurve:
    every = np.append(scores, own)
    importance = float(np.std(every)) if np.ptp(every) > 0 else 0.0  # the mean of equal numbers is rounded
    if not math.isnan(x):
        values, scores = np.append(values, x), np.append(scores, own)
    order = np.argsort(values, kind="stable")
    scale = Scale.of(column, np.append(x, values), most_levels=MOST_POINTS + 1)
    return IceCurve(style.name_of(column.title), importance, values[order], scores[order], float(x), scale)


def plot_ice(
    counterfactuals: Counterfactuals, explainer: Any, *, most_features: int = 6, ax: Axes | None = None
) -> Axes:
    """The wanted score along the most important features.

    Parameters
    ----------
    counterfactuals : a result of `explain`; that of a row without counterfactuals will do.
    explainer : the one that made it; its model is asked about every point of the curves.
    most_features : how many are shown at most.
    ax : axes to draw on.
    """
    most = check_int("most_features", most_features, 1)
    info = ice_info(counterfactuals, explainer)
    n = min(most, len(info.curves))
    ax = style.axes_for(ax, 3.6, max(style.PAGE, 1.0 * n))
    _draw_curves(ax, info, n)
    handles = [
        style.mark("x", style.X_COLOUR, "D", 5.5, linestyle=":"),
        style.mark(tr("one feature changed"), style.BLUE, "o", 3.0, linestyle="-"),
    ]
    style.title_and_legend(ax, _title(info.target, len(info.curves) - n), handles)
    return ax


def _title(target: str, n_left_out: int) -> list[str]:
    left_out = counted(n_left_out, "{n:,} less important feature not shown", "{n:,} less important features not shown")
    return [style.target_part(target), *([left_out] if n_left_out else [])]


def _draw_curves(ax: Axes, info: IceInfo, n: int) -> None:
    style.plain_frame(ax, ("left",))
    ax.set_xlim(0.0, n)
    bottom, top = _score_range(info, n)
    spacing = style.inches(ax)[0] / n
    _draw_target(ax, info, bottom, top, _drawn_scores(info, n))
    ax.axhline(info.x_score, color=style.X_COLOUR, linewidth=0.8, linestyle=":")
    ticks: list[tuple[float, str]] = []
    for i, curve in enumerate(info.curves[:n]):
        ticks += _draw_curve(ax, i, curve, info.x_score)
        name = fitted(curve.feature, spacing - 0.1, style.TEXT)
        ax.text(i + 0.5, top, name, ha="center", va="bottom", fontsize=style.TEXT)
        if i:
            ax.axvline(i, color=style.FAINT, linewidth=0.8)
    ax.set_ylim(bottom, top + 0.09 * (top - bottom))
    texts = [fitted(text, _WIDEST_TICK) for _, text in ticks]
    ax.set_xticks([at for at, _ in ticks], texts, rotation=90, fontsize=style.SMALL)
    style.label_axes(ax, up=style.score_label(info.score_name))


def _draw_curve(ax: Axes, i: int, curve: IceCurve, x_score: float) -> list[tuple[float, str]]:
    """One strip; its ticks."""
    scale = curve.scale
    low, high = scale.ends

    def across(places: np.ndarray) -> np.ndarray:
        return i + _MARGIN + _STRIP * (places - low) / (high - low)

    at = across(scale.place(curve.values))
    # between levels there is nothing
    line = "" if scale.levels else "-"
    ax.plot(at, curve.scores, color=style.BLUE, marker="o", markersize=3, linestyle=line, linewidth=1.2, zorder=2)
    if scale.levels:
        ax.vlines(at, x_score, curve.scores, color=style.BLUE, linewidth=0.8, zorder=1)
    own_at = across(scale.place(np.array([curve.x])))
    ax.plot(own_at, [x_score], color=style.X_COLOUR, marker="D", markersize=5.5, zorder=3)
    return [(float(across(np.array(place))), text) for place, text in scale.ticks(_MOST_TICKS)]


def _drawn_scores(info: IceInfo, n: int) -> np.ndarray:
    return np.concatenate([curve.scores for curve in info.curves[:n]] + [np.array([info.x_score])])


def _draw_target(ax: Axes, info: IceInfo, bottom: float, top: float, scores: np.ndarray) -> None:
    """Where the target is reached, and those of its ends that some score is beyond."""
    low, high = max(info.low, bottom), min(info.high, top)
    if not low < high:  # nor where it is not known
        return
    ax.axhspan(low, high, color=style.CHANGE_TINTS["↑"], linewidth=0, zorder=0)
    for end, is_crossed in ((info.low, scores.min() < info.low), (info.high, scores.max() > info.high)):
        if is_crossed and bottom < end < top:
            ax.axhline(end, color=style.BLUE, linewidth=0.8, linestyle=style.DASHED)


def _score_range(info: IceInfo, n: int) -> tuple[float, float]:
    """Ends of the axis of the score: all that is drawn, and the nearer end of the target."""
    scores = _drawn_scores(info, n)
    ends = [end for end in (info.low, info.high) if math.isfinite(end)]
    nearest = sorted(ends, key=lambda end: float(np.abs(scores - end).min()))[:1]
    low, high = min([*scores.tolist(), *nearest]), max([*scores.tolist(), *nearest])
    margin = 0.06 * (high - low) or max(0.05 * abs(low), 0.05)
    return low - margin, high + margin


# How much it varies


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
    most = style.most_bars(ax, check_int("most_features", most_features, 1))
    info = ice_info(counterfactuals, explainer)
    shown = info.curves[:most]
    importance = [curve.importance for curve in shown]
    ax = style.bar_axes(ax, len(shown))
    look = {"color": style.CHANGE_TINTS["↑"], "edgecolor": style.BLUE}
    bars = ax.barh(np.arange(len(shown)), importance, 0.7, linewidth=0.8, **look)  # type: ignore[arg-type]
    ax.bar_label(bars, list(map(score_text, importance)), padding=3, fontsize=style.SMALL, color=style.GREY)
    style.name_bars(ax, [curve.feature for curve in shown])
    ax.set_xlim(0.0, max(*importance, 1e-12) * 1.12)
    name = style.score_label(info.score_name)
    style.label_axes(ax, tr("standard deviation of {score} along the feature", score=name))
    style.title(ax, _title(info.target, len(info.curves) - len(shown)), 0.95)
    return ax
