"""Where each counterfactual stands among the real rows.

1. On top: how plausible real rows are that the forest had not seen, as a histogram, with their quartiles.
2. Below: x and the counterfactuals on the same axis. What lies far below every real row stands at the left end, as ◀.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.counterfactuals.wording import share_text
from countarfactuals.plotting import style
from countarfactuals.plotting.subject import background_for, check_result
from countarfactuals.plotting.text import counted, heading, nothing_to_show, show_message, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_QUARTILES = (0.25, 0.5, 0.75)
_BEYOND = 0.35  # of the range of real rows: how far below it things have a place of their own
_X_AT, _ROWS_AT, _BOTTOM = -0.16, (-0.34, -0.62), -0.72
_MOST_BINS = 40


@dataclass(frozen=True, eq=False)
class DensityStripInfo:
    """Measures of plausibility, larger is more plausible.

    Parameters
    ----------
    measure : what they measure.
    real : of real rows that were held out, ascending.
    x, rows : of x and of each counterfactual.
    quartiles : of the real ones.
    low, high : ends of the axis.
    n_below : counterfactuals below the low end.
    typical : median share of real rows that are less plausible than a counterfactual.
    """

    measure: str
    real: np.ndarray
    x: float
    rows: np.ndarray
    quartiles: tuple[float, ...]
    low: float
    high: float
    n_below: int
    typical: float


def density_strip_info(result: Counterfactuals, explainer: Any) -> DensityStripInfo:
    """Measures of the real rows, of x and of the counterfactuals, by the explainer's forest."""
    plausibility = background_for(result, explainer).plausibility
    measures = plausibility(np.concatenate([result.x[None], result.rows]))
    real = plausibility.real[np.isfinite(plausibility.real)]
    every = measures[np.isfinite(measures)]
    if not len(real):
        real = np.sort(every)
    span = max(float(np.ptp(real)) if len(real) else 0.0, 1e-6)
    lowest = float(real[0]) if len(real) else 0.0
    low = max(min([*every.tolist(), lowest]), lowest - _BEYOND * span)
    high = max([*every.tolist(), float(real[-1]) if len(real) else 1.0])
    return DensityStripInfo(
        measure=plausibility.name,
        real=real,
        x=float(measures[0]),
        rows=measures[1:],
        quartiles=tuple(np.quantile(real, _QUARTILES).tolist()) if len(real) else (),
        low=low,
        high=max(high, low + 1e-6),
        n_below=int((measures[1:] < low).sum()),
        typical=float(np.median(result.typicality)) if len(result) else float("nan"),
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
        return show_message(style.axes_for(ax, 1.5), nothing_to_show(result))
    ax = style.axes_for(ax, 3.0)
    _draw(ax, info)
    title(ax, [*heading(result), f"median typicality {share_text(info.typical)}"], 0.95)
    return ax


def _draw(ax: Axes, info: DensityStripInfo) -> None:
    style.plain_frame(ax, ("bottom",))
    margin = 0.03 * (info.high - info.low)
    ax.set_xlim(info.low - margin, info.high + margin)
    ax.set_ylim(_BOTTOM, 1.18)
    bins = min(max(int(np.sqrt(len(info.real))), 5), _MOST_BINS)
    counts, edges = np.histogram(info.real, bins)
    heights = counts / max(counts.max(), 1)
    ax.stairs(heights, edges, fill=True, color=style.FAINT)
    ax.stairs(heights, edges, color=style.REAL_COLOUR, linewidth=0.8)
    for at in info.quartiles:
        ax.vlines(at, _BOTTOM, 1.0, color=style.QUIET, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    _label_quartiles(ax, info)
    ax.axhline(0.0, color=style.GREY, linewidth=0.6)
    # spread over the lane in the order of the result, so that equal ones are seen apart
    lane = np.linspace(*_ROWS_AT, len(info.rows)) if len(info.rows) > 1 else np.array([np.mean(_ROWS_AT)])
    _draw_points(ax, info, info.rows, lane, style.COUNTERFACTUAL_COLOUR, "o")
    _draw_points(ax, info, np.array([info.x]), np.array([_X_AT]), style.X_COLOUR, "D")
    ax.set_yticks([0.45, _X_AT, float(np.mean(_ROWS_AT))], _lanes(info), fontsize=style.SMALL)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(f"plausibility: {info.measure} (dashed: quartiles of the real rows)", fontsize=style.TEXT)


def _lanes(info: DensityStripInfo) -> list[str]:
    below = f"\n({info.n_below} far below)" if info.n_below else ""
    return [
        f"{counted(len(info.real), 'real row')}\n(held out)",
        "x",
        counted(len(info.rows), "counterfactual") + below,
    ]


def _label_quartiles(ax: Axes, info: DensityStripInfo) -> None:
    """The shares above the lines; only the middle one where they stand too close."""
    if not info.quartiles:
        return
    apart = np.diff(info.quartiles).min() / (info.high - info.low)
    for share, at in zip(_QUARTILES, info.quartiles, strict=True):
        if apart > 0.055 or share == 0.5:
            ax.text(at, 1.03, share_text(share), ha="center", va="bottom", fontsize=style.SMALL, color=style.GREY)


def _draw_points(
    ax: Axes, info: DensityStripInfo, values: np.ndarray, lane: np.ndarray, colour: str, marker: str
) -> None:
    size = 40.0 if marker == "D" else 30.0 if len(values) <= 40 else 14.0
    inside = values >= info.low
    alpha = 1.0 if marker == "D" else 0.85 if len(values) <= 40 else 0.6
    look: dict[str, Any] = {"color": colour, "alpha": alpha, "linewidths": 0, "zorder": 3, "clip_on": False}
    ax.scatter(values[inside], lane[inside], size, marker=marker, **look)
    if not inside.all():
        ax.scatter(np.full((~inside).sum(), info.low), lane[~inside], size, marker="<", **look)
