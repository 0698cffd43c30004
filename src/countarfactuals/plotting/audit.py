"""What a batch tells as a whole: how often and how far features change, and what recourse costs groups of rows.

`plot_change_importance`: the bars of `plot_frequency`, and how far.

1. A diamond is the mean size of the change where there is one, as a share of the data's range; levels without an order
   have none.
2. Beside it stands the same in the column's own units, numbers only.

`plot_recourse`: groups down, measures across, a dot and an interval for each.

1. Each measure has a strip with an axis of its own, which holds all that is drawn.
2. A dotted line is the figure of all rows together. Groups of too few rows have a hollow dot, and no interval where it
   is a mean or median.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch
from countarfactuals.counterfactuals.importance import amount_text, amounts, mean_where_changed, ranges, sizes
from countarfactuals.counterfactuals.intervals import Estimate
from countarfactuals.counterfactuals.recourse import CHANGES, FEWEST_ROWS, MEDIAN_DISTANCE, Recourse
from countarfactuals.counterfactuals.recourse_words import SHOWN, heads, key_text
from countarfactuals.exceptions import DataTypeError
from countarfactuals.language import tr
from countarfactuals.language.spelling import name_text, share_text
from countarfactuals.parameters import check_int
from countarfactuals.plotting import style
from countarfactuals.plotting.changes import FrequencyInfo, draw_bars, frequency_info, nothing_changes
from countarfactuals.plotting.subject import results_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LABEL_ROOM = 0.2  # of the axis, for amounts beside the bars
_ROW, _HEIGHT = 0.32, 1.15  # inches of a group, and of all else
_MARGIN = 0.09  # of a strip, on either side
_TICKS = 2
_CAP, _GAP = 0.12, 0.12


@dataclass(frozen=True)
class ChangeImportanceInfo:
    """How often features change, and how far."""

    often: FrequencyInfo
    sizes: tuple[float, ...]  # mean, as a share of the data's range; NaN without an order or where it is not known
    amounts: tuple[str, ...]  # mean in own units, "" of levels


def change_importance_info(
    results: Sequence[Counterfactuals], k: int | None = None, most_features: int = 20
) -> ChangeImportanceInfo:
    """How often and how far features change in results that share one schema."""
    found = [result if k is None else result.select(k) for result in results if len(result)]
    often = frequency_info(found, most_features)
    size, amount = mean_where_changed(found, sizes), mean_where_changed(found, amounts)
    return ChangeImportanceInfo(
        often=often,
        sizes=tuple(np.where(ranges(found[0]) > 0, size, np.nan)[list(often.columns)].tolist()),
        amounts=tuple(amount_text(found[0].schema.columns[j], float(amount[j])) for j in often.columns),
    )


def plot_change_importance(
    counterfactuals: Counterfactuals | CounterfactualsBatch,
    *,
    k: int | None = None,
    most_features: int = 20,
    ax: Axes | None = None,
) -> Axes:
    """Bars of how often each feature changes, and marks of how far; the picture of `importance`.

    Parameters
    ----------
    counterfactuals : a result of `explain`, or a batch of `explain_many`.
    k : how many counterfactuals of each row count, chosen as by `select`; None for all.
    most_features : how many are shown at most.
    ax : axes to draw on; they show as many features as they have room for.
    """
    results = results_of(counterfactuals)
    if k is not None:
        check_int("k", k, 1)
    most = style.most_bars(ax, check_int("most_features", most_features, 1))
    if not any(map(len, results)):
        return nothing_changes(ax, counterfactuals)
    info = change_importance_info(results, k, most)
    ax = draw_bars(ax, info.often, counterfactuals)
    _draw_sizes(ax, info)
    return ax


def _draw_sizes(ax: Axes, info: ChangeImportanceInfo) -> None:
    places = np.arange(len(info.sizes))
    size = np.array(info.sizes)
    drawn = ~np.isnan(size)
    look: dict[str, Any] = {"marker": "D", "markersize": 5.0, "linestyle": "", "markeredgecolor": "white"}
    ax.plot(size[drawn], places[drawn], color=style.BLACK, zorder=4, clip_on=False, **look)
    totals = np.sum([np.array(shares) for shares in info.often.shares.values()], axis=0)
    ends = np.fmax(totals, np.where(drawn, size, 0.0))
    reach = float(ends.max())
    for place, end, amount in zip(places.tolist(), ends.tolist(), info.amounts, strict=True):
        if amount:
            text = style.literal(tr("by {amount}", amount=amount))
            ax.text(end + 0.02 * reach, place, text, va="center", fontsize=style.SMALL, color=style.GREY)
    ax.set_xlim(0.0, reach * (1.04 + _LABEL_ROOM))
    ax.set_xticks([tick for tick in ax.get_xticks() if 0 <= tick <= 1.0])
    ax.set_xlim(0.0, reach * (1.04 + _LABEL_ROOM))
    far = tr("◆ by how much where it changes, as a share of the range")
    style.label_axes(ax, "\n".join([ax.get_xlabel(), far]))


# What recourse costs


@dataclass(frozen=True)
class Strip:
    """One measure of all groups: its name, the figures, that of all rows, and the ends and ticks of its axis."""

    name: str
    estimates: tuple[Estimate, ...]
    everyone: float
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]

    def share(self, value: float) -> float:
        """Where a value stands between the ends, from 0 to 1."""
        return (value - self.low) / (self.high - self.low)


@dataclass(frozen=True)
class RecourseInfo:
    """The groups with their numbers of rows, and the measures that are known of any."""

    name: str
    groups: tuple[str, ...]
    strips: tuple[Strip, ...]


def recourse_info(recourse: Recourse) -> RecourseInfo:
    """What is drawn of the cost of recourse."""
    groups = tuple(tr("{group} ({n:,})", group=key_text(recourse.column, group.key), n=group.n) for group in recourse)
    strips = tuple(_strip(recourse, measure) for measure in SHOWN)
    drawn = tuple(strip for strip in strips if not all(math.isnan(estimate.value) for estimate in strip.estimates))
    return RecourseInfo(name_text(recourse.column.name), groups, drawn)


def _strip(recourse: Recourse, measure: str) -> Strip:
    estimates = tuple(group.estimates[measure] for group in recourse)
    everyone = recourse.everyone.estimates[measure].value
    drawn = np.array([*(end for estimate in estimates for end in estimate[:3]), everyone])
    drawn = drawn[~np.isnan(drawn)]
    low, high = (float(drawn.min()), float(drawn.max())) if len(drawn) else (0.0, 1.0)
    if low == high:
        low, high = low - 0.05, high + 0.05
    values = MaxNLocator(nbins=_TICKS, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    ticks = [(float(value), _tick(measure, float(value))) for value in values if low <= value <= high]
    return Strip(heads()[measure], estimates, everyone, low, high, tuple(ticks))


def _tick(measure: str, value: float) -> str:
    if measure == CHANGES:
        return f"{value:g}"
    return f"{value:.3g}" if measure == MEDIAN_DISTANCE else str(style.percent()(value))


def plot_recourse(recourse: Recourse, *, ax: Axes | None = None) -> Axes:
    """Dots and intervals: what recourse costs each group.

    Parameters
    ----------
    recourse : what `CounterfactualsBatch.recourse` returns.
    ax : axes to draw on.
    """
    if not isinstance(recourse, Recourse):
        raise DataTypeError(f"Pass what `batch.recourse(by)` returns, got {type(recourse).__name__}.")
    info = recourse_info(recourse)
    ax = style.axes_for(ax, _ROW * len(info.groups) + _HEIGHT)
    style.name_bars(ax, info.groups)
    ax.grid(visible=False)
    ax.spines["left"].set_visible(False)
    ax.set_xlim(0.0, len(info.strips))
    _lay_out(ax)  # the names leave less room
    room = style.inches(ax)[0] / max(len(info.strips), 1)
    ticks: list[tuple[float, str]] = []
    for i, strip in enumerate(info.strips):
        ticks += _draw_strip(ax, _Place(i, strip, room))
    ax.set_xticks([at for at, _ in ticks], [text for _, text in ticks], fontsize=style.SMALL)
    below = [
        tr("{level} intervals", level=share_text(recourse.confidence)),
        tr("dotted: all rows"),
        tr("hollow: fewer than {n} rows", n=FEWEST_ROWS),
    ]
    ax.set_xlabel(style.fitted(" · ".join(below), 0.95 * style.inches(ax)[0]), fontsize=style.SMALL)
    style.title(ax, [tr("Cost of recourse by {column}", column=info.name)], 0.95, above=22.0)
    return ax


def _lay_out(ax: Axes) -> None:
    figure: Any = ax.figure
    figure.figure.draw_without_rendering()  # the whole one, of a part too


@dataclass(frozen=True)
class _Place:
    """Where a strip is, and how many inches it has."""

    number: int
    strip: Strip
    room: float

    @property
    def margin(self) -> float:
        """On either side, so that the texts of ticks stay inside."""
        widest = max((style.text_width(text) for _, text in self.strip.ticks), default=0.0)
        return min(max(_MARGIN, (widest + _GAP) / 2 / self.room), 0.45)

    def across(self, value: float) -> float:
        """The place of a value on the axis of the picture."""
        return self.number + self.margin + (1 - 2 * self.margin) * self.strip.share(value)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Places and texts, those that would touch the one before left out."""
        kept: list[tuple[float, str]] = []
        end = -math.inf
        for value, text in self.strip.ticks:
            at, half = self.across(value), (style.text_width(text) + _GAP) / 2 / self.room
            if at - half >= end:
                kept.append((at, text))
                end = at + half
        return kept


def _draw_strip(ax: Axes, place: _Place) -> list[tuple[float, str]]:
    """One measure; its ticks."""
    i, strip = place.number, place.strip
    if i:
        ax.axvline(i, color=style.FAINT, linewidth=0.8)
    if not math.isnan(strip.everyone):
        ax.axvline(place.across(strip.everyone), color=style.GREY, linewidth=0.9, linestyle=":")
    for group, estimate in enumerate(strip.estimates):
        if not math.isnan(estimate.value):
            _draw_estimate(ax, place, group, estimate)
    name = style.fitted(strip.name, place.room - 0.05, style.TEXT)
    ax.text(i + 0.5, ax.get_ylim()[1], name, ha="center", va="bottom", fontsize=style.TEXT)
    return place.ticks


def _draw_estimate(ax: Axes, place: _Place, group: int, estimate: Estimate) -> None:
    if estimate.is_known:
        low, high = place.across(estimate.low), place.across(estimate.high)
        ax.hlines(group, low, high, color=style.BLUE, linewidth=1.4)
        ax.vlines([low, high], group - _CAP, group + _CAP, color=style.BLUE, linewidth=1.4)
    face = style.BLUE if estimate.n >= FEWEST_ROWS else "white"
    at = place.across(estimate.value)
    ax.plot([at], [group], marker="o", markersize=6, color=style.BLUE, markerfacecolor=face, zorder=3)
