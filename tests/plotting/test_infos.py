"""What the pictures show, by value: against numbers worked out by hand and against slow twins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from countarfactuals import Constraints
from countarfactuals.counterfactuals.table import Line
from countarfactuals.explainers.proposals import local_importance
from countarfactuals.language.spelling import DOWN, OTHER, UP
from countarfactuals.plotting.audit import change_importance_info
from countarfactuals.plotting.changes import change_table_info, frequency_info
from countarfactuals.plotting.ice import ice_info, plot_importance
from countarfactuals.plotting.merits import density_strip_info, history_info, pareto_info
from countarfactuals.plotting.parallel import MISSING_AT, parallel_info
from countarfactuals.plotting.style import fitted, literal, text_width
from countarfactuals.plotting.subject import Scale
from countarfactuals.plotting.surface import contour_levels, default_features, surface_info
from countarfactuals.schema import Column, Kind
from tests.plotting.cases import FULL, explained, explainer, hostile_explainer, missing, result, tiny, with_history

from ..explainers.on_its_own import run


def cells(line):
    return tuple(zip(line.signs, line.texts, strict=True))


def test_the_change_table_has_arrows_values_and_what_is_left_out():
    info = change_table_info(result(), most_counterfactuals=3)
    rows = {line.name: line for line in info.features}
    assert list(rows) == ["age", "amount", "job", "grade", "owner", "savings"]
    assert rows["age"] == Line(
        "feature", "age", "30", ("30", "31", "30"), (30.0, 31.0, 30.0), ("", UP, ""), True, (False,) * 3
    )
    assert cells(rows["amount"]) == ((DOWN, "3200.25"), ("", "5000.50"), (UP, "7000.75"))
    assert cells(rows["job"]) == (("", "clerk"), (OTHER, "nurse"), (OTHER, "(missing)"))
    assert cells(rows["grade"]) == ((UP, "high"), ("", "middle"), (DOWN, "low"))
    assert (rows["savings"].x, cells(rows["savings"])[1]) == ("(missing)", (OTHER, "120"))
    assert [(line.kind, line.name, line.x, line.texts) for line in info.outcome] == [
        ("prediction", "prediction", "bad", ("good", "good", "good")),
        ("score", "P(good)", "0.310", ("0.600", "0.700", "0.800")),
        ("typicality", "", "45 %", ("20 %", "40 %", "60 %")),
        ("changes", "", "", ("2", "4", "3")),
    ]
    assert info.below == ("… 1 more counterfactual", "also changed (1): rate", "unchanged (1): town")


def test_the_change_table_keeps_the_features_that_change_most_often():
    frame = pd.DataFrame({"a": [0, 1, 0, 0], "b": [0, 1, 1, 1], "c": [0, 0, 1, 1]})
    info = change_table_info(result(frame), most_features=2)
    assert [line.name for line in info.features] == ["b", "c"]
    assert info.below == ("also changed (1): a",)


def test_many_classes_have_one_line_of_scores():
    info = change_table_info(FULL["multiclass"]())
    found = FULL["multiclass"]()
    (line,) = [line for line in info.outcome if line.kind == "highest score"]
    assert list(line.texts) == [f"{score:.3f}" for score in found.scores.max(axis=1)]


def test_frequencies_are_shares_by_direction():
    info = frequency_info([result()])
    shares = {name: tuple(info.shares[sign][i] for sign in (UP, DOWN, OTHER)) for i, name in enumerate(info.features)}
    assert shares == {
        "amount": (0.25, 0.25, 0.0),
        "job": (0.0, 0.0, 0.5),
        "grade": (0.25, 0.25, 0.0),
        "age": (0.25, 0.0, 0.0),
        "rate": (0.25, 0.0, 0.0),
        "owner": (0.25, 0.0, 0.0),
        "savings": (0.0, 0.0, 0.25),
    }
    assert list(info.features) == ["amount", "job", "grade", "age", "rate", "owner", "savings"]
    assert (info.n_rows, info.n_counterfactuals, info.n_less_often, info.n_never) == (1, 4, 0, 1)


def test_frequencies_agree_with_the_list_of_changes():
    found = FULL["wide"]()
    info = frequency_info([found], most_features=60)
    counts = found.changes()["feature"].value_counts() / len(found)
    total = np.sum(list(info.shares.values()), axis=0)
    assert dict(zip(info.features, total, strict=True)) == pytest.approx(counts.to_dict())
    assert (np.diff(total) <= 1e-12).all()


def test_each_row_of_a_batch_counts_alike():
    one = result(pd.DataFrame({"a": [0, 1], "b": [0, 0]}))
    many = result(pd.DataFrame({"a": [0, 0, 0, 0, 0], "b": [0, -1, -1, -1, 1]}))
    info = frequency_info([one, many.filter(max_changed=0), many])
    assert info.features == ("a", "b")
    assert info.shares == {UP: (0.5, 0.125), DOWN: (0.0, 0.375), OTHER: (0.0, 0.0)}
    assert (info.n_rows, info.n_counterfactuals) == (2, 5)


def test_less_frequent_features_are_counted():
    info = frequency_info([result()], most_features=2)
    assert (info.features, info.n_less_often, info.n_never) == (("amount", "job"), 5, 1)


def test_parallel_places():
    info = parallel_info(missing())
    assert info.features == ("amount", "job", "age")
    assert info.x.tolist() == [MISSING_AT, MISSING_AT, 0.0]
    # amount from 10 to 30; two levels at a quarter and three quarters; age from 30 to 31
    assert info.rows.tolist() == [[0.0, 0.25, 0.0], [MISSING_AT, 0.75, MISSING_AT], [1.0, MISSING_AT, 1.0]]
    assert info.ticks[1] == ((0.25, "clerk"), (0.75, "nurse"), (MISSING_AT, "(missing)"))
    assert info.ticks[0][0] == (0.0, "10")
    assert info.ticks[0][-2:] == ((1.0, "30"), (MISSING_AT, "(missing)"))


def test_parallel_axes_hold_the_data_too():
    found = tiny()  # ages 30 and 41
    data = np.column_stack([np.linspace(0, 100, 101), np.zeros(101)])
    assert parallel_info(found, data).x[0] == pytest.approx((30 - 2) / 96)
    assert parallel_info(found, data).rows[0, 0] == pytest.approx((41 - 2) / 96)
    outside = np.column_stack([np.full(50, 35.0), np.zeros(50)])
    assert (parallel_info(found, outside).x[0], parallel_info(found, outside).rows[0, 0]) == (0.0, 1.0)


def test_of_many_features_those_that_change_often_are_shown_in_order():
    found = FULL["wide"]()
    info = parallel_info(found, most_features=5)
    often = found.changed.sum(axis=0)
    chosen = sorted(range(60), key=lambda j: (-often[j], j))[:5]
    assert list(info.features) == [found.schema.names[j] for j in sorted(chosen)]
    assert (info.n_left_out, info.rows.shape) == (55, (200, 5))


def test_a_scale_places_every_kind():
    number = Scale.of(Column("a", Kind.REAL), np.array([0.0, 10.0, np.nan]))
    assert (number.low, number.high, number.has_missing) == (0.0, 10.0, True)
    assert number.place(np.array([5.0, np.nan])).tolist() == pytest.approx([5.0, -1.4])
    assert number.ends[0] < number.missing_at
    levels = Scale.of(Column("b", Kind.CATEGORY, ("x", "y", "z")), np.array([2.0]))
    assert levels.place(np.array([0.0, 2.0])).tolist() == [0.0, 2.0]
    assert [text for _, text in levels.ticks()] == ["x", "y", "z"]
    assert (levels.ends, levels.has_missing) == ((-0.5, 2.5), False)
    assert levels.share(np.array([1.0])).tolist() == [0.5]
    constant = Scale.of(Column("c", Kind.INTEGER), np.array([7.0, 7.0]))
    assert constant.low < 7 < constant.high
    assert all(place == round(place) for place, _ in constant.ticks())


def test_a_scale_keeps_levels_in_use_and_then_frequent_ones():
    column = Column("town", Kind.CATEGORY, tuple(f"t{i}" for i in range(100)))
    used = np.array([90.0, 5.0, 5.0])
    data = np.repeat([1.0, 2.0, 3.0], [5, 9, 7])
    assert Scale.of(column, used, data, most_levels=4).levels == (2, 3, 5, 90)
    assert Scale.of(column, used, data, most_levels=1).levels == (5, 90)
    crowd = Scale.of(column, np.arange(99.0, -1.0, -1.0), data, most_levels=4)
    assert len(crowd.levels) == 40
    assert 99 in crowd.levels  # x's own
    assert np.isnan(crowd.place(np.array([50.0]))[0])


def test_pareto_points():
    info = pareto_info(replace(result(), typicality=[0.2, np.nan, 0.6, 0.8]))
    assert info.number.tolist() == [0, 2, 3]
    assert info.distance.tolist() == pytest.approx([0.1, 0.3, 0.4])
    assert info.typicality.tolist() == [0.2, 0.6, 0.8]
    assert info.n_changed.tolist() == [2, 3, 1]
    assert (info.x_typicality, info.n_unknown) == (0.45, 1)


def test_the_strip_shows_the_measure_of_the_leader():
    _, found = explained()
    plausibility = explainer().background_.plausibility
    info = density_strip_info(found, explainer())
    assert info.real.tolist() == plausibility.real.tolist()
    measures = plausibility(np.concatenate([found.x[None], found.rows]))
    np.testing.assert_array_equal([info.x, *info.rows], measures)
    for value, share in zip(measures, plausibility.rank(measures), strict=True):
        assert np.mean(info.real < value) == pytest.approx(share, abs=1e-12)
    assert info.median_above == pytest.approx(np.median(plausibility.rank(measures[1:])))
    assert np.mean(info.real <= info.quartiles[1]) == pytest.approx(0.5, abs=0.02)
    assert info.measure == plausibility.name


def test_what_lies_far_below_the_real_rows_is_counted_at_the_end():
    _, found = explained("numeric")
    far = replace(found, rows=np.concatenate([found.rows[:1] * 1e6, found.rows[1:]]))
    info = density_strip_info(far, explainer("numeric"))
    assert info.n_below == 1
    assert info.rows[0] < info.low <= info.real[0]
    assert np.isfinite([info.low, info.high]).all()


@pytest.mark.parametrize("table", ["numeric", "missing", "categorical"])
def test_a_surface_is_the_model_at_rows_that_differ_from_x_in_two_features(table):
    _, found = explained(table)
    background = explainer(table).background_
    features = default_features(found)
    info = surface_info(found, background, features, n_points=7)
    rng = np.random.default_rng(1)
    for _ in range(6):
        b, a = rng.integers(len(info.up)), rng.integers(len(info.across))
        row = found.x.copy()
        row[list(features)] = info.across[a], info.up[b]
        assert info.scores[b, a] == background.predictor.scores(row[None])[0, 0]
        assert info.reached[b, a] == (info.scores[b, a] > 0.5)
        measure = background.plausibility(row[None])[0]
        assert info.measure[b, a] == pytest.approx(measure)
        assert info.typicality[b, a] == np.mean(background.plausibility.real < measure)
    off = [bool(np.delete(changed, list(features)).any()) for changed in found.changed]
    assert info.is_off.tolist() == off
    assert info.rows.tolist() == found.rows[:, list(features)].tolist()


def test_the_default_features_change_most_often():
    frame = pd.DataFrame({"a": [0, 1, 0, 0], "b": list("xyyy"), "c": [0, 0, 1, 1], "d": [0, 0, 0, 0]})
    assert default_features(result(frame)) == (1, 2)
    # where fewer than two change, numbers are preferred
    frame = pd.DataFrame({"a": list("xxx"), "b": list("xyy"), "c": [0, 0, 0]})
    assert default_features(result(frame)) == (1, 2)


def test_a_surface_of_several_classes_shows_the_wanted_one():
    _, found = explained("numeric", "multiclass")
    background = explainer("numeric", "multiclass").background_
    info = surface_info(found, background, (0, 1), n_points=5)
    row = found.x.copy()
    row[:2] = info.across[2], info.up[3]
    scores = background.predictor.scores(row[None])[0]
    assert (info.score_name, info.scores[3, 2]) == ("P(d)", scores[3])
    assert info.reached[3, 2] == (scores.argmax() == 3)
    # without a recorded target: the class that the counterfactuals are most sure of
    unsaid = surface_info(replace(found, target=None), background, (0, 1), n_points=5)
    assert (unsaid.score_name, unsaid.reached, unsaid.ends) == ("P(d)", None, ())


def test_contours_separate_the_typicalities():
    _, found = explained("numeric")
    info = surface_info(found, explainer("numeric").background_, (0, 1), n_points=25)
    levels, texts = contour_levels(info)
    assert texts
    assert levels == sorted(levels)
    for level, text in zip(levels, texts, strict=True):
        share = float(text.removesuffix(" %")) / 100
        assert ((info.measure > level) == (info.typicality >= share)).all()
    nowhere = replace(info, typicality=np.zeros_like(info.typicality))
    levels, texts = contour_levels(nowhere)
    assert levels
    assert texts == []


@pytest.mark.parametrize("table", ["mixed", "missing"])
def test_importance_is_that_of_the_search(table):
    found = explained(table)[1]
    ours = explainer(table)
    info = ice_info(found, ours)
    problem = ours.problem(found.x, "good", Constraints())
    problem.budget = 10_000
    expected = dict(zip(map(str, found.schema.names), run(local_importance(problem), problem), strict=True))
    assert {curve.feature: curve.importance for curve in info.curves} == pytest.approx(expected)
    assert [curve.importance for curve in info.curves] == pytest.approx(sorted(expected.values(), reverse=True))


def test_ice_curves_are_the_model_along_one_feature():
    found = explained("mixed")[1]
    background = explainer().background_
    info = ice_info(found, explainer())
    for curve in info.curves:
        j = found.schema.index(curve.feature)
        assert (np.diff(curve.values) > 0).all()
        assert curve.x in curve.values
        assert len(curve.values) <= 21
        assert set(curve.values) <= {*background.matrix[:, j], found.x[j]}
        for value, score in zip(curve.values, curve.scores, strict=True):
            row = found.x.copy()
            row[j] = value
            assert score == background.predictor.scores(row[None])[0, 0]
    assert (info.score_name, info.x_score, info.target) == ("P(good)", found.x_scores[0], "class 'good'")
    assert (info.low > 0.5, info.high) == (True, 1.0)


def test_features_that_the_model_ignores_have_no_importance_and_keep_their_order():
    ours, X = hostile_explainer()
    info = ice_info(ours.explain(X.iloc[[0]]), ours)
    ignored = [curve.feature for curve in info.curves if curve.importance == 0]
    assert len(ignored) == 57
    assert ignored[-1] == X.columns[-1]


def test_the_importance_picture_lists_the_first_features():
    found = explained("mixed")[1]
    curves = ice_info(found, explainer()).curves
    ax = plot_importance(found, explainer(), most_features=2)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [curve.feature for curve in curves[:2]]
    assert [bar.get_width() for bar in ax.patches] == [curve.importance for curve in curves[:2]]
    assert ax.get_title(loc="left").endswith("3 less important features not shown")


def test_history():
    info = history_info(with_history())
    assert info.generation.tolist() == [0, 1, 2, 3, 4]
    assert info.hypervolume.tolist() == [0.0, 0.2, 0.495, 0.498, 0.5]
    assert info.nearly_at == 2  # 0.495 is 99 % of 0.5
    assert history_info(with_history(hypervolume=[0.0] * 5)).nearly_at is None
    assert history_info(result()) is None


@pytest.mark.filterwarnings("ignore:Glyph")  # DejaVu has no Chinese
@pytest.mark.parametrize(
    "text", ["short", "a rather long name of a feature", "WWWWWWWWWWWWWWWWWW", "漢字" * 9, "$" * 40]
)
def test_texts_fit_their_room(text):
    cut = fitted(text, 0.8)
    assert text_width(cut.replace(r"\$", "$")) <= 0.8
    assert fitted(text, 99.0) == literal(text)
    if cut != literal(text):
        assert "…" in cut
        assert (cut.removeprefix("\\")[0], cut[-1]) == (text[0], text[-1])


def test_importance_of_changes_has_sizes_and_amounts_beside_how_often():
    frame = pd.DataFrame({"a": [0.0, 10.0, 30.0, 0.0], "b": [1, 1, 1, 0], "c": list("uuvw"), "d": [7.0] * 4})
    ranges = [100.0, 4.0, -1.0, 1.0]
    info = change_importance_info([result(frame, provenance={"ranges": ranges})])
    assert info.often.features == ("a", "c", "b")
    assert info.sizes == pytest.approx((0.2, np.nan, 0.25), nan_ok=True)
    assert info.amounts == ("20", "", "1")
    assert [info.often.shares[sign] for sign in (UP, DOWN, OTHER)] == [
        pytest.approx((2 / 3, 0, 0)),
        pytest.approx((0, 0, 1 / 3)),
        pytest.approx((0, 2 / 3, 0)),
    ]
