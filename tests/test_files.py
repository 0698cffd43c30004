"""Files are there whole or not at all."""

from __future__ import annotations

import errno
import os

import pytest

from countarfactuals.exceptions import StorageError
from countarfactuals.files import whole_file
from tests.torture import concurrent_files


def test_a_file_is_replaced_when_it_is_complete(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with whole_file(path) as unfinished:
        unfinished.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_a_crash_leaves_what_was_there(tmp_path, error):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail() -> None:
        with whole_file(path) as unfinished:
            unfinished.write_text("half")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_can_not_be_written_is_told(tmp_path):
    with (
        pytest.raises(StorageError, match=r"no folder .* to write 'a.txt' to\. Create it first"),
        whole_file(tmp_path / "no" / "a.txt"),
    ):
        pass
    with pytest.raises(StorageError, match="can not be written"), whole_file(tmp_path) as unfinished:
        unfinished.write_text("a folder is in the way")
    assert tmp_path.is_dir()


def test_a_name_alone_is_in_the_present_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with whole_file("a.txt") as unfinished:
        unfinished.write_text("here")
    assert (tmp_path / "a.txt").read_text() == "here"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_forbidden_folder_is_told(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(StorageError, match="can not be written"), whole_file(tmp_path / "a.txt") as unfinished:
            unfinished.write_text("new")
    finally:
        tmp_path.chmod(0o700)


def test_a_clean_up_that_fails_does_not_hide_why(tmp_path, monkeypatch):
    """A file system that became read-only: writing fails, and so does removing."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("pathlib.Path.unlink", refuse)
    with pytest.raises(StorageError, match="can not be written"), whole_file(tmp_path / "a.txt"):
        refuse()


def test_writers_do_not_meet(tmp_path):
    """Threads, and processes as containers have them, with equal ids: every read is a whole file."""
    figures = concurrent_files.attack(2, seed=1, folder=tmp_path)
    assert figures["reads"] > 1_000
    assert figures["damaged reads"] == 0
    assert figures["failed writes"] == 0
    assert list(tmp_path.iterdir()) == [tmp_path / "shared"]
