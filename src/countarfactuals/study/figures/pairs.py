"""The data of a set, two features at a time, with the rows that are explained.

1. Below the diagonal: a sample of the data by label, and the instances on top.
2. On the diagonal: histograms of each label.
3. Of more than nine features those nine are shown whose values go most with the black box's score, by rank
   correlation.
4. Levels are drawn as numbers and scattered a little, so that points do not hide one another.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from countarfactuals.plotting import style
from countarfactuals.study.cases import Case

MOST_FEATURES = 9
_MOST_ROWS = 1200
_COLOURS = ((0, "#B5B5B5", "o"), (1, "#404040", "^"))  # greys, as colours are those of methods
_STAR_FACE, _STAR_EDGE = style.YELLOW, style.BLACK
_SCATTER = 0.12


def shown_features(case: Case) -> list[str]:
    """The features that are shown, in the order of the data."""
    names = list(case.X.columns)
    if len(names) <= MOST_FEATURES:
        return names
    score = pd.Series(case.model(case.X)).rank()
    strength = {name: abs(case.X[name].astype(float).rank().corr(score)) for name in names}
    best = sorted(names, key=lambda name: -strength[name])[:MOST_FEATURES]
    return [name for name in names if name in best]


def draw_pairs(case: Case) -> Figure:
    """The whole matrix."""
    names, rng = shown_features(case), np.random.default_rng(1)
    chosen = np.sort(rng.permutation(len(case.X))[:_MOST_ROWS])
    data = {name: _spread(case.X[name].iloc[chosen], rng) for name in names}
    instances = {name: case.instances[name].astype(float).to_numpy() for name in names}
    y = case.y.to_numpy()[chosen]
    n = len(names)
    if n == 2:
        return _plane(case, names, data, instances, y)
    figure = Figure(figsize=(style.PAGE, style.PAGE), layout="constrained")
    axes = figure.subplots(n, n, squeeze=False, sharex="col")
    for i, below in enumerate(names):
        for j, across in enumerate(names):
            ax = axes[i, j]
            if j > i:
                ax.set_visible(False)
                continue
            if i == j:
                _histogram(ax, data[below], y)
            else:
                _scatter(ax, data[across], data[below], y, instances[across], instances[below], 2.0, 22.0)
            _few_ticks(ax.xaxis)
            if i != j:
                _few_ticks(ax.yaxis)
            if i == n - 1 and _is_level(case.X[across]):
                ax.set_xticks(_levels(case.X[across]))
            if j == 0 and i > 0 and _is_level(case.X[below]):
                ax.set_yticks(_levels(case.X[below]))
            style.plain_frame(ax)
            ax.tick_params(labelsize=6.5, labelbottom=i == n - 1, labelleft=j == 0 and i > 0)
            if i == n - 1:
                ax.set_xlabel(across, fontsize=style.SMALL)
            if j == 0 and i > 0:
                ax.set_ylabel(below, fontsize=style.SMALL)
    figure.legend(
        handles=_handles(), loc="upper right", bbox_to_anchor=(0.97, 0.97), fontsize=style.TEXT, frameon=False
    )
    total = f", {n} of {case.n_features} features" if n < case.n_features else ""
    figure.suptitle(f"{case.name}{total}", fontsize=style.TEXT)
    return figure


def _plane(
    case: Case, names: list[str], data: dict[str, np.ndarray], instances: dict[str, np.ndarray], y: np.ndarray
) -> Figure:
    """Two features need one panel only."""
    figure = Figure(figsize=(4.6, 3.6), layout="constrained")
    ax = figure.subplots()
    across, below = names
    _scatter(ax, data[across], data[below], y, instances[across], instances[below], 6.0, 70.0)
    style.plain_frame(ax)
    ax.set_xlabel(across, fontsize=style.TEXT)
    ax.set_ylabel(below, fontsize=style.TEXT)
    figure.suptitle(case.name, fontsize=style.TEXT)
    figure.legend(handles=_handles(), loc="outside lower center", ncols=3, fontsize=style.SMALL, frameon=False)
    return figure


def _few_ticks(axis: Axis) -> None:
    """Ticks whose labels have room in a small panel."""
    axis.set_major_locator(MaxNLocator(nbins=2, steps=[1, 2, 3, 4, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}".replace("-", "−")))


def _spread(values: pd.Series, rng: np.random.Generator) -> np.ndarray:
    numbers = values.astype(float).to_numpy()
    return numbers + rng.uniform(-_SCATTER, _SCATTER, len(numbers)) if _is_level(values) else numbers


def _is_level(values: pd.Series) -> bool:
    return isinstance(values.dtype, pd.CategoricalDtype)


def _levels(values: pd.Series) -> list[float]:
    return [float(level) for level in values.cat.categories]


def _scatter(
    ax: Axes, x: np.ndarray, y: np.ndarray, label: np.ndarray, xs: np.ndarray, ys: np.ndarray, size: float, star: float
) -> None:
    for value, colour, marker in _COLOURS:
        is_it = label == value
        ax.scatter(x[is_it], y[is_it], s=size, c=colour, marker=marker, alpha=0.45, linewidths=0, rasterized=True)
    ax.scatter(xs, ys, s=star, c=_STAR_FACE, edgecolors=_STAR_EDGE, marker="*", linewidths=0.5, zorder=3)


def _histogram(ax: Axes, values: np.ndarray, label: np.ndarray) -> None:
    bins = np.linspace(values.min(), values.max(), 25).tolist()
    for value, colour, _ in _COLOURS:
        ax.hist(values[label == value], bins=bins, color=colour, alpha=0.55)
    ax.set_yticks([])


def _handles() -> list[Line2D]:
    found = [
        Line2D([], [], linestyle="none", marker=marker, color=colour, markersize=5, label=f"y = {value}")
        for value, colour, marker in _COLOURS
    ]
    star = Line2D([], [], linestyle="none", marker="*", markersize=10, label="explained")
    star.set(markerfacecolor=_STAR_FACE, markeredgecolor=_STAR_EDGE)
    return [*found, star]
