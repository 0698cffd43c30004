"""The user's names and values on a picture.

1. They may hold anything: control characters are escaped (`wording.one_line`), and dollar signs, which matplotlib would
   read as formulas.
2. They must fit: a text is measured in the font that draws it, and its middle is left out until it fits its room.
"""

from __future__ import annotations

import textwrap
from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.counterfactuals.display import sentences
from countarfactuals.counterfactuals.wording import name_text, one_line
from countarfactuals.plotting.style import GREY, SMALL, TEXT, inches, no_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS, _LONGEST = 72.0, 200
_MESSAGE_LINES, _CHARACTER = 6, 0.085  # inches per character of a message


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


def number_texts(values: Sequence[float]) -> list[str]:
    """Numbers on an axis, with as many digits as it takes to tell them apart.

    >>> number_texts([36000.0, 0.25, 2.5e9, -0.0]), number_texts([3.1415926, 3.1415927])
    (['36,000', '0.25', '2.5e+09', '0'], ['3.1415926', '3.1415927'])
    """
    texts: list[str] = []
    for digits in range(6, 18):
        texts = [_number_text(value + 0.0, digits) for value in values]  # + 0.0: no minus before a zero
        if len(set(texts)) == len(set(values)):
            break
    return texts


def _number_text(value: float, digits: int) -> str:
    return f"{value:,.{digits}g}" if abs(value) < 1e6 else f"{value:.{digits - 2}g}"


def percent(share: float, position: float = 0.0) -> str:
    """A share on an axis, as matplotlib asks for it.

    >>> percent(0.025), percent(1.0)
    ('2.5 %', '100 %')
    """
    return f"{round(100 * share, 6):g} %"


def counted(count: int, noun: str) -> str:
    """A number of things.

    >>> counted(1, "feature"), counted(1200, "feature")
    ('1 feature', '1,200 features')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def title(ax: Axes, parts: Sequence[str], share: float = 1.0, above: float = 6.0) -> None:
    """A title on the left, over this share of the width and so many points above the axes."""
    ax.set_title(fitted(" · ".join(parts), share * inches(ax)[0], TEXT), loc="left", fontsize=TEXT, pad=above)


def title_beside(ax: Axes, parts: Sequence[str], legend: float) -> None:
    """A title beside a legend of so many inches at the top right, or above it where both do not fit on one line."""
    room = inches(ax)[0] - legend
    if text_width(" · ".join(parts), TEXT) <= room:
        title(ax, parts)
    else:
        title(ax, parts, above=22.0)


def heading(result: Counterfactuals) -> list[str]:
    """The target and the method of a result."""
    return [f"target: {one_line(result.target)}", f"method: {one_line(result.method)}"]


def show_message(ax: Axes, text: str) -> Axes:
    """Axes that say why there is no picture."""
    no_frame(ax)
    columns = max(int(inches(ax)[0] / _CHARACTER), 20)
    lines = textwrap.wrap(one_line(text), columns, max_lines=_MESSAGE_LINES, placeholder=" …")
    ax.text(
        0.5, 0.5, literal("\n".join(lines)), transform=ax.transAxes, ha="center", va="center", fontsize=TEXT, color=GREY
    )
    return ax


def nothing_to_show(result: Counterfactuals) -> str:
    """Why a result has no rows, in its own words."""
    said = [*sentences(result), *(() if result.status == "error" else result.notes)]
    return " ".join(said) or "There are no counterfactuals."
