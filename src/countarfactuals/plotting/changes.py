"""What counterfactuals change: one by one as a table, and how often.

`plot_change_table`: features down, x and the counterfactuals across.

1. The rows are the features that some shown counterfactual changes; of too many those that change most often.
2. A changed cell has ↑, ↓ or ↔ and the new value, on a tint of its own; one that follows from the other changes stands
   in brackets. Other cells repeat x's value, quietly.
3. Below stand the prediction, its scores, the typicality and the number of changes; below that what is not shown.

`plot_frequency`: bars, in one result or over many rows.

1. Of one result: the share of its counterfactuals that change a feature, split by how (↑ ↓ ↔).
2. Of a batch: the mean of these shares over the rows that have counterfactuals, so that each row counts alike, however
   many counterfactuals it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.patches import Rectangle

from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch
from countarfactuals.counterfactuals.importance import directions
from countarfactuals.counterfactuals.table import Line, feature_line, outcome_lines
from countarfactuals.language import counted, tr
from countarfactuals.language.spelling import DOWN, OTHER, UP, names_text
from countarfactuals.parameters import check_int
from countarfactuals.plotting import style
from countarfactuals.plotting.style import fitted, name_of, text_width
from countarfactuals.plotting.subject import check_result, most_changed, results_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW, _LEAST_ROW = 0.23, 0.17  # inches
_GAP, _ARROW = 0.12, 0.14
_WIDEST_NAME, _WIDEST_CELL, _NARROWEST_CELL = 1.7, 1.4, 0.62
_CHARACTERS = 95  # of a line below the table
_UNCHANGED = "#8C8C8C"
_SHOWN_LINES = ("prediction", "score", "highest score", "typicality", "changes")
_HATCHES = {UP: "", DOWN: "////", OTHER: "...."}


@dataclass(frozen=True)
class ChangeTableInfo:
    """The table: a line per feature, those of the outcome below them, and sentences on what is not shown."""

    features: tuple[Line, ...]
    outcome: tuple[Line, ...]
    below: tuple[str, ...]

    @property
    def n_shown(self) -> int:
        """How many counterfactuals have a column."""
        return len(self.outcome[0].texts)

    @property
    def n_lines(self) -> int:
        """How many lines it takes, its head included."""
        return 1 + len(self.features) + len(self.outcome) + len(self.below)


def change_table_info(
    result: Counterfactuals, most_counterfactuals: int = 5, most_features: int = 20
) -> ChangeTableInfo:
    """The table of the first counterfactuals."""
    at = range(min(len(result), most_counterfactuals))
    ever = result.changed.any(axis=0)
    shown = most_changed(result.changed[: len(at)], most_features)
    lines = sorted(outcome_lines(result, at), key=_place)
    return ChangeTableInfo(
        features=tuple(_bracketed(feature_line(result, j, at)) for j in shown),
        outcome=tuple(line for line in lines if line.kind in _SHOWN_LINES),
        below=tuple(_below(result, len(at), np.setdiff1d(np.flatnonzero(ever), shown), np.flatnonzero(~ever))),
    )


def _bracketed(line: Line) -> Line:
    """The line with what follows from other changes in brackets."""
    texts = (f"({text})" if follows else text for text, follows in zip(line.texts, line.follows, strict=True))
    return replace(line, texts=tuple(texts))


def _place(line: Line) -> int:
    return _SHOWN_LINES.index(line.kind) if line.kind in _SHOWN_LINES else len(_SHOWN_LINES)


def _below(result: Counterfactuals, n_shown: int, also: np.ndarray, never: np.ndarray) -> list[str]:
    rest = len(result) - n_shown
    below = [tr("(in brackets): follows from the other changes")] if result.consequence[:n_shown].any() else []
    below += [counted(rest, "… {n:,} more counterfactual", "… {n:,} more counterfactuals")] if rest else []
    for start, which in (
        (tr("also changed ({n}): ", n=len(also)), also),
        (tr("unchanged ({n}): ", n=len(never)), never),
    ):
        names = [name_of(result.schema.titles[j]) for j in which.tolist()]
        below += [start + names_text(names, _CHARACTERS - len(start))] if names else []
    return below


def _head(line: Line) -> str:
    heads = {
        "prediction": line.name,
        "highest score": tr("its score"),
        "typicality": tr("typicality"),
        "changes": tr("changes"),
    }
    return heads[line.kind] if line.kind in heads else name_of(line.name)


def plot_change_table(
    counterfactuals: Counterfactuals, *, most_counterfactuals: int = 5, most_features: int = 20, ax: Axes | None = None
) -> Axes:
    """A table of what the first counterfactuals change.

    Parameters
    ----------
    counterfactuals : a result of `explain`; `select` chooses which counterfactuals come first.
    most_counterfactuals, most_features : how many are shown at most, if there is room for them.
    ax : axes to draw on; larger ones have room for more.
    """
    result = check_result(counterfactuals)
    n, p = check_int("most_counterfactuals", most_counterfactuals, 1), check_int("most_features", most_features, 1)
    if not len(result):
        return style.nothing_to_show(ax, result)
    info = _fitting(result, n, p, (style.PAGE - 0.1, np.inf) if ax is None else style.inches(ax))
    ax = style.axes_for(ax, _ROW * info.n_lines + 0.5)
    _draw_table(ax, info, _widths(info, style.inches(ax)[0]))
    style.title(ax, style.heading(result))
    return ax


def _fitting(result: Counterfactuals, n: int, p: int, room: tuple[float, float]) -> ChangeTableInfo:
    """The table with as many counterfactuals and features as fit into a width and a height, at least one of each."""
    n = min(n, len(result))
    while n > 1 and _widths(change_table_info(result, n, p), 0.0).sum() > room[0]:
        n -= 1
    while p > 1 and (info := change_table_info(result, n, p)).n_lines * _LEAST_ROW > room[1]:
        p = min(p, len(info.features)) - 1
    return change_table_info(result, n, max(p, 1))


def _widths(info: ChangeTableInfo, room: float) -> np.ndarray:
    """Widths of the columns: what their texts need or, if that is too much, levels cut to what there is."""
    lines = [*info.features, *info.outcome]
    heads = min(max(text_width(_head(line)) for line in lines), _WIDEST_NAME)
    wide = np.array([[text_width(text) for text in (line.x, *line.texts)] for line in lines])
    wide[:, 1:] += _ARROW
    is_number = np.array([line.is_number for line in lines])
    least = np.maximum(np.where(is_number[:, None], wide, 0.0).max(axis=0), _NARROWEST_CELL)
    cells = np.maximum(np.minimum(wide.max(axis=0), _WIDEST_CELL), least)
    spare = room - heads - _GAP * (len(cells) + 1)
    if cells.sum() > spare:
        cells = np.maximum(np.minimum(cells, _water_level(cells, spare)), least)
    return np.array([heads, *cells]) + _GAP


def _water_level(widths: np.ndarray, room: float) -> float:
    """The width to which the widest columns must be cut so that all fit."""
    ascending = np.sort(widths)
    levels = (room - (np.cumsum(ascending) - ascending)) / np.arange(len(ascending), 0, -1)
    return float(next((level for level, width in zip(levels, ascending, strict=True) if level <= width), ascending[-1]))


def _draw_table(ax: Axes, info: ChangeTableInfo, widths: np.ndarray) -> None:
    style.no_frame(ax)
    starts = np.concatenate([[0.0], np.cumsum(widths)])
    ax.set_xlim(0.0, starts[-1])
    ax.set_ylim(info.n_lines, 0.0)
    first = 1 + len(info.features)
    _write(ax, starts[1], 0, "x", widths[1], weight="bold")
    for i in range(info.n_shown):
        _write(ax, starts[i + 2] + _ARROW, 0, f"#{i}", widths[i + 2], weight="bold")
    for at, line in enumerate([*info.features, *info.outcome], start=1):
        is_feature = at < first
        _write(ax, 0.0, at, _head(line), widths[0], color=None if is_feature else style.GREY)
        _write(ax, starts[1], at, line.x, widths[1])
        for start, width, text, sign in zip(
            starts[2:], widths[2:], line.texts, line.signs or [""] * info.n_shown, strict=False
        ):
            if sign:
                _draw_sign(ax, start, at, sign, width)
            colour = _UNCHANGED if is_feature and not sign else None
            _write(ax, start + _ARROW, at, text, width - _ARROW, color=colour)
    ax.hlines([1, first], 0.0, starts[-1], color=style.GREY, linewidth=0.8)
    for at, sentence in enumerate(info.below, start=first + len(info.outcome)):
        _write(ax, 0.0, at, sentence, starts[-1], color=style.QUIET)


def _draw_sign(ax: Axes, start: float, at: int, sign: str, width: float) -> None:
    corner, size = (start - _GAP / 3, at + 0.06), (width - _GAP / 3, 0.88)
    ax.add_patch(Rectangle(corner, *size, color=style.CHANGE_TINTS[sign], linewidth=0))
    _write(ax, start, at, sign, _ARROW + _GAP, color=style.CHANGE_COLOURS[sign])


def _write(ax: Axes, start: float, at: int, text: str, width: float, **options: Any) -> None:
    shown = fitted(text, width - _GAP / 2)
    ax.text(start, at + 0.5, shown, ha="left", va="center", fontsize=style.SMALL, clip_on=True, **options)


# How often


@dataclass(frozen=True)
class FrequencyInfo:
    """Features, most often changed first."""

    features: tuple[str, ...]
    columns: tuple[int, ...]  # their positions
    shares: dict[str, tuple[float, ...]]  # by arrow, of the counterfactuals that change each feature so
    n_rows: int  # that have counterfactuals
    n_counterfactuals: int
    n_less_often: int  # further features that change
    n_never: int


def frequency_info(results: Sequence[Counterfactuals], most_features: int = 20) -> FrequencyInfo:
    """How often features change in results that share one schema."""
    found = [result for result in results if len(result)]
    names = results[0].schema.titles
    shares = np.mean([_shares(result) for result in found], axis=0)  # arrow, feature
    total = shares.sum(axis=0)
    order = [j for j in np.argsort(-total, kind="stable").tolist() if total[j] > 0]
    shown = order[:most_features]
    return FrequencyInfo(
        features=tuple(name_of(names[j]) for j in shown),
        columns=tuple(shown),
        shares={sign: tuple(shares[k, shown].tolist()) for k, sign in enumerate((UP, DOWN, OTHER))},
        n_rows=len(found),
        n_counterfactuals=sum(map(len, found)),
        n_less_often=len(order) - len(shown),
        n_never=len(total) - len(order),
    )


def _shares(result: Counterfactuals) -> np.ndarray:
    """Share of counterfactuals that increase, decrease or otherwise change each feature, (3, p)."""
    return np.stack([cells.mean(axis=0) for cells in directions(result)])


def plot_frequency(
    counterfactuals: Counterfactuals | CounterfactualsBatch, *, most_features: int = 20, ax: Axes | None = None
) -> Axes:
    """Bars of how often each feature changes.

    Parameters
    ----------
    counterfactuals : a result of `explain`, or a batch of `explain_many`.
    most_features : how many are shown at most.
    ax : axes to draw on; they show as many features as they have room for.
    """
    results = results_of(counterfactuals)
    most = style.most_bars(ax, check_int("most_features", most_features, 1))
    if not any(map(len, results)):
        return nothing_changes(ax, counterfactuals)
    return draw_bars(ax, frequency_info(results, most), counterfactuals)


def nothing_changes(ax: Axes | None, counterfactuals: Counterfactuals | CounterfactualsBatch) -> Axes:
    """Axes that say why there are no bars."""
    if isinstance(counterfactuals, Counterfactuals):
        return style.nothing_to_show(ax, counterfactuals)
    return style.show_message(ax, tr("None of the {n} rows has a counterfactual.", n=len(counterfactuals)))


def draw_bars(ax: Axes | None, info: FrequencyInfo, counterfactuals: Counterfactuals | CounterfactualsBatch) -> Axes:
    """Bars of how often, split by how, below what they count."""
    ax = style.bar_axes(ax, len(info.features))
    words = {UP: tr("↑ increased"), DOWN: tr("↓ decreased"), OTHER: tr("↔ other value")}
    places = np.arange(len(info.features))
    start = np.zeros(len(places))
    for sign, shares in info.shares.items():
        length = np.array(shares)
        drawn = length > 0
        look: dict[str, Any] = {"color": style.CHANGE_TINTS[sign], "edgecolor": style.CHANGE_COLOURS[sign]}
        if drawn.any():
            bar = (places[drawn], length[drawn], 0.7, start[drawn])
            ax.barh(*bar, label=words[sign], hatch=_HATCHES[sign], linewidth=0.8, **look)
            start = start + length
    style.name_bars(ax, info.features)
    ax.set_xlim(0.0, min(1.06 * float(start.max()), 1.01))
    ax.xaxis.set_major_formatter(style.percent())
    style.label_axes(ax, _x_label(info))
    style.legend(ax, None, "lower left", (0.0, 1.0), ncols=3, borderaxespad=0.3)
    style.title(ax, _counts(info, counterfactuals), above=22.0)
    return ax


def _counts(info: FrequencyInfo, counterfactuals: Counterfactuals | CounterfactualsBatch) -> list[str]:
    count = counted(info.n_counterfactuals, "{n:,} counterfactual", "{n:,} counterfactuals")
    if isinstance(counterfactuals, Counterfactuals):
        return [count, *style.heading(counterfactuals)]
    return [counted(info.n_rows, "{count} of {n:,} row", "{count} of {n:,} rows", count=count)]


def _x_label(info: FrequencyInfo) -> str:
    less, never = info.n_less_often, info.n_never
    rest = [counted(less, "{n:,} other less often", "{n:,} others less often")] if less else []
    rest += [tr("{n} never", n=never)] if never else []
    label = tr("counterfactuals that change the feature")
    return f"{label} ({', '.join(rest)})" if rest else label
