"""A few changes that help most of a batch: whom each of the ways reaches.

1. A bar is the share of the rows that need the outcome which a way helps. Its dark part are those whom no way above
   helps, so that the dark parts add up to what all ways reach together.
2. Above each bar stands what would change, beside it how many rows that helps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from countarfactuals.counterfactuals.ways import CommonWays, sentences, way_text
from countarfactuals.exceptions import DataTypeError
from countarfactuals.language import counted, tr
from countarfactuals.language.spelling import share_text
from countarfactuals.language.vocabulary import TEXT, words_of
from countarfactuals.plotting import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW, _REST = 0.46, 0.95  # inches of a way, and of all else
_BAR, _ABOVE = 0.42, 0.3  # of a row: the bar's width, and how far above its middle the words stand
_ROOM = 0.17  # of the axis, for numbers beside the bars


@dataclass(frozen=True)
class CommonWaysInfo:
    """The ways, first found first."""

    ways: tuple[str, ...]
    shares: tuple[float, ...]  # of the rows that need the outcome
    new: tuple[float, ...]  # of these, whom no way before helps
    n_helped: tuple[int, ...]
    n_needing: int
    together: float


def common_ways_info(ways: CommonWays) -> CommonWaysInfo:
    """What is drawn of common ways."""
    words = words_of(ways.schema.names, None, "rows", None, TEXT)
    n = max(len(ways.needing), 1)
    return CommonWaysInfo(
        ways=tuple(way_text(ways.schema, way, words) for way in ways),
        shares=tuple(way.share for way in ways),
        new=tuple(way.newly / n for way in ways),
        n_helped=tuple(len(way.helped) for way in ways),
        n_needing=len(ways.needing),
        together=ways.share,
    )


def plot_common_ways(ways: CommonWays, *, ax: Axes | None = None) -> Axes:
    """Bars of how many rows each of a few common changes helps.

    Parameters
    ----------
    ways : what `explainer.common_ways` returns.
    ax : axes to draw on.
    """
    if not isinstance(ways, CommonWays):
        raise DataTypeError(f"Pass what `explainer.common_ways(batch)` returns, got {type(ways).__name__}.")
    if not len(ways):
        return style.show_message(ax, " ".join(sentences(ways, words_of(ways.schema.names, None, "rows", None, TEXT))))
    info = common_ways_info(ways)
    ax = style.axes_for(ax, _ROW * len(info.ways) + _REST)
    _draw(ax, info)
    together = tr("together {share}", share=share_text(info.together))
    style.title(ax, [counted(len(info.ways), "{n} way", "{n} ways"), together], above=22.0)
    return ax


def _draw(ax: Axes, info: CommonWaysInfo) -> None:
    style.plain_frame(ax, ("left",), grid="x")
    places, dark, pale = range(len(info.ways)), style.BLUE, style.FAINT
    old = [share - new for share, new in zip(info.shares, info.new, strict=True)]
    ax.barh(places, info.new, _BAR, color=dark, label=tr("helped by no way above"))
    if any(old):
        ax.barh(places, old, _BAR, info.new, color=pale, edgecolor=dark, hatch="////", label=tr("by one above, too"))
    reach = max(info.shares)
    ax.set_xlim(0.0, reach * (1.0 + _ROOM))
    ax.set_ylim(len(info.ways) - 0.6, -0.75)
    ax.set_yticks([])
    for place, text, share, n in zip(places, info.ways, info.shares, info.n_helped, strict=True):
        room = style.inches(ax)[0] - 0.1
        above = f"{place + 1}. {text}"
        ax.text(0.0, place - _ABOVE, style.fitted(above, room), va="bottom", fontsize=style.SMALL)
        beside = tr("{n:,} of {all:,}", n=n, all=info.n_needing)
        ax.text(share + 0.015 * reach, place, beside, va="center", fontsize=style.SMALL, color=style.GREY)
    ax.set_xticks([tick for tick in ax.get_xticks() if 0 <= tick <= 1.0])
    ax.set_xlim(0.0, reach * (1.0 + _ROOM))
    ax.xaxis.set_major_formatter(style.percent())
    style.label_axes(ax, tr("share of the rows that need the outcome"))
    style.legend(ax, None, "lower left", (0.0, 1.0), ncols=2, borderaxespad=0.3)
