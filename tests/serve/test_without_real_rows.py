"""With `--no-real-rows` no row of the training data leaves, and nothing that few rows make up."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from countarfactuals import AdversarialRandomForest, ARFExplainer, Counterfactuals, Target, make_explainer
from countarfactuals.exceptions import ConstraintError, ParameterError
from countarfactuals.objectives import canonical
from countarfactuals.schema import described
from countarfactuals.serve import Served, ServiceError, client
from countarfactuals.serve.privacy import veiled, veiling
from countarfactuals.serve.profile import told_counts

from .asks import ask, examples

LOAN = "v1/explainers/loan"


@pytest.fixture
def hidden(serving):
    with serving(hidden=True) as address:
        yield address


def plain_rows(explainer, at: list[int]) -> list[dict]:
    return json.loads(explainer.schema_.decode(explainer.background_.matrix[at]).to_json(orient="records"))


def rare_numbers(explainer) -> set[str]:
    """Numbers with decimals that fewer than five rows have: no answer has one by chance."""
    found: set[str] = set()
    for column, cells in zip(explainer.schema_.columns, explainer.background_.matrix.T, strict=True):
        if column.is_number and column.decimals:
            values, counts = np.unique(cells, return_counts=True)
            found |= {repr(float(value)) for value in values[counts < 5] if value != round(value, 1)}
    return found


def numbers_in(told: object) -> set[str]:
    """All numbers with decimals in an answer."""
    if isinstance(told, dict):
        return set().union(*map(numbers_in, told.values())) if told else set()
    if isinstance(told, list):
        return set().union(*map(numbers_in, told)) if told else set()
    return {repr(told)} if isinstance(told, float) else set()


def test_no_answer_has_a_value_of_few_rows(hidden, address, explainer):
    rare = rare_numbers(explainer)
    assert len(rare) > 500
    for path in (LOAN, f"{LOAN}/rows"):  # where real rows may leave, such values do
        assert numbers_in(client(address, path)) & rare
    n_answers = 0
    for method, path, body in examples(hidden):
        told = ask(hidden, method, path, body)
        if told.headers["content-type"] != "application/json" or told.status != 200:
            continue
        n_answers += 1
        assert not numbers_in(told.json) & rare - numbers_in(body), path
    assert n_answers > 12


def test_no_counterfactual_is_a_real_row(hidden, explainer):
    real = {row.tobytes() for row in canonical(explainer.background_.matrix)}
    rows = plain_rows(explainer, list(range(30)))
    n = 0
    for line in client(hidden, f"{LOAN}/explain-many", {"rows": rows, "top": 1000}):
        result = Counterfactuals.from_dict(line["result"])
        n += len(result)
        assert not any(row.tobytes() in real for row in canonical(result.rows))
        assert not any(way["is_real_row"] for way in line["view"]["ways"])
    assert n > 200


def test_there_are_no_rows_to_pick_from(hidden):
    for call in ({"path": f"{LOAN}/rows"}, {"path": f"{LOAN}/explain-many", "body": {"keys": [1]}}):
        with pytest.raises(ServiceError) as error:
            client(hidden, **call)
        assert error.value.fields["status"] == 404
    told = client(hidden, LOAN)
    assert (told["real_rows"], told["rows_to_pick"]) == (False, False)


def test_rows_of_a_file_may_be_picked(explainer, serving):
    X = explainer.schema_.decode(explainer.background_.matrix[:3]).assign(age=77)
    own = Served("own", explainer, table=explainer.schema_.encode(X)).hidden()
    with serving(own, hidden=True) as address:
        told = client(address, "v1/explainers/own/rows")
        assert [row["row"]["age"] for row in told["rows"]] == [77, 77, 77]


def test_the_profile_tells_no_small_counts(hidden, explainer):
    told = client(hidden, LOAN)
    for column, cells in zip(told["columns"], explainer.background_.matrix.T, strict=True):
        if column["counts"] is not None:
            assert all(count is None or count >= 5 for count in column["counts"])
            known = [count for count in column["counts"] if count is not None]
            assert len(cells) - sum(known) in (0, *range(5, len(cells)))
            assert column["low"] <= np.quantile(cells, 0.05)
            assert cells.min() not in (column["low"],) or column["low"] in column["edges"]
    typical = explainer.encode_row(told["typical"])
    assert not explainer.background_.is_real(typical[None])[0]
    assert not explainer.background_.veil.covers(typical[None]).any()


@pytest.mark.parametrize("counts", [[40, 3, 20, 0], [5, 5, 1], [1, 1, 1, 1, 1], [0, 0], [9, 4, 4], [3]])
def test_what_is_left_out_can_not_be_told_from_the_rest(counts):
    told = told_counts(np.array(counts))
    left_out = sum(counts) - sum(count or 0 for count in told)
    assert all(count is None or count >= 5 for count in told)
    assert left_out == 0 or left_out >= 5 or all(count is None for count in told)


def test_methods_that_hand_out_real_cells_are_refused(hidden, explainer):
    row = plain_rows(explainer, [0])[0]
    for method in ("nice", "whatif"):
        with pytest.raises(ServiceError, match="cells of real rows"):
            client(hidden, f"{LOAN}/explain", {"row": row, "method": method})
    assert {one["name"] for one in client(hidden, LOAN)["methods"]}.isdisjoint({"nice", "whatif"})
    nice = make_explainer("whatif", explainer.model).fit_like(explainer)
    with pytest.raises(ParameterError, match="Without real rows"):
        Served("nice", nice).hidden()


def test_a_note_does_not_tell_the_extremes(hidden, explainer):
    row = {**plain_rows(explainer, [0])[0], "age": 119}
    told = client(hidden, f"{LOAN}/explain", {"row": row, "target": "good"})
    assert "beyond nearly all real rows" in " ".join(told["view"]["notes"])
    assert str(int(explainer.background_.high[0])) not in " ".join(told["view"]["notes"])


def test_errors_do_not_tell_values_of_few_rows():
    X = pd.DataFrame({"term": [12.0] * 30 + [24.0] * 30 + [37.0], "age": np.arange(61) % 40 + 20.0})
    density = AdversarialRandomForest(n_estimators=5, random_state=1)
    own = ARFExplainer(lambda frame: frame["age"] / 100, density=density, random_state=1).fit(X)
    assert 37.0 in own.schema_.columns[0].values
    error = ConstraintError("{column!r} holds {allowed}.", column="term", allowed=described(own.schema_.columns[0]))
    for served, is_told in ((Served("own", own), True), (Served("own", own).hidden(), False)):
        with pytest.raises(ConstraintError) as told, veiling(served):
            raise error
        assert ("37" in str(told.value)) == is_told
        assert "24" in str(told.value)


def test_a_note_does_not_tell_whether_a_level_occurs():
    """Its absence would say that some row has the level, be it one."""
    towns = pd.Categorical(["b", "c"] * 30, categories=["a", "b", "c"])
    table = pd.DataFrame({"town": towns, "income": np.arange(60.0)})
    forest = AdversarialRandomForest(n_estimators=5)
    explainer = ARFExplainer(lambda frame: frame["income"] / 60, density=forest, max_evaluations=50).fit(table)
    x = table.iloc[[3]].assign(town=pd.Categorical(["a"], categories=["a", "b", "c"]))
    found = explainer.explain(x, Target(above=0.5))
    served = Served("towns", explainer)
    assert "no real row has" in " ".join(veiled(served, found).note_texts())
    assert "no real row has" not in " ".join(veiled(served.hidden(), found).note_texts())
