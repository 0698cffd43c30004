"""Every picture of every awkward result: it draws without a warning, can be read, and changes nothing."""

from __future__ import annotations

import subprocess
import sys
import warnings
from dataclasses import replace
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

from countarfactuals import ARFExplainer, plotting
from countarfactuals.counterfactuals import CounterfactualsBatch
from countarfactuals.exceptions import DataError, DataTypeError, NotFittedError, ParameterError
from countarfactuals.plotting import style
from tests.plotting.cases import (
    EMPTY,
    FULL,
    HOSTILE,
    explained,
    explainer,
    hostile_explainer,
    many_levels,
    result,
    tiny,
    with_history,
)
from tests.plotting.checks import check_legible, shown

OF_A_RESULT = {
    "change_table": plotting.plot_change_table,
    "parallel": plotting.plot_parallel,
    "frequency": plotting.plot_frequency,
    "pareto": plotting.plot_pareto,
    "history": plotting.plot_history,
}
WITH_EXPLAINER = {
    "surface": plotting.plot_surface,
    "density_strip": plotting.plot_density_strip,
    "ice": plotting.plot_ice,
    "importance": plotting.plot_importance,
}


@pytest.mark.parametrize("case", FULL)
@pytest.mark.parametrize("picture", ["change_table", "parallel", "frequency", "pareto"])
def test_every_result_makes_a_legible_picture(picture, case):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_legible(OF_A_RESULT[picture](FULL[case]()))


@pytest.mark.parametrize("case", EMPTY)
@pytest.mark.parametrize("picture", ["change_table", "parallel", "frequency", "pareto"])
def test_a_result_without_rows_says_why(picture, case):
    ax = OF_A_RESULT[picture](EMPTY[case]())
    check_legible(ax)
    said = " ".join(" ".join(shown(ax)).split())
    expected = {"none": "900 candidates", "already": "'$good$'", "error": "on $x$.", "filtered": "passes the filter"}
    assert expected[case] in said


@pytest.mark.parametrize(
    ("table", "task"),
    [("numeric", "binary"), ("categorical", "regression"), ("mixed", "multiclass"), ("missing", "binary")],
)
def test_pictures_with_an_explainer_are_legible(table, task):
    found = explained(table, task)[1]
    ours = explainer(table, task)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for ax in (
            plotting.plot_surface(found, ours, n_points=15),
            plotting.plot_density_strip(found, ours),
            plotting.plot_parallel(found, ours),
            plotting.plot_ice(found, ours),
            plotting.plot_importance(found, ours),
        ):
            check_legible(ax)


@pytest.mark.parametrize(
    "features", [("income", "age"), ("income", "purpose"), ("purpose", "grade"), ("owner", "income")]
)
def test_a_surface_has_a_place_for_missing_cells(features):
    found = missing_everywhere()
    ax = plotting.plot_surface(found, explainer("missing"), features=features, n_points=12)
    check_legible(ax)
    assert shown(ax).count("(missing)") == len({"income", "purpose"} & set(features))


def test_sixty_hostile_features_and_their_classes_are_legible():
    ours, X = hostile_explainer()
    x = X.loc[[int(X[HOSTILE[0]].idxmin())]]
    found = ours.explain(x)
    pair = HOSTILE[:2]
    for ax in (
        plotting.plot_surface(found, ours, n_points=12),
        plotting.plot_surface(found, ours, features=pair, n_points=12),
        plotting.plot_surface(found, ours, features=pair[::-1], n_points=12),
        plotting.plot_surface(found, ours, features=(HOSTILE[1], HOSTILE[3])),
        plotting.plot_density_strip(found, ours),
        plotting.plot_ice(found, ours),
        plotting.plot_importance(found, ours),
        plotting.plot_parallel(found, ours),
    ):
        check_legible(ax)
        assert any("$good$\\n" in text for text in shown(ax))


def untold() -> Any:
    """A result that does not say what was asked for."""
    return replace(explained()[1], provenance={})


def missing_everywhere() -> Any:
    """A result whose x lacks income and purpose."""
    row = pd.DataFrame({"income": [np.nan], "age": [30], "purpose": [None], "grade": ["low"], "owner": [False]})
    found = explainer("missing").explain(row, "good")
    assert len(found)
    return found


@pytest.mark.parametrize("picture", [*OF_A_RESULT, *WITH_EXPLAINER])
def test_given_axes_are_drawn_on_without_pyplot(picture, monkeypatch):
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("pyplot was asked")

    for name in ("subplots", "figure", "gca", "gcf", "sca", "show", "subplot", "draw", "tight_layout"):
        monkeypatch.setattr(pyplot, name, refuse)
    given = Figure(figsize=(6, 4)).add_subplot()
    found = explained()[1]
    if picture in WITH_EXPLAINER:
        ax = WITH_EXPLAINER[picture](found, explainer(), ax=given)
    else:
        ax = OF_A_RESULT[picture](with_history() if picture == "history" else found, ax=given)
    assert ax is given
    assert pyplot.get_fignums() == []
    assert len(shown(ax)) > 3


@pytest.mark.filterwarnings("ignore:constrained_layout not applied")  # the smallest has no room for its ticks
@pytest.mark.parametrize("height", [0.8, 2.0, 5.0])
def test_small_axes_show_fewer_features(height):
    found = FULL["wide"]()
    for plot in (plotting.plot_change_table, plotting.plot_frequency):
        ax = plot(found, ax=Figure(figsize=(7, height), layout="constrained").add_subplot())
        names = [text for text in shown(ax) if text.startswith("a_rather")]
        assert 1 <= len(names) <= height / 0.15
        if height >= 2:
            check_legible(ax)


def test_narrow_axes_show_fewer_counterfactuals():
    ax = Figure(figsize=(4, 4), layout="constrained").add_subplot()
    heads = [text for text in shown(plotting.plot_change_table(FULL["hostile"](), ax=ax)) if text.startswith("#")]
    wide = plotting.plot_change_table(FULL["hostile"](), most_counterfactuals=6, ax=_axes(12))
    assert heads == ["#0"]
    assert "#5" in shown(wide)
    check_legible_at(ax, 4)


def _axes(width: float) -> Axes:
    return Figure(figsize=(width, 4), layout="constrained").add_subplot()


def check_legible_at(ax: Axes, width: float) -> None:
    assert ax.figure.get_size_inches()[0] == width
    check_legible(ax)


def test_nothing_is_changed():
    x, found = explained()
    ours = explainer()
    before, matrix, row = found.to_dict(), ours.background_.matrix.copy(), x.copy()
    settings = dict(matplotlib.rcParams)
    for plot in OF_A_RESULT.values():
        plot(found)
    for plot in WITH_EXPLAINER.values():
        plot(found, ours)
    assert found.to_dict() == before
    assert np.array_equal(ours.background_.matrix, matrix, equal_nan=True)
    assert x.equals(row)
    assert dict(matplotlib.rcParams) == settings


def test_hostile_names_are_shown_as_they_are():
    read = shown(plotting.plot_frequency(FULL["hostile"]()))
    assert "$income$ in $" in read
    assert r"line\nbreak\tand tab" in read
    assert "''" in read
    assert "_hidden" in read
    assert HOSTILE[5] in read
    assert any(text.startswith(r"\frac{1}") and "$" in text for text in read)
    assert "target: class '$good$\\n'" in " ".join(read)


def test_numbers_are_never_shortened():
    read = shown(plotting.plot_change_table(FULL["hostile"]()))
    assert "-2.556e-12" in read
    assert not [text for text in read if "…" in text and text.strip("-…0123456789.e+") == ""]


def test_axes_are_labelled_and_hold_what_they_should():
    found = result()
    ax = plotting.plot_pareto(found)
    assert ax.get_xlabel() == "distance to x"
    assert "typicality" in ax.get_ylabel()
    points, x = ax.collections
    expected = np.column_stack([found.objectives["proximity"], found.typicality])
    assert np.array_equal(np.sort(points.get_offsets(), axis=0), expected)
    assert x.get_offsets().tolist() == [[0.0, 0.45]]

    ax = plotting.plot_parallel(found)
    full = [line for line in ax.lines if len(line.get_xdata()) == 8]
    assert len(full) == len(found) + 1
    assert full[-1].get_color() == style.X_COLOUR

    ax = plotting.plot_frequency(found)
    assert len(ax.patches) == 9  # 7 features, of which amount and grade go both ways
    assert [text.get_text() for text in ax.get_yticklabels()][:2] == ["amount", "job"]

    ax = plotting.plot_change_table(found)
    read = shown(ax)
    assert (read.count("↑"), read.count("↓"), read.count("↔")) == (5, 2, 3)

    ax = plotting.plot_history(with_history())
    assert ax.lines[0].get_ydata().tolist() == [0.0, 0.2, 0.495, 0.498, 0.5]
    assert ax.lines[0].get_color() == style.METHOD_COLOURS["moc"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("generation", "hypervolume (more is better)")


def test_a_surface_holds_rows_and_labels():
    _, found = explained("numeric")
    ax = plotting.plot_surface(found, explainer("numeric"), features=("income", "rate"))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("income", "rate")
    points = [one for one in ax.collections if isinstance(one, PathCollection)]
    pair = [found.schema.index("income"), found.schema.index("rate")]
    real, used = explainer("numeric").background_.matrix[:, pair], np.vstack([found.x, found.rows])[:, pair]
    low, high = np.quantile(real, [0.02, 0.98], axis=0, method="nearest")
    low, high = np.minimum(low, used.min(axis=0)), np.maximum(high, used.max(axis=0))
    n_real = int(((real >= low) & (real <= high)).all(axis=1).sum())
    n_off = int(np.delete(found.changed, pair, axis=1).any(axis=1).sum())
    assert 0 < n_off < len(found)
    # real rows, counterfactuals that change other features too, those that do not, x
    assert [len(one.get_offsets()) for one in points] == [n_real, n_off, len(found) - n_off, 1]
    assert "P(good)" in shown(ax)


def test_no_history_is_said():
    check_legible(plotting.plot_history(with_history()))
    assert any("recorded no generations" in " ".join(text.split()) for text in shown(plotting.plot_history(result())))


def test_a_batch_makes_a_picture_of_frequencies():
    batch = CounterfactualsBatch((tiny(), tiny()), ("a", "b"))
    ax = plotting.plot_frequency(batch)
    check_legible(ax)
    assert "2 counterfactuals of 2 rows" in shown(ax)
    nothing = CounterfactualsBatch((EMPTY["none"](), EMPTY["already"]()), (0, 1))
    assert "None of the 2 rows has a counterfactual." in " ".join(shown(plotting.plot_frequency(nothing)))
    assert shown(plotting.plot_frequency(CounterfactualsBatch((), ())))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: plotting.plot_pareto(CounterfactualsBatch((tiny(),), (0,))), DataTypeError, r"batch\[0\]"),
        (lambda: plotting.plot_frequency([1, 2]), DataTypeError, "got list"),
        (lambda: plotting.plot_change_table(tiny(), most_features=0), ParameterError, "most_features"),
        (lambda: plotting.plot_parallel(tiny(), most_features=True), ParameterError, "most_features"),
        (lambda: plotting.plot_surface(tiny(), "no"), DataTypeError, "got str"),
        (lambda: plotting.plot_surface(tiny(), ARFExplainer(None)), NotFittedError, "not fitted"),
        (lambda: plotting.plot_density_strip(tiny(), explainer()), DataError, "Pass the explainer that made it"),
        (lambda: plotting.plot_surface(explained()[1], explainer(), ("age",)), ParameterError, "two features, 1 were"),
        (lambda: plotting.plot_surface(explained()[1], explainer(), ("age", "age")), ParameterError, "twice"),
        (lambda: plotting.plot_surface(explained()[1], explainer(), "age"), ParameterError, "list or tuple"),
        (lambda: plotting.plot_surface(explained()[1], explainer(), ("age", "incom")), DataError, "mean 'income'"),
        (lambda: plotting.plot_pareto(result(objectives={})), ParameterError, "'proximity'"),
        (lambda: plotting.plot_ice(tiny(), ARFExplainer(None)), NotFittedError, "not fitted"),
        (lambda: plotting.plot_ice(explainer(), explained()[1]), DataTypeError, "that `explain` returns"),
        (lambda: plotting.plot_importance(untold(), explainer()), DataError, "does not say what was asked for"),
    ],
)  # fmt: skip
def test_errors_say_what_to_do(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_matplotlib_is_needed_for_pictures_only():
    code = """
import sys
import countarfactuals
print("matplotlib" in sys.modules)
sys.modules["matplotlib"] = None
try:
    import countarfactuals.plotting
except ImportError as error:
    print(type(error).__name__, error)
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True).stdout
    assert said.startswith("False\nMissingDependencyError")
    assert "pip install 'countarfactuals[plot]'" in said


def test_more_levels_than_ticks_leave_no_counterfactual_out():
    found = many_levels()
    ax = plotting.plot_parallel(found)
    assert not any(np.isnan(np.asarray(line.get_ydata(), float)).any() for line in ax.lines)


def test_methods_have_colours_of_their_own():
    assert set(style.METHOD_COLOURS) == {"arf", "mocarf", "moc", "mocctree", "nice", "whatif", "random"}
    assert len(set(style.METHOD_COLOURS.values())) == 7
