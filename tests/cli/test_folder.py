"""What `fit` leaves on disk: whole or not at all, and the same when it is read."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from sklearn.preprocessing import FunctionTransformer

from countarfactuals.cli import folder, model_files
from countarfactuals.exceptions import CountarfactualsError, ModelError, StorageError
from countarfactuals.files import unfinished_beside

FACTS = {"made": "auto", "outcome": "quality", "dropped": ["id"], "dialect": {"delimiter": ";", "missing": ["?"]}}


@pytest.fixture
def copy(fitted, tmp_path) -> Path:
    return Path(shutil.copytree(fitted, tmp_path / "copy"))


def changed_meta(place: Path, **changes: object) -> None:
    meta = json.loads((place / "meta.json").read_text())
    (place / "meta.json").write_text(json.dumps(meta | changes))


def test_what_is_read_is_what_was_written(fitted, tmp_path):
    before = folder.read(fitted, trusted=False)
    place = folder.check_place(str(tmp_path / "again"), force=False)
    folder.write(place, before.explainer, before.explainer.model, None, FACTS)
    after = folder.read(str(place), trusted=False)
    assert np.array_equal(after.explainer.background_.scores, before.explainer.background_.scores)
    assert after.explainer.seed_ == before.explainer.seed_
    assert (after.dialect.delimiter, after.dialect.missing, after.dialect.decimal) == (";", ("?",), ".")
    assert after.known_columns == {"id", "quality"}
    assert [path.name for path in tmp_path.iterdir()] == ["again"]


def test_a_failure_leaves_nothing_new_and_the_old_folder_whole(fitted, copy, monkeypatch):
    opened = folder.read(fitted, trusted=False)
    before = {path.name: path.read_bytes() for path in copy.iterdir()}

    def fail(model, path):
        Path(path).write_text("half")
        raise OSError("disk full")

    monkeypatch.setattr(model_files, "store", fail)
    with pytest.raises(StorageError, match="disk full"):
        folder.write(folder.check_place(str(copy), force=True), opened.explainer, opened.explainer.model, None, FACTS)
    assert {path.name: path.read_bytes() for path in copy.iterdir()} == before
    assert [path.name for path in copy.parent.iterdir()] == ["copy"]


def test_the_old_folder_comes_back_if_the_new_one_can_not_take_its_place(fitted, copy, monkeypatch):
    opened = folder.read(fitted, trusted=False)
    before = {path.name: path.read_bytes() for path in copy.iterdir()}
    rename = Path.rename

    def fail(self: Path, target: Path) -> Path:
        if self.name.endswith(".unfinished"):
            raise OSError("in use")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(StorageError, match="in use"):
        folder.write(folder.check_place(str(copy), force=True), opened.explainer, opened.explainer.model, None, FACTS)
    assert {path.name: path.read_bytes() for path in copy.iterdir()} == before
    assert [path.name for path in copy.parent.iterdir()] == ["copy"]


@pytest.mark.parametrize("use", ["read", "replace"])
def test_what_a_kill_between_the_renames_leaves_is_put_back(fitted, copy, use):
    """The old folder is set aside and the new one unfinished: no explainer stands under the name."""
    before = {path.name: path.read_bytes() for path in copy.iterdir()}
    aside = unfinished_beside(copy).with_suffix(".replaced")
    copy.rename(aside)
    if use == "read":
        folder.read(str(copy), trusted=False)
    else:
        assert folder.check_place(str(copy), force=True) == copy
    assert {path.name: path.read_bytes() for path in copy.iterdir()} == before
    assert not aside.exists()


def test_what_killed_ones_left_is_removed_after_a_day(fitted, copy):
    opened = folder.read(fitted, trusted=False)
    old, new = unfinished_beside(copy), unfinished_beside(copy)
    for place in (old, new):
        place.mkdir()
    os.utime(old, (0, 0))
    folder.write(folder.check_place(str(copy), force=True), opened.explainer, opened.explainer.model, None, FACTS)
    assert {path.name for path in copy.parent.iterdir()} == {"copy", new.name}


def test_a_model_of_ours_may_hold_nothing_else_even_if_trusted(copy):
    skops = pytest.importorskip("skops.io")
    skops.dump(FunctionTransformer(func=os.system), copy / "model.skops")
    changed_meta(copy, model_sha256=hashlib.sha256((copy / "model.skops").read_bytes()).hexdigest())
    with pytest.raises(ModelError, match="not the model that was stored"):
        folder.read(str(copy), trusted=True)


def test_an_existing_folder_is_replaced_on_demand_only(fitted, copy):
    with pytest.raises(StorageError, match="--force"):
        folder.check_place(str(copy), force=False)
    opened = folder.read(fitted, trusted=False)
    (copy / "stray").write_text("old")
    folder.write(folder.check_place(str(copy), force=True), opened.explainer, opened.explainer.model, None, FACTS)
    assert not (copy / "stray").exists()
    assert folder.read(str(copy), trusted=False).meta["outcome"] == "quality"
    assert [path.name for path in copy.parent.iterdir()] == ["copy"]


def test_other_folders_and_files_are_left_alone(tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "one.jpg").write_text("")
    with pytest.raises(StorageError, match="leaves it alone"):
        folder.check_place(str(tmp_path / "photos"), force=True)
    (tmp_path / "empty").mkdir()
    assert folder.check_place(str(tmp_path / "empty"), force=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="is a file"):
        folder.check_place(str(tmp_path / "file"), force=True)
    with pytest.raises(StorageError, match="Create it first"):
        folder.check_place(str(tmp_path / "no" / "where"), force=False)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda place: (place / "meta.json").unlink(), "no meta.json"),
        (lambda place: (place / "meta.json").write_text("{"), "is damaged"),
        (lambda place: (place / "meta.json").write_text("[]"), "not of `countarfactuals fit`"),
        (lambda place: changed_meta(place, version=99), "version 99"),
        (lambda place: changed_meta(place, dialect="csv"), r"meta\.json' is damaged: 'dialect' is 'csv'"),
        (lambda place: changed_meta(place, dialect={"delimiter": 5}), "'dialect' is"),
        (lambda place: changed_meta(place, dialect={"delimiter": ""}), "'dialect' is"),
        (lambda place: changed_meta(place, dialect={"missing": "NA"}), "'dialect' is"),
        (lambda place: changed_meta(place, dialect={"encoding": None}), "'dialect' is"),
        (lambda place: changed_meta(place, dropped="id"), "'dropped' is 'id'"),
        (lambda place: changed_meta(place, outcome=["quality"]), "'outcome' is"),
        (lambda place: changed_meta(place, versions=["1"]), "'versions' is"),
        (lambda place: changed_meta(place, units={"income": ["a", "b", "c"]}), "'units' is"),
        (lambda place: changed_meta(place, units=["income"]), "'units' is"),
        (lambda place: changed_meta(place, rows=3), "'rows' is 3"),
        (lambda place: changed_meta(place, model_file="../model.skops"), "lacks its model"),
        (lambda place: (place / "model.skops").unlink(), "lacks its model"),
        (lambda place: (place / "model.skops").write_bytes(b"other"), "was changed since"),
        (lambda place: (place / "explainer.npz").unlink(), "no file"),
        (lambda place: (place / "explainer.npz").write_bytes(b"other"), "no readable"),
    ],
)
def test_damaged_folders_are_refused(copy, damage, message):
    damage(copy)
    with pytest.raises(CountarfactualsError, match=message):
        folder.read(str(copy), trusted=False)


def test_a_folder_of_before_units_has_none(copy):
    meta = json.loads((copy / "meta.json").read_text())
    (copy / "meta.json").write_text(
        json.dumps({name: one for name, one in meta.items() if name not in ("units", "rows")})
    )
    opened = folder.read(str(copy), trusted=False)
    assert (opened.units, opened.rows) == ({}, "rows")


def test_other_versions_are_named_where_something_fails(copy):
    meta = json.loads((copy / "meta.json").read_text())
    changed_meta(copy, versions={**meta["versions"], "scikit-learn": "0.1"})
    folder.read(str(copy), trusted=False)  # they alone are no error
    (copy / "explainer.npz").write_bytes(b"other")
    with pytest.raises(StorageError, match=r"It was written with scikit-learn 0\.1 \(now"):
        folder.read(str(copy), trusted=False)
