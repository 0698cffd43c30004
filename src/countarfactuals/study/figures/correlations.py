"""RQ2: how closely the learned measure and Gower's follow the true density.

1. Left, as in the paper's repository: the density of the Spearman correlations over all explanations, a kernel estimate
   reflected at −1 and 1, beyond which there is nothing. Broken lines are medians.
2. Right: medians per data set, once over explanations and once over the candidates of all methods together.
3. The measures are no methods, so they have other colours.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from countarfactuals.language import tr
from countarfactuals.plotting import style

_SIDES = {"spearman_arf": (style.BLACK, "o", "-"), "spearman_gower": ("#9A7B00", "s", "-.")}  # colour, marker, dash
_GRID = np.linspace(-1.0, 1.0, 401)


def reflected_density(values: np.ndarray, grid: np.ndarray = _GRID) -> np.ndarray:
    """Kernel density on [−1, 1]: mass beyond an end is put back inside."""
    spread = min(values.std(ddof=1), np.subtract(*np.quantile(values, [0.75, 0.25])) / 1.34) if len(values) > 1 else 0.0
    width = max(0.9 * spread * len(values) ** -0.2, 0.02)
    density = np.zeros(len(grid))
    for mirrored in (values, 2.0 - values, -2.0 - values):
        z = (grid[:, None] - mirrored[None]) / width
        density += np.exp(-0.5 * z**2).sum(axis=1)
    return density / (len(values) * width * np.sqrt(2.0 * np.pi))


def draw_correlations(instances: pd.DataFrame, pooled: pd.DataFrame) -> Figure:
    """Both panels."""
    figure = Figure(figsize=(style.PAGE, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    _densities(left, instances)
    _medians(right, instances, pooled)
    return figure


def _densities(ax: Axes, instances: pd.DataFrame) -> None:
    defined = instances[list(_SIDES)].dropna()
    labels = ("learned, median {median:.2f}", "Gower, median {median:.2f}")
    for (column, (colour, _, dash)), label in zip(_SIDES.items(), labels, strict=True):
        values = defined[column].to_numpy()
        if len(values) == 0:
            continue
        density, median = reflected_density(values), float(np.median(values))
        ax.fill_between(_GRID, density, color=colour, alpha=0.25, linewidth=0)
        ax.plot(_GRID, density, color=colour, linewidth=1.6, linestyle=dash, label=tr(label, median=median))
        ax.axvline(median, color=colour, linewidth=1.0, linestyle="--")
    if defined.empty:
        ax.text(0.5, 0.5, tr("no pair is defined"), transform=ax.transAxes, ha="center", fontsize=style.TEXT)
    ax.set(xlim=(-1.0, 1.0), xticks=[-1.0, -0.5, 0.0, 0.5, 1.0])
    ax.set_ylim(bottom=0.0)
    ax.set_ylabel(tr("density over explanations"), fontsize=style.SMALL)
    legend_at = 0.5 if len(defined) else None
    _finish(ax, tr("All explanations"), tr("Spearman correlation to the true density"), legend_at, 1)


def _medians(ax: Axes, instances: pd.DataFrame, pooled: pd.DataFrame) -> None:
    sets = list(instances["dataset"].unique())
    of_each, of_pooled = ("learned, per explanation", "Gower, per explanation"), ("learned, pooled", "Gower, pooled")
    for shift, table, is_filled, labels in ((-0.15, instances, False, of_each), (0.15, pooled, True, of_pooled)):
        medians = table.groupby("dataset")[list(_SIDES)].median().reindex(sets)
        heights = np.arange(len(sets)) + shift
        ax.hlines(heights, *(medians[side] for side in _SIDES), color=style.FAINT, linewidth=2.5)
        for (column, (colour, marker, _)), label in zip(_SIDES.items(), labels, strict=True):
            (dots,) = ax.plot(medians[column], heights, color=colour, label=tr(label))
            dots.set(linestyle="none", marker=marker, markersize=6, markerfacecolor=colour if is_filled else "white")
    ax.set_yticks(range(len(sets)), sets, fontsize=style.SMALL)
    ax.set_ylim(len(sets) - 0.5, -0.5)
    ax.set_xlim(min(0.0, ax.get_xlim()[0]), 1.02)
    _finish(ax, tr("By data set"), tr("median Spearman correlation"), 0.4, 2)


def _finish(ax: Axes, title: str, label: str, legend_at: float | None, n_columns: int) -> None:
    ax.set_title(title, fontsize=style.TEXT)
    ax.set_xlabel(label, fontsize=style.SMALL)
    if legend_at is not None:
        place = (legend_at, -0.17)
        ax.legend(fontsize=style.SMALL, frameon=False, loc="upper center", bbox_to_anchor=place, ncols=n_columns)
    style.plain_frame(ax)
