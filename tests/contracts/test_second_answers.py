"""What leaves was said twice: models that contradict themselves are told of, others are not disturbed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from countarfactuals import Counterfactuals, report
from countarfactuals.language import speaking

from . import normal_table as normal
from .methods import BY_NAME, Method, every_method

BUDGET = 120
CODE = "contradicts itself"
ROW = normal.X.loc[[normal.X["a"].idxmin()]]


class Model:
    """A logistic model with noise; it keeps what it was asked and said."""

    def __init__(self, noise: float) -> None:
        self.noise = noise
        self.begin()

    def begin(self) -> None:
        self.rng = np.random.default_rng(0)
        self.asked: list[pd.DataFrame] = []
        self.said: list[np.ndarray] = []

    def __call__(self, frame: pd.DataFrame) -> np.ndarray:
        scores = np.clip(normal.logistic(frame) + self.noise * self.rng.normal(size=len(frame)), 0.0, 1.0)
        self.asked.append(frame)
        self.said.append(scores)
        return scores

    def answers(self, row: tuple[Any, ...]) -> list[float]:
        """All that was said of a row."""
        rows = pd.concat(self.asked).itertuples(index=False, name=None)
        return [score for one, score in zip(rows, np.concatenate(self.said).tolist(), strict=True) if one == row]


def explained(method: Method, model: Model) -> Counterfactuals:
    explainer = method.make(model, classes=("bad", "good"), max_evaluations=BUDGET).fit(normal.X)
    model.begin()
    return explainer.explain(ROW, "good")


def noted(result: Counterfactuals) -> list[dict[str, Any]]:
    return [dict(note.values) for note in result.notes if note.code == CODE]


@every_method
def test_only_rows_leave_that_a_wavering_model_has_called_good_twice(method: Method):
    model = Model(0.4)
    result = explained(method, model)
    assert sum(map(len, model.asked)) == result.provenance["evaluations"] <= BUDGET
    told = noted(result)
    assert len(told) == 1
    assert 0 < told[0]["differing"] <= told[0]["asked"]
    for row in result.to_frame().itertuples(index=False, name=None):
        assert sum(score > 0.5 for score in model.answers(row)) >= 2


@every_method
def test_a_model_that_says_the_same_is_asked_once_more_and_nothing_is_told(method: Method):
    model = Model(0.0)
    result = explained(method, model)
    assert result.status == "found"
    assert not noted(result)
    assert sum(map(len, model.asked)) == result.provenance["evaluations"] <= BUDGET
    rows = set(result.to_frame().itertuples(index=False, name=None))
    assert set(model.asked[-1].itertuples(index=False, name=None)) <= rows
    np.testing.assert_array_equal(result.scores[:, 0], normal.logistic(result.to_frame()))


class Remembering(Model):
    """Says one thing of a row that it has not seen since it began, and another of one that it has."""

    def __init__(self, at_first: float, again: float) -> None:
        super().__init__(0.0)
        self.at_first, self.again = at_first, again

    def __call__(self, frame: pd.DataFrame) -> np.ndarray:
        seen = {row for one in self.asked for row in one.itertuples(index=False, name=None)}
        self.asked.append(frame)
        rows = list(frame.itertuples(index=False, name=None))
        poor = frame["a"].to_numpy() <= ROW["a"].iloc[0]  # the row itself, and others like it
        return np.where(poor, 0.0, [self.again if row in seen else self.at_first for row in rows])


@every_method
def test_last_bits_are_no_contradiction_even_at_the_limit(method: Method):
    result = explained(method, Remembering(np.nextafter(0.5, 1.0), np.nextafter(0.5, 0.0)))
    assert result.status == "found"
    assert not noted(result)
    assert (result.scores > 0.5).all()


@every_method
def test_what_is_lost_at_the_second_answer_is_replaced_or_nothing_leaves(method: Method):
    """A model that calls every row good once, and never again."""

    model = Remembering(0.9, 0.1)
    result = explained(method, model)
    assert result.status == "none"
    told = noted(result)[0]
    assert told["asked"] == told["differing"] > 0
    assert told["left_out"] >= told["asked"]
    assert sum(map(len, model.asked)) == result.provenance["evaluations"] <= BUDGET
    assert "contradicts itself" in result.describe()


def test_one_row_is_explained_as_among_many():
    rows = normal.X.head(5)
    model = Model(0.0)
    explainer = normal.fitted(model, max_evaluations=BUDGET)
    batch = explainer.explain_many(rows, "good", progress=False)
    for k, result in enumerate(batch):
        one = explainer.explain(rows.iloc[[k]], "good").to_dict()
        assert {**one, "provenance": None} == {**result.to_dict(), "provenance": None}
        assert one["provenance"]["evaluations"] == result.provenance["evaluations"]


def test_models_that_are_known_to_answer_alike_have_all_of_the_budget():
    labels = np.where(normal.logistic(normal.X) > 0.5, "good", "bad")
    known = LogisticRegression().fit(normal.X, labels)
    asked: list[int] = []

    def unknown(frame: pd.DataFrame) -> np.ndarray:
        asked.append(len(frame))
        return known.predict_proba(frame)

    parameters = {"max_evaluations": BUDGET, "classes": None}
    first = normal.fitted(known, **parameters).trace(ROW, "good")[1]
    other = normal.fitted(unknown, **{**parameters, "classes": ("bad", "good")}).trace(ROW, "good")[1]
    assert not first.asks_again
    assert other.asks_again
    rows = first.ledger()[0]
    assert len({row.tobytes() for row in rows}) == len(rows) == first.n_evaluated  # none twice
    assert other.n_evaluated == len(other.ledger()[0]) + asked[-1]


def test_it_is_told_wherever_results_are_shown(tmp_path: Any):
    result = explained(BY_NAME["arf"], Model(0.4))
    values = noted(result)[0]
    sentence = f"of {values['asked']} row(s) that it was asked about twice, {values['differing']} got clearly different"
    assert sentence in " ".join(str(result).split())
    assert sentence in result.describe()
    assert sentence in report.write(result, tmp_path / "report.html").read_text("utf-8")
    assert f"{values['left_out']} row(s) that did not have the outcome twice" in result.describe()
    assert "Das Modell widerspricht sich" in result.describe(language="de")
    with speaking("de"):
        assert "Das Modell widerspricht sich" in str(result)
    again = Counterfactuals.from_json(result.to_json())
    assert noted(again) == [values]
