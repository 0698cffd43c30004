"""Pictures are drawn in memory, with matplotlib's own settings, and closed after each test."""

import matplotlib
import pytest

matplotlib.use("Agg")

from matplotlib import pyplot


@pytest.fixture(autouse=True)
def figures():
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams["font.family"] = "DejaVu Sans"
        yield
    pyplot.close("all")
