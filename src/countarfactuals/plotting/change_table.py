"""What each counterfactual changes: features down, x and the counterfactuals across.

1. The rows are the features that some shown counterfactual changes; of too many those that change most often.
2. A changed cell has ↑, ↓ or ↔ and the new value, on a tint of its own. Other cells repeat x's value, quietly.
3. Below stand the prediction, its scores, the typicality and the number of changes; below that what is not shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.patches import Rectangle

from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.counterfactuals.wording import arrow, cell_texts, names_text, one_line, score_text, share_text
from countarfactuals.plotting import style
from countarfactuals.plotting.subject import check_most, check_result
from countarfactuals.plotting.text import (
    counted,
    fitted,
    heading,
    name_of,
    nothing_to_show,
    show_message,
    text_width,
    title,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW, _LEAST_ROW = 0.23, 0.17  # inches
_GAP, _ARROW = 0.12, 0.14
_WIDEST_NAME, _WIDEST_CELL, _NARROWEST_CELL = 1.7, 1.4, 0.62
_CHARACTERS = 95  # of a line below the table


@dataclass(frozen=True)
class TableRow:
    """One line of the table.

    Parameters
    ----------
    head : what it shows.
    x : x's text.
    cells : per counterfactual an arrow ("" where nothing changes) and a text.
    is_number : whether texts are numbers, which are never shortened.
    """

    head: str
    x: str
    cells: tuple[tuple[str, str], ...]
    is_number: bool = False


@dataclass(frozen=True)
class ChangeTableInfo:
    """The texts of the table.

    Parameters
    ----------
    features : a row per feature.
    outcome : rows below them.
    below : sentences on what is not shown.
    """

    features: tuple[TableRow, ...]
    outcome: tuple[TableRow, ...]
    below: tuple[str, ...]

    @property
    def n_shown(self) -> int:
        """How many counterfactuals have a column."""
        return len(self.outcome[0].cells)


def change_table_info(
    result: Counterfactuals, most_counterfactuals: int = 5, most_features: int = 20
) -> ChangeTableInfo:
    """The table of the first counterfactuals."""
    n = min(len(result), most_counterfactuals)
    often = result.changed[:n].sum(axis=0)
    now = np.flatnonzero(often)
    shown = np.sort(now[np.argsort(-often[now], kind="stable")][:most_features])
    also = np.setdiff1d(np.flatnonzero(result.changed.any(axis=0)), shown)
    never = np.flatnonzero(~result.changed.any(axis=0))
    rest = len(result) - n
    below = [f"… {counted(rest, 'more counterfactual')}"] if rest else []
    for what, which in (("also changed", also), ("unchanged", never)):
        start = f"{what} ({len(which)}): "
        names = [name_of(result.schema.names[j]) for j in which.tolist()]
        below += [start + names_text(names, _CHARACTERS - len(start))] if names else []
    return ChangeTableInfo(
        features=tuple(_feature(result, j, n) for j in shown.tolist()),
        outcome=tuple(_outcome(result, n)),
        below=tuple(below),
    )


def _feature(result: Counterfactuals, j: int, n: int) -> TableRow:
    column, before = result.schema.columns[j], float(result.x[j])
    values = result.rows[:n, j].tolist()
    x, *texts = cell_texts(column, [before, *values])
    changed = result.changed[:n, j].tolist()
    cells = (
        (arrow(column, before, value) if differs else "", text)
        for value, text, differs in zip(values, texts, changed, strict=True)
    )
    return TableRow(name_of(column.name), x, tuple(cells), column.is_number)


def _outcome(result: Counterfactuals, n: int) -> list[TableRow]:
    def row(head: str, x: str, texts: Sequence[str], is_number: bool = True) -> TableRow:
        return TableRow(head, x, tuple(("", text) for text in texts), is_number)

    rows = []
    if result.score_names != ("prediction",):  # a regression's score is its prediction
        labels = [one_line(label) for label in result.labels[:n]]
        rows.append(row("prediction", one_line(result.x_label), labels, is_number=False))
    if len(result.score_names) <= 3:
        for i, name in enumerate(result.score_names):
            texts = [score_text(score) for score in result.scores[:n, i].tolist()]
            rows.append(row(one_line(name), score_text(float(result.x_scores[i])), texts))
    else:
        highest = [score_text(score) for score in result.scores[:n].max(axis=1).tolist()]
        rows.append(row("its score", score_text(float(result.x_scores.max())), highest))
    rows.append(
        row(
            "typicality",
            share_text(result.x_typicality),
            [share_text(share) for share in result.typicality[:n].tolist()],
        )
    )
    rows.append(row("changes", "", [str(count) for count in result.changed[:n].sum(axis=1).tolist()]))
    return rows


def plot_change_table(
    counterfactuals: Counterfactuals,
    *,
    most_counterfactuals: int = 5,
    most_features: int = 20,
    ax: Axes | None = None,
) -> Axes:
    """A table of what the first counterfactuals change.

    Parameters
    ----------
    counterfactuals : a result of `explain`; `select` chooses which counterfactuals come first.
    most_counterfactuals, most_features : how many are shown at most, if there is room for them.
    ax : axes to draw on; larger ones have room for more.
    """
    result = check_result(counterfactuals)
    n, p = check_most("most_counterfactuals", most_counterfactuals), check_most("most_features", most_features)
    if not len(result):
        return show_message(style.axes_for(ax, 1.5), nothing_to_show(result))
    info = _fitting(result, n, p, (style.PAGE - 0.1, np.inf) if ax is None else style.inches(ax))
    ax = style.axes_for(ax, _ROW * _n_lines(info) + 0.5)
    _draw(ax, info, _widths(info, style.inches(ax)[0]))
    title(ax, heading(result))
    return ax


def _fitting(result: Counterfactuals, n: int, p: int, room: tuple[float, float]) -> ChangeTableInfo:
    """The table with as many counterfactuals and features as fit into a width and a height, at least one of each."""
    n = min(n, len(result))
    while n > 1 and _widths(change_table_info(result, n, p), 0.0).sum() > room[0]:
        n -= 1
    while p > 1 and _n_lines(info := change_table_info(result, n, p)) * _LEAST_ROW > room[1]:
        p = min(p, len(info.features)) - 1
    return change_table_info(result, n, max(p, 1))


def _n_lines(info: ChangeTableInfo) -> int:
    return 1 + len(info.features) + len(info.outcome) + len(info.below)


def _widths(info: ChangeTableInfo, room: float) -> np.ndarray:
    """Widths of the columns: what their texts need or, if that is too much, levels cut to what there is."""
    rows = [*info.features, *info.outcome]
    heads = min(max(text_width(row.head) for row in rows), _WIDEST_NAME)
    texts = [[row.x for row in rows], *([row.cells[i][1] for row in rows] for i in range(info.n_shown))]
    arrows = np.array([0.0] + [_ARROW] * info.n_shown)
    wide = np.array([[text_width(text) for text in column] for column in texts]) + arrows[:, None]
    is_number = np.array([row.is_number for row in rows])
    least = np.maximum(np.where(is_number, wide, 0.0).max(axis=1), _NARROWEST_CELL)
    cells = np.maximum(np.minimum(wide.max(axis=1), _WIDEST_CELL), least)
    spare = room - heads - _GAP * (len(cells) + 1)
    if cells.sum() > spare:
        cells = np.maximum(np.minimum(cells, _water_level(cells, spare)), least)
    return np.array([heads, *cells]) + _GAP


def _water_level(widths: np.ndarray, room: float) -> float:
    """The width to which the widest columns must be cut so that all fit."""
    ascending = np.sort(widths)
    for i, width in enumerate(ascending):
        level = (room - ascending[:i].sum()) / (len(ascending) - i)
        if level <= width:
            return float(level)
    return float(ascending[-1])


def _draw(ax: Axes, info: ChangeTableInfo, widths: np.ndarray) -> None:
    style.no_frame(ax)
    starts = np.concatenate([[0.0], np.cumsum(widths)])
    ax.set_xlim(0.0, starts[-1])
    ax.set_ylim(_n_lines(info), 0.0)
    heads = ["x", *(f"#{i}" for i in range(info.n_shown))]
    for column, head in enumerate(heads, start=1):
        indent = _ARROW if column > 1 else 0.0
        _write(ax, starts[column] + indent, 0, head, widths[column], weight="bold")
    for line, row in enumerate(info.features, start=1):
        _write(ax, 0.0, line, row.head, widths[0])
        _write(ax, starts[1], line, row.x, widths[1])
        for i, cell in enumerate(row.cells):
            _draw_cell(ax, starts[i + 2], line, cell, widths[i + 2])
    first = 1 + len(info.features)
    for line, row in enumerate(info.outcome, start=first):
        _write(ax, 0.0, line, row.head, widths[0], color=style.GREY)
        _write(ax, starts[1], line, row.x, widths[1])
        for i, (_, text) in enumerate(row.cells):
            _write(ax, starts[i + 2] + _ARROW, line, text, widths[i + 2] - _ARROW)
    ax.hlines([1, first], 0.0, starts[-1], color=style.GREY, linewidth=0.8)
    for line, sentence in enumerate(info.below, start=first + len(info.outcome)):
        _write(ax, 0.0, line, sentence, starts[-1], color=style.QUIET)


def _draw_cell(ax: Axes, start: float, line: int, cell: tuple[str, str], width: float) -> None:
    sign, text = cell
    if not sign:
        _write(ax, start + _ARROW, line, text, width - _ARROW, color="#8C8C8C")
        return
    tint = Rectangle(
        (start - _GAP / 3, line + 0.06), width - _GAP / 3, 0.88, color=style.CHANGE_TINTS[sign], linewidth=0
    )
    ax.add_patch(tint)
    _write(ax, start, line, sign, _ARROW + _GAP, color=style.CHANGE_COLOURS[sign])
    _write(ax, start + _ARROW, line, text, width - _ARROW)


def _write(ax: Axes, start: float, line: int, text: str, width: float, **options: Any) -> None:
    shown = fitted(text, width - _GAP / 2)
    ax.text(start, line + 0.5, shown, ha="left", va="center", fontsize=style.SMALL, clip_on=True, **options)
