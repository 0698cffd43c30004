"""Files to frames: the same from CSV, Parquet and standard input."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pandas as pd
import pytest

from countarfactuals import _optional
from countarfactuals.cli.arguments import Dialect
from countarfactuals.cli.data_files import read_like, read_training
from countarfactuals.exceptions import DataError, MissingDependencyError
from countarfactuals.schema import Schema

from . import people


def training(path: str, **settings):
    said: list[str] = []
    settings = {"outcome": "quality", "drop": ["id", "price"], **settings}
    return *read_training(path, settings.pop("dialect", Dialect()), said.append, **settings), said


def test_kinds_of_the_training_data(table):
    X, y, said = training(table)
    kinds = {column.name: str(column.kind) for column in Schema.infer(X).columns}
    assert kinds == {
        "age": "integer",
        "income": "real",
        "savings": "integer",
        "job": "category",
        "member": "boolean",
        "zip": "category",
    }
    lines = people.rows()
    assert y.tolist() == [line[7] for line in lines]
    assert X["job"].isna().tolist() == [line[4] == "" for line in lines]
    assert X["savings"].isna().tolist() == [line[3] == "NA" for line in lines]
    assert X["income"].tolist() == [float(line[2]) for line in lines]
    assert len(said) == 1  # of the leading zeros


@pytest.mark.parametrize("how", ["semicolon", "tsv", "bom", "latin", "stdin", "parquet"])
def test_the_same_frame_from_every_kind_of_file(table, tmp_path, monkeypatch, how):
    expected, _, _ = training(table)
    lines = people.rows()
    path, dialect = str(tmp_path / "same.csv"), Dialect()
    if how == "semicolon":
        commas = [[cell.replace(".", ",") for cell in line] for line in lines]
        people.write(tmp_path / "same.csv", commas, ";")
        dialect = Dialect(delimiter=";", decimal=",")
    elif how == "tsv":
        path = people.write(tmp_path / "same.tsv", lines, "\t")
    elif how == "bom":
        (tmp_path / "same.csv").write_bytes(b"\xef\xbb\xbf" + Path(table).read_bytes())
    elif how == "latin":
        text = Path(table).read_text(encoding="utf-8").replace("cook", "köök")
        (tmp_path / "same.csv").write_text(text, encoding="latin-1")
        expected["job"] = expected["job"].replace("cook", "köök")
        dialect = Dialect(encoding="latin-1")
    elif how == "stdin":
        monkeypatch.setattr(sys, "stdin", io.StringIO(Path(table).read_text(encoding="utf-8"), newline=""))
        path = "-"
    else:
        frame = expected.assign(quality="x", id="y", price=1.0)
        path = str(tmp_path / "same.parquet")
        frame.to_parquet(path)
    X, _, _ = training(path, dialect=dialect)
    pd.testing.assert_frame_equal(X, expected)


def test_new_rows_have_the_training_datas_kinds(table, tmp_path):
    X, _, _ = training(table)
    schema = Schema.infer(X)
    # the codes of these rows look like numbers, the ages like reals, the booleans like text
    lines = people.with_cell(people.rows()[:3], 1, "age", "33.0")
    lines = people.with_cell(lines, 2, "member", "TRUE")
    path = people.write(tmp_path / "new.csv", lines, columns=["zip", "member", "job", "savings", "age", "income"])
    frame, _ = read_like(path, Dialect(), pytest.fail, schema, rows=[2, 1])
    assert frame.index.tolist() == [2, 1]
    assert frame["zip"].tolist() == [lines[2][6], lines[1][6]]
    decoded = schema.decode(schema.encode(frame))
    assert decoded["age"].tolist() == [int(lines[2][1]), 33]
    assert decoded["member"].tolist() == [True, lines[1][5] == "true"]
    again = read_like(table, Dialect(), lambda _: None, schema)[0]
    pd.testing.assert_frame_equal(schema.decode(schema.encode(again)), schema.decode(schema.encode(X)))


def test_a_parquet_file_of_numbers_is_read_as_the_text_it_was(table, tmp_path):
    text = pd.DataFrame({"code": ["1", "2", None], "n": [1.5, 2.5, 3.5]})
    schema = Schema.infer(text)
    path = str(tmp_path / "new.parquet")
    pd.DataFrame({"code": pd.array([2, None], "Int64"), "n": ["1.5", "7"]}).to_parquet(path)
    frame, _ = read_like(path, Dialect(), pytest.fail, schema)
    assert schema.encode(frame)[0].tolist() == [1.0, 1.5]
    assert pd.isna(frame["code"].iloc[1])


def test_columns_that_are_not_known_are_left_out_and_said(table):
    schema = Schema.infer(training(table)[0])
    said: list[str] = []
    frame, extra = read_like(table, Dialect(), said.append, schema, known={"quality"}, extra=["id"])
    assert list(frame) == list(schema.names)
    assert extra["id"][:2] == ["p000", "p001"]
    assert len(said) == 1
    assert "'price'" in said[0]
    assert "quality" not in said[0]


def test_columns_that_lack_are_named(table, tmp_path):
    schema = Schema.infer(training(table)[0])
    path = tmp_path / "new.csv"
    path.write_text("age,incom,savings,job,member,zip\n1,2,3,cook,true,01\n")
    with pytest.raises(DataError, match=r"lacks the column 'income'. Did you mean 'incom'"):
        read_like(str(path), Dialect(), pytest.fail, schema)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"outcome": "qualty"}, "no column 'qualty'.*Did you mean 'quality'"),
        ({"drop": ["ids"]}, "no column 'ids'"),
        ({"drop": [*people.HEADER[:-2], "price"]}, "no column besides"),
        ({"dialect": Dialect(encoding="klingon")}, "no encoding 'klingon'"),
    ],
)
def test_wrong_columns_and_encodings_are_refused(table, settings, message):
    with pytest.raises(DataError, match=message):
        training(table, **settings)


def test_bytes_of_another_encoding_are_refused(tmp_path):
    (tmp_path / "a.csv").write_bytes("a,b\nköök,1\n".encode("latin-1"))
    with pytest.raises(DataError, match="--encoding latin-1"):
        training(str(tmp_path / "a.csv"))


def test_a_broken_parquet_file_is_refused(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(DataError, match="no readable Parquet"):
        training(str(tmp_path / "a.parquet"))


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_files_without_pyarrow_say_what_to_install(tmp_path, monkeypatch, suffix):
    def absent(name: str) -> None:
        raise ImportError(name)

    (tmp_path / f"a.{suffix}").write_bytes(b"a,b\n1,2\n")
    monkeypatch.setattr(_optional, "import_module", absent)
    with pytest.raises(MissingDependencyError, match=r"need pyarrow.*pip install 'countarfactuals\[cli\]'"):
        training(str(tmp_path / f"a.{suffix}"))
