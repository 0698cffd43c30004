"""The example writes every picture."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from matplotlib import pyplot
from matplotlib.image import imread

from countarfactuals import plotting

EXAMPLE = Path(__file__).parents[2] / "examples" / "pictures.py"


def test_the_gallery_holds_every_picture(tmp_path, capsys):
    spec = importlib.util.spec_from_file_location("pictures", EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    open_before = pyplot.get_fignums()
    written = example.main(str(tmp_path), n_rows=250, n_explained=4)
    made = {path.stem for path in written}
    # arf, the method of the example, has no generations
    assert {name.removeprefix("plot_") for name in plotting.__all__} - {"history"} <= made
    assert capsys.readouterr().out.split() == [str(path) for path in written]
    assert all(imread(path).std() > 0.03 for path in written)  # not blank
    assert pyplot.get_fignums() == open_before
