"""The figures of a study, each as PNG and PDF.

| file | shows |
|---|---|
| `boxes` | every measure of RQ1, per method and data set |
| `attainment_distance`, `attainment_changed` | median attainment surfaces: density against distance, against changes |
| `correlations` | RQ2: how closely both measures of plausibility follow the true density |
| `calibration` | typicality as it is claimed against the truth, where something is claimed |
| `pairs_<set>` | the data and the rows that were explained |

Colours are those of `plotting.style`, the same for a method everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from countarfactuals.study.figures.boxes import draw_boxes
from countarfactuals.study.figures.correlations import draw_correlations
from countarfactuals.study.figures.line_panels import draw_attainment, draw_calibration
from countarfactuals.study.figures.pairs import draw_pairs
from countarfactuals.study.store import replace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from countarfactuals.study.tables import Tables

_DPI = 200


def draw_figures(tables: Tables, folder: Path) -> dict[str, Path]:
    """Draw every figure; the paths of the PNG files by name."""
    paths = {}
    for name, figure in _every(tables):
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # it is laid out: not once more for each file
        for kind in ("png", "pdf"):
            replace(folder / f"{name}.{kind}", partial(figure.savefig, format=kind, dpi=_DPI))
        paths[name] = folder / f"{name}.png"
    return paths


def _every(tables: Tables) -> Iterator[tuple[str, Figure]]:
    yield "boxes", draw_boxes(tables.candidates, tables.per_instance)
    yield "attainment_distance", draw_attainment(tables.candidates, tables.per_instance, "distance")
    yield "attainment_changed", draw_attainment(tables.candidates, tables.per_instance, "share_changed")
    yield "correlations", draw_correlations(tables.per_instance, tables.pooled)
    if (figure := draw_calibration(tables.claims)) is not None:
        yield "calibration", figure
    for name, case in tables.cases.items():
        yield f"pairs_{name}", draw_pairs(case)
