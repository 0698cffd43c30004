"""What every picture must obey, whatever it shows."""

from __future__ import annotations

from itertools import combinations

from matplotlib.axes import Axes
from matplotlib.text import Text

LEAST_SIZE = 8.0


def texts(ax: Axes) -> list[Text]:
    """All texts that can be seen."""
    figure = ax.figure
    figure.draw_without_rendering()
    unseen = {text for one in figure.axes for text in _beyond_the_ends(one)}
    return [one for one in figure.findobj(Text) if one.get_visible() and one.get_text().strip() and one not in unseen]


def _beyond_the_ends(ax: Axes) -> list[Text]:
    """Labels of ticks that matplotlib keeps but does not draw."""
    found = []
    for axis in (ax.xaxis, ax.yaxis):
        low, high = sorted(axis.get_view_interval())
        slack = 1e-9 * (high - low)
        for tick in axis.get_major_ticks():
            if not low - slack <= tick.get_loc() <= high + slack:
                found += [tick.label1, tick.label2]
    return found


def shown(ax: Axes) -> list[str]:
    """What can be read, dollar signs as a reader sees them."""
    return [one.get_text().replace(r"\$", "$") for one in texts(ax)]


def overlaps(seen: list[Text]) -> list[tuple[str, str]]:
    """Pairs of texts that cover each other; slanted ones are left out, as their boxes are larger than they are."""
    boxes = [(one.get_text(), one.get_window_extent()) for one in seen if one.get_rotation() % 90 == 0]
    return [
        (a, b)
        for (a, box), (b, other) in combinations(boxes, 2)
        # a pixel of both belongs to the box, not to the letters
        if min(box.x1, other.x1) - max(box.x0, other.x0) > 2 and min(box.y1, other.y1) - max(box.y0, other.y0) > 2
    ]


def outside(ax: Axes, seen: list[Text]) -> list[str]:
    """Texts that leave the figure."""
    width, height = ax.figure.bbox.size
    boxes = [(one.get_text(), one.get_window_extent()) for one in seen]
    return [text for text, box in boxes if box.x0 < -2 or box.y0 < -2 or box.x1 > width + 2 or box.y1 > height + 2]


def check_legible(ax: Axes) -> None:
    seen = texts(ax)
    assert min(one.get_fontsize() for one in seen) >= LEAST_SIZE
    hidden, cut = overlaps(seen), outside(ax, seen)
    assert not hidden, f"these cover each other: {hidden}"
    assert not cut, f"these leave the figure: {cut}"
    assert ax.figure.get_size_inches()[0] <= 7.0
