"""Every measure of RQ1, one row of panels per measure and one column per data set, as in the paper.

1. Plausibility (true log density), proximity (1 − distance) and sparsity (1 − share changed) are those of all
   non-dominated counterfactuals; all else is one value per instance.
2. A box spans the quartiles and has its line at the median; whiskers reach 1.5 boxes at most. Points beyond are not
   drawn, as few of them would squeeze the boxes.
3. Higher is better but for seconds.
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
    "seconds": "seconds",
}
_OF_ROWS = ("log_density", "proximity", "sparsity")
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
            _panel(axes[i, j], [some.loc[some["method"] == method, "value"].dropna() for method in methods], methods)
            if measure == "seconds":
                axes[i, j].set_yscale("log")
                axes[i, j].yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
                axes[i, j].yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
                axes[i, j].yaxis.set_minor_formatter(NullFormatter())
            if measure == "sparsity":
                axes[i, j].set_ylim(-0.03, 1.0)
            if measure in ("hypervolume", "plausible_hypervolume", "n_nondominated"):
                axes[i, j].set_ylim(bottom=0)
            if j == 0:
                axes[i, j].set_ylabel(label, fontsize=style.SMALL)
            if i == 0:
                axes[i, j].set_title(name, fontsize=style.TEXT)
    figure.align_ylabels(axes[:, 0])
    return figure


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
