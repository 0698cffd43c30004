"""Results as lines of a table, one per counterfactual: what users join to their data and filter.

1. `FIELDS` declares the columns: their names and kinds are always the same, whatever the model and the data.
2. `lines_of` turns one result into lines: the counterfactuals that `select` takes, best first; one line with the reason
   where there is none.
3. `line_frame` makes the native frame of the library that the rows came in. A row's key keeps its own type.
4. `arrow_schema` tells the same to engines and files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np
import pandas as pd

from countarfactuals._optional import optional
from countarfactuals.counterfactuals.frames import change_list
from countarfactuals.counterfactuals.outcomes import wanted_score
from countarfactuals.counterfactuals.sentences import result_sentences
from countarfactuals.counterfactuals.table import changes_of
from countarfactuals.language.vocabulary import TEXT, Words, words_of
from countarfactuals.prediction import score_of_class

if TYPE_CHECKING:
    from countarfactuals.counterfactuals.result import Counterfactuals

KEY, WORDS, WHOLE, NUMBER = "key", "text", "whole number", "number"


class Field(NamedTuple):
    """One column of the table; its kind is "key", "text", "whole number" or "number"."""

    name: str
    kind: str


FIELDS = (
    Field("row", KEY),
    Field("status", WORDS),
    Field("rank", WHOLE),
    Field("changes", WORDS),
    Field("changes_json", WORDS),
    Field("n_changed", WHOLE),
    Field("distance", NUMBER),
    Field("typicality", NUMBER),
    Field("prediction", WORDS),
    Field("score", NUMBER),
    Field("x_prediction", WORDS),
    Field("x_score", NUMBER),
    Field("reason", WORDS),
)
_TEXT_TYPE = pd.Series(["", np.nan]).dtype  # what this pandas gives to text when it reads files
_PANDAS: dict[str, Any] = {WORDS: _TEXT_TYPE, WHOLE: "Int64", NUMBER: "float64"}
_NARWHALS: dict[str, Any] = {WORDS: nw.String, WHOLE: nw.Int64, NUMBER: nw.Float64}

Line = dict[str, Any]


def lines_of(result: Counterfactuals, top: int | None) -> Iterator[Line]:
    """The lines of one row, without its key; what is not known is left out.

    Parameters
    ----------
    result : of the row.
    top : most counterfactuals, None for all.
    """
    words = words_of(result.schema.names, None, "rows", None, TEXT)
    if not len(result):
        reason = " ".join(result_sentences(result, [], words))
        yield {"status": result.status, "reason": reason, **_own(result, result.x_label)}
        return
    edits = _edits(result)
    for rank, i in enumerate(result.positions(top), start=1):
        label = result.labels[i]
        yield {
            "status": result.status,
            "rank": rank,
            "changes": _changes_text(result, i, words),
            "changes_json": json.dumps(edits[i], ensure_ascii=False, default=_plain),
            "n_changed": int(result.n_changed[i]),
            "distance": _known(result.objectives["distance"][i]),
            "typicality": _known(result.typicality[i]),
            "prediction": str(label),
            "score": _score(result, label, result.scores[i]),
            **_own(result, label),
        }


def _changes_text(result: Counterfactuals, i: int, words: Words) -> str:
    lines = changes_of(result, i, words)
    return "; ".join(f"{line.name} {line.x} → {line.texts[0]}" for line in lines)


def _own(result: Counterfactuals, label: Any) -> Line:
    """What is predicted for the row itself, nothing where it could not be asked about."""
    if not result.score_columns:
        return {}
    return {"x_prediction": str(result.x_label), "x_score": _score(result, label, result.x_scores)}


def _score(result: Counterfactuals, label: Any, scores: np.ndarray) -> float | None:
    """The score of the wanted class; where several will do, of the class that is predicted for the counterfactual."""
    columns = result.score_columns
    score = wanted_score(result) or score_of_class(label, columns) or (columns[0] if len(columns) == 1 else None)
    return None if score is None else _known(score.of(scores))


def _known(value: Any) -> float | None:
    return None if np.isnan(value) else float(value)


def _edits(result: Counterfactuals) -> list[list[Line]]:
    """The changed cells of each counterfactual, in types of JSON."""
    edits: list[list[Line]] = [[] for _ in range(len(result))]
    columns = change_list(result)
    for i, name, before, after, follows in zip(*columns.values(), strict=True):
        edits[i].append({"column": str(name), "from": before, "to": after, "consequence": follows})
    return edits


def _plain(value: Any) -> str:
    """What JSON has no type for: moments as ISO 8601."""
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)


def line_frame(keys: Any, positions: Sequence[int], lines: Sequence[Line]) -> Any:
    """The native frame of lines.

    Parameters
    ----------
    keys : a pandas Series or Index, or a narwhals series of another library: the key of every row that was explained.
    positions : by line, the position of its row.
    lines : from `lines_of`.
    """
    columns = {field: [line.get(field.name) for line in lines] for field in FIELDS if field.kind != KEY}
    at = np.asarray(positions, dtype=np.intp)
    name = FIELDS[0].name
    if isinstance(keys, pd.Series | pd.Index):
        made = {field.name: pd.Series(values, dtype=_PANDAS[field.kind]) for field, values in columns.items()}
        return pd.DataFrame({name: pd.Series(keys.take(at).array), **made})
    backend = keys.implementation
    series = [
        nw.new_series(field.name, values, _NARWHALS[field.kind], backend=backend) for field, values in columns.items()
    ]
    return keys[at.tolist()].alias(name).to_frame().with_columns(*series).to_native()


def arrow_schema(key: Any = None) -> Any:
    """The columns of `explain_frame` as a pyarrow schema.

    Parameters
    ----------
    key : the pyarrow type of the rows' keys; None for int64.
    """
    arrow = optional("pyarrow", "Schemas of Arrow need", "cli")
    types = {KEY: key or arrow.int64(), WORDS: arrow.string(), WHOLE: arrow.int64(), NUMBER: arrow.float64()}
    return arrow.schema([arrow.field(field.name, types[field.kind]) for field in FIELDS])
