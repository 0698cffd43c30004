"""Colours, sizes and axes: the one place that says how pictures look.

Colours are those of Okabe and Ito, which people with any colour vision can tell apart. Nothing is said by colour alone:
arrows, markers or labels say it too. No setting of matplotlib is changed; sizes are passed to each artist.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.colors import LinearSegmentedColormap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILLION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
GREY, QUIET, FAINT = "#595959", "#767676", "#D9D9D9"

X_COLOUR, COUNTERFACTUAL_COLOUR, REAL_COLOUR = BLACK, BLUE, "#A6A6A6"
CHANGE_COLOURS = {"↑": BLUE, "↓": VERMILLION, "↔": GREEN}
CHANGE_TINTS = {"↑": "#DCEBF5", "↓": "#FBE5D6", "↔": "#D9F0E8"}
CHANGE_WORDS = {"↑": "increased", "↓": "decreased", "↔": "other value"}
METHOD_COLOURS = {
    "arf": BLUE,
    "mocarf": GREEN,
    "moc": ORANGE,
    "mocctree": PURPLE,
    "nice": VERMILLION,
    "whatif": SKY,
    "random": QUIET,
}

# from "far from the target" to "reached"; pale, so that markers stand out
SURFACE = LinearSegmentedColormap.from_list("surface", ["#F3C98B", "#FAEBD2", "#FFFFFF", "#DCEBF5", "#9CCBE8"])
# few to many changes, dark to light; the palest end is left out, as it would vanish on white
AMOUNT = LinearSegmentedColormap.from_list("amount", ["#00224E", "#35618F", "#7C9A92", "#D9B45B"])

PAGE = 7.0  # inches
TEXT, SMALL = 9.0, 8.0  # points


def method_colour(method: str) -> str:
    """The colour of a method, the same in every picture; black for one that is not known.

    >>> method_colour("arf") == BLUE, method_colour("another")
    (True, '#000000')
    """
    return METHOD_COLOURS.get(method, BLACK)


def axes_for(ax: Axes | None, height: float, width: float = PAGE) -> Axes:
    """The axes given, or those of a new figure of this size in inches."""
    if ax is not None:
        return ax
    from matplotlib import pyplot  # only here, as it chooses how figures are shown

    figure, new = pyplot.subplots(figsize=(width, height), layout="constrained")
    figure.draw_without_rendering()  # lays the axes out, so that `inches` is about what it will be
    return new


def inches(ax: Axes) -> tuple[float, float]:
    """Width and height of the axes."""
    dpi = ax.figure.dpi
    return ax.bbox.width / dpi, ax.bbox.height / dpi


def plain_frame(ax: Axes, keep: tuple[str, ...] = ("left", "bottom")) -> None:
    """Only the lines that are needed, and ticks that can be read."""
    for side, spine in ax.spines.items():
        spine.set_visible(side in keep)
        spine.set_color(GREY)
    ax.tick_params(labelsize=SMALL, color=GREY)


def no_frame(ax: Axes) -> None:
    """Axes that carry text only."""
    plain_frame(ax, ())
    ax.set_xticks([])
    ax.set_yticks([])
