"""Files cut in parts: together these are the rows of the file, as it is read at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from countarfactuals.cli import file_parts as module
from countarfactuals.cli.arguments import Dialect
from countarfactuals.cli.data_files import read_like
from countarfactuals.cli.file_parts import files_of, parts_of, read_part
from countarfactuals.exceptions import DataError
from countarfactuals.schema import Schema

FRAME = pd.DataFrame({"n": [1.5, 2.5, 3.5], "t": ["a", "b", "a"]})
SCHEMA = Schema.infer(FRAME)
TEXTS = ["a", "b", '"a"', '"a, b"', '"two\nlines"', '"say ""x"""', "", '"\r\n"']
LINES = st.lists(st.tuples(st.sampled_from(["1", "2.5", ""]), st.sampled_from(TEXTS)), min_size=1, max_size=12)


def plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Cells as they are, missing ones as None: a part whose cells are all missing knows no type."""
    return frame.astype(object).where(frame.notna(), None)


def together(files: list[str], size: int, extra: tuple[str, ...] = ()) -> tuple[pd.DataFrame, list[int]]:
    parts = parts_of(files, Dialect(), size)
    assert [part.number for part in parts] == list(range(len(parts)))
    read = [read_part(part, Dialect(), SCHEMA, (), extra) for part in parts]
    assert all(not part.errors for part in read)
    return pd.concat([part.X for part in read]), [len(part.X) for part in read]


@settings(max_examples=30)
@given(
    lines=LINES, size=st.integers(1, 5), end=st.sampled_from(["\n", "\r\n"]), blank=st.booleans(), last=st.booleans()
)
def test_a_csv_file_is_the_same_in_parts(tmp_path_factory, lines, size, end, blank, last):
    path = tmp_path_factory.mktemp("csv") / "rows.csv"
    records = ["n,t", *(f"{number},{text}" for number, text in lines)]
    text = (end + end * blank).join(records) + end * last
    path.write_text(text, encoding="utf-8", newline="")
    whole, _ = read_like(str(path), Dialect(), lambda _: None, SCHEMA)
    before, module._BLOCK = module._BLOCK, 7  # cells, quotes and line ends lie across blocks
    try:
        made, sizes = together([str(path)], size)
    finally:
        module._BLOCK = before
    pd.testing.assert_frame_equal(plain(made), plain(whole))
    assert max(sizes) <= size
    assert sizes[:-1] == [size] * (len(sizes) - 1)


def test_parquet_files_are_cut_within_their_groups(tmp_path):
    n = 50
    frame = pd.DataFrame({"n": np.arange(n) / 2, "t": ["a", "b"] * (n // 2), "id": np.arange(n)})
    for name, group in (("a", 50), ("b", 20)):
        table = pa.Table.from_pandas(frame)
        pq.write_table(table, tmp_path / f"{name}.parquet", row_group_size=group)
    files = files_of(str(tmp_path / "*.parquet"))
    made, sizes = together(files, 15, ("id",))
    assert sizes == [15, 15, 15, 5, 15, 5, 15, 5, 10]
    pd.testing.assert_frame_equal(made, pd.concat([frame[["n", "t"]]] * 2), check_index_type=False)


def test_a_cell_that_can_not_be_read_costs_its_row(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("n,t\n1,a\nmany,b\n3,b\n", encoding="utf-8")
    (part,) = parts_of([str(path)], Dialect(), 10)
    read = read_part(part, Dialect(), SCHEMA, (), ())
    assert list(read.errors) == [1]
    assert "'many'" in str(read.errors[1])
    assert "row 1" in str(read.errors[1])
    assert read.X["n"].tolist()[::2] == [1, 3]
    assert np.isnan(read.X["n"].iloc[1])


@pytest.mark.parametrize(
    ("content", "said"),
    [("n,t\n", "no rows below its header"), ("", "no rows below its header")],
)
def test_files_without_rows_are_refused(tmp_path, content, said):
    path = tmp_path / "rows.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=said):
        parts_of([str(path)], Dialect(), 10)


def test_files_that_are_not_there_are_told(tmp_path: Path):
    with pytest.raises(DataError, match="No file is named like"):
        files_of(str(tmp_path / "*.parquet"))
    with pytest.raises(DataError, match="There is no file"):
        files_of(str(tmp_path / "none.csv"))
    with pytest.raises(DataError, match="standard input"):
        files_of("-")
    with pytest.raises(DataError, match="utf-16, which can not be read in parts"):
        parts_of([str(tmp_path)], Dialect(encoding="utf-16"), 10)
