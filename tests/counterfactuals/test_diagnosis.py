import copy

import numpy as np
import pytest

from countarfactuals.counterfactuals import Counterfactuals, Diagnosis

from .examples import result


def empty(diagnosis: Diagnosis | None, status: str = "none", **known) -> Counterfactuals:
    made = result()
    return Counterfactuals.empty(
        made.schema,
        made.x,
        target="class 'good'",
        method="arf",
        status=status,
        score_names=("P(good)",),
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
        "No counterfactual was found for the target class 'good' among 1,000 candidates.",
        "820 of them do not reach the target.",
        "By constraint: 150 break 'direction: age' and 1 breaks 'range: amount' (one candidate may break several).",
        "The nearest miss changes amount 5000.50 → 3200.25 and grade middle → high, gets P(good) = 0.481 and is 0.019 "
        "away from the target.",
        "Lifting one constraint alone: 'direction: age' would give 12 counterfactuals and 'range: amount' 1.",
        "Try to lift or relax 'direction: age', or choose a target that is easier to reach.",
    ]


def test_without_the_result_what_is_known_is_said() -> None:
    text = FULL.text()
    assert "The nearest miss is 0.019 away from the target." in text
    assert "for the target" not in text


@pytest.mark.parametrize(
    ("diagnosis", "parts"),
    [
        (Diagnosis(0), ["no candidate could be made", "Try a larger `max_evaluations`"]),
        (Diagnosis(0, is_spent=False), ["no candidate could be made", "Try looser constraints, or data that varies"]),
        (Diagnosis(9, 9, n_real=1), ["1 row of the data reaches the target and breaks nothing.", "Try another method"]),
        (Diagnosis(9, 9, n_real=2), ["2 rows of the data reach the target and break nothing."]),
        (Diagnosis(1, 1), ["among 1 candidate.", "None of them reaches the target.", "Try a target that is easier"]),
        (Diagnosis(9, 0, {"fixed: age": 9}), ["9 break 'fixed: age'.", "No single constraint was found to be"]),
        (
            Diagnosis(9, 3, lifting={"fixed: age": 1}),
            ["Lifting the constraint 'fixed: age' would give 1 counterfactual."],
        ),
        (Diagnosis(9, 3, nearest_miss_distance=0.0, nearest_miss=result().rows[3]), ["but breaks a constraint"]),
        (
            Diagnosis(99, 3, {f"fixed: {i}": i for i in range(1, 10)}),
            ["9 break 'fixed: 9'", "3 further constraints are"],
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
    assert "age 30 → 31, amount 5000.50 → 1.25" in text
    assert "and 2 other features" in text


def test_it_is_read_only() -> None:
    for one in (FULL, copy.deepcopy(FULL)):
        with pytest.raises(ValueError, match="read-only"):
            one.nearest_miss[0] = 1


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
    text = shown(empty(None, "error", error="No level <q>.", notes=("No level <q>.",))).replace("&lt;q&gt;", "<q>")
    assert text.count("No level <q>.") == 1
    assert "could not be explained" in text


def test_never_silent() -> None:
    assert "no reason was recorded" in repr(empty(None))


def test_more_evaluations_are_advised_only_where_they_were_used_up() -> None:
    assert "max_evaluations" in Diagnosis(9, 9).text()
    assert "max_evaluations" not in Diagnosis(9, 9, is_spent=False).text()
    assert "easier to reach" in Diagnosis(9, 9, is_spent=False).text()
