"""What a newcomer does, from a CSV file to explanations in every format and their measures."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from countarfactuals import Counterfactuals, CounterfactualsBatch, Explainer, Target
from countarfactuals.cli import folder, main
from countarfactuals.cli.arguments import METHODS
from countarfactuals.evaluation import evaluate

from . import people

WISHES = ["--want", "good", "--fix", "age,zip", "--range", "income=0:60000", "--direction", "savings=increase"]
WISHES += ["--allowed", "job=clerk,nurse", "--max-changed", "3"]

# says when everything is imported, so that a signal meets the program itself
PROGRAM = "import sys; from countarfactuals.cli import explain, main; print('ready', flush=True); "
PROGRAM += "sys.exit(main(sys.argv[1:]))"


@pytest.fixture(scope="module")
def rejected(fitted, table) -> list[int]:
    """Three rows that the model calls bad."""
    explainer = folder.read(fitted, trusted=False).explainer
    labels = explainer.background_.predictor.labels(explainer.background_.scores)
    return np.flatnonzero(labels == "bad")[:3].tolist()


def shell(*arguments: object, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "countarfactuals", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        timeout=120,
        check=False,
    )


def test_fit_says_what_it_learned_and_keeps_it(run, table, tmp_path):
    out = tmp_path / "explainer"
    done = run(
        *("fit", "--data", table, "--outcome", "quality", "--drop", "id,price", "--model", "auto", "--out", out),
        *("--trees", 5, "--model-trees", 10, "--seed", 7),
    )
    assert done.code == 0
    assert "120 rows" in done.out
    assert "2 integer" in done.out
    assert "accuracy" in done.out
    assert len(done.lines) == 1  # the leading zeros
    assert sorted(path.name for path in out.iterdir()) == ["explainer.npz", "meta.json", "model.skops"]
    meta = json.loads((out / "meta.json").read_text())
    assert (meta["outcome"], meta["classes"], meta["seed"]) == ("quality", ["bad", "good"], 7)
    assert meta["dropped"] == ["id", "price"]
    assert {column["name"]: column["kind"] for column in meta["columns"]}["zip"] == "category"
    assert [path.name for path in tmp_path.iterdir()] == ["explainer"]  # nothing unfinished stays


def test_every_format_tells_the_same_counterfactuals(run, fitted, table, rejected, tmp_path):
    said = ["explain", "--explainer", fitted, "--data", table, "--rows", ",".join(map(str, rejected)), *WISHES]
    done = {form: run(*said, "--format", form) for form in ("table", "sentences", "json", "csv", "html")}
    assert {form: one.code for form, one in done.items()} == dict.fromkeys(done, 0)

    batch = CounterfactualsBatch.from_json(done["json"].out)
    assert list(batch.index) == rejected
    assert all(one.status == "found" for one in batch)
    assert (
        done["table"].out
        == "\n\n".join(f"row {i}\n{'─' * len(f'row {i}')}\n{one!r}" for i, one in zip(rejected, batch, strict=True))
        + "\n"
    )
    for one in batch:
        assert one.describe(outcome="quality") in done["sentences"].out

    lines = list(csv.DictReader(io.StringIO(done["csv"].out)))
    assert [int(line["row"]) for line in lines] == [
        i for i, one in zip(rejected, batch, strict=True) for _ in range(len(one))
    ]
    assert [float(line["P(good)"]) for line in lines] == np.concatenate([one.scores[:, 0] for one in batch]).tolist()
    assert done["html"].out.startswith("<!DOCTYPE html>")
    assert all(f">{i}<" in done["html"].out for i in rejected)

    originals = people.rows()
    for line in lines:
        x = dict(zip(people.HEADER, originals[int(line["row"])], strict=True))
        assert line["zip"] == x["zip"]
        assert line["age"] == x["age"]
        assert line["prediction"] == "good"
        if x["job"] != line["job"]:
            assert line["job"] in ("clerk", "nurse")
        if float(line["income"]) != float(x["income"]):
            assert 0 <= float(line["income"]) <= 60_000
        if x["savings"] != "NA" and int(line["savings"]) != int(x["savings"]):
            assert int(line["savings"]) > int(x["savings"])


def test_the_explanation_is_the_librarys(run, fitted, table, rejected):
    explainer = folder.read(fitted, trusted=False).explainer
    row = explainer.schema_.decode(explainer.background_.matrix[[rejected[0]]])
    expected = explainer.explain(row, Target("good"))
    done = run(
        "explain", "--explainer", fitted, "--data", table, "--rows", rejected[0], "--want", "good", "--format", "json"
    )
    found = Counterfactuals.from_json(done.out)
    assert np.array_equal(found.rows, expected.rows)
    assert np.array_equal(found.scores, expected.scores)


def test_the_module_runs_as_a_program_on_standard_input(run, fitted, table, rejected, tmp_path):
    out = tmp_path / "found.csv"
    text = Path(table).read_text(encoding="utf-8")
    said = ["explain", "--explainer", fitted, "--rows", rejected[0], "--want", "good", "--top", 2]
    done = shell(*said, "--data", "-", "--out", out, stdin=text)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == ""
    expected = run(*said, "--data", table, "--format", "csv")
    assert out.read_text(encoding="utf-8") == expected.out
    assert len(expected.out.splitlines()) == 3


def test_the_module_fails_in_one_line(fitted):
    failed = shell("explain", "--explainer", fitted, "--data", "nowhere.csv")
    assert failed.returncode == 1
    assert failed.stderr.splitlines() == [
        "countarfactuals: error: There is no file 'nowhere.csv'. Check its name and folder."
    ]


@pytest.mark.parametrize("method", ["mocarf", "moc", "mocctree", "nice", "whatif", "random"])
def test_other_methods_take_over_what_was_fitted(run, fitted, table, rejected, method):
    done = run(
        *("explain", "--explainer", fitted, "--data", table, "--rows", rejected[0], "--want", "good"),
        *("--method", method, "--format", "json", "--seed", 3, "--max-evaluations", 200),
    )
    found = Counterfactuals.from_json(done.out)
    assert (done.code, found.method, found.status) == (0, method, "found")
    assert found.provenance["evaluations"] <= 200


def test_what_is_asked_of_the_search_holds(run, fitted, table, rejected):
    said = ["explain", "--explainer", fitted, "--data", table, "--rows", rejected[0], "--format", "json", "--seed", 5]
    free = Counterfactuals.from_json(run(*said).out)
    assert (free.typicality < 0.8).any()
    assert (free.scores < 0.6).any()
    done = run(*said, "--min-typicality", 0.8, "--probability", ".6,.9", "--want", "good", "--max-evaluations", 300)
    found = Counterfactuals.from_json(done.out)
    assert found.status == "found"
    assert (found.typicality >= 0.8).all()
    assert ((found.scores >= 0.6) & (found.scores <= 0.9)).all()
    assert found.provenance["evaluations"] <= 300
    assert found.provenance["seed"] == 5


def test_new_files_are_read_like_the_training_data(run, tmp_path, rejected, fitted, table):
    lines = [[cell.replace(".", ",") for cell in line] for line in people.with_cell(people.rows(), 0, "job", "?")]
    path = people.write(tmp_path / "a.csv", lines, ";")
    done = run(
        *("fit", "--data", path, "--outcome", "quality", "--drop", "id,price", "--model", "auto", "--trees", 5),
        *("--delimiter", ";", "--decimal", ",", "--missing", "?,NA", "--out", tmp_path / "e", "--model-trees", 5),
    )
    assert done.code == 0
    said = ["explain", "--explainer", tmp_path / "e", "--data", path, "--rows", 0, "--format", "json"]
    found = Counterfactuals.from_json(run(*said).out)
    assert np.isnan(found.x[3])
    assert found.x[1] == float(people.rows()[0][2])


def test_all_methods_of_the_library_can_be_chosen():
    from countarfactuals.explainers import EXPLAINERS

    assert set(EXPLAINERS) == set(METHODS)


def test_two_processes_give_the_same(run, fitted, table, rejected):
    said = [
        "explain",
        "--explainer",
        fitted,
        "--data",
        table,
        "--rows",
        ",".join(map(str, rejected)),
        "--format",
        "csv",
    ]
    assert run(*said).out == run(*said, "--jobs", 2).out


def test_numbers_are_explained_by_above_and_below(run, prices, table):
    done = run(
        "explain",
        "--explainer",
        prices,
        "--data",
        table,
        "--rows",
        "0-1",
        "--above",
        550,
        "--below",
        600,
        "--format",
        "json",
    )
    assert done.code == 0
    for one in CounterfactualsBatch.from_json(done.out):
        assert one.status == "found"
        assert ((one.scores >= 550) & (one.scores <= 600)).all()


def test_the_format_goes_by_the_suffix(run, fitted, table, rejected, tmp_path):
    said = ["explain", "--explainer", fitted, "--data", table, "--rows", rejected[0], "--top", 1]
    for name, start in (
        ("a.json", '{"format"'),
        ("a.csv", "row,"),
        ("a.txt", "Counterfactuals:"),
    ):
        assert run(*said, "--out", tmp_path / name).code == 0
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)


def test_a_row_that_is_good_already_needs_nothing(run, fitted, table, rejected):
    done = run("explain", "--explainer", fitted, "--data", table, "--rows", rejected[0], "--want", "bad")
    assert done.code == 0
    assert "already" in done.out


@pytest.mark.parametrize("form", ["table", "sentences", "json", "csv", "html"])
def test_no_counterfactual_is_told_and_written(run, fitted, table, rejected, tmp_path, form):
    out = tmp_path / "none"
    done = run(
        *("explain", "--explainer", fitted, "--data", table, "--rows", rejected[0], "--want", "good", "--out", out),
        *("--fix", "age,income,savings,job,member", "--format", form),
    )
    assert done.code == 3
    assert len(done.lines) == 1
    assert f"no counterfactual for row {rejected[0]}. Nothing was found" in done.err
    written = out.read_text(encoding="utf-8")
    if form == "csv":
        assert len(written.splitlines()) == 1
    else:
        assert "attempts" in written or "n_tried" in written


def test_some_rows_without_counterfactuals_do_not_fail_the_others(run, fitted, table, rejected):
    good = next(i for i in range(people.N) if i not in rejected and people.rows()[i][7] == "good")
    done = run(
        *("explain", "--explainer", fitted, "--data", table, "--rows", f"{good},{rejected[0]}", "--want", "good"),
        *("--fix", "age,income,savings,job,member"),
    )
    assert done.code == 3  # the only row that needed one has none
    assert run("explain", "--explainer", fitted, "--data", table, "--rows", good, "--want", "good").code == 0


def test_rows_that_can_not_be_explained_are_named_and_the_others_written(run, fitted, table, rejected, tmp_path):
    lines = people.with_cell(people.rows()[: rejected[-1] + 1], rejected[1], "job", "pilot")
    path = people.write(tmp_path / "new.csv", lines)
    done = run(
        "explain", "--explainer", fitted, "--data", path, "--rows", ",".join(map(str, rejected)), "--format", "json"
    )
    assert done.code == 1
    assert f"1 of 3 rows could not be explained: {rejected[1]}" in done.lines[-1]
    assert "'pilot'" in done.lines[-1]
    assert [one.status for one in CounterfactualsBatch.from_json(done.out)] == ["found", "error", "found"]


def test_what_explain_writes_can_be_evaluated(run, fitted, table, rejected, tmp_path):
    found = tmp_path / "found.csv"
    said = ["--explainer", fitted, "--data", table, *WISHES]
    assert run("explain", *said, "--rows", ",".join(map(str, rejected)), "--out", found).code == 0
    stored = pd.read_csv(found)
    done = run("evaluate", *said, "--counterfactuals", found, "--format", "csv")
    assert done.code == 0
    assert done.err == ""
    measured = pd.read_csv(io.StringIO(done.out))
    assert measured["row"].tolist() == stored["row"].tolist()
    for name in ("P(good)", "distance", "n_changed", "implausibility", "typicality", "log_density"):
        np.testing.assert_allclose(measured[name], stored[name], rtol=1e-6, atol=1e-9)
    assert measured["valid"].all()
    assert measured["violated"].isna().all()

    one = run("evaluate", *said, "--counterfactuals", found, "--row", rejected[0], "--format", "json")
    stored_again = json.loads(one.out)
    assert len(stored_again["counterfactuals"]) == len(stored)
    assert stored_again["sets"][0]["n_rows"] == len(stored)
    text = run("evaluate", "--explainer", fitted, "--data", table, "--counterfactuals", found, "--fix", "income")
    assert "n_counterfactuals" in text.out
    assert "fixed: income" in text.out


def test_a_feature_named_row_is_no_label(run, tmp_path):
    rng = np.random.default_rng(1)
    values = rng.normal(size=(40, 2)).round(2)
    lines = [f"{a},{b},{'up' if a + b > 0 else 'down'}" for a, b in values.tolist()]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["row,b,y", *lines]))
    said = [
        "--data",
        path,
        "--outcome",
        "y",
        "--model",
        "auto",
        "--trees",
        5,
        "--model-trees",
        5,
        "--out",
        tmp_path / "e",
    ]
    assert run("fit", *said).code == 0
    said = ["--explainer", tmp_path / "e", "--data", path]
    assert run("explain", *said, "--rows", "3,7", "--top", 2, "--out", tmp_path / "found.csv").code == 0
    done = run("evaluate", *said, "--counterfactuals", tmp_path / "found.csv", "--format", "csv")
    assert pd.read_csv(io.StringIO(done.out))["row"].tolist() == [3, 3, 7, 7]


def test_measures_of_someone_elses_rows_are_the_librarys(run, fitted, table, rejected, tmp_path):
    opened = folder.read(fitted, trusted=False)
    lines = people.rows()
    theirs = people.write(tmp_path / "theirs.csv", [lines[5], lines[9]], columns=people.HEADER[1:-2])
    done = run(
        "evaluate",
        "--explainer",
        fitted,
        "--data",
        table,
        "--row",
        rejected[0],
        "--counterfactuals",
        theirs,
        "--format",
        "csv",
    )
    schema, matrix = opened.explainer.schema_, opened.explainer.background_.matrix
    expected = evaluate(schema.decode(matrix[[5, 9]]), schema.decode(matrix[[rejected[0]]]), opened.explainer)
    measured = pd.read_csv(io.StringIO(done.out))
    for name in ("validity", "distance", "n_changed", "typicality", "knn_distance"):
        np.testing.assert_allclose(measured[name], expected[name], rtol=1e-9)
    assert measured["is_real_row"].all()
    said = ["evaluate", "--explainer", fitted, "--data", table, "--row", rejected[0], "--counterfactuals", theirs]
    for want in ("bad", "good"):
        measured = pd.read_csv(io.StringIO(run(*said, "--want", want, "--format", "csv").out))
        assert measured["valid"].tolist() == (measured["prediction"] == want).tolist()


def test_a_loaded_model_is_used_only_if_trusted(run, table, tmp_path, rejected):
    import joblib

    X = pd.DataFrame([[float(line[2]), line[5] == "true"] for line in people.rows()], columns=["income", "member"])
    from sklearn.tree import DecisionTreeClassifier

    model = tmp_path / "model.joblib"
    joblib.dump(DecisionTreeClassifier(max_depth=3, random_state=1).fit(X, [line[7] for line in people.rows()]), model)
    said = ["fit", "--data", table, "--outcome", "quality", "--drop", "id,age,savings,job,zip,price", "--model", model]
    said += ["--trees", 5, "--out", tmp_path / "own"]
    refused = run(*said)
    assert refused.code == 1
    assert "--trust-model" in refused.err
    assert not (tmp_path / "own").exists()
    done = run(*said, "--trust-model")
    assert done.code == 0
    assert "right in" in done.out
    explained = ["explain", "--explainer", tmp_path / "own", "--data", table, "--rows", rejected[0], "--format", "json"]
    assert run(*explained).code == 1
    assert run(*explained, "--trust-model").code in (0, 3)


def test_a_booster_gets_text_as_categories_and_names_for_its_classes(run, table, tmp_path):
    xgboost = pytest.importorskip("xgboost")
    lines = people.rows()
    X = pd.DataFrame(
        {
            "income": [float(line[2]) for line in lines],
            "job": pd.Series([line[4] or np.nan for line in lines]).astype("category"),
        }
    )
    data = xgboost.DMatrix(X, label=[int(line[7] == "good") for line in lines], enable_categorical=True)
    model = tmp_path / "model.json"
    booster = xgboost.train({"objective": "binary:logistic", "nthread": 1}, data, 5)
    booster.save_model(model)
    said = ["fit", "--data", table, "--outcome", "quality", "--drop", "id,age,savings,member,zip,price", "--trees", 5]
    assert "--classes" in run(*said, "--model", model, "--out", tmp_path / "a").err
    assert run(*said, "--model", model, "--out", tmp_path / "b", "--classes", "bad,good").code == 0
    opened = folder.read(str(tmp_path / "b"), trusted=False)
    np.testing.assert_allclose(opened.explainer.background_.scores[:, 0], booster.predict(data), rtol=1e-5)
    assert opened.meta["classes"] == ["bad", "good"]


@pytest.fixture(scope="module")
def array_model(tmp_path_factory) -> str:
    """A model of income and member that was fitted on an array."""
    import joblib
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X = np.array([[float(line[2]), line[5] == "true"] for line in people.rows()], float)
    path = tmp_path_factory.mktemp("array") / "model.joblib"
    model = make_pipeline(StandardScaler(), LogisticRegression())
    joblib.dump(model.fit(X, [line[7] for line in people.rows()]), path)
    return str(path)


def test_a_model_of_arrays_raises_no_flood(table, array_model, tmp_path, capfd):
    said = ["--data", table, "--outcome", "quality", "--drop", "id,age,savings,job,zip,price", "--trust-model"]
    out = str(tmp_path / "e")
    assert main(["fit", *said, "--model", array_model, "--trees", "5", "--out", out]) == 0
    wishes = ["--data", table, "--rows", "0-3", "--max-evaluations", "100"]
    assert main(["explain", "--explainer", out, "--trust-model", "--format", "csv", *wishes]) == 0
    assert "feature names" not in capfd.readouterr().err
    assert "right in" in folder.read(out, trusted=True).meta["model_summary"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_a_model_complains_of_is_said_once(tmp_path, capfd, jobs):
    import joblib
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    lines = [line for line in people.rows() if line[4]]
    path = people.write(tmp_path / "a.csv", lines, columns=["job", "zip", "quality"])
    X, y = np.array([[line[4], line[6]] for line in lines], object), [line[7] for line in lines]
    joblib.dump(make_pipeline(OneHotEncoder(), LogisticRegression()).fit(X, y), tmp_path / "m.joblib")
    said = ["--data", path, "--trust-model"]
    model = ["--model", str(tmp_path / "m.joblib"), "--outcome", "quality", "--trees", "5"]
    assert main(["fit", *said, *model, "--out", str(tmp_path / "e")]) == 0
    assert capfd.readouterr().err.count("feature names, but") == 1
    main(["explain", "--explainer", str(tmp_path / "e"), *said, "--rows", "0-3", "--jobs", str(jobs)])
    assert capfd.readouterr().err.count("feature names, but") == 1
    assert "PYTHONWARNINGS" not in os.environ


def test_a_model_of_fewer_columns_is_told_what_to_drop(run, table, array_model, tmp_path):
    import joblib
    from sklearn.linear_model import LinearRegression

    said = ["fit", "--data", table, "--drop", "id,job,zip,quality,price", "--trust-model", "--out", tmp_path / "e"]
    done = run(*said, "--model", array_model)
    assert (done.code, done.lines[-1].count("It was trained on 2 columns, the data has 4")) == (1, 1)
    assert "--drop COLUMN" in done.lines[-1]
    X = pd.DataFrame([[float(line[2]), line[5] == "true"] for line in people.rows()], columns=["income", "member"])
    joblib.dump(LinearRegression().fit(X, range(len(X))), tmp_path / "m.joblib")
    done = run(*said, "--model", tmp_path / "m.joblib")
    assert done.code == 1
    assert "It was not trained on 'age', 'savings'. Leave them out: --drop age,savings" in done.lines[-1]
    assert "callable" not in done.err


def test_columns_in_another_order_are_put_right(run, table, tmp_path):
    import joblib
    from sklearn.linear_model import LogisticRegression

    X = pd.DataFrame([[line[5] == "true", float(line[2])] for line in people.rows()], columns=["member", "income"])
    model = LogisticRegression().fit(X, [line[7] for line in people.rows()])
    joblib.dump(model, tmp_path / "m.joblib")
    said = ["--drop", "id,age,savings,job,zip,price", "--model", tmp_path / "m.joblib", "--trees", 5]
    done = run("fit", "--data", table, "--outcome", "quality", *said, "--trust-model", "--out", tmp_path / "e")
    assert done.code == 0, done.err
    opened = folder.read(str(tmp_path / "e"), trusted=True)
    np.testing.assert_allclose(opened.explainer.background_.scores[:, 0], model.predict_proba(X)[:, 1])


@pytest.mark.parametrize("is_noise", [False, True])
def test_a_model_no_better_than_guessing_is_said_to_be(run, tmp_path, is_noise):
    rng = np.random.default_rng(1)
    x = rng.normal(size=80).round(3)
    y = np.where((rng.random(80) < 0.1) if is_noise else (x > 1), "rare", "common")
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["x,y", *(f"{a},{b}" for a, b in zip(x, y, strict=True))]))
    said = ["--outcome", "y", "--model", "auto", "--trees", 5, "--model-trees", 10, "--out", tmp_path / "e"]
    done = run("fit", "--data", path, *said)
    assert done.code == 0
    assert ("note: the model is no better than guessing: accuracy" in done.err) == is_noise


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_an_interrupt_ends_with_130(fitted, table, tmp_path):
    # standard input that never ends: the program waits for its next line when the signal comes
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "explain", "--explainer", fitted, "--data", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert err.strip() == "countarfactuals: interrupted"


def test_help_has_examples_and_the_version_is_told(run):
    from importlib.metadata import version

    assert run("--version").out.strip() == f"countarfactuals {version('countarfactuals')}"
    assert "countarfactuals fit --data" in run("--help").out
    for command in ("demo", "fit", "explain", "evaluate"):
        done = run(command, "--help")
        assert done.code == 0
        assert f"countarfactuals {command} " in done.out.split("examples:")[1]


def test_every_example_of_the_help_is_understood(run):
    """Each line with the program's name parses; what it then lacks is a file."""
    import shlex

    for command in ("fit", "explain", "evaluate"):
        examples = run(command, "--help").out.split("examples:")[1].replace("\\\n", " ").splitlines()
        commands = [
            line.partition("countarfactuals ")[2] for line in examples if "    countarfactuals" in line or " | " in line
        ]
        assert commands
        for one in commands:
            words = shlex.split(one.replace("--data -", "--data nowhere.csv"))
            assert main(words) == 1, one


def test_tracebacks_are_shown_on_demand_only(run, fitted):
    said = ["explain", "--explainer", fitted, "--data", "nowhere.csv"]
    assert "Traceback" not in run(*said).err
    assert "Traceback" in run(*said, "--debug").err
    assert "Traceback" in run("--debug", *said).err


def test_folders_are_explainers_of_the_library(fitted):
    opened = folder.read(fitted, trusted=False)
    assert isinstance(opened.explainer, Explainer)
    assert opened.meta["made"] == "auto"
