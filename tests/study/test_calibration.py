"""How true typicality is: numbers by a slow twin, the figure, and the report's words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from countarfactuals.study.run import _together
from countarfactuals.study.tables import binned, calibration, claims
from countarfactuals.study.telling import claim_sentences
from tests.study.test_tables import make_candidates

REAL = {"one": np.random.default_rng(5).normal(-1.0, 1.0, 37), "two": np.linspace(-4.0, 0.0, 11)}


def make_claims() -> pd.DataFrame:
    """Claims on non-dominated rows alone, some of them at the ends; a true density of 0 among them."""
    candidates = make_candidates()
    candidates["typicality"] = candidates["typicality"].where(candidates["nondominated"])
    best = candidates.index[candidates["nondominated"]]
    candidates.loc[best[:3], "typicality"] = [0.0, 1.0, 0.3]
    candidates.loc[best[3], "log_density"] = -np.inf
    return candidates


def test_calibration_agrees_with_a_twin() -> None:
    candidates = make_claims()
    table = calibration(claims(candidates, REAL))
    assert list(table.columns) == ["dataset", "method", "claimed", "true", "error", "n_rows"]
    assert len(table) == 4
    for line in table.itertuples():
        mine = candidates.query("dataset == @line.dataset and method == @line.method and nondominated")
        true = [sum(value < row for value in REAL[line.dataset]) / len(REAL[line.dataset]) for row in mine.log_density]
        assert line.n_rows == len(mine)
        assert line.claimed == pytest.approx(sum(mine.typicality) / len(mine))
        assert line.true == pytest.approx(sum(true) / len(true))
        errors = [abs(a - b) for a, b in zip(mine.typicality, true, strict=True)]
        assert line.error == pytest.approx(sum(errors) / len(errors))


def test_claims_that_are_true_have_no_error() -> None:
    candidates = make_claims()
    known = claims(candidates, REAL)
    assert (calibration(known.assign(claimed=known["true"]))["error"] == 0.0).all()


def test_bins_agree_with_a_twin() -> None:
    rng = np.random.default_rng(2)
    claimed = np.append(rng.random(80), [0.0, 0.1, 0.3, 0.7, 1.0])
    true = rng.random(len(claimed))
    expected = []
    for low in range(10):
        ends = (low / 10, (low + 1) / 10 if low < 9 else 1.5)  # all belongs to the last tenth
        inside = [(a, b) for a, b in zip(claimed, true, strict=True) if ends[0] <= a < ends[1]]
        expected += [np.mean(inside, axis=0)] if inside else []
    np.testing.assert_allclose(np.column_stack(binned(claimed, true)), expected)
    assert len(binned(np.array([0.55, 0.56]), np.array([0.1, 0.3]))[0]) == 1


@pytest.mark.parametrize(
    "candidates", [make_claims().drop(columns="typicality"), make_claims().assign(typicality=np.nan)]
)
def test_without_claims_there_is_nothing_to_tell(candidates: pd.DataFrame) -> None:
    known = claims(candidates, REAL)
    assert len(known) == len(calibration(known)) == 0
    pytest.importorskip("matplotlib")
    from countarfactuals.study.figures.line_panels import draw_calibration

    assert draw_calibration(known) is None


def test_only_claims_of_our_methods_are_drawn() -> None:
    pytest.importorskip("matplotlib")
    from countarfactuals.plotting.style import method_colour
    from countarfactuals.study.figures.line_panels import draw_calibration

    known = claims(make_claims(), REAL).sort_values("dataset", kind="stable")
    assert draw_calibration(known[known["method"] == "moc"]) is None
    other = known[(known["method"] == "moc") & (known["dataset"] == "one")].assign(method="mocarf")
    every = pd.concat([known, other])
    figure = draw_calibration(every)
    assert figure is not None
    figure.draw_without_rendering()
    table = calibration(every).set_index(["dataset", "method"])["error"]
    for ax, name, methods in zip(figure.axes, ["one", "two"], [["arf", "mocarf"], ["arf"]], strict=True):
        diagonal, *lines = ax.get_lines()
        np.testing.assert_array_equal(diagonal.get_xydata(), [[0, 0], [1, 1]])
        for line, dots, method in zip(lines, ax.collections, methods, strict=True):
            mine = every[(every["dataset"] == name) & (every["method"] == method)]
            np.testing.assert_array_equal(dots.get_offsets(), mine[["claimed", "true"]])
            np.testing.assert_array_equal(
                line.get_xydata().T, binned(mine["claimed"].to_numpy(), mine["true"].to_numpy())
            )
            assert line.get_color() == method_colour(method)
            assert f"{method.upper()} {100 * table[name, method]:.0f}" in ax.get_title()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["ARF", "MOCARF"]


def test_titles_stay_inside_the_figure_and_do_not_touch() -> None:
    pytest.importorskip("matplotlib")
    from countarfactuals.study.figures.line_panels import draw_calibration

    known = pd.DataFrame({"claimed": [0.95, 0.9], "true": [0.05, 0.1], "method": ["arf", "mocarf"]})
    figure = draw_calibration(pd.concat([known.assign(dataset=f"pawelczyk_{k}") for k in range(3)]))
    assert figure is not None
    figure.draw_without_rendering()
    boxes = [ax.title.get_window_extent() for ax in figure.axes]
    assert boxes[0].x0 >= 0.0
    assert boxes[-1].x1 <= figure.bbox.width
    assert boxes[0].x1 < boxes[1].x0 < boxes[1].x1 < boxes[2].x0


def test_sentences_tell_means_over_data_sets_and_the_largest_error() -> None:
    lines = [
        ("one", "arf", 0.6, 0.5, 0.1, 30),
        ("two", "arf", 0.4, 0.45, 0.05, 3),
        ("one", "nice", 0.2, 0.52, 0.321, 4),
    ]
    table = pd.DataFrame(lines, columns=["dataset", "method", "claimed", "true", "error", "n_rows"])
    assert claim_sentences(table) == [
        "On average over data sets, a counterfactual of ARF is said to be more typical than 50 % of real rows and is "
        "denser than 48 % of them; on 1 of 2 data sets claims are too high on average. The mean error is 7.5 points.",
        "The largest mean error of a method on a data set is 32.1 points: NICE on one, 20 % claimed and 52 % true.",
    ]
    (only, _) = claim_sentences(table[:1])
    assert only.startswith("On one, a counterfactual of ARF is said to be more typical than 60 %")


def test_files_without_claims_are_read_beside_others() -> None:
    """The one with more columns may be the older one."""
    new, wide = make_candidates().head(5), make_candidates().tail(4).drop(columns="typicality").assign(x2=1.0, x3=2.0)
    whole = _together([wide, new])
    assert list(whole.columns) == [*new.columns, "x2", "x3"]
    assert whole["typicality"].isna().tolist() == [True] * 4 + [False] * 5
    assert whole["nondominated"].dtype == bool
