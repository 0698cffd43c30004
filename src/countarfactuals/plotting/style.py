"""How pictures look, in one place: colours and sizes, axes, and the user's names and values on them.

1. Colours are those of Okabe and Ito, which people with any colour vision can tell apart. Nothing is said by colour
   alone: arrows, markers or labels say it too. No setting of matplotlib is changed; sizes are passed to each artist.
2. Names may hold anything: control characters are escaped (`wording.one_line`), and dollar signs, which matplotlib
   would read as formulas.
3. They must fit: a text is measured in the font that draws it, and its middle is left out until it fits its room.
"""

from __future__ import annotations

import textwrap
from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.textpath import text_to_path
from matplotlib.ticker import FuncFormatter, ScalarFormatter

from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.counterfactuals.display import sentences
from countarfactuals.counterfactuals.outcomes import target_text
from countarfactuals.explainers import methods
from countarfactuals.language import ENGLISH, Catalogue, spoken, tr
from countarfactuals.language.spelling import name_text, one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_Axis = Literal["x", "y", "both"]

BLACK, GREEN = "#000000", "#009E73"
YELLOW, BLUE, VERMILLION = "#F0E442", "#0072B2", "#D55E00"
GREY, QUIET, FAINT = "#595959", "#767676", "#D9D9D9"

X_COLOUR, COUNTERFACTUAL_COLOUR, REAL_COLOUR = BLACK, BLUE, "#A6A6A6"
CHANGE_COLOURS = {"↑": BLUE, "↓": VERMILLION, "↔": GREEN}
CHANGE_TINTS = {"↑": "#DCEBF5", "↓": "#FBE5D6", "↔": "#D9F0E8"}
DASHED = (0, (4, 3))

# from "far from the target" to "reached"; pale, so that markers stand out
SURFACE = LinearSegmentedColormap.from_list("surface", ["#F3C98B", "#FAEBD2", "#FFFFFF", "#DCEBF5", "#9CCBE8"])
# few to many changes, dark to light; the palest end is left out, as it would vanish on white
AMOUNT = LinearSegmentedColormap.from_list("amount", ["#00224E", "#35618F", "#7C9A92", "#D9B45B"])

PAGE = 7.0  # inches
TEXT, SMALL = 9.0, 8.0  # points
_POINTS, _LONGEST = 72.0, 200
_MESSAGE_LINES, _CHARACTER = 6, 0.085  # inches per character of a message
_BAR, _LEAST_BAR, _WIDEST_NAME = 0.24, 0.16, 1.9  # inches
_BESIDE = 2.6  # inches of a legend beside a title


def method_colour(method: str) -> str:
    """The colour of a method, the same in every picture; black for one that is not known.

    >>> method_colour("arf") == BLUE, method_colour("another")
    (True, '#000000')
    """
    return methods()[method].colour if method in methods() else BLACK


# Axes


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


def plain_frame(ax: Axes, keep: tuple[str, ...] = ("left", "bottom"), grid: _Axis | None = None) -> None:
    """Only the lines that are needed, ticks that can be read, and a grid if asked for."""
    for side, spine in ax.spines.items():
        spine.set_visible(side in keep)
        spine.set_color(GREY)
    ax.tick_params(labelsize=SMALL, color=GREY)
    for axis in (ax.xaxis, ax.yaxis):
        speak(axis)
    if grid:
        ax.grid(axis=grid, color=FAINT, linewidth=0.6)
        ax.set_axisbelow(True)


def no_frame(ax: Axes) -> None:
    """Axes that carry text only."""
    plain_frame(ax, ())
    ax.set_xticks([])
    ax.set_yticks([])


def bar_axes(ax: Axes | None, n_bars: int) -> Axes:
    """Axes for so many bars below each other."""
    return axes_for(ax, _BAR * n_bars + 1.1)


def most_bars(ax: Axes | None, most: int) -> int:
    """How many bars axes have room for."""
    return most if ax is None else min(most, max(int(inches(ax)[1] / _LEAST_BAR), 1))


def name_bars(ax: Axes, names: Sequence[str]) -> None:
    """Names on the left of bars that begin at the top, and a grid behind them."""
    plain_frame(ax, ("left",), grid="x")
    ax.set_yticks(np.arange(len(names)), [fitted(name, _WIDEST_NAME) for name in names], fontsize=SMALL)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(names) - 0.4, -0.6)


def label_axes(ax: Axes, across: str = "", up: str = "") -> None:
    """Labels that are ready to draw."""
    ax.set_xlabel(across, fontsize=TEXT)
    ax.set_ylabel(up, fontsize=TEXT)


def mark(label: str, colour: str, marker: str = "o", size: float = 6.5, **look: Any) -> Line2D:
    """A mark in a legend."""
    return Line2D([], [], color=colour, marker=marker, markersize=size, label=label, **({"linestyle": ""} | look))


def legend(ax: Axes, handles: Sequence[Any] | None, loc: str, at: tuple[float, float], **layout: Any) -> None:
    """A legend outside the axes."""
    known = {} if handles is None else {"handles": handles}
    ax.legend(**known, fontsize=SMALL, loc=loc, bbox_to_anchor=at, frameon=False, **layout)


# Texts


def literal(text: str) -> str:
    r"""The text as matplotlib must get it to show it as it is.

    >>> literal("US$ or CA$")
    'US\\$ or CA\\$'
    """
    return text.replace("$", r"\$")


def text_width(text: str, size: float = SMALL) -> float:
    """Inches that a text takes in the current font."""
    # by character, as new texts come often and new characters do not; kerning is no more than a hair
    return sum(_width_of(character) for character in text) * size / _POINTS


@lru_cache(maxsize=4096)
def _width_of(character: str) -> float:
    """Width of one character as a multiple of the font's size."""
    width, _, _ = text_to_path.get_text_width_height_descent(character, FontProperties(size=100.0), ismath=False)
    return float(width) / 100.0


def fitted(text: str, room: float, size: float = SMALL) -> str:
    """The text, shortened in its middle until it takes no more than `room` inches; ready to draw."""
    text = one_line(text, _LONGEST)
    most = len(text)
    while most > 1 and text_width(text, size) > room:
        most -= 1
        text = one_line(text, most)
    return literal(text)


def name_of(name: Hashable) -> str:
    """A feature's name on one line; one that shows nothing is quoted."""
    text = name_text(name, _LONGEST)
    return text if text.strip() else repr(text)


def score_label(name: str) -> str:
    """A score's name on an axis."""
    return literal(one_line(name, 40))


class _Numbers(ScalarFormatter):
    """Numbers on an axis in the language that is spoken when it is made: axes are drawn later."""

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__()
        self.catalogue = catalogue

    def __call__(self, value: float, position: int | None = None) -> str:
        text = super().__call__(value, position)
        return self.catalogue.number(text.replace("−", "-")).replace("-", "−")


def speak(axis: Any) -> None:
    """Numbers of an axis in the language that is spoken; English ones are matplotlib's."""
    if spoken() is not ENGLISH:
        axis.set_major_formatter(_Numbers(spoken()))


def percent() -> FuncFormatter:
    """Shares on an axis, in the language that is spoken now.

    >>> percent()(0.025), percent()(1.0)
    ('2.5 %', '100 %')
    """
    catalogue = spoken()
    return FuncFormatter(lambda share, _: catalogue.percent(catalogue.number(f"{round(100 * share, 6):g}")))


def title(ax: Axes, parts: Sequence[str], share: float = 1.0, above: float = 6.0) -> None:
    """A title on the left, over this share of the width and so many points above the axes."""
    ax.set_title(fitted(" · ".join(parts), share * inches(ax)[0], TEXT), loc="left", fontsize=TEXT, pad=above)


def title_and_legend(ax: Axes, parts: Sequence[str], handles: Sequence[Any], **layout: Any) -> None:
    """A title, and a legend at the top right beside it, or below it where both do not fit on one line."""
    legend(ax, handles, "lower right", (1.0, 1.0), ncols=2, **layout)
    is_beside = text_width(" · ".join(parts), TEXT) <= inches(ax)[0] - _BESIDE
    title(ax, parts, above=6.0 if is_beside else 22.0)


def heading(result: Counterfactuals) -> list[str]:
    """The target and the method of a result."""
    return [target_part(target_text(result)), tr("method: {method}", method=one_line(result.method))]


def target_part(target: str) -> str:
    """The target, as a part of a title."""
    return tr("target: {target}", target=one_line(target))


def show_message(ax: Axes | None, text: str) -> Axes:
    """Axes that say why there is no picture."""
    ax = axes_for(ax, 1.5)
    no_frame(ax)
    columns = max(int(inches(ax)[0] / _CHARACTER), 20)
    lines = textwrap.wrap(one_line(text), columns, max_lines=_MESSAGE_LINES, placeholder=" …")
    place: dict[str, Any] = {"transform": ax.transAxes, "ha": "center", "va": "center"}
    ax.text(0.5, 0.5, literal("\n".join(lines)), fontsize=TEXT, color=GREY, **place)
    return ax


def nothing_to_show(ax: Axes | None, result: Counterfactuals) -> Axes:
    """The same of a result without rows, in its own words."""
    told = [*sentences(result), *(() if result.status == "error" else result.note_texts())]
    return show_message(ax, " ".join(told) or tr("There are no counterfactuals."))
