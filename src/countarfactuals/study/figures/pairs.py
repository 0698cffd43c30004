"""The data of a set, two features at a time, with the rows that are explained.

1. Below the diagonal: a sample of the data by label, and the instances on top.
2. On the diagonal: histograms of each label.
3. Of more than nine features those nine are shown whose values go most with the black box's score, by rank
   correlation.
4. Levels are drawn as numbers and scattered a little, so that points do not hide one another.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from countarfactuals.language import tr
from countarfactuals.plotting import style
from countarfactuals.study.sets import Case

_MOST_FEATURES = 9
_MOST_ROWS = 1200
_COLOURS = ((0, "#B5B5B5", "o"), (1, "#404040", "^"))  # greys, as colours are those of methods
_STAR_FACE, _STAR_EDGE = style.YELLOW, style.BLACK
_SCATTER = 0.12


def _shown_features(case: Case) -> list[str]:
    """The features that are shown, in the order of the data."""
    names = list(case.X.columns)
    if len(names) <= _MOST_FEATURES:
        return names
    score = pd.Series(case.model(case.X)).rank()
    strength = {name: abs(case.X[name].astype(float).rank().corr(score)) for name in names}
    best = sorted(names, key=lambda name: -strength[name])[:_MOST_FEATURES]
    return [name for name in names if name in best]


class _Shown(NamedTuple):
    """What is drawn: a sample of the data and the instances by feature, and the sample's labels."""

    data: dict[str, np.ndarray]
    instances: dict[str, np.ndarray]
    label: np.ndarray


def draw_pairs(case: Case) -> Figure:
    """The whole matrix; two features need one panel only."""
    names, rng = _shown_features(case), np.random.default_rng(1)
    chosen = np.sort(rng.permutation(len(case.X))[:_MOST_ROWS])
    shown = _Shown(
        {name: _spread(case.X[name].iloc[chosen], rng) for name in names},
        {name: case.instances[name].astype(float).to_numpy() for name in names},
        case.y.to_numpy()[chosen],
    )
    return _plane(case, shown) if len(names) == 2 else _matrix(case, shown)


def _matrix(case: Case, shown: _Shown) -> Figure:
    names = list(shown.data)
    figure = Figure(figsize=(style.PAGE, style.PAGE), layout="constrained")
    axes = figure.subplots(len(names), len(names), squeeze=False, sharex="col")
    for i, below in enumerate(names):
        for ax, across in zip(axes[i], names, strict=True):
            ax.set_visible(names.index(across) <= i)
        for ax, across in zip(axes[i, :i], names, strict=False):
            _scatter(ax, shown, across, below, 2.0, 22.0)
            _few_ticks(ax.yaxis)
        _histogram(axes[i, i], shown.data[below], shown.label)
        for j, ax in enumerate(axes[i, : i + 1]):
            _few_ticks(ax.xaxis)
            style.plain_frame(ax)
            ax.tick_params(labelsize=6.5, labelbottom=i == len(names) - 1, labelleft=j == 0 < i)
    for ax, name in zip(axes[-1], names, strict=True):
        _name_axis(ax.xaxis, case.X[name])
    for ax, name in zip(axes[1:, 0], names[1:], strict=True):
        _name_axis(ax.yaxis, case.X[name])
    place = {"loc": "upper right", "bbox_to_anchor": (0.97, 0.97)}
    figure.legend(handles=_handles(), **place, fontsize=style.TEXT, frameon=False)
    title = "{set}" if len(names) == case.n_features else tr("{set}, {n} of {all} features")
    figure.suptitle(title.format(set=case.name, n=len(names), all=case.n_features), fontsize=style.TEXT)
    return figure


def _name_axis(axis: Axis, values: pd.Series) -> None:
    axis.set_label_text(str(values.name), fontsize=style.SMALL)
    if _is_level(values):
        axis.set_ticks([float(level) for level in values.cat.categories])


def _plane(case: Case, shown: _Shown) -> Figure:
    figure = Figure(figsize=(4.6, 3.6), layout="constrained")
    ax = figure.subplots()
    across, below = shown.data
    _scatter(ax, shown, across, below, 6.0, 70.0)
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


def _scatter(ax: Axes, shown: _Shown, across: str, below: str, size: float, star: float) -> None:
    x, y = shown.data[across], shown.data[below]
    for value, colour, marker in _COLOURS:
        is_it = shown.label == value
        ax.scatter(x[is_it], y[is_it], s=size, c=colour, marker=marker, alpha=0.45, linewidths=0, rasterized=True)
    stars: dict[str, Any] = {"c": _STAR_FACE, "edgecolors": _STAR_EDGE, "marker": "*", "linewidths": 0.5}
    ax.scatter(shown.instances[across], shown.instances[below], s=star, zorder=3, **stars)


def _histogram(ax: Axes, values: np.ndarray, label: np.ndarray) -> None:
    bins = np.linspace(values.min(), values.max(), 25).tolist()
    for value, colour, _ in _COLOURS:
        ax.hist(values[label == value], bins=bins, color=colour, alpha=0.55)
    ax.set_yticks([])


def _handles() -> list[Line2D]:
    labels = [
        Line2D([], [], linestyle="none", marker=marker, color=colour, markersize=5, label=f"y = {value}")
        for value, colour, marker in _COLOURS
    ]
    star = Line2D([], [], linestyle="none", marker="*", markersize=10, label=tr("explained"))
    star.set(markerfacecolor=_STAR_FACE, markeredgecolor=_STAR_EDGE)
    return [*labels, star]
