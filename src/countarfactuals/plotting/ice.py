"""The prediction along each feature: ICE curves, most important first.

1. The score that is wanted is asked for at rows that differ from x in one feature, at up to 20 values that the data
   has, evenly spaced in their order (as `explainers.importance` does for the search).
2. The importance of a feature is the standard deviation of the score over these values and x's own.
3. Each feature has a strip of one common axis; the region where the target is reached is tinted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D

from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.counterfactuals.wording import one_line
from countarfactuals.exceptions import DataError
from countarfactuals.explainers.background import Background
from countarfactuals.plotting import style
from countarfactuals.plotting.scale import Scale
from countarfactuals.plotting.subject import background_for, check_most, check_result, goal_of
from countarfactuals.plotting.text import counted, fitted, literal, name_of, title_beside

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_POINTS = 20
_LEGEND = 2.6  # inches
_STRIP, _MARGIN = 0.8, 0.1  # share of a strip's width that its curve takes
_MOST_TICKS, _WIDEST_TICK = 5, 0.85


@dataclass(frozen=True, eq=False)
class IceCurve:
    """The score along one feature.

    Parameters
    ----------
    feature : its name.
    importance : standard deviation of the score.
    values : codes at which the model was asked, ascending; x's own is among them unless it is missing.
    scores : the wanted score at them.
    x : x's own value.
    scale : the axis of the feature.
    """

    feature: str
    importance: float
    values: np.ndarray
    scores: np.ndarray
    x: float
    scale: Scale


@dataclass(frozen=True, eq=False)
class IceInfo:
    """Curves of all features, most important first.

    Parameters
    ----------
    curves : one per feature.
    score_name, x_score : what was asked for, and x's own.
    target : in words.
    low, high : the scores that reach the target; infinite where it is open, NaN where another class must lose too.
    """

    curves: tuple[IceCurve, ...]
    score_name: str
    x_score: float
    target: str
    low: float
    high: float


def ice_info(counterfactuals: Counterfactuals, explainer: Any) -> IceInfo:
    """ICE curves through x; the arguments are those of `plot_ice`."""
    result = check_result(counterfactuals)
    background = background_for(result, explainer)
    goal, x = goal_of(result, background), result.x
    if goal is None:
        raise DataError("The result does not say what was asked for. Pass one that `explain` returned.")
    own = float(result.x_scores[goal.column])
    grids = [_grid(background, x, j) for j in range(len(x))]
    feature = np.repeat(np.arange(len(grids)), [len(grid) for grid in grids])
    rows = np.repeat(x[None], len(feature), axis=0)
    rows[np.arange(len(rows)), feature] = np.concatenate(grids)
    scores = background.predictor.scores(background.representable(rows))[:, goal.column]
    curves = [_curve(background, x, j, grids[j], scores[feature == j], own) for j in range(len(grids))]
    curves.sort(key=lambda curve: -curve.importance)  # ties keep the order of the data
    return IceInfo(
        curves=tuple(curves),
        score_name=background.predictor.score_names[goal.column],
        x_score=own,
        target=goal.text,
        low=math.nan if goal.wins else goal.low,
        high=math.nan if goal.wins else goal.high,
    )


def _grid(background: Background, x: np.ndarray, j: int) -> np.ndarray:
    """Up to 20 values of the data other than x's own, evenly spaced in their order."""
    values = background.distinct[j]
    values = values[values != x[j]]
    if len(values) <= _MOST_POINTS:
        return values
    return values[((np.arange(_MOST_POINTS) + 0.5) * len(values) / _MOST_POINTS).astype(np.int64)]


def _curve(
    background: Background, x: np.ndarray, j: int, values: np.ndarray, scores: np.ndarray, own: float
) -> IceCurve:
    every = np.append(scores, own)
    importance = float(np.std(every)) if np.ptp(every) > 0 else 0.0  # the mean of equal numbers is rounded
    if not math.isnan(x[j]):
        values, scores = np.append(values, x[j]), np.append(scores, own)
    order = np.argsort(values, kind="stable")
    column = background.schema.columns[j]
    scale = Scale.of(column, np.append(x[j], values), most_levels=_MOST_POINTS + 1)
    return IceCurve(name_of(column.name), importance, values[order], scores[order], float(x[j]), scale)


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
    most = check_most("most_features", most_features)
    info = ice_info(counterfactuals, explainer)
    n = min(most, len(info.curves))
    ax = style.axes_for(ax, 3.6, max(style.PAGE, 1.0 * n))
    _draw(ax, info, n)
    rest = len(info.curves) - n
    rests = [f"{counted(rest, 'less important feature')} not shown"] if rest else []
    title_beside(ax, [f"target: {one_line(info.target)}", *rests], _LEGEND)
    return ax


def _draw(ax: Axes, info: IceInfo, n: int) -> None:
    style.plain_frame(ax, ("left",))
    ax.set_xlim(0.0, n)
    bottom, top = _score_range(info, n)
    spacing = style.inches(ax)[0] / n
    if not math.isnan(info.low):
        reached = max(info.low, bottom), min(info.high, top)
        if reached[0] < reached[1]:
            ax.axhspan(*reached, color=style.CHANGE_TINTS["↑"], linewidth=0, zorder=0)
            for end in (end for end in _ends_in_sight(info, n) if bottom < end < top):
                ax.axhline(end, color=style.BLUE, linewidth=0.8, linestyle=(0, (4, 3)))
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
    ax.set_ylabel(literal(one_line(info.score_name, 40)), fontsize=style.TEXT)
    handles = [
        Line2D([], [], color=style.X_COLOUR, marker="D", linestyle=":", markersize=5.5, label="x"),
        Line2D([], [], color=style.BLUE, marker="o", markersize=3, label="one feature changed"),
    ]
    ax.legend(
        handles=handles, fontsize=style.SMALL, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False
    )


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


def _ends_in_sight(info: IceInfo, n: int) -> list[float]:
    """Ends of the target that some score is beyond."""
    scores = _drawn_scores(info, n)
    return [
        end for end, beyond in ((info.low, scores.min() < info.low), (info.high, scores.max() > info.high)) if beyond
    ]


def _score_range(info: IceInfo, n: int) -> tuple[float, float]:
    """Ends of the axis of the score: all that is drawn, and the nearer end of the target."""
    scores = _drawn_scores(info, n)
    ends = [end for end in (info.low, info.high) if math.isfinite(end)]
    nearest = sorted(ends, key=lambda end: float(np.abs(scores - end).min()))[:1]
    low, high = min([*scores.tolist(), *nearest]), max([*scores.tolist(), *nearest])
    margin = 0.06 * (high - low) or max(0.05 * abs(low), 0.05)
    return low - margin, high + margin
