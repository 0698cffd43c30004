"""How often each feature changes, in one result or over many rows.

1. Of one result: the share of its counterfactuals that change a feature, split by how (↑ ↓ ↔).
2. Of a batch: the mean of these shares over the rows that have counterfactuals, so that each row counts alike, however
   many counterfactuals it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch
from countarfactuals.counterfactuals.wording import DOWN, OTHER, UP
from countarfactuals.plotting import style
from countarfactuals.plotting.subject import check_most, check_result
from countarfactuals.plotting.text import (
    counted,
    fitted,
    heading,
    name_of,
    nothing_to_show,
    percent,
    show_message,
    title,
)
from countarfactuals.schema import Kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BAR, _WIDEST_NAME = 0.24, 1.9  # inches
_HATCHES = {UP: "", DOWN: "////", OTHER: "...."}


@dataclass(frozen=True)
class FrequencyInfo:
    """Features, most often changed first.

    Parameters
    ----------
    features : their names.
    shares : by arrow, the share of counterfactuals that change each feature so.
    n_rows, n_counterfactuals : rows that have counterfactuals, and counterfactuals in all.
    n_less_often : further features that change, less often than those listed.
    n_never : features that never change.
    """

    features: tuple[str, ...]
    shares: dict[str, tuple[float, ...]]
    n_rows: int
    n_counterfactuals: int
    n_less_often: int
    n_never: int


def frequency_info(results: Sequence[Counterfactuals], most_features: int = 20) -> FrequencyInfo:
    """How often features change in results that share one schema."""
    found = [result for result in results if len(result)]
    schema = results[0].schema
    shares = np.mean([_shares(result) for result in found], axis=0)  # arrow, feature
    total = shares.sum(axis=0)
    order = [j for j in np.argsort(-total, kind="stable").tolist() if total[j] > 0]
    shown = order[:most_features]
    return FrequencyInfo(
        features=tuple(name_of(schema.names[j]) for j in shown),
        shares={sign: tuple(shares[k, shown].tolist()) for k, sign in enumerate((UP, DOWN, OTHER))},
        n_rows=len(found),
        n_counterfactuals=sum(map(len, found)),
        n_less_often=len(order) - len(shown),
        n_never=len(total) - len(order),
    )


def _shares(result: Counterfactuals) -> np.ndarray:
    """Share of counterfactuals that increase, decrease or otherwise change each feature, (3, p)."""
    unordered = np.array([column.kind is Kind.CATEGORY for column in result.schema.columns])
    other = result.changed & (unordered | np.isnan(result.x) | np.isnan(result.rows))
    ordered = result.changed & ~other
    up = ordered & (result.rows > result.x)
    return np.stack([up.mean(axis=0), (ordered & ~up).mean(axis=0), other.mean(axis=0)])


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
    if is_batch := isinstance(counterfactuals, CounterfactualsBatch):
        results = counterfactuals.results
    else:
        results = (check_result(counterfactuals),)
    most = check_most("most_features", most_features)
    if not any(map(len, results)):
        said = f"None of the {len(results)} rows has a counterfactual." if is_batch else nothing_to_show(results[0])
        return show_message(style.axes_for(ax, 1.5), said)
    if ax is not None:
        most = min(most, max(int(style.inches(ax)[1] / 0.16), 1))
    info = frequency_info(results, most)
    ax = style.axes_for(ax, _BAR * len(info.features) + 1.1)
    _draw(ax, info)
    rows = counted(info.n_counterfactuals, "counterfactual")
    title(ax, [f"{rows} of {counted(info.n_rows, 'row')}"] if is_batch else [rows, *heading(results[0])], above=22.0)
    return ax


def _draw(ax: Axes, info: FrequencyInfo) -> None:
    style.plain_frame(ax, ("left",))
    places = np.arange(len(info.features))
    start = np.zeros(len(places))
    for sign, shares in info.shares.items():
        if any(shares):
            look = {"color": style.CHANGE_TINTS[sign], "edgecolor": style.CHANGE_COLOURS[sign], "hatch": _HATCHES[sign]}
            word = f"{sign} {style.CHANGE_WORDS[sign]}"
            length = np.array(shares)
            some = length > 0
            ax.barh(places[some], length[some], 0.7, start[some], label=word, linewidth=0.8, **look)  # type: ignore[arg-type]
            start = start + length
    ax.set_yticks(places, [fitted(name, _WIDEST_NAME) for name in info.features], fontsize=style.SMALL)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(places) - 0.4, -0.6)
    ax.set_xlim(0.0, min(1.06 * float(start.max()), 1.01))
    ax.xaxis.set_major_formatter(percent)
    ax.grid(axis="x", color=style.FAINT, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.set_xlabel(_x_label(info), fontsize=style.TEXT)
    above = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": 3, "borderaxespad": 0.3}
    ax.legend(fontsize=style.SMALL, frameon=False, **above)


def _x_label(info: FrequencyInfo) -> str:
    rest = [f"{counted(info.n_less_often, 'other')} less often"] if info.n_less_often else []
    rest += [f"{info.n_never} never"] if info.n_never else []
    return "counterfactuals that change the feature" + (f" ({', '.join(rest)})" if rest else "")
