"""Near or plausible? The paper's Figure 1 from code: `python examples/tradeoff.py [FILE]` draws both panels.

1. Each panel is a process in the plane with a known density. A model learns to tell its classes, a forest its density.
2. Panel a: both classes are far from the boundary. The counterfactual nearest to x lies where no data is; one that is
   as plausible as the median real row is farther away.
3. Panel b: between two dense regions of the wanted class is a gap with a few stray rows. The same question, for the
   nearest counterfactual as plausible as the median real row, is put to two measures: by the distance to the nearest
   real row (Gower, as in MOC with k = 1) the answer is beside a stray row in the gap, by the forest in a dense region.
4. The forest is shown as it is, too kind to the empty middle of panel a: leaves that hold rows of both classes spread a
   normal across it. How plausible it calls the middle is printed beside the truth; the shading starts above that.

Candidates are the points of a grid that the model predicts as wanted. "Real rows" are fresh ones of the wanted class.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

from countarfactuals import AdversarialRandomForest
from countarfactuals.objectives import Gower
from countarfactuals.plotting import style
from countarfactuals.schema import Schema

SEED = 1
N_ROWS, N_FRESH, N_GRID = 1500, 2000, 121
NAMES = ("x1", "x2")
MARKERS = {False: "x", True: "o"}
SHADES = {0.25: "#E3EEF6", 0.5: "#B5D3E9"}  # by the share of real rows that are less plausible
MIDDLE = 0.4  # panel a is empty where feature 1 is nearer to 0


@dataclass(frozen=True)
class Part:
    """A piece of a process: its share of the rows, whether they are wanted, and the law of each coordinate."""

    share: float
    wanted: bool
    x1: Any
    x2: Any


@dataclass(frozen=True)
class Scene:
    """A process, the row to explain and the corners of the picture."""

    parts: tuple[Part, ...]
    x: tuple[float, float]
    low: tuple[float, float]
    high: tuple[float, float]

    def sample(self, n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
        """Rows and whether each is wanted."""
        rng = np.random.default_rng(seed)
        part = rng.choice(len(self.parts), n, p=[one.share for one in self.parts])
        drawn = [(one.x1.rvs(n, random_state=rng), one.x2.rvs(n, random_state=rng)) for one in self.parts]
        points = np.array(drawn)[part, :, np.arange(n)]
        return pd.DataFrame(points, columns=NAMES), np.array([one.wanted for one in self.parts])[part]

    def log_density(self, points: np.ndarray) -> np.ndarray:
        """The true log density."""
        logs = [np.log(one.share) + one.x1.logpdf(points[:, 0]) + one.x2.logpdf(points[:, 1]) for one in self.parts]
        return np.logaddexp.reduce(logs, axis=0)


@dataclass(frozen=True)
class Answer:
    """A counterfactual, and the share of real rows that are less plausible than it by each measure."""

    point: np.ndarray
    distance: float
    by_gower: float
    by_arf: float
    in_truth: float


@dataclass(frozen=True)
class Panel:
    """What is drawn: data, the forest's view of the plane, and the counterfactuals of the different rules."""

    scene: Scene
    data: pd.DataFrame
    wanted: np.ndarray
    grid: np.ndarray
    score: np.ndarray  # of the model at the grid's points; wanted above 0
    typicality: np.ndarray  # of the grid's points, by the forest
    in_truth: np.ndarray  # the same by the true density
    nearest: Answer
    plausible_by_gower: Answer
    plausible_by_arf: Answer


TRADE_OFF = Scene(
    parts=(
        Part(0.5, False, norm(-2.2, 0.5), norm(0.0, 0.8)),
        Part(0.5, True, norm(2.2, 0.5), norm(0.5, 0.8)),
    ),
    x=(-1.6, -1.0),
    low=(-4.2, -2.8),
    high=(4.2, 3.2),
)
GAP = Scene(
    parts=(
        Part(0.45, False, norm(0.0, 0.8), norm(-3.3, 0.35)),
        Part(0.27, True, norm(-2.1, 0.35), norm(1.3, 0.6)),
        Part(0.27, True, norm(2.1, 0.35), norm(1.3, 0.6)),
        Part(0.01, True, norm(0.0, 0.4), norm(1.2, 0.35)),
    ),
    x=(0.3, -2.7),
    low=(-4.2, -4.8),
    high=(4.2, 4.2),
)


def main(path: str = "tradeoff.png") -> None:
    trade_off, gap = make_panel(TRADE_OFF), make_panel(GAP)
    print("Share of real rows of the wanted class that are less plausible:\n")
    print(f"{'':<52} {'Gower':>6} {'ARF':>6} {'truth':>7}")
    told = {
        "a  the nearest counterfactual": trade_off.nearest,
        "a  the nearest that ARF calls plausible": trade_off.plausible_by_arf,
        "b  the nearest that Gower calls plausible": gap.plausible_by_gower,
        "b  the nearest that ARF calls plausible": gap.plausible_by_arf,
    }
    for name, one in told.items():
        print(f"{name:<52} {one.by_gower:6.0%} {one.by_arf:6.0%} {one.in_truth:7.0%}")
    middle = np.abs(trade_off.grid[:, 0]) < MIDDLE
    by_arf, in_truth = trade_off.typicality[middle].max(), trade_off.in_truth[middle].max()
    print(f"{'a  the highest in the empty middle':<52} {'':>6} {by_arf:6.0%} {in_truth:7.0%}")
    draw(trade_off, gap).savefig(path, dpi=200)
    print(f"\nDrawn in {path}. Shading starts at {min(SHADES):.0%}.")


def make_panel(scene: Scene, seed: int = SEED) -> Panel:
    """The data of a scene, a model, both measures, and the counterfactuals."""
    data, wanted = scene.sample(N_ROWS, seed)
    model = LogisticRegression().fit(data, wanted)
    forest = AdversarialRandomForest(random_state=seed).fit(data)
    grid = grid_of(scene)
    score = model.decision_function(pd.DataFrame(grid, columns=NAMES))
    valid = score > 0
    fresh, fresh_wanted = scene.sample(N_FRESH, seed + 1)
    real = fresh.to_numpy()[fresh_wanted]

    schema = Schema.infer(data)
    matrix = schema.encode(data)
    gower = Gower.of(schema, matrix)
    shares = {  # of real rows that are less plausible
        "gower": beaten(-nearest_distance(gower, grid, matrix), -nearest_distance(gower, real, matrix)),
        "arf": beaten(log_density(forest, grid), log_density(forest, real)),
        "truth": beaten(scene.log_density(grid), scene.log_density(real)),
    }
    distance = gower.to(np.array(scene.x), grid)

    def nearest(among: np.ndarray) -> Answer:
        best = int(np.argmin(np.where(among, distance, np.inf)))
        measured = (float(shares[name][best]) for name in ("gower", "arf", "truth"))
        return Answer(grid[best], float(distance[best]), *measured)

    return Panel(
        scene=scene,
        data=data,
        wanted=wanted,
        grid=grid,
        score=score,
        typicality=shares["arf"],
        in_truth=shares["truth"],
        nearest=nearest(valid),
        plausible_by_gower=nearest(valid & (shares["gower"] >= 0.5)),
        plausible_by_arf=nearest(valid & (shares["arf"] >= 0.5)),
    )


def grid_of(scene: Scene) -> np.ndarray:
    axes = [np.linspace(low, high, N_GRID) for low, high in zip(scene.low, scene.high, strict=True)]
    return np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)


def nearest_distance(gower: Gower, points: np.ndarray, data: np.ndarray) -> np.ndarray:
    """Plausibility as MOC measures it with k = 1."""
    return gower.nearest(points, data, 1)[0][:, 0]


def log_density(forest: AdversarialRandomForest, points: np.ndarray) -> np.ndarray:
    return forest.score_samples(pd.DataFrame(points, columns=NAMES))


def beaten(values: np.ndarray, real: np.ndarray) -> np.ndarray:
    """The share of real rows with a lower value."""
    return np.searchsorted(np.sort(real), values) / len(real)


def draw(trade_off: Panel, gap: Panel) -> Figure:
    figure = Figure(figsize=(style.PAGE, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    draw_plane(left, trade_off, "a   Near or plausible")
    mark(left, trade_off, trade_off.plausible_by_arf, "nearest that\nis plausible", style.BLUE, "D", (3.1, -2.3))
    mark(left, trade_off, trade_off.nearest, "nearest", style.VERMILLION, "s", (-0.75, -2.35))
    draw_plane(right, gap, "b   A gap between dense regions")
    mark(right, gap, gap.plausible_by_arf, "plausible by\nthe forest", style.BLUE, "D", (3.1, -2.2))
    mark(right, gap, gap.plausible_by_gower, "plausible by the\nnearest real row", style.VERMILLION, "s", (0.0, 3.6))
    figure.legend(handles=legend_handles(), loc="outside lower center", ncols=3, fontsize=style.SMALL, frameon=False)
    return figure


def draw_plane(ax: Axes, panel: Panel, title: str) -> None:
    shape = (N_GRID, N_GRID)
    x1, x2 = (panel.grid[:, j].reshape(shape) for j in range(2))
    ax.contourf(x1, x2, panel.typicality.reshape(shape), [*SHADES, 1.0], colors=list(SHADES.values()))
    ax.contour(x1, x2, panel.score.reshape(shape), [0.0], colors=style.GREY, linewidths=1.2, linestyles="--")
    for wanted, marker in MARKERS.items():
        rows = panel.data[panel.wanted == wanted]
        ax.scatter(rows["x1"], rows["x2"], s=4.0, marker=marker, color=style.QUIET, linewidths=0.5, alpha=0.5)
    ax.set_title(title, fontsize=style.TEXT, loc="left")
    ax.set_xlabel("feature 1", fontsize=style.SMALL)
    ax.set_ylabel("feature 2", fontsize=style.SMALL)
    ax.set_xlim(panel.scene.low[0], panel.scene.high[0])
    ax.set_ylim(panel.scene.low[1], panel.scene.high[1])
    style.plain_frame(ax)


def mark(
    ax: Axes, panel: Panel, answer: Answer, name: str, colour: str, marker: str, label: tuple[float, float]
) -> None:
    """The way from x to a counterfactual, which has a marker and a name of its own."""
    x, point = panel.scene.x, tuple(answer.point)
    ax.plot(*zip(x, point, strict=True), color=colour, linewidth=1.6)
    ax.plot(*point, marker, color=colour, markersize=8, markeredgecolor="white", zorder=4)
    ax.plot(*x, "*", color=style.X_COLOUR, markersize=14, markeredgecolor="white", zorder=4)
    leader = {"arrowstyle": "-", "color": style.GREY, "linewidth": 0.7, "shrinkB": 5.0}
    ax.annotate(
        name, point, label, fontsize=style.SMALL, ha="center", va="center", color=style.BLACK, arrowprops=leader
    )


def legend_handles() -> list[Artist]:
    rows = {"linestyle": "none", "color": style.QUIET, "markersize": 4}
    return [
        Line2D([], [], linestyle="none", marker="*", color=style.X_COLOUR, markersize=10, label="x, to be explained"),
        Line2D([], [], linestyle="--", color=style.GREY, label="decision boundary"),
        Line2D([], [], marker=MARKERS[False], label="data, not wanted", **rows),
        Line2D([], [], marker=MARKERS[True], label="data, wanted", **rows),
        *(
            Patch(color=colour, label=f"forest: beats {100 * share:.0f} % of real rows of the wanted class")
            for share, colour in SHADES.items()
        ),
    ]


if __name__ == "__main__":
    main(*sys.argv[1:2])
