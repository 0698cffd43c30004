import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, LogisticRegression

from countarfactuals import ARFExplainer, Constraints, Target
from countarfactuals.arf import AdversarialRandomForest
from countarfactuals.constraints import Clause
from countarfactuals.counterfactuals import Counterfactuals, Diagnosis
from countarfactuals.counterfactuals.sentences import situation, typicality_sentence
from countarfactuals.exceptions import ParameterError
from countarfactuals.language.spelling import number_texts, score_texts, value_texts
from countarfactuals.language.vocabulary import HTML, MARKDOWN, TEXT, words_of
from countarfactuals.schema import Column, Kind, Schema

from .examples import REGRESSION, loans, margins, probabilities, result, wide

describe = Counterfactuals.describe


def of(frame: pd.DataFrame, **changes: Any) -> Counterfactuals:
    n = len(frame) - 1
    known = {"x_scores": [0.38], "scores": np.full((n, 1), 0.71), "typicality": np.full(n, 0.62)}
    return result(frame, **{**known, "is_real_row": np.zeros(n, bool), **changes})


def simple(**changes: Any) -> Counterfactuals:
    return of(pd.DataFrame({"income": [36000.0, 41200.0], "duration": [36, 24]}), **changes)


EXPECTED = (
    "If income had been 41,200 instead of 36,000 and duration 24 instead of 36 months, the prediction would have been "
    "{} (0.71 instead of 0.38). 62 % of real applicants are less typical than this."
)


@pytest.mark.parametrize(("format", "label"), [("text", "good"), ("markdown", "*good*")])
def test_the_sentence_of_the_specification(format: str, label: str) -> None:
    said = describe(simple(), units={"duration": "months"}, rows="applicants", format=format)
    assert said == EXPECTED.format(label)


def test_every_kind_of_column() -> None:
    said = describe(result(), None, units={"amount": "€", "savings": "€", "age": "years"}).split("\n\n")
    assert [one.split(", the prediction")[0] for one in said] == [
        "If amount had been €3,200.25 instead of €5,000.50 and grade high instead of middle",
        "If age had been 31 instead of 30 years, job nurse instead of clerk, owner true instead of false and savings "
        "had been known to be €120",
        "If amount had been €7,000.75 instead of €5,000.50, job missing instead of clerk and grade low instead of "
        "middle",
        "If rate had been 3.141594 instead of 3.141593",
    ]


def test_only_real_rows_are_said_to_be_in_the_data() -> None:
    said = describe(result(), None).split("\n\n")
    assert ["Such a row is in the data." in one for one in said] == result().is_real_row.tolist()


def test_missing_cells_come_last_and_share_their_verb() -> None:
    frame = pd.DataFrame({"a": [np.nan, 1.5], "b": [2, 3], "c": [None, "u"], "d": ["v", "w"]})
    said = describe(of(frame))
    start = "If b had been 3 instead of 2, d w instead of v, a had been known to be 1.5 and c u, the prediction"
    assert said.startswith(start)


@pytest.mark.parametrize(
    ("unit", "before", "after", "text"),
    [
        ("months", 36, 1, "1 month instead of 36 months"),
        ("months", 1, 36, "36 months instead of 1 month"),
        ("months", 24, 36, "36 instead of 24 months"),
        ("kg", 1, 5, "5 instead of 1 kg"),
        (("person", "people"), 1, 3, "3 people instead of 1 person"),
        (("person", "people"), 4, 3, "3 instead of 4 people"),
        ("%", 4, 3, "3 instead of 4 %"),
        ("$", -4000, 3, "$3 instead of -$4,000"),
        ("feet", 6, 1, "1 foot instead of 6 feet"),
    ],
)
def test_units(unit: Any, before: int, after: int, text: str) -> None:
    said = describe(of(pd.DataFrame({"a": [before, after]})), units={"a": unit})
    assert f"If a had been {text}, the" in said


def test_units_of_cells_that_were_missing_or_become_so() -> None:
    frame = pd.DataFrame({"a": [np.nan, 1.0, 2.0], "b": [1.0, 2.0, np.nan]})
    said = describe(of(frame), None, units={"a": "days", "b": "days"}).split("\n\n")
    assert "b had been 2 days instead of 1 day and a had been known to be 1 day," in said[0]
    assert "b had been missing instead of 1 day and a had been known to be 2 days," in said[1]


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (36000.0, 41200.0, "41,200 instead of 36,000"),
        (36000.0, 41200.5, "41,200.5 instead of 36,000.0"),
        (-1234567, 12, "12 instead of -1,234,567"),
        (999, 1000, "1,000 instead of 999"),
        (1e12 + 0.5, 2.0, None),
    ],
)
def test_numbers(before: float, after: float, text: str | None) -> None:
    said = describe(of(pd.DataFrame({"a": [before, after]})))
    match = re.match("If a had been (.*) instead of (.*), the", said)
    assert match
    if text is not None:
        assert f"{match[1]} instead of {match[2]}" == text
    assert float(match[1].replace(",", "")) == pytest.approx(after)
    assert float(match[2].replace(",", "")) == pytest.approx(before)


def test_calendar_years_have_no_separator_and_durations_do() -> None:
    frame = pd.DataFrame({"year_built": [1998, 2005], "years": [1998, 2005]})
    said = describe(of(frame))
    assert said.startswith("If year_built had been 2005 instead of 1998 and years 2,005 instead of 1,998,")


@given(st.lists(st.floats(-1e12, 1e12).map(lambda x: round(x, 2)), min_size=1, max_size=4))
def test_separators_change_no_number(values: list[float]) -> None:
    texts = number_texts([f"{value:.2f}" for value in values])
    assert [float(text.replace(",", "")) for text in texts] == values
    assert all(re.fullmatch(r"-?\d{1,3}(,\d{3})*(\.\d\d)?", text) for text in texts)
    assert len({"." in text for text in texts}) == 1


@given(st.lists(st.floats(0, 1), min_size=1, max_size=3, unique=True))
def test_scores_that_differ_are_told_apart_and_near(scores: list[float]) -> None:
    texts = score_texts(scores)
    assert len(set(texts)) == len(scores)
    assert np.allclose([float(text) for text in texts], scores, atol=0.005)
    for score, text in zip(scores, texts, strict=True):
        if abs(score - 0.5) > 5e-5 and 5e-5 < score < 1 - 5e-5:
            assert float(text) not in (0.0, 0.5, 1.0)


@pytest.mark.parametrize(
    ("changes", "effect"),
    [
        ({"labels": ["bad"], "x_label": "good"}, "the prediction would have been bad (0.29 instead of 0.62)"),
        (
            {"target": Target("good", above=0.7)},
            "the probability of good would have been 0.71 instead of 0.38 (prediction good instead of bad)",
        ),
        (
            {"target": Target("bad", below=0.3), "x_label": "good"},
            "the probability of bad would have been 0.29 instead of 0.62 (the prediction would still be good)",
        ),
        (
            {"target": Target("good", above=0.3), "x_scores": [0.05], "scores": [[0.31]], "labels": ["bad"]},
            "the probability of good would have been 0.31 instead of 0.05 (the prediction would still be bad)",
        ),
        (
            {"target": Target("good", above=0.3), "score_columns": margins("good"), "labels": ["bad"]},
            "the score of good would have been 0.71 instead of 0.38 (the prediction would still be bad)",
        ),
        ({"score_columns": margins("good")}, "the prediction would have been good (score 0.71 instead of 0.38)"),
        (
            {"provenance": {"settings": {"outcome": "observed"}}},
            "the expected outcome would have been good (0.71 instead of 0.38)",
        ),
        (
            {
                "score_columns": probabilities("a", "b", "c"),
                "x_scores": [0.7, 0.2, 0.1],
                "scores": [[0.3, 0.6, 0.1]],
                "labels": ["b"],
                "x_label": "a",
            },
            "the prediction would have been b instead of a (0.60 instead of 0.20)",
        ),
        (
            {
                "score_columns": probabilities("a", "a) at least 1", "c"),
                "x_scores": [0.7, 0.2, 0.1],
                "scores": [[0.3, 0.6, 0.1]],
                "labels": ["c"],
                "x_label": "c",
                "target": Target("c", probability=(0.1, 0.3)),
            },
            "the probability of c would have been 0.10 instead of 0.10 (the prediction would still be c)",
        ),
        (
            {
                "score_columns": REGRESSION,
                "x_scores": [180000.0],
                "scores": [[250000.0]],
                "labels": [250000.0],
                "x_label": 180000.0,
                "target": Target(above=200000),
            },
            "the prediction would have been 250,000 instead of 180,000",
        ),
    ],
)
def test_effects(changes: dict[str, Any], effect: str) -> None:
    assert f", {effect}. 62 %" in describe(simple(**changes))


def test_a_regression_with_a_name_and_a_unit() -> None:
    made = simple(score_columns=REGRESSION, x_scores=[0.5], scores=[[0.25]], labels=[0.25], x_label=0.5)
    assert "the predicted price would have been €0.25 instead of €0.50" in describe(
        made, outcome="price", units={"price": "€"}
    )
    assert "the prediction would have been €0.25 instead of €0.50" in describe(made, units={"prediction": "€"})
    assert "the predicted risk would have been good" in describe(simple(), outcome="risk")


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.62, "62 % of real people are less typical than this."),
        (0.05, "5 % of real people are less typical than this."),
        (0.049, "This is unusual: only 5 % of real people are less typical."),
        (0.004, "This is unusual: less than 1 % of real people are less typical."),
        (0.0, "This is unusual: no real person is less typical."),
        (0.996, "More than 99 % of real people are less typical than this."),
        (1.0, "All real people that it was compared with are less typical than this."),
        (math.nan, "How typical this is was not judged."),
    ],
)
@pytest.mark.parametrize("style", [TEXT, MARKDOWN, HTML])
def test_typicality(share: float, text: str, style: Any) -> None:
    assert typicality_sentence(share, words_of([], None, ("person", "people"), None, style)) == text


def test_many_changes_are_counted() -> None:
    frame = pd.DataFrame({f"f{j}": [1, 2] for j in range(30)})
    said = describe(of(frame))
    assert said.count("instead of") == 9 + 1
    assert "and 21 other features had been different, the prediction" in said


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("prefer", [None, "n_changed", {"distance": 1.0, "implausibility": 2.0}])
def test_the_rows_are_those_of_select(k: int, prefer: Any) -> None:
    made = wide()
    chosen = made.select(k, prefer, 0.3)
    at = made.positions(k, prefer, 0.3)
    assert (made.rows[at] == chosen.rows).all()
    assert describe(made, k, prefer=prefer, diversity=0.3) == describe(chosen, None)
    assert len(describe(made, k, prefer=prefer).split("\n\n")) == k + 1
    assert describe(made, k, prefer=prefer).endswith(f"\n\n{22 - k} more were found.")


def test_markdown_lists_several() -> None:
    lines = describe(result(), 2, format="markdown").splitlines()
    assert [line[:5] for line in lines] == ["- If ", "- If ", "- 2 m"]


def test_notes_are_told() -> None:
    assert describe(simple(notes=("Every counterfactual extrapolates.",))).endswith(
        "less typical than this.\n\nEvery counterfactual extrapolates."
    )


def empty(status: str, **known: Any) -> Counterfactuals:
    made = simple()
    return Counterfactuals.empty(
        made.schema,
        made.x,
        target=Target("good"),
        method="arf",
        status=status,
        score_columns=probabilities("good"),
        x_scores=[0.8],
        x_label="good",
        objectives=("distance",),
        **known,
    )


def test_without_rows() -> None:
    assert describe(empty("already")) == (
        "The prediction is good (P(good) = 0.80), as wanted (class 'good'). Nothing needs to change."
    )
    assert describe(empty("error", error="The model fell.")) == "This row could not be explained: The model fell."
    diagnosis = Diagnosis(n_tried=20, n_invalid=20, lifting={Clause("fixed: age", "fixed", ("age",)): 3})
    none = empty("none", diagnosis=diagnosis)
    words = words_of(none.schema.names, None, "rows", None, TEXT)
    assert describe(none) == diagnosis.text(none, words)
    assert "without the condition “age does not change” (3 ways then)" in describe(none)
    assert "fixed:" not in describe(none)
    assert describe(empty("none", notes=("Filtered.",))) == "Filtered."
    assert "no reason was recorded" in describe(empty("none"))


def test_an_error_before_anything_was_known() -> None:
    made = Counterfactuals.empty(simple().schema, None, target=None, method="arf", status="error", error="Broken.")
    assert describe(made) == "This row could not be explained: Broken."


def test_what_is_predicted_and_wanted() -> None:
    words = words_of(["income", "duration"], None, "rows", None, HTML)
    assert situation(simple(), words) == [
        "The prediction is <em>bad</em> (P(good) = 0.38).",
        "Wanted is: class &#x27;good&#x27;; 1 counterfactual was found.",
    ]
    regression = simple(score_columns=REGRESSION, x_scores=[1800.0], scores=[[2.0]], labels=[2.0], x_label=1800.0)
    assert situation(regression, words)[0] == "The prediction is 1,800."


def test_the_lead_and_the_sentences_speak_of_the_same_score() -> None:
    words = words_of(["income", "duration"], None, "rows", "risk", HTML)
    wanted = simple(
        target=Target("bad", probability=(0.5, 1)), x_scores=[0.95], scores=[[0.3]], labels=["bad"], x_label="good"
    )
    assert situation(wanted, words) == [
        "The predicted risk is <em>good</em> (P(bad) = 0.05).",
        "Wanted is, for risk: P(bad) from 0.5 to 1; 1 counterfactual was found.",
    ]
    assert "probability of bad would have been 0.70 instead of 0.05" in describe(wanted)
    already = replace(empty("already"), target=Target("bad", probability=(0.1, 1)))
    assert describe(already) == (
        "The prediction is good (P(bad) = 0.20), as wanted (P(bad) from 0.1 to 1). Nothing needs to change."
    )


def test_a_wanted_number_has_the_outcomes_unit() -> None:
    made = simple(
        score_columns=REGRESSION,
        x_scores=[180000.0],
        scores=[[250000.0]],
        labels=[250000.0],
        x_label=180000.0,
        target=Target(above=200000),
    )
    words = words_of(["income", "duration"], {"price": "€"}, "rows", "price", TEXT)
    assert situation(made, words) == [
        "The predicted price is €180,000.",
        "Wanted is: price at least €200,000; 1 counterfactual was found.",
    ]


HOSTILE = ["<script>alert(1)</script>", "a, the prediction would have been bad. b", "x\u2028y", "*_`[a](b)`", "&amp;"]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_users_call_things_can_not_become_part_of_the_sentence(text: str) -> None:
    frame = pd.DataFrame({text: [1, 2], "c": [text, "plain"]})
    made = of(frame, labels=[text], score_columns=probabilities(text), target=Target(text), notes=(text,))
    said = describe(made, format="markdown", outcome=text, rows=text)
    assert "<" not in said
    assert "\u2028" not in said
    assert not re.search(r"(?<!\\)[_`\[\]]", said)
    assert said.count("would have been") - said.count("“a, the prediction would have been bad. b”") in (1, 3)


def test_names_that_read_like_the_sentence_are_quoted() -> None:
    frame = pd.DataFrame(
        {"a and b": [1, 2], "c": ["u instead of v", "x, y"], "monthly income": [1, 2], "a b c": [1, 2]}
    )
    assert describe(of(frame)).startswith(
        "If “a and b” had been 2 instead of 1, c “x, y” instead of “u instead of v”, monthly income 2 instead of 1 "
        "and “a b c” 2 instead of 1,"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "html"}, "`format` must be one of 'text', 'markdown', got 'html'"),
        ({"units": {"incom": "€"}}, "no column; known: 'income', 'duration', 'prediction'. Did you mean 'income'?"),
        ({"units": {"income": 3}}, r"must be a word, or \(singular, plural\), got 3"),
        ({"units": "€"}, "must be a dict of units by column"),
        ({"rows": ""}, "`rows` must be a word"),
        ({"outcome": 3}, "`outcome` must be the name"),
        ({"k": 0}, "k must be an integer"),
        ({"prefer": "n_chnged"}, "Did you mean 'n_changed'"),
        ({"diversity": 2}, "diversity must be"),
    ],
)
def test_errors(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        describe(simple(), **options)


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression", "observed"])
def test_real_explanations(task: str) -> None:
    """What a sentence says of values and predictions is what the frame and the model say."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"a": rng.normal(size=300).round(2), "b": rng.integers(0, 5000, 300)})
    raw = X["a"] + X["b"] / 2500
    y = {"binary": raw > 1, "multiclass": pd.cut(raw, 3, labels=["l", "m", "h"]).astype(str), "regression": raw}.get(
        task, raw > 1
    )
    scaled = X.assign(b=X["b"] / 2500)
    model: Any = LinearRegression() if task == "regression" else LogisticRegression()
    model.fit(scaled, y)
    ask = {"regression": "predict"}.get(task, "predict_proba")

    def scores(frame: pd.DataFrame) -> np.ndarray:
        return getattr(model, ask)(frame.assign(b=frame["b"] / 2500))

    x = X.iloc[[int(raw.argmin())]]
    target = {"multiclass": "h", "regression": Target(above=1.5)}.get(task, True)
    forest = AdversarialRandomForest(n_estimators=10)
    explainer = ARFExplainer(
        None if task == "observed" else scores,
        density=forest,
        max_evaluations=100,
        outcome="observed" if task == "observed" else "predicted",
        classes=None if task in ("regression", "observed") else model.classes_.tolist(),
        random_state=1,
    ).fit(X, y if task == "observed" else None)
    made = explainer.explain(x, target, Constraints(max_changed=2))
    assert len(made)
    for said, row in zip(describe(made, None).split("\n\n"), made.to_frame().itertuples(), strict=False):
        for name in ("a", "b"):
            found = re.search(rf"{name}(?: had been)? (-?[\d,.]+) instead of (-?[\d,.]+\d)", said)
            assert (found is not None) == (getattr(row, name) != x[name].iloc[0])
            if found:
                assert float(found[1].replace(",", "")) == getattr(row, name)
                assert float(found[2].replace(",", "")) == x[name].iloc[0]
    expected = {"multiclass": "would have been h instead of", "regression": "the prediction would have been "}
    assert expected.get(task, "would have been True (") in describe(made, 1)
    assert ("the expected outcome" in describe(made, 1)) == (task == "observed")


def test_nothing_is_changed() -> None:
    made, frame = result(), loans()
    before = made.to_dict()
    describe(made)
    assert made.to_dict() == before
    assert replace(made) == made
    pd.testing.assert_frame_equal(frame, loans())


# Wordings that annoyed


def test_an_outcome_that_is_called_like_its_class_is_the_prediction() -> None:
    said = describe(simple(labels=("survived",), x_label="died"), outcome="survived")
    assert "the prediction would have been survived" in said
    assert "the predicted survived" not in said


def test_a_wanted_number_does_not_run_into_the_next_sentence() -> None:
    frame = pd.DataFrame({"income": [36000.0, 41200.0]})
    made = of(frame, score_columns=REGRESSION, x_scores=[11.0], scores=[[8.5]], labels=(8.5,), target=Target(below=9))
    lead = " ".join(situation(made, words_of(["income"], None, "rows", "interest rate", TEXT)))
    assert lead.endswith("Wanted is: interest rate at most 9; 1 counterfactual was found.")


def test_years_have_no_separator_by_their_values_or_names() -> None:
    years = [*range(1990, 2010)] * 6
    schema = Schema.infer(
        pd.DataFrame({"opened": years, "YearBuilt": years, "yr_sold": years, "steps": [1500, 9000] * 60})
    )
    texts = [value_texts(column, [1998.0, 2005.0]) for column in schema.columns]
    assert texts == [["1998", "2005"]] * 3 + [["1,998", "2,005"]]


def test_decimals_have_no_superfluous_zeros() -> None:
    ratio = Column("pirat", Kind.REAL, decimals=4)
    assert value_texts(ratio, [0.35, 0.3125]) == ["0.35", "0.3125"]
    assert value_texts(ratio, [0.35, 0.3]) == ["0.35", "0.30"]
    assert value_texts(Column("price", Kind.REAL, decimals=2), [12.5, 3.25]) == ["12.50", "3.25"]


def test_several_classes_and_changes_in_words() -> None:
    words = words_of(["income", "duration"], None, "rows", None, TEXT)
    several = simple(target=Target(any_of=["good", "fair"]))
    assert situation(several, words)[-1] == "Wanted is: class 'good' or 'fair'; 1 counterfactual was found."
    more = simple(target=Target("good", change=0.25))
    assert situation(more, words)[-1].startswith("Wanted is: P(good) at least 0.25 more (at least 0.63); ")


def test_observed_outcomes_are_not_called_predictions() -> None:
    made = simple(provenance={"settings": {"outcome": "observed"}})
    assert "expected outcome" in repr(made)
    assert "prediction" not in repr(made)
    assert "prediction" not in describe(made)
