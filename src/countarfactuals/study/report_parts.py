"""Pieces of the report: numbers, wide tables, pictures."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from countarfactuals.counterfactuals.wording import joined
from countarfactuals.report.page import plain_table, text

_WIDE = 5  # columns that a narrow screen does not show at once
_CAPTIONS = {
    "boxes": "Measures of RQ1 per method and data set. Density, proximity and sparsity are those of all non-dominated "
    "counterfactuals, all else has one value per instance; seconds count what a method fits on its own but not the "
    "forest. Higher is better but for seconds. Panels marked “log” span more than two decades; values below "
    "the axis, 0 among them, lie on its lower edge. Points beyond the whiskers are not drawn.",
    "attainment_distance": "Median attainment surfaces: minus the true log density against the distance to the row "
    "explained. What lies above and to the right of a line is attained in half of the instances. Lower is better. "
    "ARF’s line is the wide one below the others.",
    "attainment_changed": "Median attainment surfaces: minus the true log density against the share of features "
    "changed. Lower is better. ARF’s line is the wide one below the others.",
    "correlations": "Spearman correlations of both measures of plausibility to the true density: over all explanations "
    "(left; broken lines are medians), and medians per data set, once over the candidates of each explanation and once "
    "over those of all methods together, pooled (right).",
    "calibration": "What is claimed and what is true: across the share of real rows that are said to be less typical, "
    "up the share whose true density is lower. Dots are non-dominated counterfactuals, lines join the means within "
    "tenths of what is claimed. On the dotted diagonal claims are true, below it they are too high.",
}


def number(value: float | None, form: str) -> str:
    """A number with a real minus sign; a dash for none."""
    return "–" if value is None or not np.isfinite(value) else form.format(value).replace("-", "−").replace("%", " %")


def signed(words: str) -> str:
    """Words with real minus signs before numbers, which stay with their names; exponents stay as they are."""
    return re.sub(r"(?<=[A-Za-z]) (?=−?\d)", "\u00a0", re.sub(r"(?<![\w.])-(?=\d)", "−", words))


def told_measures(measures: Mapping[str, str]) -> str:
    """What the learned measure of plausibility is, by data set.

    >>> told_measures({"one": "log density", "two": "log density of a Gaussian mixture", "three": "log density"})
    'log density (one and three); log density of a Gaussian mixture (two)'
    """
    places: dict[str, list[str]] = {}
    for name, measure in measures.items():
        places.setdefault(measure, []).append(name)
    return "; ".join(f"{measure} ({joined(names)})" for measure, names in places.items())


def wide_table(caption: str, heads: Sequence[tuple[str, str]], rows: Iterable[Sequence[str]]) -> str:
    """A table whose caption says that it scrolls, if it has many columns."""
    hint = " ⇄ On a narrow screen this table scrolls sideways." if len(heads) > _WIDE else ""
    return plain_table(f"{caption}.{hint}", heads, rows)


def image(name: str, images: Mapping[str, Path]) -> str:
    """A picture inside the page; nothing if it was not drawn."""
    if name not in images:
        return ""
    of = name.removeprefix("pairs_")
    caption = _CAPTIONS.get(name, f"{of}: the data, by label, and the rows that were explained.")
    source = base64.b64encode(images[name].read_bytes()).decode()
    shown = f'<img src="data:image/png;base64,{source}" alt="{text(caption)}">'
    frame = f'<div class="scroll picture" role="group" aria-label="{text(caption)}" tabindex="0">{shown}</div>'
    return f"<figure>{frame}<figcaption>{text(caption)}</figcaption></figure>"
