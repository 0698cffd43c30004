"""Every picture of every awkward result: it draws without a warning, can be read, and changes nothing."""

from __future__ import annotations

import re
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
from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch
from countarfactuals.counterfactuals.ways import AT_LEAST, AT_MOST, BECOMES, Change, CommonWays, Way
from countarfactuals.exceptions import DataError, DataTypeError, NotFittedError, ParameterError
from countarfactuals.language import speaking
from countarfactuals.plotting import style
from countarfactuals.plotting.audit import recourse_info
from countarfactuals.plotting.changes import change_table_info, frequency_info
from countarfactuals.plotting.helped import common_ways_info
from countarfactuals.plotting.parallel import parallel_info
from countarfactuals.schema import Schema
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
from tests.pseudo import PSEUDO

OF_A_RESULT = {
    "change_table": plotting.plot_change_table,
    "parallel": plotting.plot_parallel,
    "frequency": plotting.plot_frequency,
    "change_importance": plotting.plot_change_importance,
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
@pytest.mark.parametrize("picture", ["change_table", "parallel", "frequency", "change_importance", "pareto"])
def test_every_result_makes_a_legible_picture(picture, case):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_legible(OF_A_RESULT[picture](FULL[case]()))


@pytest.mark.parametrize("case", EMPTY)
@pytest.mark.parametrize("picture", ["change_table", "parallel", "frequency", "change_importance", "pareto"])
def test_a_result_without_rows_says_why(picture, case):
    ax = OF_A_RESULT[picture](EMPTY[case]())
    check_legible(ax)
    said = " ".join(" ".join(shown(ax)).split())
    expected = {"none": "900 attempts", "already": "'$good$'", "error": "on $x$.", "filtered": "passes the filter"}
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
    return replace(explained()[1], target=None)


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
    expected = np.column_stack([found.objectives["distance"], found.typicality])
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
    assert ax.lines[0].get_color() == style.method_colour("moc")
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
        (lambda: plotting.plot_pareto(result(objectives={})), ParameterError, "'distance'"),
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
    methods = ("arf", "mocarf", "moc", "mocctree", "nice", "whatif", "random")
    assert len(set(map(style.method_colour, methods)) - {style.BLACK}) == len(methods)


@pytest.mark.parametrize("picture", [*OF_A_RESULT, *WITH_EXPLAINER])
def test_words_are_those_of_the_language_that_is_spoken(picture):
    found, ours = explained()[1], explainer()
    with speaking(PSEUDO):
        if picture in WITH_EXPLAINER:
            ax = WITH_EXPLAINER[picture](found, ours)
        else:
            ax = OF_A_RESULT[picture](with_history() if picture == "history" else found)
        read = shown(ax)
    levels = {str(level) for column in found.schema.columns for level in column.levels}
    own = {"x", "good", "bad", "class", "P(good)", "arf", "moc", *map(str, found.schema.names), *levels}
    own |= set(ours.background_.plausibility.name.split())
    words = {word for text in read for word in re.findall(r"[A-Za-z_()']*[A-Za-z]{2,}[A-Za-z_()']*", text)}
    assert {word for word in words if word not in own and word.strip("'()") not in own} == set()


def recourse_of(by: Any, bins: Any = None):
    """What recourse costs groups of hand-made results, some of them without any."""
    results = [[result(), result().filter(max_distance=0.0), EMPTY["already"]()][i % 3] for i in range(40)]
    return CounterfactualsBatch(tuple(results), tuple(range(40))).recourse(by, bins=bins)


@pytest.mark.parametrize(
    "by",
    [
        "age",
        pd.Series(np.arange(40) // 14, name="band"),
        pd.Series([HOSTILE[i % len(HOSTILE)] for i in range(40)], name=HOSTILE[0]),
        pd.Series([f"a group whose name is long, number {i % 25}" for i in range(40)]),
    ],
    ids=["one group", "three", "hostile", "many"],
)
def test_groups_are_legible(by):
    made = recourse_of(by)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax = plotting.plot_recourse(made)
        check_legible(ax)
    info = recourse_info(made)
    assert len(info.groups) == len(made)
    for strip in info.strips:
        for estimate in strip.estimates:
            ends = [end for end in estimate[:3] if not np.isnan(end)]
            assert all(0 <= strip.share(end) <= 1 for end in ends)


def test_groups_are_in_the_language_that_is_spoken():
    made = recourse_of(pd.Series(np.arange(40) // 14, name="ж"))
    with speaking(PSEUDO):
        assert not re.search("[A-Za-z]", " ".join(shown(plotting.plot_recourse(made))))
    with pytest.raises(DataTypeError, match=r"batch\.recourse"):
        plotting.plot_recourse("sex")


def ways_of(n: int) -> CommonWays:
    """Ways by hand: the first helps rows 0 to 17, the second 10 to 25, the third none of the rest and so on."""
    schema = Schema.infer(
        pd.DataFrame({"income": [1e3, 2.5e3, 4e4], "duration": [12, 24, 36], HOSTILE[0]: list("aba")})
    )
    sets = [
        (Change(0, AT_LEAST, 4e4), Change(1, AT_MOST, 24.0)),
        (Change(2, BECOMES, 0.0), Change(0, AT_LEAST, 2e4)),
        (Change(1, AT_MOST, 12.0),),
    ]
    whom, newly = [range(18), range(10, 26), range(24, 26)], [18, 8, 0]
    ways = [
        Way(changes, tuple(rows), new, 40, np.full(len(rows), 0.5), np.full(len(rows), 0.1))
        for changes, rows, new in zip(sets, whom, newly, strict=True)
    ]
    return CommonWays(schema, tuple(ways[:n]), tuple(range(40)), 0.05, 12)


def test_common_ways_are_legible_and_true():
    for n in (0, 1, 3):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check_legible(plotting.plot_common_ways(ways_of(n)))
    info = common_ways_info(ways_of(3))
    helped = ways_of(3).helped().to_numpy()
    np.testing.assert_allclose(info.shares, helped.mean(axis=0))
    so_far = np.logical_or.accumulate(helped, axis=1).mean(axis=0)
    np.testing.assert_allclose(np.cumsum(info.new), so_far)
    assert info.together == so_far[-1]
    with speaking(PSEUDO):
        told = " ".join(shown(plotting.plot_common_ways(ways_of(3))))
    assert "helped" not in told
    assert "together" not in told
    with pytest.raises(DataTypeError, match="common_ways"):
        plotting.plot_common_ways([])


def test_the_table_of_changes_marks_consequences():
    plain = result()
    follows = np.zeros(plain.rows.shape, bool)
    j = int(np.flatnonzero(plain.changed[0])[0])
    follows[0, j] = True
    texts = [line.texts for line in change_table_info(plain).features]
    marked = change_table_info(replace(plain, consequence=follows))
    changed = [
        (text, line.texts[i])
        for before, line in zip(texts, marked.features, strict=True)
        for i, text in enumerate(before)
        if text != line.texts[i]
    ]
    assert len(changed) == 1
    assert changed[0][1] == f"({changed[0][0]})"
    assert "(in brackets): follows from the other changes" in marked.below
    assert not any("brackets" in line for line in change_table_info(plain).below)


def following() -> Counterfactuals:
    """A result in which the feature that changes most often follows from others in two counterfactuals."""
    plain = result()
    j = int(np.argmax(plain.changed.sum(axis=0)))
    follows = np.zeros(plain.rows.shape, bool)
    follows[np.flatnonzero(plain.changed[:, j])[:2], j] = True
    return replace(plain, consequence=follows)


def test_bars_and_lines_mark_consequences():
    found = following()
    n, j = len(found), int(np.argmax(found.consequence.sum(axis=0)))
    often, plain = frequency_info([found]), frequency_info([result()])
    place = often.columns.index(j)
    assert often.follows == tuple(2 / n if k == place else 0.0 for k in range(len(often.columns)))
    total, before = (np.sum([*info.shares.values(), info.follows], axis=0) for info in (often, plain))
    np.testing.assert_allclose(total, before)
    np.testing.assert_array_equal(parallel_info(found).follows, found.consequence)
    words = "follows from others"
    for plot in (plotting.plot_frequency, plotting.plot_change_importance, plotting.plot_parallel):
        assert words in shown(plot(found))
        assert words not in shown(plot(result()))
        check_legible(plot(found))
