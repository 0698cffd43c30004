"""Common ways: each is applied again by hand, row by row, and judged by the model, the constraints and the judges."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

from countarfactuals import AdversarialRandomForest, ARFExplainer, Constraints, CounterfactualsBatch
from countarfactuals.counterfactuals.ways import AT_LEAST, AT_MOST, BECOMES, Change
from countarfactuals.evaluation import evaluate
from countarfactuals.exceptions import DataError, ParameterError
from countarfactuals.language import speaking

from ..counterfactuals.test_languages import english
from ..pseudo import PSEUDO

N = 400
CONSTRAINTS = Constraints(fixed=["age"], direction={"savings": "increase"}, max_changed=2)


class Model:
    """A score that counts income, savings, the term and one job."""

    n_calls = 0

    def __call__(self, frame: pd.DataFrame) -> np.ndarray:
        self.n_calls += 1
        merit = frame["income"] / 10 + frame["savings"] / 20 - frame["term"] / 12 + 1.0 * (frame["job"] == "nurse")
        return 1 / (1 + np.exp(-(merit.to_numpy(np.float64) - 2.5)))


@cache
def data() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 60, N),
            "income": rng.gamma(6, 5, N).round(1),
            "savings": rng.gamma(2, 8, N).round(1),
            "term": rng.choice([12, 24, 36], N),
            "job": rng.choice(["clerk", "nurse", "cook"], N),
        }
    )


@cache
def explainer() -> ARFExplainer:
    forest = AdversarialRandomForest(n_estimators=10, min_samples_leaf=10)
    return ARFExplainer(
        Model(), density=forest, classes=("bad", "good"), max_evaluations=150, measure="median", random_state=1
    ).fit(data())


@cache
def batch() -> CounterfactualsBatch:
    return explainer().explain_many(data().head(60), "good", CONSTRAINTS, progress=False)


def applied(x: pd.Series, changes: pd.DataFrame) -> pd.Series:
    """A way by hand, from its frame."""
    x = x.copy()
    for change in changes.itertuples():
        if change.kind == "becomes":
            x[change.feature] = change.value
        else:
            x[change.feature] = (max if change.kind == "at least" else min)(x[change.feature], change.value)
    return x


@pytest.mark.parametrize(("most", "n"), [(1, 2), (2, 2)])
def test_whom_a_way_helps_is_what_the_model_the_constraints_and_the_judges_say(most, n):
    ways = explainer().common_ways(batch(), k=n, max_changes=most, min_typicality=0.1)
    assert len(ways) == n
    needing = [label for label, result in zip(batch().index, batch(), strict=True) if result.status == "found"]
    assert list(ways.needing) == needing
    who, changes = ways.helped(), ways.changes()
    taken: set = set()
    for number, way in enumerate(ways):
        own = changes[changes["way"] == number]
        helped = set()
        for label in needing:
            x = data().loc[[label]]
            row = applied(x.iloc[0], own).to_frame().T.astype(x.dtypes)
            if row.iloc[0].equals(x.iloc[0]):
                continue
            judged = evaluate(row, x, explainer(), "good", CONSTRAINTS).iloc[0]
            if judged["valid"] and not judged["violated"] and judged["typicality"] >= 0.1:
                helped.add(label)
        assert helped == set(way.helped) == set(who.index[who[number]])
        assert way.newly == len(helped - taken)
        assert way.share == len(helped) / len(needing)
        taken |= helped
    assert ways.share == pytest.approx(len(taken) / len(needing))


def test_ways_keep_constraints_and_their_number_of_changes():
    for most in (1, 2, 3):
        ways = explainer().common_ways(batch(), k=4, max_changes=most)
        columns = [[explainer().schema_.names[change.column] for change in way.changes] for way in ways]
        assert all(1 <= len(names) <= min(most, 2) for names in columns)  # the constraints allow two
        assert not any("age" in names for names in columns)
        assert not any(change.kind == AT_MOST for way in ways for change in way.changes if change.column == 2)


def test_each_way_helps_new_rows_and_the_first_nearly_as_many_as_any():
    ways = explainer().common_ways(batch(), k=5, min_typicality=0.0)
    assert all(way.newly > 0 for way in ways)
    assert all(len(way.helped) <= len(ways[0].helped) / 0.9 for way in ways)
    assert ways.share >= 0.8  # with savings and a short term nearly everyone gets there


def test_the_model_is_asked_once_per_set_of_changes_and_no_more_than_allowed():
    model = explainer().model
    batch()
    before = model.n_calls
    ways = explainer().common_ways(batch(), max_candidates=20)
    assert 3 <= ways.n_tried <= 20
    assert model.n_calls - before == ways.n_tried


def test_it_is_the_same_again_and_in_another_order():
    once, again = explainer().common_ways(batch()), explainer().common_ways(batch())
    pd.testing.assert_frame_equal(once.to_frame(), again.to_frame())
    turned = CounterfactualsBatch(batch().results[::-1], batch().index[::-1])
    turned = explainer().common_ways(turned)
    pd.testing.assert_frame_equal(once.changes(), turned.changes())
    assert [set(way.helped) for way in once] == [set(way.helped) for way in turned]


def test_a_frame_is_explained_first():
    rows = data().head(12)
    explained = explainer().explain_many(rows, "good", CONSTRAINTS, progress=False)
    made = explainer().common_ways(rows, "good", CONSTRAINTS)
    pd.testing.assert_frame_equal(made.to_frame(), explainer().common_ways(explained).to_frame())


def test_values_occur_and_are_round():
    ways = explainer().common_ways(batch(), k=6)
    for way in ways:
        for change in way.changes:
            column = explainer().schema_.columns[change.column]
            if column.name == "term":
                assert change.value in (12.0, 24.0, 36.0)
            elif column.is_number:
                assert column.permits(np.array([change.value])).all()
                assert change.value == round(change.value)  # incomes and savings run over some 80


def test_words_say_who_is_helped_and_promise_nothing():
    ways = explainer().common_ways(batch(), k=2)
    told = ways.describe(units={"term": "months", "income": "€"}, rows="applicants")
    first = ways[0]
    assert f"would help {len(first.helped)} of {len(ways.needing)} applicants" in told
    assert "not as a promise" in told
    with speaking(PSEUDO):
        assert english(ways.describe(rows=("Ä", "ÄÄ"))) <= {
            "income",
            "savings",
            "term",
            "job",
            "nurse",
            "clerk",
            "cook",
        }


def test_where_nobody_needs_it_or_nothing_helps_this_is_said():
    good = data()[Model()(data()) > 0.5].head(4)
    ways = explainer().common_ways(good, "good")
    assert (len(ways), ways.share, ways.describe()) == (0, 0.0, "All rows have the wanted outcome already.")
    assert ways.to_frame().empty
    nothing = explainer().common_ways(batch(), min_typicality=1.0)
    assert len(nothing) == 0
    assert "helps any of" in nothing.describe()


def test_changes_keep_what_is_there_already_and_fill_gaps():
    cells = np.array([1.0, 5.0, np.nan])
    assert Change(0, AT_LEAST, 3.0).applied(cells).tolist() == [3.0, 5.0, 3.0]
    assert Change(0, AT_MOST, 3.0).applied(cells).tolist() == [1.0, 3.0, 3.0]
    assert Change(0, BECOMES, 2.0).applied(cells).tolist() == [2.0, 2.0, 2.0]


def test_wrong_use_is_refused():
    with pytest.raises(ParameterError, match="its own target"):
        explainer().common_ways(batch(), "good")
    with pytest.raises(ParameterError, match="max_changes must be"):
        explainer().common_ways(batch(), max_changes=0)
    other = ARFExplainer(lambda frame: frame["a"] / 9, classes=("bad", "good"), measure="median", random_state=1)
    other.fit(pd.DataFrame({"a": np.arange(60.0) / 10, "b": np.arange(60.0) % 7}))
    with pytest.raises(DataError, match="the explainer was fitted to 'a', 'b'"):
        other.common_ways(batch())
