"""Every measure of RQ1, one row of panels per measure and one column per data set, as in the paper.

1. Plausibility (true log density), proximity (1 − distance) and sparsity (1 − share changed) are those of all
   non-dominated counterfactuals; all else is one value per instance.
2. A box spans the quartiles and has its line at the median; whiskers reach 1.5 boxes at most. Points beyond are not
   drawn, as few of them would squeeze the boxes.
3. Higher is better but for seconds, which contain what a method fits on its own, as published.
4. Seconds have a log axis. So have panels of hypervolumes and numbers whose methods' medians span more than two
   decades; what is below such an axis, 0 among it, lies on its lower edge.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from countarfactuals.language import tr
from countarfactuals.plotting import style
from countarfactuals.study.design import method_colour, method_name
from countarfactuals.study.tables import OF_ROWS, OWN_FIT, PAIR, best_rows

_ROWS = {
    "log_density": "true log\ndensity",
    "closeness": "proximity",
    "share_kept": "sparsity",
    "hypervolume": "hypervolume\n(published)",
    "plausible_hypervolume": "plausible\nhypervolume",
    "n_nondominated": "non-\ndominated",
    OWN_FIT: "seconds,\nown fit incl.",
}
_FROM_ZERO = ("hypervolume", "plausible_hypervolume", "n_nondominated")
_DECADES = 100.0
_SHORT = {"MOCCTREE": "MOCCT."}


def box_values(candidates: pd.DataFrame, instances: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Data set, method and value of what a row of panels shows."""
    source = best_rows(candidates) if measure in OF_ROWS else instances
    return source[[*PAIR, measure]].rename(columns={measure: "value"})


def draw_boxes(candidates: pd.DataFrame, instances: pd.DataFrame) -> Figure:
    """The whole grid."""
    sets, methods = list(instances["dataset"].unique()), list(instances["method"].unique())
    figure = Figure(figsize=(max(style.PAGE, 1.25 * len(sets)), 1.25 * len(_ROWS) + 0.5), layout="constrained")
    axes = figure.subplots(len(_ROWS), len(sets), squeeze=False, sharex=True)
    for row, (measure, label) in zip(axes, _ROWS.items(), strict=True):
        values = box_values(candidates, instances, measure)
        for ax, name in zip(row, sets, strict=True):
            _panel(ax, measure, values[values["dataset"] == name], methods)
        row[0].set_ylabel(tr(label), fontsize=style.SMALL)
    for ax, name in zip(axes[0], sets, strict=True):
        ax.set_title(name, fontsize=style.TEXT)
    figure.align_ylabels(axes[:, 0])
    return figure


def _lowest_of_decades(measure: str, values: pd.DataFrame) -> float | None:
    """The lower edge of a log axis, half a decade below the lowest median; None where a linear axis squeezes none."""
    medians = values.groupby("method")["value"].median()
    medians = medians[medians > 0.0]
    spans = measure in _FROM_ZERO and len(medians) > 1 and medians.max() > _DECADES * medians.min()
    return float(medians.min()) / 3.0 if spans else None


def _scale(ax: Axes, measure: str, floor: float | None) -> None:
    if measure == OWN_FIT:
        _log_axis(ax, (1.0, 2.0, 5.0))
    elif floor is not None:
        _log_axis(ax, (1.0,))
        ax.set_ylim(bottom=floor)
        ax.text(0.98, 0.98, tr("log"), transform=ax.transAxes, ha="right", va="top", fontsize=6.5, color=style.QUIET)
    elif measure == "share_kept":
        ax.set_ylim(-0.03, 1.0)
    elif measure in _FROM_ZERO:
        ax.set_ylim(bottom=0)


def _log_axis(ax: Axes, ticks: tuple[float, ...]) -> None:
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_major_locator(LogLocator(subs=ticks))
    ax.yaxis.set_minor_formatter(NullFormatter())


def _panel(ax: Axes, measure: str, values: pd.DataFrame, methods: list[str]) -> None:
    floor = _lowest_of_decades(measure, values)
    shown = values["value"].clip(lower=floor)
    drawn = ax.boxplot(
        [list(shown[values["method"] == method].dropna()) for method in methods],
        positions=range(len(methods)),
        widths=0.7,
        showfliers=False,
        patch_artist=True,
        medianprops={"color": style.BLACK, "linewidth": 1.4},
        whiskerprops={"color": style.GREY, "linewidth": 0.8},
        capprops={"color": style.GREY, "linewidth": 0.8},
    )
    for box, method in zip(drawn["boxes"], methods, strict=True):
        box.set(facecolor=method_colour(method), edgecolor=style.GREY, linewidth=0.8)
    style.plain_frame(ax)
    ax.tick_params(labelsize=6.5)
    ax.grid(axis="y", color=style.FAINT, linewidth=0.5)
    ax.set_axisbelow(True)
    names = [method_name(method) for method in methods]
    ax.set_xticks(range(len(methods)), [_SHORT.get(name, name) for name in names], rotation=90, fontsize=7)
    _scale(ax, measure, floor)
