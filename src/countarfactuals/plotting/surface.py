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
from matplotlib.lines import Line2D

from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.counterfactuals.wording import one_line, share_text
from countarfactuals.exceptions import ParameterError
from countarfactuals.explainers.background import Background
from countarfactuals.plotting import style
from countarfactuals.plotting.scale import Scale
from countarfactuals.plotting.subject import (
    background_for,
    check_most,
    check_result,
    feature_positions,
    goal_of,
)
from countarfactuals.plotting.text import (
    fitted,
    heading,
    literal,
    name_of,
    nothing_to_show,
    show_message,
    text_width,
    title,
)
from countarfactuals.prediction import Goal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TYPICALITIES = (0.05, 0.25, 0.5, 0.75)
_MOST_REAL, _MOST_LEVELS = 400, 12
_SPREAD, _WIDEST_TICK = 0.3, 1.1
_CONTOUR: dict[str, Any] = {"colors": style.GREY, "linewidths": 0.8, "linestyles": "solid", "zorder": 1}


@dataclass(frozen=True, eq=False)
class SurfaceInfo:
    """A grid over two features, and what stands on it, in matrix codes.

    Parameters
    ----------
    features : names of the feature across and the one up.
    scales : their axes.
    across, up : the grid, shapes (a,) and (b,).
    scores, measure, typicality : of the rows of the grid, shape (b, a).
    reached : where the target is reached, (b, a); None if the result does not say what was wanted.
    x, rows, real : cells of x (2,), of the counterfactuals (n, 2) and of real rows (m, 2).
    is_off : counterfactuals that change other features too, (n,).
    score_name : of the score.
    ends : finite ends of the scores that reach the target and lie within the grid's scores.
    """

    features: tuple[str, str]
    scales: tuple[Scale, Scale]
    across: np.ndarray
    up: np.ndarray
    scores: np.ndarray
    measure: np.ndarray
    typicality: np.ndarray
    reached: np.ndarray | None
    x: np.ndarray
    rows: np.ndarray
    real: np.ndarray
    is_off: np.ndarray
    score_name: str
    ends: tuple[float, ...]


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
    some = np.linspace(0, len(data) - 1, min(len(data), _MOST_REAL)).round().astype(int)
    return SurfaceInfo(
        features=(name_of(result.schema.names[pair[0]]), name_of(result.schema.names[pair[1]])),
        scales=(scales[0], scales[1]),
        across=across,
        up=up,
        scores=every[:, column].reshape(shape),
        measure=measure.reshape(shape),
        typicality=background.plausibility.rank(measure).reshape(shape),
        reached=None if goal is None else goal.reached(every).reshape(shape),
        x=result.x[pair],
        rows=result.rows[:, pair],
        real=data[some][:, pair],
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
    check_most("n_points", n_points)
    chosen = None if features is None else feature_positions(result, features)
    if len(result.schema.columns) < 2 or (chosen is not None and len(chosen) != 2):
        got = f"{len(chosen)} were named" if chosen is not None else "the data has one"
        raise ParameterError(f"A surface needs two features, {got}. Name two, as in `features=('age', 'income')`.")
    if not len(result):
        return show_message(style.axes_for(ax, 1.5), nothing_to_show(result))
    info = surface_info(result, background, chosen or default_features(result), max(n_points, 2))
    ax = style.axes_for(ax, 4.9)
    _draw(ax, info)
    title(ax, heading(result), 0.95, above=_legend(ax, info))
    return ax


def _draw(ax: Axes, info: SurfaceInfo) -> None:
    style.plain_frame(ax, ("left", "right", "top", "bottom"))
    across, up = (scale.place(grid) for scale, grid in zip(info.scales, (info.across, info.up), strict=True))
    norm, is_reversed = _norm(info)
    colours = style.SURFACE.reversed() if is_reversed else style.SURFACE
    # drawn as cells, without smoothing; an image of lines between them would show in vector files
    mesh = ax.pcolormesh(_edges(across), _edges(up), info.scores, cmap=colours, norm=norm, rasterized=True, zorder=0)
    bar = ax.figure.colorbar(mesh, ax=ax, pad=0.02, aspect=30)
    bar.set_label(literal(one_line(info.score_name, 40)), fontsize=style.TEXT)
    bar.ax.tick_params(labelsize=style.SMALL)
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
    on_levels = [k for k, scale in enumerate(info.scales) if scale.levels]
    if len(on_levels) == 2:
        _write_typicality(ax, info)
    elif on_levels:
        _draw_strips(ax, info, on_levels[0])
    else:
        across, up = (scale.place(grid) for scale, grid in zip(info.scales, (info.across, info.up), strict=True))
        levels, texts = contour_levels(info)
        if levels:
            lines = ax.contour(across, up, _finite(info.measure), levels, **_CONTOUR)
            _label(ax, lines, [_middle_of_longest(path) for path in lines.get_paths()], texts)
    if info.reached is None or info.reached.all() or not info.reached.any():
        return
    across, at_a = _steps(info.scales[0], info.across)
    up, at_b = _steps(info.scales[1], info.up)
    has_one_end = len(info.ends) == 1
    values = (info.scores if has_one_end else info.reached.astype(float))[np.ix_(at_b, at_a)]
    ends = info.ends if has_one_end else (0.5,)
    ax.contour(across, up, values, ends, colors=style.VERMILLION, linewidths=2.0, zorder=1.5)


def _steps(scale: Scale, grid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates for contours and the points of the grid they belong to: both sides of each level."""
    places = scale.place(grid)
    if not scale.levels:
        return places, np.arange(len(places))
    return (places[:, None] + np.array([-0.49, 0.49])).ravel(), np.repeat(np.arange(len(places)), 2)


def _write_typicality(ax: Axes, info: SurfaceInfo) -> None:
    """Two levels make a cell: its typicality stands in its corner."""
    for a, across in enumerate(info.scales[0].place(info.across).tolist()):
        for b, up in enumerate(info.scales[1].place(info.up).tolist()):
            text = share_text(float(info.typicality[b, a]))
            ax.text(across - 0.46, up + 0.44, text, ha="left", va="top", fontsize=style.SMALL, color=style.GREY)


def _draw_strips(ax: Axes, info: SurfaceInfo, k: int) -> None:
    """Contours within each level of the scale k on its own, as there is nothing between levels."""
    measure = _finite(info.measure).T if k == 0 else _finite(info.measure)  # level, number
    steps = info.scales[k].place((info.across, info.up)[k])
    numbers = (info.across, info.up)[1 - k]
    own = info.scales[k].place(info.x[[k]])[0]
    levels, texts = contour_levels(info)
    crossed = [[i for i in range(len(steps)) if measure[i].min() < level < measure[i].max()] for level in levels]
    # each share is named once, on different levels, and away from x, where most points are
    away = [[i for i in some if steps[i] != own] or some for some in crossed]
    named = [some[nth % len(some)] if some else -1 for nth, some in enumerate(away)]
    for i, step in enumerate(steps.tolist()):
        here = [level for level, some in zip(levels, crossed, strict=True) if i in some]
        if not here:
            continue
        around, values = step + np.array([-0.5, 0.0, 0.5]), np.repeat(measure[i][None], 3, axis=0)
        if k == 0:
            lines = ax.contour(around, numbers, values.T, here, **_CONTOUR)
        else:
            lines = ax.contour(numbers, around, values, here, **_CONTOUR)
        places = []
        for level, at in zip(levels, named, strict=True):
            if at == i:
                vertices = np.asarray(lines.get_paths()[here.index(level)].vertices)
                middle = vertices[np.abs(vertices[:, k] - step) < 1e-6][0]
                places.append(tuple(middle.tolist()))
        _label(ax, lines, places, [text for level, text in zip(levels, texts, strict=False) if level in here])


def _finite(measure: np.ndarray) -> np.ndarray:
    """Measures for contours: what is impossible is a little below all else."""
    finite = measure[np.isfinite(measure)]
    return np.where(np.isfinite(measure), measure, finite.min() - 1.0 if len(finite) else 0.0)


def _middle_of_longest(path: Any) -> tuple[float, float]:
    """A point in the middle of the longest piece of a contour."""
    pieces = np.split(path.vertices, np.flatnonzero(path.codes == path.MOVETO)[1:])
    longest = max(pieces, key=len)
    return tuple(longest[len(longest) // 2].tolist())


def _label(ax: Axes, lines: Any, places: list[tuple[float, float]], texts: list[str]) -> None:
    """Name contours at the places given; there may be no names."""
    if texts and places:
        named = dict(zip(lines.levels, texts, strict=True))
        ax.clabel(lines, fmt=named, fontsize=style.SMALL, colors=style.BLACK, inline_spacing=2, manual=places)


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
    mark: dict[str, Any] = {"linestyle": "", "markersize": 6.5}
    handles = [Line2D([], [], color=style.X_COLOUR, marker="D", label="x", **mark)]
    if not info.is_off.all():
        handles.append(Line2D([], [], color=colour, marker="o", label="counterfactual", **mark))
    if info.is_off.any():
        handles.append(
            Line2D([], [], color=colour, marker="o", markerfacecolor="white", label="changes others too", **mark)
        )
    handles.append(Line2D([], [], color=style.QUIET, marker="o", linestyle="", markersize=3, label="real row"))
    if info.reached is not None and info.reached.any() and not info.reached.all():
        handles.append(Line2D([], [], color=style.VERMILLION, linewidth=2.0, label="border of the target"))
    levels, texts = contour_levels(info)
    if all(scale.levels for scale in info.scales):
        handles.append(Line2D([], [], linestyle="", label="in cells: typicality"))
    elif levels:
        handles.append(Line2D([], [], color=style.GREY, linewidth=0.8, label="typicality" if texts else "density"))
    columns = 3 if len(handles) > 4 else len(handles)
    ax.legend(
        handles=handles, fontsize=style.SMALL, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns,
        frameon=False, borderaxespad=0.2, columnspacing=1.2,
    )  # fmt: skip
    return 16.0 * math.ceil(len(handles) / columns) + 6.0
