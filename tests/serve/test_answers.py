"""What the service answers is what the library says, to the last bit."""

from __future__ import annotations

import io
import json
import shlex
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from countarfactuals import Constraints, Counterfactuals, Target, make_explainer
from countarfactuals.cli import main
from countarfactuals.counterfactuals import CounterfactualsBatch
from countarfactuals.evaluation import evaluate
from countarfactuals.language import speaking
from countarfactuals.serve import ServiceError, client

from .asks import ask, examples

LOAN = "v1/explainers/loan"
CONSTRAINTS = {"fixed": ["age", "education"], "direction": {"savings": "increase"}, "max_changed": 3}


def plain(row: pd.DataFrame) -> dict:
    return json.loads(row.iloc[0].to_json())


def same(result: Counterfactuals, stored: dict) -> bool:
    """Whether both say the same, but for the time that it took."""
    ours = json.loads(json.dumps(result.to_dict()))
    ours["provenance"]["seconds"] = stored["provenance"]["seconds"] = 0
    return ours == stored


@pytest.fixture(scope="module")
def rejected(explainer) -> pd.DataFrame:
    X = explainer.schema_.decode(explainer.background_.matrix)
    return X[explainer.model.predict(X) == "bad"].iloc[:4]


@pytest.fixture(scope="module")
def asked(rejected) -> dict:
    return {"row": plain(rejected.iloc[[0]]), "target": "good", "constraints": CONSTRAINTS}


def test_an_explanation_is_that_of_the_library(address, explainer, rejected, asked):
    told = client(address, f"{LOAN}/explain", asked)
    own = explainer.explain(rejected.iloc[[0]], "good", Constraints(**CONSTRAINTS))
    assert len(own) > 3
    assert same(own, told["result"])
    assert Counterfactuals.from_dict(told["result"]).rows.tobytes() == own.rows.tobytes()


def test_the_file_of_a_result_is_read_by_the_library(address, explainer, rejected, asked):
    text = client(address, f"{LOAN}/explain", asked, accept="application/vnd.countarfactuals+json")
    own = explainer.explain(rejected.iloc[[0]], "good", Constraints(**CONSTRAINTS))
    assert same(own, Counterfactuals.from_json(text).to_dict())


@pytest.mark.parametrize(
    ("settings", "target"),
    [
        ({"method": "random", "max_evaluations": 200}, {"outcome": "good", "probability": [0.6, 1]}),
        ({"method": "moc", "seed": 5, "max_evaluations": 200}, {"none_of": ["bad"]}),
        ({"trade_off": 0.5}, None),
    ],
)
def test_methods_and_settings_are_those_of_the_library(address, explainer, rejected, settings, target):
    told = client(address, f"{LOAN}/explain", {"row": plain(rejected.iloc[[1]]), "target": target, **settings})
    parameters = {"max_evaluations": settings.get("max_evaluations", 300), "trade_off": settings.get("trade_off")}
    own = make_explainer(
        settings.get("method", "arf"), explainer.model, random_state=settings.get("seed", 1), **parameters
    ).fit_like(explainer)
    wanted = None if target is None else Target.from_dict(target)
    stored = told["result"]
    found = own.explain(rejected.iloc[[1]], wanted)
    assert np.array_equal(found.rows, Counterfactuals.from_dict(stored).rows)


def test_the_view_says_what_the_result_says(address, explainer, rejected, asked):
    told = client(address, f"{LOAN}/explain", {**asked, "language": "de", "top": 2})
    own = explainer.explain(rejected.iloc[[0]], "good", Constraints(**CONSTRAINTS))
    view, frame = told["view"], own.to_frame()
    assert [way["row"] for way in view["ways"]] == json.loads(frame.to_json(orient="records"))
    assert view["chosen"] == own.positions(2)
    assert [way["typicality"] for way in view["ways"]] == own.typicality.tolist()
    with speaking("de"):
        units = {"income": "€", "savings": "€", "amount": "€", "duration": "months"}
        said = own.describe(None, units=units, rows="applicants", outcome="loan")
    assert [way["sentence"] for way in view["ways"]] == said.split("\n\n")[: len(own)]
    changes = own.changes()
    for way in view["ways"]:
        lines = changes[changes["counterfactual"] == way["index"]]
        assert sorted(change["column"] for change in way["changes"]) == sorted(lines["feature"])


def test_what_stands_in_the_way_can_be_lifted(address, explainer, rejected):
    row = plain(rejected.iloc[[0]])
    constraints = {"vary": ["purpose"], "allowed": {"purpose": [row["purpose"]]}}
    asked = {"row": row, "target": {"outcome": "good", "probability": [0.5, 1]}}
    view = client(address, f"{LOAN}/explain", {**asked, "constraints": constraints})["view"]
    assert view["status"] == "none"
    assert view["reasons"]
    assert view["lifts"]
    for lift in view["lifts"]:
        (name,) = lift["clause"]["columns"]
        assert name in lift["constraints"]["vary"] or lift["clause"]["kind"] == "allowed"
        assert client(address, f"{LOAN}/explain", {**asked, "constraints": lift["constraints"]})["view"]["n_found"] > 0


def test_predictions_are_those_of_the_model(address, explainer, rejected):
    rows = [plain(rejected.iloc[[i]]) for i in range(len(rejected))]
    told = client(address, f"{LOAN}/predict", {"rows": rows})["predictions"]
    assert [one["label"] for one in told] == ["bad"] * len(rows)
    scores = np.array([one["scores"] for one in told])
    assert np.allclose(scores, explainer.model.predict_proba(rejected), atol=1e-12)
    inputs = [
        {"name": name, "shape": [len(rows), 1], "datatype": "BYTES", "data": [row[name] for row in rows]}
        for name in rows[0]
    ]
    outputs = client(address, "v2/models/loan/infer", {"id": "7", "inputs": inputs})
    assert outputs["id"] == "7"
    assert outputs["outputs"][0]["data"] == scores.ravel().tolist()
    assert outputs["outputs"][1]["data"] == ["bad"] * len(rows)


def test_an_edited_row_is_judged_as_evaluate_does(address, explainer, rejected):
    x, edited = rejected.iloc[[0]], rejected.iloc[[0]].assign(savings=9000.0, age=19, employment_years=30.0)
    asked = {"row": plain(edited), "x": plain(x), "target": "good", "constraints": CONSTRAINTS}
    told = client(address, f"{LOAN}/evaluate", asked)
    (own,) = evaluate(edited, x, explainer, "good", Constraints(**CONSTRAINTS)).to_dict("records")
    assert told["reached"] == own["valid"]
    assert told["score"] == own["P(good)"]
    for name in ("distance", "n_changed", "typicality"):
        assert told[name] == own[name]
    assert len(told["violated"]) + len(told["broken"]) == len(own["violated"].split("; "))
    assert "age does not change." in told["violated"]
    assert {odd["column"] for odd in told["odd"]} <= {"age", "employment_years", "savings"}


@pytest.mark.parametrize("column", ["savings", "housing", "duration"])
def test_a_curve_is_the_models(address, explainer, rejected, column):
    x = rejected.iloc[[2]]
    told = client(address, f"{LOAN}/curve", {"row": plain(x), "column": column, "points": 12, "target": "good"})
    rows = pd.concat([x] * len(told["values"])).assign(**{column: told["values"]})
    assert told["scores"] == explainer.model.predict_proba(rows)[:, 1].tolist()
    assert told["reached"] == (explainer.model.predict(rows) == "good").tolist()
    assert x[column].iloc[0] in told["values"]


def test_rows_are_searched_and_sorted(address, explainer):
    X = explainer.schema_.decode(explainer.background_.matrix)
    X["prediction"] = explainer.model.predict(X)
    is_in = X.astype(str).apply(lambda cells: cells.str.contains("rent")).any(axis=1)  # also in an apprenticeship
    wanted = X[is_in & (X["prediction"] == "bad")]
    wanted = wanted.sort_values("income", ascending=False, kind="stable")
    path = f"{LOAN}/rows?search=rent&prediction=bad&sort=income&order=desc&offset=3&limit=7"
    told = client(address, path)
    assert told["total"] == len(X)
    assert told["matching"] == len(wanted)
    assert [row["key"] for row in told["rows"]] == wanted.index[3:10].tolist()
    assert [row["row"]["income"] for row in told["rows"]] == wanted["income"].iloc[3:10].tolist()
    scores = client(address, f"{LOAN}/rows?sort=score&limit=1000")["rows"]
    assert [row["score"] for row in scores] == sorted(row["score"] for row in scores)


def test_the_profile_counts_what_is_there(address, explainer):
    told = client(address, LOAN)
    X = explainer.schema_.decode(explainer.background_.matrix)
    for column in told["columns"]:
        cells = X[column["name"]]
        if column["levels"] is None:
            assert sum(column["counts"]) == len(cells)
            edges = np.array(column["edges"])
            counts = [int(((low <= cells) & (cells < high)).sum()) for low, high in pairwise(edges)]
            assert column["counts"] == counts
            assert (column["low"], column["high"]) == (cells.min(), cells.max())
        else:
            shares = {level["value"]: level["share"] for level in column["levels"]}
            assert shares == pytest.approx(cells.value_counts(normalize=True).to_dict())
    assert set(told["typical"]) == set(X.columns)
    assert told["rows_are"] == ["applicant", "applicants"]
    assert told["judgement"]


def test_many_rows_are_told_as_they_are_done(address, explainer, rejected):
    rows = [plain(rejected.iloc[[i]]) for i in range(3)]
    asked = {"rows": [*rows, {**rows[0], "housing": "castle"}], "target": "good", "top": 2}
    lines = {line["key"]: line for line in client(address, f"{LOAN}/explain-many", asked)}
    assert sorted(lines) == [0, 1, 2, 3]
    for i in range(3):
        own = explainer.explain(rejected.iloc[[i]], "good").select(2)
        assert same(own, lines[i]["result"])
        assert lines[i]["row"] == rows[i]
    assert lines[3]["status"] == "error"
    assert "castle" in lines[3]["view"]["reasons"][0]


def test_groups_are_compared_as_in_the_library(address, explainer):
    job = client(address, f"{LOAN}/explain-many", {"keys": list(range(24)), "target": "good", "top": 1}, as_job=True)
    while client(address, job["url"])["state"] in ("queued", "running"):
        pass
    told = client(address, f"{job['url']}/recourse?by=housing")
    X = explainer.schema_.decode(explainer.background_.matrix[:24])
    batch: CounterfactualsBatch = explainer.explain_many(X, "good", progress=False)
    by_group = {group["group"]: group for group in told["groups"]}
    for group in batch.recourse("housing"):
        for name, estimate in group.estimates.items():
            value = by_group[group.key]["measures"][name]["value"]
            assert value == (None if np.isnan(estimate.value) else pytest.approx(estimate.value))


def test_documents_are_those_of_the_library(address, asked):
    html = client(address, f"{LOAN}/report", {**asked, "pictures": False, "title": "Why <not>?"})
    assert "Why &lt;not&gt;?" in html
    told = client(address, f"{LOAN}/explain", asked)
    text = client(address, f"{LOAN}/letter", {"result": told["result"], "contact": "Tel. 12"}, accept="text/plain")
    assert "Tel. 12" in text
    with pytest.raises(ServiceError, match="either row or result"):
        client(address, f"{LOAN}/letter", {"target": "good"})


def test_every_example_of_the_openapi_is_answered(address):
    found = list(examples(address))
    assert len(found) > 20
    for method, path, body in found:
        told = ask(address, method, path, body)
        assert told.status in ((404,) if "/jobs/" in path else (200,)), (method, path, told.body[:300])


def test_a_misspelt_class_is_told_in_the_librarys_words(address, asked):
    with pytest.raises(ServiceError, match="Did you mean 'good'") as error:
        client(address, f"{LOAN}/explain", {**asked, "target": "godo"})
    assert error.value.fields["status"] == 422
    with pytest.raises(ServiceError, match="no column 'agee'"):
        client(address, f"{LOAN}/explain", {**asked, "constraints": {"fixed": ["agee"]}})


@pytest.mark.parametrize(
    ("target", "constraints"),
    [
        ("good", {**CONSTRAINTS, "ranges": {"amount": [None, 9000]}, "weights": {"income": "hard"}}),
        ({"outcome": "good", "probability": [0.6, 1]}, {"allowed": {"purpose": ["car", "furniture"]}}),
    ],
)
def test_the_code_that_is_taken_away_gives_the_same(
    address, explainer, rejected, folder, tmp_path, monkeypatch, target, constraints
):
    told = client(
        address, f"{LOAN}/explain", {"row": plain(rejected.iloc[[0]]), "target": target, "constraints": constraints}
    )
    code, stored = told["view"]["code"], Counterfactuals.from_dict(told["result"])
    python: Counterfactuals = eval(
        code["python"], {"explainer": explainer, "Constraints": Constraints, "Target": Target}
    )
    assert python.rows.tobytes() == stored.rows.tobytes()
    printed, _, command = code["command"].partition("|\n")
    _, _, *lines = shlex.split(printed)
    monkeypatch.chdir(Path(folder).parent)
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines) + "\n"))
    out = tmp_path / "same.json"
    assert main([*shlex.split(command)[1:], "--out", str(out)]) == 0
    own = Counterfactuals.from_json(out)
    assert own.rows.tobytes() == stored.rows.tobytes()
    assert len(own) > 0
