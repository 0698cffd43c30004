"""How good counterfactuals are: against each other, among the real rows, and over the course of a search.

`plot_pareto`: plausibility, distance and number of changes against each other.

1. Across: the distance to x, which stands at 0. Up: the typicality, the share of real rows that are less plausible.
2. Colour and size tell how many features change: dark and small for few.
3. Better is up and to the left. Counterfactuals are numbered as in the result where the numbers do not collide.

`plot_density_strip`: the one measure of plausibility that led the search.

1. On top: that of real rows that were held out, as a histogram, with their quartiles.
2. Below: x and the counterfactuals on the same axis. What lies far below every real row stands at the left end, as ◀.

`plot_history`: the hypervolume over the generations of a multi-objective search: did it still improve when it ended?
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.exceptions import ParameterError, listed
from countarfactuals.explainers.made_by import background_for
from countarfactuals.language import counted, tr
from countarfactuals.language.spelling import share_text
from countarfactuals.plausibility.judgement import measure_text
from countarfactuals.plotting import style
from countarfactuals.plotting.subject import check_result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SMALLEST, _LARGEST = 26.0, 110.0  # areas of markers, in points
_MOST_LEGEND, _ROOM = 7, (0.055, 0.075)  # room of a number, as shares of the axes
_QUARTILES = (0.25, 0.5, 0.75)
_BEYOND = 0.35  # of the range of real rows: how far below it things have a place of their own
_X_AT, _ROWS_AT, _BOTTOM = -0.16, (-0.34, -0.62), -0.72
_MOST_BINS, _MANY = 40, 40
_NEARLY = 0.99


# Against each other


@dataclass(frozen=True, eq=False)
class ParetoInfo:
    """One point per counterfactual whose typicality is known."""

    number: np.ndarray  # of each counterfactual in the result
    distance: np.ndarray
    typicality: np.ndarray
    n_changed: np.ndarray
    x_typicality: float  # NaN if it is not known
    n_unknown: int  # counterfactuals without a typicality

    def shade(self, counts: np.ndarray) -> np.ndarray:
        """Numbers of changes from 0 (fewest) to 1 (most)."""
        low, high = self.n_changed.min(), self.n_changed.max()
        return (counts - low) / (high - low) if high > low else np.zeros(len(counts))


def pareto_info(result: Counterfactuals) -> ParetoInfo:
    """What the picture shows of a result."""
    if "distance" not in result.objectives:
        raise ParameterError(
            f"This picture needs the objective 'distance', the result has {listed(result.objectives) or 'none'}."
        )
    known = np.flatnonzero(~np.isnan(result.typicality) & np.isfinite(result.objectives["distance"]))
    return ParetoInfo(
        number=known,
        distance=result.objectives["distance"][known],
        typicality=result.typicality[known],
        n_changed=result.n_changed[known],
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
        return style.nothing_to_show(ax, result)
    info = pareto_info(result)
    if not len(info.number):
        return style.show_message(ax, tr("The typicality of these counterfactuals is not known."))
    ax = style.axes_for(ax, 3.8)
    _draw_pareto(ax, info)
    unknown = [tr("{n} without typicality", n=info.n_unknown)] if info.n_unknown else []
    style.title(ax, [*style.heading(result), *unknown], 0.95)
    return ax


def _draw_pareto(ax: Axes, info: ParetoInfo) -> None:
    style.plain_frame(ax, grid="both")
    shade = info.shade(info.n_changed)
    order = np.argsort(-shade, kind="stable")  # large ones first, so that they hide none
    points = info.distance[order], info.typicality[order], _area(shade[order]), style.AMOUNT(shade[order])
    ax.scatter(*points, edgecolors="white", linewidths=0.6, zorder=3)
    ax.scatter([0.0], [info.x_typicality], 46.0, style.X_COLOUR, marker="D", zorder=4)
    right = max(float(info.distance.max()) * 1.06, 1e-9)
    ax.set_xlim(-0.02 * right, right)
    ax.set_ylim(-0.04, 1.04)
    ax.yaxis.set_major_formatter(style.percent())
    style.label_axes(ax, tr("distance to x"), tr("typicality (real rows less plausible)"))
    look: dict[str, Any] = {"fontsize": style.SMALL, "color": style.GREY, "zorder": 5}
    for i in _numbered(info, right):
        point = (info.distance[i], info.typicality[i])
        ax.annotate(f"#{info.number[i]}", point, (5, 3), textcoords="offset points", **look)
    style.legend(ax, _marks(info), "upper left", (1.01, 1.0), borderaxespad=0)


def _area(shade: np.ndarray) -> np.ndarray:
    return _SMALLEST + (_LARGEST - _SMALLEST) * shade


def _numbered(info: ParetoInfo, right: float) -> list[int]:
    """Points whose number has room of its own: no other point, and no number, close to the right of it."""
    places = np.column_stack([info.distance / right, info.typicality])
    blocked = np.append(places, [[0.0, np.nan_to_num(info.x_typicality, nan=-9.0)]], axis=0)
    room = np.array(_ROOM)
    kept: list[int] = []
    for i in range(len(places)):
        near = (np.abs(blocked - places[i] - room / (2, 3)) < room / 2).all(axis=1)
        near[i] = False
        collides = (np.abs(places[kept] - places[i]) < room).all(axis=1)
        if not near.any() and not collides.any() and places[i, 0] < 0.95:
            kept.append(i)
    return kept


def _marks(info: ParetoInfo) -> list[Any]:
    counts = np.unique(info.n_changed)
    if len(counts) > _MOST_LEGEND:
        counts = counts[np.linspace(0, len(counts) - 1, _MOST_LEGEND).round().astype(int)]
    shades = info.shade(counts)
    sizes = np.sqrt(_area(shades)).tolist()
    words = [counted(count, "{n:,} change", "{n:,} changes") for count in counts.tolist()]
    points = zip(words, style.AMOUNT(shades), sizes, strict=True)
    return [style.mark("x", style.X_COLOUR, "D", 6.0), *(style.mark(word, c, "o", size) for word, c, size in points)]


# Among the real rows


@dataclass(frozen=True, eq=False)
class DensityStripInfo:
    """Measures of plausibility, larger is more plausible."""

    measure: str  # what is measured
    real: np.ndarray  # of real rows that were held out, ascending
    x: float
    rows: np.ndarray
    quartiles: tuple[float, ...]  # of the real rows
    low: float  # ends of the axis
    high: float
    n_below: int  # counterfactuals below the low end
    median_above: float  # share of the real rows that the median counterfactual is above


def density_strip_info(result: Counterfactuals, explainer: Any) -> DensityStripInfo:
    """Measures of the real rows, of x and of the counterfactuals, by the measure that led the search."""
    plausibility = background_for(result, explainer).plausibility
    measures = plausibility(np.concatenate([result.x[None], result.rows]))
    real = plausibility.real[np.isfinite(plausibility.real)]
    finite = measures[np.isfinite(measures)]
    real = real if len(real) else np.sort(finite)
    lowest, highest = (float(real[0]), float(real[-1])) if len(real) else (0.0, 1.0)
    span = max(highest - lowest if len(real) else 0.0, 1e-6)
    low = max(min([*finite.tolist(), lowest]), lowest - _BEYOND * span)
    shares = np.searchsorted(real, measures[1:]) / max(len(real), 1)
    return DensityStripInfo(
        measure=plausibility.name,
        real=real,
        x=float(measures[0]),
        rows=measures[1:],
        quartiles=tuple(np.quantile(real, _QUARTILES).tolist()) if len(real) else (),
        low=low,
        high=max([*finite.tolist(), highest, low + 1e-6]),
        n_below=int((measures[1:] < low).sum()),
        median_above=float(np.median(shares)) if len(shares) else float("nan"),
    )


def plot_density_strip(counterfactuals: Counterfactuals, explainer: Any, *, ax: Axes | None = None) -> Axes:
    """How plausible the counterfactuals are, beside real rows.

    Parameters
    ----------
    counterfactuals : a result of `explain`.
    explainer : the one that made it.
    ax : axes to draw on.
    """
    result = check_result(counterfactuals)
    info = density_strip_info(result, explainer)
    if not len(result):
        return style.nothing_to_show(ax, result)
    ax = style.axes_for(ax, 3.0)
    _draw_strip(ax, info)
    median = tr("median above {share} of the real rows", share=share_text(info.median_above))
    style.title(ax, [*style.heading(result), median], 0.95)
    return ax


def _draw_strip(ax: Axes, info: DensityStripInfo) -> None:
    style.plain_frame(ax, ("bottom",))
    margin = 0.03 * (info.high - info.low)
    ax.set_xlim(info.low - margin, info.high + margin)
    ax.set_ylim(_BOTTOM, 1.18)
    counts, edges = np.histogram(info.real, min(max(int(np.sqrt(len(info.real))), 5), _MOST_BINS))
    heights = counts / max(counts.max(), 1)
    ax.stairs(heights, edges, fill=True, color=style.FAINT)
    ax.stairs(heights, edges, color=style.REAL_COLOUR, linewidth=0.8)
    _draw_quartiles(ax, info)
    ax.axhline(0.0, color=style.GREY, linewidth=0.6)
    # spread over the lane in the order of the result, so that equal ones are seen apart
    lane = np.linspace(*_ROWS_AT, len(info.rows)) if len(info.rows) > 1 else np.array([np.mean(_ROWS_AT)])
    size, alpha = (30.0, 0.85) if len(info.rows) <= _MANY else (14.0, 0.6)
    _draw_lane(ax, info, info.rows, lane, "o", size, color=style.COUNTERFACTUAL_COLOUR, alpha=alpha)
    _draw_lane(ax, info, np.array([info.x]), np.array([_X_AT]), "D", 40.0, color=style.X_COLOUR)
    ax.set_yticks([0.45, _X_AT, float(np.mean(_ROWS_AT))], _lanes(info), fontsize=style.SMALL)
    ax.tick_params(axis="y", length=0)
    style.label_axes(
        ax, tr("plausibility: {measure} (dashed: quartiles of the real rows)", measure=measure_text(info.measure))
    )


def _lanes(info: DensityStripInfo) -> list[str]:
    below = tr("({n} far below)", n=info.n_below) if info.n_below else ""
    rows = counted(len(info.rows), "{n:,} counterfactual", "{n:,} counterfactuals")
    real = counted(len(info.real), "{n:,} real row", "{n:,} real rows")
    return [f"{real}\n{tr('(held out)')}", "x", f"{rows}\n{below}" if below else rows]


def _draw_quartiles(ax: Axes, info: DensityStripInfo) -> None:
    """Lines with their shares above; only the middle one where they stand too close."""
    apart = np.diff(info.quartiles).min() / (info.high - info.low) if info.quartiles else 0.0
    look: dict[str, Any] = {"ha": "center", "va": "bottom", "fontsize": style.SMALL, "color": style.GREY}
    for share, at in zip(_QUARTILES, info.quartiles, strict=False):
        ax.vlines(at, _BOTTOM, 1.0, color=style.QUIET, linewidth=0.8, linestyle=style.DASHED, zorder=1)
        if apart > 0.055 or share == 0.5:
            ax.text(at, 1.03, share_text(share), **look)


def _draw_lane(
    ax: Axes, info: DensityStripInfo, values: np.ndarray, lane: np.ndarray, marker: str, size: float, **look: Any
) -> None:
    is_below = values < info.low
    for chosen, shape in ((~is_below, marker), (is_below, "<")):
        if chosen.any() or shape == marker:
            places = np.maximum(values[chosen], info.low)
            ax.scatter(places, lane[chosen], size, marker=shape, linewidths=0, zorder=3, clip_on=False, **look)


# Over the course of a search


@dataclass(frozen=True, eq=False)
class HistoryInfo:
    """The course of a search."""

    generation: np.ndarray
    hypervolume: np.ndarray
    nearly_at: int | None  # the first generation with 99 % of the last hypervolume; None if that is 0


def history_info(result: Counterfactuals) -> HistoryInfo | None:
    """The course of the search behind a result; None if it has none."""
    if not result.provenance.get("history"):
        return None
    frame = result.history()
    generation = frame["generation"].to_numpy(np.float64)
    hypervolume = frame["hypervolume"].to_numpy(np.float64)
    if not len(generation):
        return None
    reached = np.flatnonzero(hypervolume >= _NEARLY * hypervolume[-1])
    return HistoryInfo(generation, hypervolume, int(generation[reached[0]]) if hypervolume[-1] > 0 else None)


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
        nothing = "The method {method} recorded no generations. Searches in generations are moc, mocarf, mocctree."
        return style.show_message(ax, tr(nothing, method=result.method))
    ax = style.axes_for(ax, 3.0)
    _draw_course(ax, info, style.method_colour(result.method))
    style.title(ax, style.heading(result), 0.95)
    return ax


def _draw_course(ax: Axes, info: HistoryInfo, colour: str) -> None:
    style.plain_frame(ax, grid="y")
    is_single = len(info.generation) == 1
    ax.plot(info.generation, info.hypervolume, color=colour, linewidth=1.8, marker="o" if is_single else "")
    if info.nearly_at is not None and not is_single:
        ax.axvline(info.nearly_at, color=style.QUIET, linewidth=0.8, linestyle=style.DASHED)
        is_left = info.nearly_at < np.mean([info.generation[0], info.generation[-1]])
        ax.annotate(
            tr("99 % of the last value at generation {n}", n=info.nearly_at),
            (info.nearly_at, 0.04), (5 if is_left else -5, 0), xycoords=("data", "axes fraction"),
            textcoords="offset points", ha="left" if is_left else "right", fontsize=style.SMALL, color=style.GREY,
        )  # fmt: skip
    ax.set_ylim(0.0, max(float(np.nanmax(info.hypervolume)) * 1.06, 1e-12))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    style.label_axes(ax, tr("generation"), tr("hypervolume (more is better)"))
