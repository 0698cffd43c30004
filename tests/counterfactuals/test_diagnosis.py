import copy
from dataclasses import replace

import numpy as np
import pytest

from countarfactuals.cli.arguments import OPTIONS
from countarfactuals.constraints import Constraints
from countarfactuals.counterfactuals import Counterfactuals, Diagnosis
from countarfactuals.counterfactuals.restrictions import constraint_text
from countarfactuals.language.vocabulary import TEXT, Words, words_of
from countarfactuals.prediction import Target

from .examples import REGRESSION, probabilities, result


def empty(diagnosis: Diagnosis | None, status: str = "none", **known) -> Counterfactuals:
    made = result()
    return Counterfactuals.empty(
        made.schema,
        made.x,
        target=Target("good"),
        method="arf",
        status=status,
        score_columns=probabilities("good"),
        x_scores=[0.31],
        x_label="bad",
        diagnosis=diagnosis,
        **known,
    )


FULL = Diagnosis(
    n_tried=1000,
    n_invalid=820,
    n_violating={"range: amount": 1, "direction: age": 150, "max_changed": 0},
    nearest_miss=result().rows[0],
    nearest_miss_scores=np.array([0.4812]),
    nearest_miss_distance=0.0188,
    lifting={"range: amount": 1, "direction: age": 12, "max_changed": 0},
)


def test_everything_is_said_in_sentences() -> None:
    assert FULL.text(empty(FULL)).replace(". ", ".\n").splitlines() == [
        "Nothing was found that leads to class 'good' among 1,000 attempts.",
        "820 of them do not lead there.",
        "Conditions that were not kept, at times several at once: 'direction: age' (150 times) and 'range: amount' "
        "(once).",
        "The closest attempt has amount 3,200.25 instead of 5,000.50 and grade high instead of middle, gets 0.48 as "
        "the probability of good and is 0.02 away from the target.",
        "It would help to do without one of these conditions: 'direction: age' (12 ways then) and 'range: amount' (1 "
        "way then).",
        "Try to do without 'direction: age' or to relax it, or choose a target that is easier to reach.",
    ]


def test_without_the_result_what_is_known_is_said() -> None:
    text = FULL.text()
    assert "The closest attempt is 0.02 away from the target." in text
    assert "leads to" not in text
    assert str(FULL) == text


@pytest.mark.parametrize(
    ("diagnosis", "parts"),
    [
        (Diagnosis(0), ["there was nothing to try", "Try a larger `max_evaluations`"]),
        (Diagnosis(0, is_spent=False), ["there was nothing to try", "Try looser conditions, or data that varies"]),
        (Diagnosis(9, 9, n_real=1), ["1 row of the data leads there and keeps all conditions.", "Try another method"]),
        (Diagnosis(9, 9, n_real=2), ["2 rows of the data lead there and keep all conditions."]),
        (Diagnosis(1, 1), ["among 1 attempt.", "None of them leads there.", "Try a target that is easier"]),
        (
            Diagnosis(9, 0, {"fixed: age": 9}),
            ["not kept: 'fixed: age' (9 times).", "No single condition was found to be"],
        ),
        (
            Diagnosis(9, 3, lifting={"fixed: age": 1}),
            ["It would help to do without the condition 'fixed: age' (1 way then)."],
        ),
        (Diagnosis(9, 3, nearest_miss_distance=0.0, nearest_miss=result().rows[3]), ["but does not keep a condition"]),
        (
            Diagnosis(99, 3, {f"fixed: {i}": i for i in range(1, 10)}),
            ["not kept, at times several at once: 'fixed: 9' (9 times)", "and 3 other conditions."],
        ),
    ],
)
def test_each_case(diagnosis: Diagnosis, parts: list[str]) -> None:
    text = diagnosis.text(empty(diagnosis))
    for part in parts:
        assert part in text


def test_many_changes_and_filled_cells_of_the_nearest_miss() -> None:
    miss = result().rows[1].copy()
    miss[[1, 2, 4]] = [1.25, 2.0, 0]
    diagnosis = Diagnosis(9, 9, nearest_miss=miss)
    text = diagnosis.text(empty(diagnosis))
    assert "has age 31 instead of 30, amount 1.25 instead of 5,000.50, rate" in text
    assert "and 2 other features changed." in text


def test_cells_that_were_missing() -> None:
    miss = np.where(np.arange(8) == 6, 120.0, result().x)
    diagnosis = Diagnosis(9, 9, nearest_miss=miss)
    assert "has savings 120 instead of missing." in diagnosis.text(empty(diagnosis))


def test_it_is_read_only() -> None:
    for one in (FULL, copy.deepcopy(FULL)):
        with pytest.raises(ValueError, match="read-only"):
            one.nearest_miss[0] = 1


def sane(frame):
    return frame["age"] > 0


SAID = Constraints(
    direction={"age": "increase"},
    ranges={"amount": (1000, 4000.5), "grade": (None, "high")},
    allowed={"grade": ["low", "high"]},
    max_changed=3,
    rules=[sane, ("age", "<=", "amount")],
    groups=[["age", "job"]],
    fixed=["town"],
)
KNOWN = {"constraints": SAID}


def reader(options: dict[str, str] | None = None) -> Words:
    return words_of(result().schema.names, {"amount": "€", "age": "years"}, "applicants", None, TEXT, options)


def test_a_reader_who_writes_no_python() -> None:
    made = empty(FULL, **KNOWN)
    assert FULL.text(made, reader()).replace(". ", ".\n").splitlines()[2:] == [
        "Conditions that were not kept, at times several at once: “age can only increase” (150 times) and “If amount "
        "changes, it becomes a value from €1,000 to €4,000.5” (once).",
        "The closest attempt has amount €3,200.25 instead of €5,000.50 and grade high instead of middle, gets 0.48 as "
        "the probability of good and is 0.02 away from the target.",
        "It would help to do without one of these conditions: “age can only increase” (12 ways then) and “If amount "
        "changes, it becomes a value from €1,000 to €4,000.5” (1 way then).",
        "Try to do without “age can only increase” or to relax it, or choose a target that is easier to reach.",
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("fixed: town", "town does not change"),
        ("direction: age", "age can only increase"),
        ("range: grade", "If grade changes, it becomes at most high"),
        ("allowed: grade", "If grade changes, it becomes 'low' or 'high'"),
        ("max_changed", "At most 3 features may change"),
        ("rule 1: sane", "The rule sane holds"),
        ("rule 2: age <= amount", "age <= amount"),
        ("missing: job", "job does not become missing"),
        ("group: age, job", "age, job change together or not at all"),
        ("min_typicality", "at least 90 % of real applicants are less plausible"),
        ("allow_real_rows", "rows of the data are not handed out"),
        ("something {new}", "something {new}"),
    ],
)
def test_constraints_have_their_own_sentences(name: str, text: str) -> None:
    """Also where names come from a file, and are plain texts."""
    settings = {"min_typicality": 0.9}
    made = empty(None, constraints=SAID, provenance={"settings": settings})
    assert constraint_text(name, made, reader()) == text


def test_sentences_are_found_for_every_constraint_there_is() -> None:
    """No constraint of the language falls back to a general phrase."""
    said = Constraints(
        fixed=["town"],
        ranges={"amount": (None, 9000), "grade": ("low", "middle")},
        allowed={"job": {"clerk": ["nurse"]}, "grade": ["low"]},
        direction={"age": "increase", "owner": "decrease"},
        max_changed=2,
        rules=[("age", "<=", "amount"), abs],
        groups=[["age", "job"]],
    )
    made = empty(None, constraints=said)
    texts = [constraint_text(name, made, reader()) for name in said.bind(made.schema, made.x).liftable]
    assert texts == [
        "town does not change",
        "If amount changes, it becomes at most €9,000",
        "If grade changes, it becomes a value from low to middle",
        "job can only change from 'clerk' to 'nurse'",
        "If grade changes, it becomes 'low'",
        "age can only increase",
        "owner can only decrease",
        "At most 2 features may change",
        "age <= amount",
        "The rule abs holds",
        "age, job change together or not at all",
    ]


@pytest.mark.parametrize(
    ("diagnosis", "readers", "options"),
    [
        (Diagnosis(9, 9), "or a longer search.", "or a larger --max-evaluations."),
        (Diagnosis(0), "Try a longer search: no row", "Try a larger --max-evaluations: no row"),
        (
            Diagnosis(9, 9, n_real=2),
            "such as NICE or MOCARF, or a longer search",
            "such as --method nice or --method mocarf, or a",
        ),
        (
            Diagnosis(9, 3, lifting={"max_changed": 1}),
            "“At most 3 features may change” or to relax it, try another method of search, such as NICE or MOCARF, or",
            "“At most 3 features may change” (--max-changed) or to relax it, try another method of search, such as "
            "--method nice or",
        ),
    ],
)
def test_advice_names_what_a_reader_can_set(diagnosis: Diagnosis, readers: str, options: str) -> None:
    made = empty(diagnosis, **KNOWN)
    assert readers in diagnosis.text(made, reader())
    said = diagnosis.text(made, reader(OPTIONS))
    assert options in said
    assert "`" not in said


def test_numbers_of_a_regression_have_separators_and_units() -> None:
    diagnosis = Diagnosis(9, 9, {}, result().rows[0], np.array([193320.0]), 106680.0)
    made = replace(empty(diagnosis), score_columns=REGRESSION, x_scores=np.array([1.0]), target=Target(above=300000))
    text = diagnosis.text(made)
    assert "leads to prediction at least 300,000 among" in text
    assert "gets a prediction of 193,320 and is 106,680 away" in text
    words = words_of(made.schema.names, {"price": "€"}, "rows", "price", TEXT)
    text = diagnosis.text(made, words)
    assert "leads to price at least €300,000 among" in text
    assert "gets a predicted price of €193,320 and is €106,680 away" in text


def test_the_nearest_miss_has_the_wanted_classs_score() -> None:
    diagnosis = Diagnosis(9, 9, {}, result().rows[0], np.array([0.4]), 0.1)
    made = replace(empty(diagnosis), target=Target("bad", above=0.7))
    assert "gets 0.60 as the probability of bad and" in diagnosis.text(made)
    tiny = Diagnosis(9, 9, {}, result().rows[0], np.array([0.5]), 1e-9)
    assert "is less than 0.0001 away" in tiny.text(empty(tiny))


@pytest.mark.parametrize("shown", [repr, Counterfactuals._repr_html_])
def test_an_empty_result_explains_itself(shown) -> None:
    text = " ".join(shown(empty(FULL)).replace("&#x27;", "'").split())
    assert FULL.text(empty(FULL)) in text
    assert "none found · target: class 'good' · method: arf" in text


@pytest.mark.parametrize("shown", [repr, Counterfactuals._repr_html_])
def test_a_row_that_has_the_outcome(shown) -> None:
    text = shown(empty(None, "already")).replace("&#x27;", "'")
    assert "The row already has the outcome: class 'good' (P(good) = 0.310). Nothing needs to change." in text


@pytest.mark.parametrize("shown", [repr, Counterfactuals._repr_html_])
def test_a_row_that_failed(shown) -> None:
    text = shown(empty(None, "error", error="No level <q>.")).replace("&lt;q&gt;", "<q>")
    assert text.count("No level <q>.") == 1
    assert "could not be explained" in text


def test_never_silent() -> None:
    assert "no reason was recorded" in repr(empty(None))


def test_more_evaluations_are_advised_only_where_they_were_used_up() -> None:
    assert "max_evaluations" in Diagnosis(9, 9).text()
    assert "max_evaluations" not in Diagnosis(9, 9, is_spent=False).text()
    assert "easier to reach" in Diagnosis(9, 9, is_spent=False).text()
