"""Three pictures look as they did when someone looked at them.

After a change that is meant, write them anew with `python -m tests.plotting.test_baseline` and look at them.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.testing.compare import compare_images
from PIL import Image

from countarfactuals import plotting
from tests.plotting.cases import missing, result

BASELINE = Path(__file__).parent / "baseline"
TOLERANCE, _FACTOR = 8.0, 6  # root mean square of 256 grey values; how much smaller pictures are compared
PICTURES = {
    "change_table": lambda: plotting.plot_change_table(result(), ax=axes()),
    "parallel": lambda: plotting.plot_parallel(missing(), ax=axes()),
    "frequency": lambda: plotting.plot_frequency(result(), ax=axes()),
}


def axes() -> Axes:
    """At a fixed place, as a layout that follows the letters would shift all by a hair."""
    return Figure(figsize=(7, 3.5)).add_axes((0.15, 0.15, 0.8, 0.65))


def write(ax: Axes, path: Path) -> None:
    ax.figure.savefig(path, dpi=60, metadata={"Software": None})


def difference(name: str, ax: Axes, folder: Path) -> str | None:
    """What matplotlib says of the picture and the stored one, both made smaller: versions draw letters differently."""
    write(ax, folder / "drawn.png")
    for path in (BASELINE / f"{name}.png", folder / "drawn.png"):
        with Image.open(path) as picture:
            picture.convert("RGB").reduce(_FACTOR).save(folder / f"small-{path.name}")
    return compare_images(str(folder / f"small-{name}.png"), str(folder / "small-drawn.png"), TOLERANCE)


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_look_as_they_did(name, tmp_path):
    said = difference(name, PICTURES[name](), tmp_path)
    assert said is None, said


@pytest.mark.parametrize("name", ["change_table", "frequency"])
def test_the_comparison_sees_one_bar_or_cell_that_changed(name, tmp_path):
    ax = PICTURES[name]()
    ax.patches[0].set_facecolor("black")
    assert difference(name, ax, tmp_path) is not None


def test_the_comparison_sees_lines_that_moved(tmp_path):
    ax = PICTURES["parallel"]()
    for line in (line for line in ax.lines if len(line.get_xdata()) == 3):
        line.set_ydata(1.0 - line.get_ydata())
    assert difference("parallel", ax, tmp_path) is not None


if __name__ == "__main__":
    matplotlib.use("Agg")
    matplotlib.rcdefaults()
    for name, picture in PICTURES.items():
        write(picture(), BASELINE / f"{name}.png")
