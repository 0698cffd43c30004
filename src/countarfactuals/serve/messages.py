"""What requests look like: types that FastAPI checks, and that the OpenAPI is made from, with examples that run.

What the library checks itself (names, values, targets, constraints) is left to it: its sentences say more.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

LANGUAGE = "^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8}){0,2}$"  # a code, and never the path of a file
Language = Annotated[str, Field(pattern=LANGUAGE)]
Cell = bool | int | float | str | None
Row = dict[str, Cell]
_ROW: dict[str, Any] = {
    "age": 30,
    "education": "secondary",
    "employment_years": 3.1,
    "income": 36000.0,
    "housing": "rent",
    "savings": 1200.0,
    "purpose": "car",
    "amount": 9300,
    "duration": 45,
}
_DATATYPES = {int: "INT64", float: "FP64", str: "BYTES"}
_CONSTRAINTS: dict[str, Any] = {"fixed": ["age", "education", "purpose"], "direction": {"savings": "increase"}}


def _example(**fields: Any) -> ConfigDict:
    return ConfigDict(extra="forbid", json_schema_extra={"examples": [fields]})


class _Wish(BaseModel):
    """What is wanted and what may change."""

    target: Any = Field(
        None, description="A class, (low, high), or a target as the library's JSON has it; null: another."
    )
    constraints: dict[str, Any] | None = Field(None, description="As the library's JSON has them.")
    language: Language | None = Field(None, description="Of all words, such as de.")


class Search(_Wish):
    """A wish, and how to search."""

    method: str | None = Field(None, max_length=100)
    max_evaluations: int | None = Field(None, ge=2)
    seed: int | None = Field(None, ge=0, le=2**63 - 1)
    trade_off: float | None = Field(None, ge=0, le=1, description="0: near ones first, 1: typical ones first.")
    top: int = Field(5, ge=1, le=1000, description="How many ways are chosen to be shown first.")
    labels: dict[str, Any] | None = Field(None, description="What columns and levels are called.")


class Predict(BaseModel):
    """Rows to predict."""

    model_config = _example(rows=[_ROW])
    rows: list[Row] = Field(min_length=1)


class Explain(Search):
    """A row to explain."""

    model_config = _example(row=_ROW, target="good", constraints=_CONSTRAINTS, max_evaluations=400)
    row: Row


class ExplainMany(Search):
    """Rows to explain, all with the same wish: themselves, or by their keys among the rows to pick from."""

    model_config = _example(keys=[3, 17], target="good", constraints=_CONSTRAINTS, max_evaluations=200, top=2)
    rows: list[Row] | None = Field(None, min_length=1)
    keys: list[Annotated[int, Field(ge=0, le=2**53)]] | None = Field(None, min_length=1)


class Document(Search):
    """What a report or a letter is about: a result as the library's JSON has it, or what to explain."""

    row: Row | None = None
    result: dict[str, Any] | None = None


class Report(Document):
    """A report to write."""

    model_config = _example(row=_ROW, target="good", constraints=_CONSTRAINTS, max_evaluations=200, pictures=False)
    title: str | None = Field(None, max_length=200)
    pictures: bool = True


class Letter(Document):
    """A letter to write."""

    model_config = _example(
        row=_ROW,
        target="good",
        max_evaluations=200,
        protected=["age"],
        constraints={"fixed": ["age"]},
        contact="Tel. 1",
    )
    codes: dict[str, str] | None = None
    protected: list[str] = Field(default_factory=list, max_length=1000)
    contact: str = Field("", max_length=2000)
    sender: str = Field("", max_length=2000)
    applicant: str = Field("", max_length=2000)
    reference: str = Field("", max_length=2000)


class Tensor(BaseModel):
    """An input of the open inference protocol: one column."""

    model_config = ConfigDict(extra="allow")
    name: str
    shape: list[int] = Field(min_length=1, max_length=2)
    datatype: str
    data: list[Any]


class Infer(BaseModel):
    """A request of the open inference protocol."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "examples": [
                {
                    "id": "1",
                    "inputs": [
                        {"name": name, "shape": [1, 1], "datatype": _DATATYPES[type(cell)], "data": [cell]}
                        for name, cell in _ROW.items()
                    ],
                }
            ]
        },
    )
    id: str | None = Field(None, max_length=200)
    inputs: list[Tensor] = Field(min_length=1)


class Evaluate(_Wish):
    """A row that was edited by hand, and the one that it comes from."""

    model_config = _example(row={**_ROW, "savings": 5000.0}, x=_ROW, target="good", constraints=_CONSTRAINTS)
    row: Row
    x: Row


class Curve(BaseModel):
    """A column along which the model is asked."""

    model_config = _example(row=_ROW, column="savings", points=15, target="good")
    row: Row
    column: str
    points: int = Field(41, ge=2, le=200)
    target: Any = None
