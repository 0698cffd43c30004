"""Files are there whole or not at all."""

from __future__ import annotations

import pytest

from countarfactuals.exceptions import StorageError
from countarfactuals.files import whole_file


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
