"""Models: trained ones are useful and stored without pickle, files are refused where loading them runs code."""

from __future__ import annotations

import os
import pickle
import zipfile
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import FunctionTransformer

from countarfactuals import _optional
from countarfactuals.cli import model_files
from countarfactuals.cli.arguments import CLASSIFICATION, REGRESSION, Dialect
from countarfactuals.cli.data_files import read_training
from countarfactuals.exceptions import DataError, MissingDependencyError, ModelError
from countarfactuals.schema import Schema


class Opens:
    """Creates a file when it is unpickled, as a hostile model could do worse."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.fixture(scope="module")
def data(table):
    return read_training(table, Dialect(), lambda _: None, outcome="quality", drop=["id", "price"])


@pytest.fixture(scope="module")
def trained(data):
    return model_files.train(*data, "quality", CLASSIFICATION, 30, 1)


def test_the_trained_model_is_better_than_the_larger_class(trained):
    share, largest = (
        float(word.rstrip(")"))
        for word in trained.summary.split()
        if word.rstrip(")").replace(".", "").isdigit() and "." in word
    )
    assert share > largest + 0.1
    assert "30 held-out rows" in trained.summary


def test_a_regression_is_judged_by_r2(table):
    X, y = read_training(table, Dialect(), lambda _: None, outcome="price", drop=["id", "quality"])
    said: list[str] = []
    assert model_files.task_of(y, "price", said.append) == REGRESSION
    assert not said
    trained = model_files.train(X, y, "price", REGRESSION, 30, 1)
    assert float(trained.summary.split()[1]) > 0.5
    assert np.corrcoef(trained.model.predict(Schema.infer(X).decode(Schema.infer(X).encode(X))), y)[0, 1] > 0.9


def test_missing_cells_are_a_level_and_unknown_levels_none(data, trained):
    X, _ = data
    codes = trained.model["columns"]
    decoded = Schema.infer(X).decode(Schema.infer(X).encode(X))
    marker = decoded["job"][decoded["job"].isna()].iloc[0]
    rows = decoded.iloc[:3].copy()
    rows["job"] = pd.Series(["cook", marker, "pilot"], index=rows.index, dtype=X["job"].dtype)
    names = codes.get_feature_names_out()
    jobs = codes.transform(rows)[:, [i for i, name in enumerate(names) if name.startswith("levels__job")]]
    assert jobs.sum(axis=1).tolist() == [1, 1, 0]
    assert (jobs[0] != jobs[1]).any()
    assert np.isfinite(trained.model.predict_proba(rows)).all()


@pytest.mark.parametrize(
    ("values", "task", "said"),
    [
        (["a", "b"], CLASSIFICATION, 0),
        ([True, False], CLASSIFICATION, 0),
        ([0, 1, 1, 2], CLASSIFICATION, 1),
        (list(range(11)), REGRESSION, 0),
        ([0.5, 1.5], REGRESSION, 0),
    ],
)
def test_the_outcome_tells_the_task(values, task, said):
    notes: list[str] = []
    assert model_files.task_of(pd.Series(values), "y", notes.append) == task
    assert len(notes) == said


@pytest.mark.parametrize("missing", [False, True])
def test_whole_numbers_as_classes_stay_whole(missing):
    y = pd.Series([0, 1] * 10, dtype="Int64")
    y[0] = pd.NA if missing else 0
    X = pd.DataFrame({"a": np.arange(20.0)})
    classes = model_files.train(X, y, "y", CLASSIFICATION, 5, 1).model.classes_
    assert classes.tolist() == [0, 1]
    assert classes.dtype.kind == "i"


@pytest.mark.parametrize(
    ("y", "task", "message"),
    [
        (["a"] * 20, CLASSIFICATION, "one class only"),
        ([f"n{i}" for i in range(20)], CLASSIFICATION, "20 classes in 20 rows"),
        (["a", "b"] * 10, REGRESSION, "holds no numbers"),
        (["a", "b", "a", "b", "a", "b"] + [None] * 14, CLASSIFICATION, "needs at least 8"),
    ],
)
def test_outcomes_that_can_not_be_learned(y, task, message):
    X = pd.DataFrame({"a": np.arange(20.0)})
    with pytest.raises(DataError, match=message):
        model_files.train(X, pd.Series(y), "y", task, 5, 1)


def test_a_trained_model_is_stored_without_pickle(data, trained, tmp_path):
    path = tmp_path / "model.skops"
    model_files.store(trained.model, path)
    with zipfile.ZipFile(path) as archive:
        assert {Path(name).suffix for name in archive.namelist()} <= {".json", ".npy"}
    again = model_files.load(path, trusted=False, is_ours=True)
    X = Schema.infer(data[0]).decode(Schema.infer(data[0]).encode(data[0]))
    assert np.array_equal(again.predict_proba(X), trained.model.predict_proba(X))


@pytest.mark.parametrize("suffix", [".joblib", ".pkl", ".pickle"])
def test_files_that_run_code_are_refused_before_they_do(tmp_path, suffix):
    path, proof = tmp_path / f"model{suffix}", tmp_path / "proof"
    path.write_bytes(pickle.dumps(Opens(proof)))
    with pytest.raises(ModelError, match=r"runs code.*--trust-model"):
        model_files.load(path, trusted=False)
    assert not proof.exists()
    model_files.load(path, trusted=True)
    assert proof.exists()


def test_a_trusted_joblib_model_is_loaded(tmp_path):
    model = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    joblib.dump(model, tmp_path / "m.joblib")
    assert model_files.load(tmp_path / "m.joblib", trusted=True).coef_ == model.coef_


def test_unknown_types_of_a_skops_file_are_named(tmp_path):
    skops = pytest.importorskip("skops.io")
    path = tmp_path / "m.skops"
    skops.dump(FunctionTransformer(func=os.system), path)
    for trusted, is_ours in ((False, False), (True, True)):
        with pytest.raises(ModelError, match=r"not known to be safe: .*system"):
            model_files.load(path, trusted=trusted, is_ours=is_ours)
    assert model_files.load(path, trusted=True).func is os.system


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("m.joblib", "joblib"),
        ("m.skops", "skops"),
        ("m.json", "xgboost"),
        ("m.ubj", "xgboost"),
        ("m.txt", "lightgbm"),
        ("m.cbm", "catboost"),
    ],
)
def test_damaged_files_are_refused(tmp_path, name, package):
    pytest.importorskip(package)
    (tmp_path / name).write_bytes(b"{ this is nothing")
    with pytest.raises(ModelError, match="can not be read"):
        model_files.load(tmp_path / name, trusted=True)


def test_other_suffixes_and_absent_files_are_refused(tmp_path):
    with pytest.raises(ModelError, match=r"suffix '.onnx'; allowed are"):
        model_files.load("model.onnx", trusted=True)
    with pytest.raises(ModelError, match="no model file"):
        model_files.load(tmp_path / "model.pkl", trusted=True)


def test_a_package_that_lacks_is_named(monkeypatch):
    def absent(name: str):
        raise ImportError(name)

    monkeypatch.setattr(_optional, "import_module", absent)
    with pytest.raises(MissingDependencyError, match=r"pip install 'countarfactuals\[cli\]'"):
        model_files.check_skops()


def test_classes_are_whole_numbers_only_if_all_are():
    assert model_files.labels_of(("0", "1")) == (0, 1)
    assert model_files.labels_of(("0", "b")) == ("0", "b")
    assert model_files.labels_of(None) is None


def test_a_model_that_learned_nothing_is_known(data):
    X, y = data
    rng = np.random.default_rng(0)
    noise = pd.DataFrame({"a": rng.normal(size=len(y))})
    rare = pd.Series(np.where(np.arange(len(y)) % 20 == 0, "rare", "common"))
    assert not model_files.train(noise, rare, "y", CLASSIFICATION, 10, 1).is_useful
    assert not model_files.train(noise, pd.Series(rng.normal(size=len(y))), "y", REGRESSION, 10, 1).is_useful
    assert model_files.train(X, y, "quality", CLASSIFICATION, 10, 1).is_useful


class Named:
    """Knows its columns, as models of several libraries do."""

    def __init__(self, **known: object) -> None:
        self.__dict__.update(known)


FRAME = pd.DataFrame({"a": [1], "b": [2], "c,d": [3]})


@pytest.mark.parametrize(
    ("known", "told"),
    [
        ({"feature_names_in_": ["a", "b", "c,d"]}, ""),
        ({"feature_names_in_": np.array(["a", "b"])}, """It was not trained on 'c,d'. Leave it out: --drop '"c,d"'"""),
        ({"feature_names_": ["a"]}, """It was not trained on 'b', 'c,d'. Leave them out: --drop 'b,"c,d"'"""),
        (
            {"feature_names": ["a", "b", "c,d", "e"]},
            "It was trained on 'e', which the data lacks or --drop leaves out.",
        ),
        ({"feature_name": lambda: ["Column_0", "Column_1"]}, "It was trained on 2 columns, the data has 3"),
        ({"n_features_in_": 2}, "--drop COLUMN"),
        ({"n_features_in_": 4}, "Add the others."),
        ({"n_features_in_": 3}, ""),
        ({}, ""),
    ],
)
def test_columns_that_a_model_was_not_trained_on_are_named(known, told):
    assert told in model_files.mismatch(Named(**known), FRAME)
    assert bool(model_files.mismatch(Named(**known), FRAME)) == bool(told)


def test_columns_come_in_the_order_of_training():
    assert list(model_files.in_order(Named(feature_names_in_=["c,d", "b", "a"]), FRAME)) == ["c,d", "b", "a"]
    for known in (
        {"feature_names_in_": ["c,d", "b"]},
        {"feature_names": None},
        {"feature_name": lambda: ["x", "y", "z"]},
    ):
        assert list(model_files.in_order(Named(**known), FRAME)) == list(FRAME)
