"""The estimator: scikit-learn's conventions, bad input, and files."""

from __future__ import annotations

import io
import json
import pickle
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.exceptions
from sklearn.base import clone

from countarfactuals import MISSING, AdversarialRandomForest
from countarfactuals.datasets import load_loan
from countarfactuals.exceptions import (
    CountarfactualsError,
    DataError,
    DataTypeError,
    DensityWarning,
    EvidenceError,
    NotFittedError,
    ParameterError,
    StorageError,
)

from .twins import fit, fitted, mixed, two_sines

# Conventions


def test_parameters():
    arf = AdversarialRandomForest(n_estimators=7, alpha=0.5, always_split=("a",))
    parameters = arf.get_params()
    assert parameters["n_estimators"] == 7
    assert set(parameters) == {
        *("n_estimators", "min_samples_leaf", "max_features", "max_iter", "delta", "early_stopping", "always_split"),
        *(
            "max_samples",
            "never_split",
            "family",
            "leaf_fit",
            "finite_bounds",
            "epsilon",
            "alpha",
            "dependence",
            "values",
            "rows_in_memory",
            "n_jobs",
            "random_state",
            "verbose",
        ),
    }
    assert arf.set_params(n_estimators=9) is arf
    assert arf.n_estimators == 9
    with pytest.raises(ValueError, match="trees"):
        arf.set_params(trees=3)
    assert "n_estimators=9" in repr(arf)
    with pytest.raises(TypeError):
        AdversarialRandomForest(7)


def test_clone_forgets_what_was_learnt():
    arf = fit(two_sines(), always_split=["x1"])
    copied = clone(arf)
    assert copied.get_params() == arf.get_params()
    assert not hasattr(copied, "forest_")
    assert copied.fit(two_sines()).score(two_sines()) == arf.score(two_sines())
    clone(AdversarialRandomForest(random_state=np.random.default_rng(1)))


def test_init_only_assigns():
    AdversarialRandomForest(n_estimators="many", family=3)  # refused by fit


def test_attributes():
    X = mixed()
    arf = fitted("mixed")
    assert arf.n_rounds_ == len(arf.accuracies_)
    assert all(0 <= accuracy <= 1 for accuracy in arf.accuracies_)
    assert arf.n_features_in_ == 6
    assert list(arf.feature_names_in_) == list(X.columns)
    assert arf.schema_.names == tuple(X.columns)
    assert arf.leaves_.coverage.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    "use",
    [
        lambda arf: arf.score_samples(mixed()),
        lambda arf: arf.score(mixed()),
        lambda arf: arf.log_probability({"age": 3}),
        lambda arf: arf.sample(),
        lambda arf: arf.expect(),
        lambda arf: arf.impute(mixed()),
        lambda arf: arf.save("nowhere"),
    ],
)
def test_unfitted_use(use):
    with pytest.raises(NotFittedError, match=r"not fitted.*fit\(X\)"):
        use(AdversarialRandomForest())
    with pytest.raises(sklearn.exceptions.NotFittedError):
        use(AdversarialRandomForest())


def test_random_state():
    X = two_sines()
    scores = {
        name: fit(X, random_state=seed).score(X)
        for name, seed in {
            "int": 5,
            "numpy int": np.int64(5),
            "generator": np.random.default_rng(5),
            "sequence": np.random.SeedSequence(5),
            "other": 6,
        }.items()
    }
    assert scores["int"] == scores["generator"] == scores["sequence"] == scores["numpy int"]
    assert scores["int"] != scores["other"]


def test_y_is_ignored():
    X = two_sines()
    y = np.zeros(len(X))
    assert fit(X).score(X) == fitted("two_sines").score(X)
    arf = AdversarialRandomForest(n_estimators=6, min_samples_leaf=5, random_state=1, max_iter=2).fit(X, y)
    assert arf.score(X, y) == fitted("two_sines").score(X)


def test_rounds():
    X = two_sines()
    none = fit(X, max_iter=0)
    assert none.n_rounds_ == 1
    never = fit(X, max_iter=3, early_stopping=False)
    assert never.n_rounds_ <= 4
    assert never.n_rounds_ == 4 or never.accuracies_[-1] <= 0.5
    at_once = fit(X, delta=0.5)
    assert at_once.n_rounds_ == 1
    early = fit(X, max_iter=10).accuracies_
    assert all(np.diff(early[:-1]) < 0)  # only the last round may fail to fall


def test_verbose(capsys):
    arf = fit(two_sines(), verbose=True)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == arf.n_rounds_
    assert lines[0] == f"round 0: out-of-bag accuracy {arf.accuracies_[0]:.3f}"
    fit(two_sines())
    assert capsys.readouterr().out == ""


def test_automatic_leaf_size(tmp_path):
    X = two_sines()
    arf = fit(X, min_samples_leaf="auto")
    assert 1 <= arf.min_samples_leaf_ < len(X)
    assert fit(X, min_samples_leaf="auto", n_jobs=2).min_samples_leaf_ == arf.min_samples_leaf_
    assert fit(X, min_samples_leaf=9).min_samples_leaf_ == 9
    arf.save(tmp_path / "forest")
    assert AdversarialRandomForest.load(tmp_path / "forest").min_samples_leaf_ == arf.min_samples_leaf_


@pytest.mark.parametrize("n", [2, 3, 5, 12])
def test_automatic_leaf_size_of_a_few_rows(n):
    X = pd.DataFrame({"x": np.arange(n) + 0.5, "c": ["a", "b", "c"][:n] * (n // 3) if n % 3 == 0 else ["a"] * n})
    assert np.isfinite(fit(X, min_samples_leaf="auto").score_samples(X)).all()


def test_warning_when_the_density_misses_structure():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 30)) @ (np.eye(30) + rng.normal(size=(30, 30)) / 3)
    arf = AdversarialRandomForest(n_estimators=20, min_samples_leaf=20, dependence=None, random_state=1)
    with pytest.warns(DensityWarning, match=r"accuracy 0\.\d\d.*misses structure.*min_samples_leaf"):
        arf.fit(X)
    assert arf.accuracies_[-1] > 0.6
    assert np.isfinite(arf.score(X))
    # accuracies are against independent leaves: of dependent ones, which know this structure, they say nothing
    dependent = clone(arf).set_params(dependence="auto").fit(X)
    assert dependent.score(X) > arf.score(X) + 1.0


def test_no_warning_from_the_first_round_alone():
    """Its accuracy is against independent columns and says nothing of the density."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 1)) + 0.01 * rng.normal(size=(300, 4))
    arf = AdversarialRandomForest(n_estimators=10, max_iter=0, random_state=1).fit(X)
    assert arf.accuracies_[0] > 0.6


def test_no_warning_where_columns_are_independent():
    X = np.random.default_rng(0).normal(size=(300, 3))
    AdversarialRandomForest(n_estimators=10, random_state=1).fit(X)  # a DensityWarning would be an error here


# Inputs stay as they are


@pytest.mark.parametrize("missing", [False, True])
def test_data_is_not_changed(missing):
    X = mixed(missing=missing).copy(deep=True)
    before = X.copy(deep=True)
    arf = fit(X)
    arf.score_samples(X)
    arf.impute(X)
    arf.score(X)
    pd.testing.assert_frame_equal(X, before)
    array = np.random.default_rng(0).normal(size=(50, 2))
    array[3, 1] = np.nan
    kept = array.copy()
    array.flags.writeable = False
    arf = fit(array)
    filled = arf.impute(array)
    arf.score_samples(array)
    np.testing.assert_array_equal(array, kept)
    assert not np.shares_memory(filled, array)


def test_a_failed_fit_leaves_a_fitted_forest_as_it_was():
    X = mixed()
    arf = fit(X)
    before, attributes = arf.score_samples(X), dict(vars(arf))
    for bad in (X.head(0), X.head(1), X.assign(when=pd.Timedelta(1, "D")), X.assign(weight=np.inf), "text", None):
        with pytest.raises(CountarfactualsError):
            arf.fit(bad)
        assert all(vars(arf)[name] is value for name, value in attributes.items())
    arf.set_params(min_samples_leaf=0)
    with pytest.raises(ParameterError):
        arf.fit(X)
    for given in ({"color": "rde"}, {"nothing": 1}, {"age": "old"}, {"weight": MISSING}):
        with pytest.raises(CountarfactualsError):
            arf.sample(given=given)
    np.testing.assert_array_equal(arf.score_samples(X), before)


# Bad data


def frame(**columns):
    return pd.DataFrame({"x": [1.0, 2.0, 3.0]} | columns)


BAD_DATA = {
    "no rows": (frame().head(0), DataError, "no rows.*'x'"),
    "no columns": (pd.DataFrame(index=[0, 1]), DataError, "no columns"),
    "one row": (frame().head(1), DataError, "at least 2 rows, got 1"),
    "duplicate names": (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), DataError, "unique.*'a'"),
    "infinite": (frame(y=[1.0, np.inf, 2.0]), DataError, "'y' is infinite in row 1"),
    "durations": (
        frame(span=pd.to_timedelta([1, 2, 3], "D")),
        DataTypeError,
        "'span' has type timedelta64.*a duration to its seconds",
    ),
    "polars durations": (
        pl.from_pandas(frame(span=pd.to_timedelta([1, 2, 3], "D"))),
        DataTypeError,
        "'span' has type Duration.*a duration to its seconds",
    ),
    "all missing": (frame(gone=[np.nan] * 3), DataError, "'gone' has no value.*Drop"),
    "all None": (frame(gone=[None] * 3), DataError, "'gone' has no value"),
    "text": ("a,b", DataError, "no file or folder .a,b."),
    "list": ([[1, 2], [3, 4]], DataTypeError, "list.*numpy array"),
    "one dimension": (np.arange(3.0), DataTypeError, "1 dimension.*reshape"),
}


@pytest.mark.parametrize("name", BAD_DATA)
def test_bad_data(name):
    data, error, words = BAD_DATA[name]
    with pytest.raises(error, match=words):
        AdversarialRandomForest(n_estimators=2).fit(data)


def test_bad_rows_to_score():
    arf = fitted("mixed")
    rows = mixed().head(3)
    for bad, error, words in (
        (rows.rename(columns={"price": "prize"}), DataError, "no column 'prize'.*Did you mean 'price'"),
        (rows.assign(extra=1), DataError, "no column 'extra'"),
        (rows.assign(color="pink"), DataError, "'color' has the unknown level 'pink'.*'red'"),
        (rows.assign(weight=-np.inf), DataError, "'weight' is infinite in row 0"),
        (rows.assign(weight="x"), DataTypeError, "'weight' holds numbers"),
        (rows.head(0), DataError, "no rows"),
        (rows.to_numpy()[:, :2], DataError, "2 column.*expected 6"),
        (3, DataTypeError, "int"),
    ):
        for use in (arf.score_samples, arf.score, arf.impute):
            if use == arf.score and "unknown level" in words:
                continue  # which a fold of a cross-validation may lack
            with pytest.raises(error, match=words):
                use(bad)


BAD_PARAMETERS = {
    "n_estimators": [0, -1, 2.5, "many", None, True],
    "min_samples_leaf": [0, 1.5, "automatic", None],
    "max_features": [0, -1, 0.0, 1.5, "log2", True],
    "max_iter": [-1, 1.5, None],
    "delta": [-0.1, 0.6, "0", np.nan],
    "max_samples": [0, 1.0, -0.5, "half", True],
    "family": ["normal", None],
    "leaf_fit": ["mle", None],
    "finite_bounds": ["both", True],
    "epsilon": [-1, np.inf, None],
    "alpha": [-0.1, np.nan, "0.1"],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in BAD_PARAMETERS.items() for value in values]
)
def test_bad_parameters(name, value):
    with pytest.raises(ParameterError, match=f"{name} must be .*got {value!r}"):
        AdversarialRandomForest(**{"n_estimators": 2, name: value}).fit(two_sines())


def test_always_split_names_columns():
    with pytest.raises(DataError, match="no column 'x9'"):
        fit(two_sines(), always_split=["x9"])
    one, same = fit(two_sines(), always_split="x1"), fit(two_sines(), always_split=("x1",))
    assert one.score(two_sines()) == same.score(two_sines())
    fit(two_sines(), always_split=["x1", "x2"])


@pytest.mark.parametrize(
    "bad", [{"always_split": 3}, {"random_state": -1}, {"random_state": "seed"}, {"n_jobs": 0}], ids=str
)
def test_other_bad_parameters(bad):
    with pytest.raises(CountarfactualsError, match=next(iter(bad))):
        fit(two_sines(), **bad)


# Files

BACKENDS = {
    "pandas": lambda: mixed(),
    "complete": lambda: mixed(missing=False),
    "polars": lambda: pl.from_pandas(mixed().assign(grade=mixed()["grade"].astype(object))),
    "numpy": lambda: two_sines().to_numpy(),
    "numbers as names": lambda: two_sines().set_axis([0, 1], axis=1),
}
OPTIONS = [{}, {"family": "uniform"}, {"finite_bounds": "local", "leaf_fit": "moments", "alpha": 0.0}]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_files_keep_every_bit(tmp_path, backend, options):
    X = BACKENDS[backend]()
    arf = fit(X, min_samples_leaf=12, **options)
    path = tmp_path / "forest.arf"
    arf.save(path)
    assert [file.name for file in tmp_path.iterdir()] == ["forest.arf"]
    loaded = AdversarialRandomForest.load(path)
    np.testing.assert_array_equal(loaded.score_samples(X), arf.score_samples(X))
    one, other = arf.sample(50, random_state=1), loaded.sample(50, random_state=1)
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
    else:
        assert one.equals(other)
    pd.testing.assert_frame_equal(arf.expect(), loaded.expect())
    assert loaded.accuracies_ == arf.accuracies_
    assert loaded.schema_ == arf.schema_
    assert {**loaded.get_params(), "always_split": ()} == {**arf.get_params(), "always_split": ()}
    loaded.fit(X)


def test_files_of_a_loan_forest(tmp_path):
    X = load_loan(n=300, missing=True).X
    arf = fit(X, always_split=["age"])
    arf.save(tmp_path / "loan")
    loaded = AdversarialRandomForest.load(str(tmp_path / "loan"))
    np.testing.assert_array_equal(loaded.score_samples(X), arf.score_samples(X))
    pd.testing.assert_frame_equal(loaded.impute(X, random_state=1), arf.impute(X, random_state=1))
    assert list(loaded.always_split) == ["age"]


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_estimators": np.int64(3)},
        {"alpha": np.float64(0.2)},
        {"epsilon": np.float32(0.5)},
        {"min_samples_leaf": np.int32(5)},
        {"random_state": np.int64(4)},
        {"random_state": np.random.default_rng(1)},
        {"early_stopping": np.True_},
        {"always_split": np.array(["x1"])},
    ],
    ids=lambda parameters: "-".join(f"{name}-{type(value).__name__}" for name, value in parameters.items()),
)
def test_parameters_of_numpy_can_be_stored(tmp_path, parameters):
    arf = fit(two_sines(), **parameters)
    arf.save(tmp_path / "forest")
    assert AdversarialRandomForest.load(tmp_path / "forest").score(two_sines()) == arf.score(two_sines())


def test_a_file_holds_no_pickle(tmp_path):
    fitted("mixed").save(tmp_path / "forest")
    with np.load(tmp_path / "forest", allow_pickle=False) as archive:
        assert all(archive[name].dtype != object for name in archive.files)
    with zipfile.ZipFile(tmp_path / "forest") as archive:
        assert all(name.endswith(".npy") for name in archive.namelist())


def test_a_failed_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "forest"
    fitted("mixed").save(path)
    before = path.read_bytes()
    arf = fit(two_sines())
    arf.accuracies_ = (object(),)
    with pytest.raises(TypeError):
        arf.save(path)
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


@pytest.fixture(scope="module")
def small_file(tmp_path_factory) -> bytes:
    X = two_sines().head(40).assign(c=["a", "b"] * 20)
    path = tmp_path_factory.mktemp("file") / "forest"
    fit(X, n_estimators=1, max_iter=0, min_samples_leaf=10).save(path)
    return path.read_bytes()


def test_missing_file(tmp_path):
    with pytest.raises(StorageError, match=r"no file.*nowhere"):
        AdversarialRandomForest.load(tmp_path / "nowhere")
    with pytest.raises(StorageError, match="no file"):
        AdversarialRandomForest.load(tmp_path)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.9, 0.999])
def test_truncated_file(tmp_path, small_file, share):
    path = tmp_path / "forest"
    path.write_bytes(small_file[: int(share * len(small_file))])
    with pytest.raises(StorageError, match=r"damaged.*Save the object again"):
        AdversarialRandomForest.load(path)


def test_flipped_bits(tmp_path, small_file):
    """A damaged byte is told, or has no effect (the zip format has bytes without one, such as dates)."""
    path = tmp_path / "forest"
    X = two_sines().head(40).assign(c=["a", "b"] * 20)
    path.write_bytes(small_file)
    expected = AdversarialRandomForest.load(path).score_samples(X)
    told = 0
    places = np.random.default_rng(0).choice(len(small_file), 400, replace=False)
    tail = range(len(small_file) - 400, len(small_file), 3)  # the archive's directory
    for place in [*range(0, 120), *places, *tail]:
        damaged = bytearray(small_file)
        damaged[place] ^= 0x41
        path.write_bytes(damaged)
        try:
            loaded = AdversarialRandomForest.load(path)
        except StorageError:
            told += 1
        else:
            np.testing.assert_array_equal(loaded.score_samples(X), expected)
    assert told > 400


def test_foreign_files(tmp_path):
    path = tmp_path / "file"
    for write in (
        lambda: np.savez(path.open("wb"), a=np.arange(3)),
        lambda: path.write_bytes(pickle.dumps({"a": 1})),
        lambda: np.save(path.open("wb"), np.array([{"a": 1}], dtype=object)),
        lambda: np.save(path.open("wb"), np.arange(3)),
        lambda: path.write_text("not a forest"),
        lambda: np.savez(path.open("wb"), meta=np.frombuffer(b"[1, 2]", np.uint8)),
        lambda: np.savez(path.open("wb"), meta=np.frombuffer(b'{"format": "something"}', np.uint8)),
        lambda: np.savez(path.open("wb"), meta=np.array([{}], dtype=object)),
    ):
        write()
        with pytest.raises(StorageError, match=r"countarfactuals.AdversarialRandomForest"):
            AdversarialRandomForest.load(path)


def rewritten(small_file: bytes, path, change) -> None:
    with np.load(io.BytesIO(small_file)) as archive:
        arrays = {name: array for name, array in archive.items() if name != "digest"}
    meta = json.loads(bytes(arrays.pop("meta")))
    change(meta, arrays)
    with path.open("wb") as file:
        np.savez(file, meta=np.frombuffer(json.dumps(meta).encode(), np.uint8), **arrays)


def test_wrong_version_and_missing_parts(tmp_path, small_file):
    path = tmp_path / "forest"
    rewritten(small_file, path, lambda meta, arrays: None)
    AdversarialRandomForest.load(path)
    rewritten(small_file, path, lambda meta, arrays: meta.update(version=99))
    with pytest.raises(StorageError, match=r"version 99.*reads.*version 1.*countarfactuals 0"):
        AdversarialRandomForest.load(path)
    for change in (
        lambda meta, arrays: arrays.pop("forest.child"),
        lambda meta, arrays: arrays.pop("leaves.mu"),
        lambda meta, arrays: meta.pop("schema"),
        lambda meta, arrays: meta.pop("closed"),
        lambda meta, arrays: meta["parameters"].update(unknown=3),
        lambda meta, arrays: meta["schema"]["columns"][0].update(kind="odd"),
    ):
        rewritten(small_file, path, change)
        with pytest.raises(StorageError, match=r"lacks or garbles a part.*Save it again"):
            AdversarialRandomForest.load(path)


def test_saving_where_no_folder_is(tmp_path):
    with pytest.raises(StorageError, match=r"no folder .*Create it"):
        fitted("mixed").save(tmp_path / "no" / "folder" / "forest")


def test_numbers_whose_squares_overflow():
    X = pd.DataFrame({"big": np.linspace(-1, 1, 50) * 1e300, "x": np.arange(50.0)})
    with pytest.raises(DataError, match=r"'big'.*beyond.*Rescale"):
        AdversarialRandomForest(n_estimators=3).fit(X)


def test_masked_arrays_are_refused():
    with pytest.raises(DataTypeError, match=r"masked.*filled"):
        AdversarialRandomForest().fit(np.ma.masked_greater(np.arange(20.0).reshape(10, 2), 5))


def test_random_state_of_scikit_learn_and_seed_sequences():
    X = two_sines().head(100)

    def scores(state):
        return AdversarialRandomForest(n_estimators=3, random_state=state).fit(X).score_samples(X)

    np.testing.assert_array_equal(scores(np.random.RandomState(3)), scores(np.random.RandomState(3)))
    sequence = np.random.SeedSequence(3)
    np.testing.assert_array_equal(scores(sequence), scores(sequence))
    assert sequence.n_children_spawned == 0


def test_always_split_survives_a_file(tmp_path):
    X = two_sines().head(100)
    AdversarialRandomForest(n_estimators=3, always_split="x1", random_state=1).fit(X).save(tmp_path / "forest")
    again = AdversarialRandomForest.load(tmp_path / "forest")
    assert again.always_split == ("x1",)
    again.fit(X)


def test_draws_stay_in_the_type_of_an_integer_column():
    X = pd.DataFrame({"n": np.random.default_rng(0).poisson(0.5, 300).astype("uint8"), "x": np.arange(300.0)})
    drawn = AdversarialRandomForest(n_estimators=5, random_state=1).fit(X).sample(2000)["n"]
    assert drawn.dtype == "uint8"
    assert drawn.max() < 50


def test_evidence_errors_are_value_errors():
    assert issubclass(EvidenceError, ValueError)
    assert issubclass(StorageError, ValueError)
    assert issubclass(NotFittedError, sklearn.exceptions.NotFittedError)


# Columns that leaves describe but trees do not see


def test_never_split_leaves_the_density_of_the_others_as_it_is():
    X = mixed()
    parameters = {"n_estimators": 10, "min_samples_leaf": 10, "random_state": 3}
    extra = X.assign(a_score=np.linspace(0, 1, len(X)))
    with_score = AdversarialRandomForest(**parameters, never_split=["a_score"]).fit(extra)
    without = AdversarialRandomForest(**parameters).fit(X)
    # a row that says all has its constants summed beforehand: another order, another last digit
    np.testing.assert_allclose(with_score.score_samples(X), without.score_samples(X), rtol=0, atol=1e-11)
    assert extra.columns.get_loc("a_score") not in set(with_score.forest_.feature.tolist())


def test_a_condition_on_a_never_split_column_weighs_leaves():
    X = two_sines().assign(score=lambda X: (X["x1"] > 0).astype(float) + 0.01 * X["x2"])
    arf = AdversarialRandomForest(n_estimators=10, never_split="score", random_state=1).fit(X)
    assert arf.sample(500, given={"score": (0.5, None)}, random_state=1)["x1"].gt(-0.5).mean() > 0.95
    rows, condition = X.drop(columns="score").head(20), {"score": (0.5, None)}
    joint = arf.score_samples(rows, given=condition) + arf.log_probability(condition)
    conditions = [{**row, **condition} for row in rows.to_dict("records")]
    np.testing.assert_allclose(joint, arf.log_probability(conditions), atol=1e-9)


def test_never_split_survives_storage(tmp_path):
    X = two_sines().assign(score=1.5)
    arf = AdversarialRandomForest(n_estimators=5, never_split="score", random_state=1).fit(X)
    arf.save(tmp_path / "forest")
    again = AdversarialRandomForest.load(tmp_path / "forest")
    assert again.never_split == ("score",)
    np.testing.assert_array_equal(again.score_samples(X), arf.score_samples(X))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"never_split": ["x1"], "always_split": ["x1"]}, "stand in always_split and in never_split"),
        ({"never_split": ["x1", "x2"]}, "names all columns"),
        ({"never_split": ["x9"]}, "There is no column 'x9'"),
        ({"never_split": 3}, "must be a sequence of column names"),
    ],
)
def test_never_split_is_checked(parameters, message):
    with pytest.raises(ValueError, match=message):
        AdversarialRandomForest(n_estimators=2, **parameters).fit(two_sines())
