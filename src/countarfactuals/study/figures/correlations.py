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

from countarfactuals.plotting import style

_SIDES = {"spearman_arf": ("learned", style.BLACK, "o"), "spearman_gower": ("Gower", "#9A7B00", "s")}
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
    defined = instances[["spearman_arf", "spearman_gower"]].dropna()
    for column, (name, colour, _) in _SIDES.items():
        values = defined[column].to_numpy()
        if len(values) == 0:
            ax.text(0.5, 0.5, "no pair is defined", transform=ax.transAxes, ha="center", fontsize=style.TEXT)
            break
        density = reflected_density(values)
        ax.fill_between(_GRID, density, color=colour, alpha=0.25, linewidth=0)
        dash = "-" if column == "spearman_arf" else "-."
        label = f"{name}, median {np.median(values):.2f}"
        ax.plot(_GRID, density, color=colour, linewidth=1.6, linestyle=dash, label=label)
        ax.axvline(float(np.median(values)), color=colour, linewidth=1.0, linestyle="--")
    ax.set_xlim(-1.0, 1.0)
    ax.set_xticks([-1.0, -0.5, 0.0, 0.5, 1.0])
    ax.set_ylim(bottom=0.0)
    ax.set_xlabel("Spearman correlation to the true density", fontsize=style.SMALL)
    ax.set_ylabel("density over explanations", fontsize=style.SMALL)
    ax.set_title("All explanations", fontsize=style.TEXT)
    if len(defined):
        ax.legend(fontsize=style.SMALL, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.17))
    style.plain_frame(ax)


def _medians(ax: Axes, instances: pd.DataFrame, pooled: pd.DataFrame) -> None:
    sets = list(instances["dataset"].unique())
    for shift, table, is_filled, words in (
        (-0.15, instances, False, "per explanation"),
        (0.15, pooled, True, "pooled"),
    ):
        medians = table.groupby("dataset")[list(_SIDES)].median().reindex(sets)
        heights = np.arange(len(sets)) + shift
        ax.hlines(heights, medians["spearman_arf"], medians["spearman_gower"], color=style.FAINT, linewidth=2.5)
        for column, (name, colour, marker) in _SIDES.items():
            face = colour if is_filled else "white"
            ax.plot(
                medians[column],
                heights,
                linestyle="none",
                marker=marker,
                markersize=6,
                color=colour,
                markerfacecolor=face,
                label=f"{name}, {words}",
            )
    ax.set_yticks(range(len(sets)), sets, fontsize=style.SMALL)
    ax.set_ylim(len(sets) - 0.5, -0.5)
    ax.set_xlabel("median Spearman correlation", fontsize=style.SMALL)
    ax.set_title("By data set", fontsize=style.TEXT)
    low = min(0.0, ax.get_xlim()[0])
    ax.set_xlim(low, 1.02)
    ax.legend(fontsize=style.SMALL, frameon=False, loc="upper center", bbox_to_anchor=(0.4, -0.17), ncols=2)
    style.plain_frame(ax)
