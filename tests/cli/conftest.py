from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from countarfactuals.cli import main

from . import people

FIT = ["--trees", "10", "--model-trees", "20"]


class Outcome(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """Lines on standard error."""
        return self.err.splitlines()


@pytest.fixture
def run(capsys) -> Callable[..., Outcome]:
    def call(*arguments: object) -> Outcome:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return Outcome(code, *capsys.readouterr())

    return call


@pytest.fixture(scope="session")
def table(tmp_path_factory) -> str:
    return people.write(tmp_path_factory.mktemp("people") / "train.csv", people.rows())


@pytest.fixture(scope="session")
def fitted(table) -> str:
    """The folder of an explainer of `quality`."""
    out = str(Path(table).with_name("explainer"))
    assert (
        main(
            [
                "fit",
                "--data",
                table,
                "--outcome",
                "quality",
                "--drop",
                "id,price",
                "--model",
                "auto",
                "--out",
                out,
                *FIT,
            ]
        )
        == 0
    )
    return out


@pytest.fixture(scope="session")
def prices(table) -> str:
    """The folder of an explainer of `price`, a number."""
    out = str(Path(table).with_name("prices"))
    assert (
        main(
            [
                "fit",
                "--data",
                table,
                "--outcome",
                "price",
                "--drop",
                "id,quality",
                "--model",
                "auto",
                "--out",
                out,
                *FIT,
            ]
        )
        == 0
    )
    return out
