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

from countarfactuals.plotting import style
from countarfactuals.study.design import method_name

_ROWS = {
    "log_density": "true log\ndensity",
    "proximity": "proximity",
    "sparsity": "sparsity",
    "hypervolume": "hypervolume\n(published)",
    "plausible_hypervolume": "plausible\nhypervolume",
    "n_nondominated": "non-\ndominated",
    "seconds_with_own_fit": "seconds,\nown fit incl.",
}
_OF_ROWS = ("log_density", "proximity", "sparsity")
_SECONDS = "seconds_with_own_fit"
_FROM_ZERO = ("hypervolume", "plausible_hypervolume", "n_nondominated")
_DECADES = 100.0
_SHORT = {"MOCCTREE": "MOCCT."}


def box_values(candidates: pd.DataFrame, instances: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Data set, method and value of what a row of panels shows."""
    if measure in _OF_ROWS:
        best = candidates[candidates["nondominated"]]
        best = best.assign(proximity=1.0 - best["distance"], sparsity=1.0 - best["share_changed"])
        return best[["dataset", "method", measure]].rename(columns={measure: "value"})
    return instances[["dataset", "method", measure]].rename(columns={measure: "value"})


def draw_boxes(candidates: pd.DataFrame, instances: pd.DataFrame) -> Figure:
    """The whole grid."""
    sets, methods = list(instances["dataset"].unique()), list(instances["method"].unique())
    figure = Figure(figsize=(max(style.PAGE, 1.25 * len(sets)), 1.25 * len(_ROWS) + 0.5), layout="constrained")
    axes = figure.subplots(len(_ROWS), len(sets), squeeze=False, sharex=True)
    for i, (measure, label) in enumerate(_ROWS.items()):
        values = box_values(candidates, instances, measure)
        for j, name in enumerate(sets):
            some = values[values["dataset"] == name]
            if _spans_decades(measure, some):
                some = some.assign(value=some["value"].clip(lower=_floor(some)))
            _panel(axes[i, j], [some.loc[some["method"] == method, "value"].dropna() for method in methods], methods)
            _scale(axes[i, j], measure, some)
            if j == 0:
                axes[i, j].set_ylabel(label, fontsize=style.SMALL)
            if i == 0:
                axes[i, j].set_title(name, fontsize=style.TEXT)
    figure.align_ylabels(axes[:, 0])
    return figure


def _spans_decades(measure: str, some: pd.DataFrame) -> bool:
    """Whether a linear axis would squeeze some methods to nothing."""
    medians = _positive_medians(some)
    return measure in _FROM_ZERO and len(medians) > 1 and medians.max() > _DECADES * medians.min()


def _positive_medians(some: pd.DataFrame) -> pd.Series:
    medians = some.groupby("method")["value"].median()
    return medians[medians > 0.0]


def _floor(some: pd.DataFrame) -> float:
    """The lower edge of a log axis: half a decade below the lowest median."""
    return float(_positive_medians(some).min()) / 3.0


def _scale(ax: Axes, measure: str, some: pd.DataFrame) -> None:
    if measure == _SECONDS:
        _log_axis(ax, (1.0, 2.0, 5.0))
    elif _spans_decades(measure, some):
        floor = _floor(some)
        _log_axis(ax, (1.0,))
        ax.set_ylim(bottom=floor)
        ax.text(0.98, 0.98, "log", transform=ax.transAxes, ha="right", va="top", fontsize=6.5, color=style.QUIET)
    elif measure == "sparsity":
        ax.set_ylim(-0.03, 1.0)
    elif measure in _FROM_ZERO:
        ax.set_ylim(bottom=0)


def _log_axis(ax: Axes, ticks: tuple[float, ...]) -> None:
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_major_locator(LogLocator(subs=ticks))
    ax.yaxis.set_minor_formatter(NullFormatter())


def _panel(ax: Axes, values: list[pd.Series], methods: list[str]) -> None:
    drawn = ax.boxplot(
        [list(some) for some in values],
        positions=range(len(methods)),
        widths=0.7,
        showfliers=False,
        patch_artist=True,
        medianprops={"color": style.BLACK, "linewidth": 1.4},
        whiskerprops={"color": style.GREY, "linewidth": 0.8},
        capprops={"color": style.GREY, "linewidth": 0.8},
    )
    for box, method in zip(drawn["boxes"], methods, strict=True):
        box.set(facecolor=style.method_colour(method), edgecolor=style.GREY, linewidth=0.8)
    style.plain_frame(ax)
    ax.tick_params(labelsize=6.5)
    ax.grid(axis="y", color=style.FAINT, linewidth=0.5)
    ax.set_axisbelow(True)
    names = [method_name(method) for method in methods]
    ax.set_xticks(range(len(methods)), [_SHORT.get(name, name) for name in names], rotation=90, fontsize=7)
