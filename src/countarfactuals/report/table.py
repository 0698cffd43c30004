"""Tables that can be sorted by the buttons in their heads, and filtered by sliders.

1. The table is written whole: without the script it is a plain table, and sliders stay hidden.
2. Beside it stands a block of JSON: per sortable column the keys of the rows, per slider the numbers it judges.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from countarfactuals.counterfactuals.wording import DOWN, OTHER, UP
from countarfactuals.report.page import breakable, data_block, region, text

_SPOKEN = {UP: "increased to", DOWN: "decreased to", OTHER: "changed to"}
_STEPS = 50  # about as many steps has a slider


@dataclass(frozen=True)
class Column:
    """One column.

    Parameters
    ----------
    head : its heading.
    cells : HTML of its cells, `<td>` included.
    keys : what its rows are sorted by, None if it can not be sorted; NaN comes last.
    kind : its class in the style sheet.
    """

    head: str
    cells: Sequence[str]
    keys: Sequence[float] | Sequence[str] | None = None
    kind: str = ""


@dataclass(frozen=True)
class Slider:
    """A filter: rows pass whose value is at least, or at most, what the slider says."""

    name: str
    label: str
    values: np.ndarray
    is_least: bool
    low: float
    high: float
    step: float
    unit: str = ""


def share_slider(key: str, label: str, shares: np.ndarray) -> Slider:
    """Shares from 0 to 100 %, in per cent."""
    # rounded: 0.29 * 100 falls short of 29
    return Slider(key, label, np.round(shares * 100, 9), True, 0.0, 100.0, 1.0, " %")


def count_slider(key: str, label: str, counts: np.ndarray) -> Slider:
    """Whole numbers of which few are better."""
    return Slider(key, label, counts.astype(np.float64), False, float(counts.min()), float(counts.max()), 1.0)


def number_slider(key: str, label: str, values: np.ndarray) -> Slider:
    """Numbers of which small ones are better, from the smallest to the largest in round steps."""
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    step = 10.0 ** math.floor(math.log10((high - low) / _STEPS)) if high > low else 1.0
    return Slider(key, label, values, False, math.floor(low / step) * step, math.ceil(high / step) * step, step)


def sortable(table_id: str, caption: str, columns: Sequence[Column], sliders: Sequence[Slider] = ()) -> str:
    """The table, its sliders and its data. The first column names the rows."""
    heads = "".join(_head(j, column) for j, column in enumerate(columns))
    body = "".join(f"<tr>{''.join(cells)}</tr>" for cells in zip(*(column.cells for column in columns), strict=True))
    table = f'<table id="{table_id}"><caption><span>{text(caption)}</span></caption><thead><tr>{heads}</tr></thead>'
    sort = {str(j): _plain(column.keys) for j, column in enumerate(columns) if column.keys is not None}
    data = {"sort": sort, "filter": {slider.name: _plain(slider.values) for slider in sliders}}
    return "\n".join(
        [
            _controls(table_id, sliders) if sliders else "",
            region(caption, f"{table}<tbody>{body}</tbody></table>"),
            data_block(table_id, data),
        ]
    )


def _head(j: int, column: Column) -> str:
    kind = f' class="{column.kind}"' if column.kind else ""
    if column.keys is None:
        return f'<th scope="col"{kind}>{breakable(column.head)}</th>'
    # disabled until the script runs: a button that does nothing is worse than none
    button = f'<button type="button" data-sort="{j}" disabled>{breakable(column.head)}</button>'
    return f'<th scope="col"{kind}>{button}<span class="printed">{breakable(column.head)}</span></th>'


def _controls(table_id: str, sliders: Sequence[Slider]) -> str:
    inputs = "".join(_input(f"{table_id}-{slider.name}", slider) for slider in sliders)
    return (
        f'<fieldset class="controls" id="{table_id}-controls" hidden><legend>Show only rows with</legend>{inputs}'
        '<button type="button">Show all</button></fieldset>'
        f'<p class="quiet screen" id="{table_id}-status" role="status"></p>'
    )


def _input(key: str, slider: Slider) -> str:
    start = slider.low if slider.is_least else slider.high
    way = "least" if slider.is_least else "most"
    low, high, step, value = (_written(number, slider.step) for number in (slider.low, slider.high, slider.step, start))
    return (
        f'<div><label for="{key}">{text(slider.label)} at {way} <output for="{key}">{value}{slider.unit}</output>'
        f'</label><input type="range" id="{key}" name="{slider.name}" min="{low}" max="{high}" step="{step}" '
        f'value="{value}" data-way="{way}" data-unit="{slider.unit}"></div>'
    )


def _written(number: float, step: float) -> str:
    return f"{number:.{max(0, -math.floor(math.log10(step)))}f}"


def _plain(values: Sequence[float] | Sequence[str] | np.ndarray) -> list[float | str | None]:
    """For JSON, which knows no NaN; what is infinite is sorted as the largest number."""
    return [_number(value) if isinstance(value, float) else value for value in np.asarray(values).tolist()]


def _number(value: float) -> float | None:
    if math.isnan(value):
        return None
    return value if math.isfinite(value) else math.copysign(1.7e308, value)


def arrow_html(sign: str) -> str:
    """An arrow, with words for those who do not see it."""
    return f'<span role="img" aria-label="{_SPOKEN[sign]}">{sign}</span>'
