"""Damaged and crafted files are refused by name, or give finite numbers."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pytest

from countarfactuals import AdversarialRandomForest, Explainer
from countarfactuals.arf.archive import digest_of
from countarfactuals.exceptions import StorageError
from tests.torture import damaged_files, small


@pytest.fixture(scope="module")
def forest_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("forest") / "forest.arf"
    AdversarialRandomForest(n_estimators=5, random_state=1).fit(small.table()).save(path)
    return path


def crafted(path, place, name, value, at=slice(None)):
    """A copy of the file with other numbers in an array, and a digest that fits them."""
    with np.load(path) as archive:
        arrays = {key: archive[key] for key in archive.files if key != "digest"}
    arrays[name][at] = value
    np.savez(place, **arrays, digest=digest_of(arrays))
    return place


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("forest.feature", 10**6),
        ("forest.feature", -7),
        ("forest.child", 0),
        ("forest.child", 10**6),
        ("forest.root", 10**6),
        ("forest.words", 10**9),
        ("forest.threshold", np.nan),
        ("leaves.level", 10**6),
        ("leaves.level_start", 10**6),
        ("leaves.category_of", 5),
        ("leaves.number_of", 5),
        ("leaves.missing_of", 99),
        ("leaves.log_weight", np.nan),
        ("leaves.log_weight", 3.0),
        ("leaves.sigma", 0.0),
        ("leaves.low", np.inf),
        ("copula.region", 10**6),
        ("copula.correlation", np.nan),
        ("values.atom_start", 10**6),
    ],
)
def test_what_kernels_would_trust_is_refused(forest_file, tmp_path, name, value):
    path = crafted(forest_file, tmp_path / "crafted.npz", name, value)
    with pytest.raises(StorageError, match=r"crafted\.npz"):
        AdversarialRandomForest.load(path)


def test_a_cycle_is_refused(forest_file, tmp_path):
    with np.load(forest_file) as archive:
        feature, child = archive["forest.feature"], archive["forest.child"]
    inner = np.flatnonzero(feature >= 0)
    path = crafted(forest_file, tmp_path / "crafted.npz", "forest.child", child[inner[0]], inner[1])
    with pytest.raises(StorageError, match="children that can not be its own"):
        AdversarialRandomForest.load(path)


def test_an_array_that_was_edited_is_told_by_the_digest(forest_file, tmp_path):
    with np.load(forest_file) as archive:
        arrays = {name: archive[name] for name in archive.files}
    arrays["leaves.mu"] += 1e-9
    np.savez(tmp_path / "edited.npz", **arrays)
    with pytest.raises(StorageError, match="digest"):
        AdversarialRandomForest.load(tmp_path / "edited.npz")


def test_a_file_without_a_digest_is_read(forest_file, tmp_path):
    """As version 0.1 wrote it."""
    with np.load(forest_file) as archive:
        np.savez(tmp_path / "old.npz", **{name: archive[name] for name in archive.files if name != "digest"})
    rows = small.table()
    old, new = (AdversarialRandomForest.load(path) for path in (tmp_path / "old.npz", forest_file))
    np.testing.assert_array_equal(old.score_samples(rows), new.score_samples(rows))


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        *(("task", task) for task in ([], {}, 1, "no such")),
        ("classes", ["no", "yes", "yes"]),
        ("classes", [None, "yes"]),
    ],
)
def test_an_explainer_of_no_known_task_or_classes_is_refused(tmp_path, parameter, value):
    """Its file names it; as a parameter of the user it would be another error."""
    small.fit("whatif", density=AdversarialRandomForest(n_estimators=2, random_state=1)).save(tmp_path / "whole.npz")
    with np.load(tmp_path / "whole.npz") as archive:
        arrays = {name: archive[name] for name in archive.files if name != "digest"}
    meta = json.loads(bytes(arrays["meta"]))
    meta["parameters"][parameter] = value
    arrays["meta"] = np.frombuffer(json.dumps(meta).encode(), np.uint8)
    path = tmp_path / "crafted.npz"
    np.savez(path, **arrays, digest=digest_of(arrays))
    with pytest.raises(StorageError, match=rf"crafted\.npz.*{parameter}"):
        Explainer.load(path, small.model)


def test_a_header_that_is_no_python_is_refused(tmp_path):
    """NumPy takes it apart by Python's own tokenizer, and hands its error on."""
    path = tmp_path / "garbled.arf"
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1L,".ljust(117) + b"\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(8))
    with pytest.raises(StorageError, match=r"garbled\.arf"):
        AdversarialRandomForest.load(path)


@pytest.mark.parametrize("claim", ["shape", "members", "bomb"])
def test_claims_are_refused_before_room_is_made(tmp_path, claim):
    """Terabytes by a header, one member listed many times, and zeros that compress a thousandfold."""
    path, array = tmp_path / "claims.arf", io.BytesIO()
    np.lib.format.write_array_header_1_0(array, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if claim == "bomb" else zipfile.ZIP_STORED) as archive:
        archive.writestr("a.npy", array.getvalue() + bytes(10**6))
        if claim == "members":
            entry = archive.infolist()[0]
            for k in range(50):
                again = zipfile.ZipInfo(f"{k}.npy")
                again.CRC, again.header_offset = entry.CRC, entry.header_offset
                again.file_size = again.compress_size = entry.file_size
                archive.filelist.append(again)
                archive.NameToInfo[again.filename] = again
    said = {"shape": "claims the shape", "members": "claims to hold more", "bomb": "is compressed"}[claim]
    with pytest.raises(StorageError, match=said):
        AdversarialRandomForest.load(path)


def test_damaged_files_do_no_harm():
    """A small dose; `make torture` takes ten thousand."""
    figures = damaged_files.attack(60, seed=1)
    assert figures["told"] == []
    assert figures["times the memory"] < 3.0
