"""The prediction over two features, the others at x's values, and what is plausible there.

1. Colour is the score that is wanted; a thick line bounds where the target is reached.
2. Thin lines are contours of the forest's density, at levels that mean something: the share of real rows that are less
   plausible (typicality). Where none of these levels runs through the plane, they are at quantiles of the plane itself.
3. Grey dots are real rows. Like counterfactuals that change other features too, which are hollow, they lie off the
   plane and are projected onto it.
4. Levels are steps. Dots on a level are spread, in an order that is always the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import CenteredNorm, Normalize

from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.exceptions import ParameterError
from countarfactuals.explainers.background import Background
from countarfactuals.explainers.made_by import background_for, goal_of
from countarfactuals.language import tr
from countarfactuals.language.spelling import share_text
from countarfactuals.parameters import check_int
from countarfactuals.plotting import style
from countarfactuals.plotting.style import fitted, name_of, text_width
from countarfactuals.plotting.subject import Scale, check_result, feature_positions
from countarfactuals.prediction import Goal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TYPICALITIES = (0.05, 0.25, 0.5, 0.75)
_MOST_REAL, _MOST_LEVELS = 400, 12
_SPREAD, _WIDEST_TICK = 0.3, 1.1
_CONTOUR: dict[str, Any] = {"colors": style.GREY, "linewidths": 0.8, "linestyles": "solid", "zorder": 1}


@dataclass(frozen=True, eq=False)
class SurfaceInfo:
    """A grid over two features, and what stands on it, in matrix codes."""

    features: tuple[str, str]  # across and up
    scales: tuple[Scale, Scale]
    across: np.ndarray  # shape (a,)
    up: np.ndarray  # shape (b,)
    scores: np.ndarray  # (b, a), as the next three
    measure: np.ndarray
    typicality: np.ndarray
    reached: np.ndarray | None  # None if the result does not say what was wanted
    x: np.ndarray  # (2,)
    rows: np.ndarray  # (n, 2)
    real: np.ndarray  # (m, 2)
    is_off: np.ndarray  # counterfactuals that change other features too
    score_name: str
    ends: tuple[float, ...]  # finite ends of the target that lie within the scores


def default_features(result: Counterfactuals) -> tuple[int, ...]:
    """The two features that change most often; then numbers, then any."""
    often = result.changed.sum(axis=0)
    is_number = np.array([column.is_number for column in result.schema.columns])
    order = np.lexsort((np.arange(len(often)), ~is_number, -often))
    return tuple(sorted(order[:2].tolist()))


def surface_info(
    result: Counterfactuals, background: Background, features: tuple[int, ...], n_points: int = 40
) -> SurfaceInfo:
    """The grid through x over two features, given by position."""
    pair, data = list(features), background.matrix
    scales = [
        Scale.of(result.schema.columns[j], np.append(result.x[j], result.rows[:, j]), data[:, j], _MOST_LEVELS)
        for j in pair
    ]
    across, up = (_grid(scale, n_points) for scale in scales)
    rows = np.repeat(result.x[None], len(across) * len(up), axis=0)
    rows[:, pair[0]], rows[:, pair[1]] = np.tile(across, len(up)), np.repeat(up, len(across))
    rows = background.representable(rows)
    shape = (len(up), len(across))
    every = background.predictor.scores(rows)
    goal = goal_of(result, background)
    column = int(result.scores.mean(axis=0).argmax()) if goal is None else goal.column
    measure = background.plausibility(rows)
    others = np.delete(result.changed, pair, axis=1)
    places = np.linspace(0, len(data) - 1, min(len(data), _MOST_REAL)).round().astype(int)
    return SurfaceInfo(
        features=(name_of(result.schema.titles[pair[0]]), name_of(result.schema.titles[pair[1]])),
        scales=(scales[0], scales[1]),
        across=across,
        up=up,
        scores=every[:, column].reshape(shape),
        measure=measure.reshape(shape),
        typicality=background.plausibility.rank(measure).reshape(shape),
        reached=None if goal is None else goal.reached(every).reshape(shape),
        x=result.x[pair],
        rows=result.rows[:, pair],
        real=data[places][:, pair],
        is_off=np.asarray(others.any(axis=1)),
        score_name=background.predictor.score_names[column],
        ends=() if goal is None else _ends(goal, every[:, column]),
    )


def _grid(scale: Scale, n_points: int) -> np.ndarray:
    """Codes along an axis; missing is one of the levels if it has a place."""
    if scale.levels:
        return np.array([*scale.levels, *([np.nan] if scale.has_missing else [])], np.float64)
    values = np.linspace(scale.low, scale.high, n_points)
    return np.unique(np.rint(values)) if scale.column.kind == "integer" else values


def _ends(goal: Goal, scores: np.ndarray) -> tuple[float, ...]:
    if goal.wins:
        return ()
    return tuple(end for end in (goal.low, goal.high) if scores.min() < end < scores.max())


def plot_surface(
    counterfactuals: Counterfactuals,
    explainer: Any,
    features: Any = None,
    *,
    n_points: int = 40,
    ax: Axes | None = None,
) -> Axes:
    """The prediction over two features, with real rows, x and its counterfactuals.

    Parameters
    ----------
    counterfactuals : a result of `explain`.
    explainer : the one that made it; its model is asked about every point of the grid.
    features : names of two features; None takes those that change most often.
    n_points : points of the grid along a number.
    ax : axes to draw on; the colour bar takes some of their room.
    """
    result = check_result(counterfactuals)
    background = background_for(result, explainer)
    check_int("n_points", n_points, 1)
    chosen = None if features is None else feature_positions(result, features)
    if len(result.schema.columns) < 2 or (chosen is not None and len(chosen) != 2):
        got = f"{len(chosen)} were named" if chosen is not None else "the data has one"
        raise ParameterError(f"A surface needs two features, {got}. Name two, as in `features=('age', 'income')`.")
    if not len(result):
        return style.nothing_to_show(ax, result)
    info = surface_info(result, background, chosen or default_features(result), max(n_points, 2))
    ax = style.axes_for(ax, 4.9)
    _draw(ax, info)
    style.title(ax, style.heading(result), 0.95, above=_legend(ax, info))
    return ax


def _draw(ax: Axes, info: SurfaceInfo) -> None:
    style.plain_frame(ax, ("left", "right", "top", "bottom"))
    across, up = (scale.place(grid) for scale, grid in zip(info.scales, (info.across, info.up), strict=True))
    norm, is_reversed = _norm(info)
    colours = style.SURFACE.reversed() if is_reversed else style.SURFACE
    # drawn as cells, without smoothing; an image of lines between them would show in vector files
    mesh = ax.pcolormesh(_edges(across), _edges(up), info.scores, cmap=colours, norm=norm, rasterized=True, zorder=0)
    bar = ax.figure.colorbar(mesh, ax=ax, pad=0.02, aspect=30)
    bar.set_label(style.score_label(info.score_name), fontsize=style.TEXT)
    bar.ax.tick_params(labelsize=style.SMALL)
    style.speak(bar.ax.yaxis)
    _draw_contours(ax, info)
    _draw_points(ax, info)
    for which, scale in zip("xy", info.scales, strict=True):
        _draw_axis(ax, which, scale, info.features["xy".index(which)])


def _norm(info: SurfaceInfo) -> tuple[Normalize, bool]:
    """Colours centred on the end of the target, and whether small scores are wanted."""
    low, high = float(info.scores.min()), float(info.scores.max())
    if info.score_name.startswith("P(") and low >= 0.0 and high <= 1.0:
        low, high = 0.0, 1.0
    if not low < high:
        low, high = low - 0.5, high + 0.5
    if len(info.ends) != 1 or info.reached is None:
        return Normalize(low, high), False
    end = info.ends[0]
    is_below = bool(info.reached[info.scores < end].mean() > 0.5)
    return CenteredNorm(end, max(end - low, high - end)), is_below


def _edges(centres: np.ndarray) -> np.ndarray:
    """Borders of cells around their centres."""
    if len(centres) == 1:
        return np.array([centres[0] - 0.5, centres[0] + 0.5])
    middle = (centres[1:] + centres[:-1]) / 2
    return np.array([2 * centres[0] - middle[0], *middle, 2 * centres[-1] - middle[-1]])


def _draw_contours(ax: Axes, info: SurfaceInfo) -> None:
    """What is plausible, and where the target is reached."""
    if all(scale.levels for scale in info.scales):
        _write_typicality(ax, info)
    else:
        _draw_typicality(ax, info)
    if info.reached is None or info.reached.all() or not info.reached.any():
        return
    (across, at_a), (up, at_b) = _steps(info, (-0.49, 0.49))
    has_one_end = len(info.ends) == 1
    values = (info.scores if has_one_end else info.reached.astype(float))[np.ix_(at_b, at_a)]
    ends = info.ends if has_one_end else (0.5,)
    ax.contour(across, up, values, ends, colors=style.VERMILLION, linewidths=2.0, zorder=1.5)


def _steps(info: SurfaceInfo, around: tuple[float, ...]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Per axis, coordinates for contours and the points of the grid they belong to; levels have several `around`."""
    steps = []
    for scale, grid in zip(info.scales, (info.across, info.up), strict=True):
        beside = np.array(around if scale.levels else (0.0,))
        places = scale.place(grid)[:, None] + beside
        steps.append((places.ravel(), np.repeat(np.arange(len(grid)), len(beside))))
    return steps


def _write_typicality(ax: Axes, info: SurfaceInfo) -> None:
    """Two levels make a cell: its typicality stands in its corner."""
    for a, across in enumerate(info.scales[0].place(info.across).tolist()):
        for b, up in enumerate(info.scales[1].place(info.up).tolist()):
            text = share_text(float(info.typicality[b, a]))
            ax.text(across - 0.46, up + 0.44, text, ha="left", va="top", fontsize=style.SMALL, color=style.GREY)


def _draw_typicality(ax: Axes, info: SurfaceInfo) -> None:
    """Contours of what is plausible, of which there are none between levels; each is named once."""
    levels, texts = contour_levels(info)
    if not levels:
        return
    (across, at_a), (up, at_b) = _steps(info, (-0.499, 0.0, 0.499, 0.5))
    beyond = [
        places % 1.0 == 0.5 if scale.levels else np.zeros(len(places), bool)
        for scale, places in zip(info.scales, (across, up), strict=True)
    ]
    is_gap = beyond[0] | beyond[1][:, None]
    measure = np.ma.masked_array(_finite(info.measure)[np.ix_(at_b, at_a)], is_gap)
    lines = ax.contour(across, up, measure, levels, **_CONTOUR)
    if texts:
        places = [_name_at(info, path, nth) for nth, path in enumerate(lines.get_paths()) if len(path)]
        named = dict(zip(lines.levels, texts, strict=True))
        ax.clabel(lines, fmt=named, fontsize=style.SMALL, colors=style.BLACK, inline_spacing=2, manual=places)


def _name_at(info: SurfaceInfo, path: Any, nth: int) -> tuple[float, float]:
    """Where a contour is named: in the middle of its longest piece; of those on levels away from x and other names."""
    pieces = np.split(path.vertices, np.flatnonzero(path.codes == path.MOVETO)[1:])
    middles = [tuple(piece[len(piece) // 2].tolist()) for piece in sorted(pieces, key=len)]
    by_level = {round(middle[k]): middle for k, scale in enumerate(info.scales) if scale.levels for middle in middles}
    if not by_level:
        return middles[-1]
    (own,) = [scale.place(info.x[[k]])[0] for k, scale in enumerate(info.scales) if scale.levels]
    away = [level for level in sorted(by_level) if level != own] or sorted(by_level)
    return by_level[away[nth % len(away)]]


def _finite(measure: np.ndarray) -> np.ndarray:
    """Measures for contours: what is impossible is a little below all else."""
    finite = measure[np.isfinite(measure)]
    return np.where(np.isfinite(measure), measure, finite.min() - 1.0 if len(finite) else 0.0)


def contour_levels(info: SurfaceInfo) -> tuple[list[float], list[str]]:
    """Measures at which contours run, ascending, and what to call them; quantiles of the plane have no name."""
    found: dict[float, str] = {}
    for share in _TYPICALITIES:
        inside = info.measure[info.typicality >= share]
        outside = info.measure[info.typicality < share]
        outside = outside[np.isfinite(outside)]
        if len(inside) and len(outside):
            found[float((inside.min() + outside.max()) / 2)] = share_text(share)
    if found:
        return sorted(found), [found[level] for level in sorted(found)]
    finite = info.measure[np.isfinite(info.measure)]
    levels = np.unique(np.quantile(finite, (0.5, 0.75, 0.9))).tolist() if len(finite) else []
    return [level for level in levels if finite.min() < level < finite.max()], []


def _draw_points(ax: Axes, info: SurfaceInfo) -> None:
    real = _places(info, info.real, 0)
    shown = ~np.isnan(info.real).any(axis=1)
    for k, scale in enumerate(info.scales):  # what is beyond the ends would stand beside the place for missing
        shown &= (real[:, k] >= scale.low) & (real[:, k] <= scale.high)
    real = real[shown]
    ax.scatter(real[:, 0], real[:, 1], 7.0, style.QUIET, linewidths=0, alpha=0.55, zorder=2)
    places = _places(info, info.rows, 1)
    size = 46.0 if len(places) <= 40 else 22.0
    colour = style.COUNTERFACTUAL_COLOUR
    off, on = places[info.is_off], places[~info.is_off]
    ax.scatter(off[:, 0], off[:, 1], size, facecolors="white", edgecolors=colour, linewidths=1.3, zorder=3)
    ax.scatter(on[:, 0], on[:, 1], size, facecolors=colour, edgecolors="white", linewidths=0.9, zorder=4)
    across, up = (scale.place(info.x[[k]]) for k, scale in enumerate(info.scales))
    ax.scatter(across, up, 70.0, style.X_COLOUR, marker="D", edgecolors="white", linewidths=1.0, zorder=5)


def _places(info: SurfaceInfo, cells: np.ndarray, seed: int) -> np.ndarray:
    """Where cells stand, (n, 2); those on levels spread around them."""
    rng = np.random.default_rng(seed)
    places = np.column_stack([scale.place(cells[:, k]) for k, scale in enumerate(info.scales)])
    for k, scale in enumerate(info.scales):
        if scale.levels:
            places[:, k] += rng.uniform(-_SPREAD, _SPREAD, len(places))
    return places


def _draw_axis(ax: Axes, which: str, scale: Scale, name: str) -> None:
    axis = ax.xaxis if which == "x" else ax.yaxis
    low, high = scale.ends
    margin = 0.0 if scale.levels else 0.015 * (high - low)
    (ax.set_xlim if which == "x" else ax.set_ylim)(low - margin, high + margin)
    ticks = scale.ticks(_MOST_LEVELS if scale.levels else 6)
    texts = [fitted(text, _WIDEST_TICK) for _, text in ticks]
    axis.set_ticks([at for at, _ in ticks], texts, fontsize=style.SMALL)
    room = style.inches(ax)[0] / len(ticks)
    if which == "x" and max(map(text_width, texts)) > room - 0.08:
        for label in axis.get_ticklabels():
            label.set(rotation=35, ha="right", rotation_mode="anchor")
    size = style.inches(ax)["xy".index(which)]
    axis.set_label_text(fitted(name, size, style.TEXT), fontsize=style.TEXT)


def _legend(ax: Axes, info: SurfaceInfo) -> float:
    """The legend above the axes; its height in points."""
    colour = style.COUNTERFACTUAL_COLOUR
    handles = [style.mark("x", style.X_COLOUR, "D")]
    if not info.is_off.all():
        handles.append(style.mark(tr("counterfactual"), colour))
    if info.is_off.any():
        handles.append(style.mark(tr("changes others too"), colour, markerfacecolor="white"))
    handles.append(style.mark(tr("real row"), style.QUIET, size=3.0))
    if info.reached is not None and info.reached.any() and not info.reached.all():
        border = tr("border of the target")
        handles.append(style.mark(border, style.VERMILLION, "", linestyle="-", linewidth=2.0))
    levels, texts = contour_levels(info)
    if all(scale.levels for scale in info.scales):
        handles.append(style.mark(tr("in cells: typicality"), style.BLACK, ""))
    elif levels:
        word = tr("typicality") if texts else tr("density")
        handles.append(style.mark(word, style.GREY, "", linestyle="-", linewidth=0.8))
    columns = 3 if len(handles) > 4 else len(handles)
    style.legend(ax, handles, "lower left", (0.0, 1.0), ncols=columns, borderaxespad=0.2, columnspacing=1.2)
    return 16.0 * math.ceil(len(handles) / columns) + 6.0
