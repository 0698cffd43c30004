"""A result as a page shows it: sentences, changes and figures of every way, and why there is none.

Words are made here, in the language that is spoken; the result itself goes along as the library's JSON.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from countarfactuals.constraints import Clause
from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.counterfactuals.outcomes import wanted_score
from countarfactuals.counterfactuals.restrictions import constraint_text
from countarfactuals.counterfactuals.sentences import (
    counterfactual_sentences,
    odd_sentences,
    result_sentences,
    situation,
    why_no_rows,
)
from countarfactuals.counterfactuals.storage import plain_number
from countarfactuals.counterfactuals.table import feature_line
from countarfactuals.language import tr
from countarfactuals.language.spelling import joined
from countarfactuals.language.vocabulary import Words
from countarfactuals.prediction import Score
from countarfactuals.schema import Column, Schema
from countarfactuals.serve.takeaway import code_of


def plain_cell(schema: Schema, j: int, code: float) -> Any:
    """A cell as JSON has it: dates as texts."""
    return _plain(schema.columns[j], float(code))


def _plain(column: Column, code: float) -> Any:
    value = column.decode(code)
    return value.isoformat() if column.clock and value is not None else value


def plain_row(schema: Schema, row: np.ndarray) -> dict[str, Any]:
    """A row as JSON has it."""
    return {str(column.name): _plain(column, code) for column, code in zip(schema.columns, row.tolist(), strict=True)}


def plain_score(score: Score | None) -> dict[str, Any] | None:
    """What a score is about, as JSON has it."""
    return None if score is None else {"kind": score.kind, "label": score.label, "name": score.name}


def view_of(result: Counterfactuals, words: Words, top: int, name: str) -> dict[str, Any]:
    """All that a page shows of a result.

    Parameters
    ----------
    result : of one row.
    words : what things are called.
    top : how many ways are chosen to be shown first.
    name : of the explainer, for the code that gives the same.
    """
    has_none = result.status in ("none", "error")
    return {
        "status": result.status,
        "headline": _headline(result, words),
        "n_found": result.n_found,
        "prediction": result.x_label,
        "score": _score(result, result.x_scores),
        "score_of": plain_score(wanted_score(result)),
        "x_typicality": plain_number(result.x_typicality),
        "ways": _ways(result, words),
        "chosen": result.positions(top) if len(result) else [],
        "reasons": why_no_rows(result, words) if has_none else [],
        "notes": result.note_texts(),
        "lifts": _lifts(result, words),
        "code": code_of(result, name),
    }


def _headline(result: Counterfactuals, words: Words) -> str:
    told = situation(result, words) or result_sentences(result, [], words)[:1]
    return " ".join(told)


def _score(result: Counterfactuals, scores: np.ndarray) -> float | None:
    """The score of the wanted class, or the largest."""
    wanted = wanted_score(result)
    if not len(scores):
        return None
    return plain_number(float(scores.max() if wanted is None else wanted.of(scores)))


def _ways(result: Counterfactuals, words: Words) -> list[dict[str, Any]]:
    """All ways; a change that several of them have is told once."""
    told: dict[tuple[int, float, bool], dict[str, Any]] = {}
    found = []
    for i, (own, along) in enumerate(result.changes_at):
        keys = [(j, float(result.rows[i, j]), j in along) for j in (*own, *along)]
        told |= {key: _change(result, i, key[0], words) for key in keys if key not in told}
        found.append(_way(result, i, words, [told[key] for key in keys]))
    return found


def _way(result: Counterfactuals, i: int, words: Words, changes: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "index": i,
        "sentence": " ".join(counterfactual_sentences(result, i, words)),
        "summary": joined([tr("{name} {value}", name=change["label"], value=change["to_text"]) for change in changes]),
        "prediction": result.labels[i],
        "score": _score(result, result.scores[i]),
        "typicality": plain_number(result.typicality[i]),
        "typicality_range": [plain_number(end) for end in result.typicality_range[i]],
        "distance": plain_number(result.objectives["distance"][i]),
        "n_changed": int(result.n_changed[i]),
        "is_real_row": bool(result.is_real_row[i]),
        "odd": odd_sentences(result.schema, result.rows[i], result.oddities[i], words),
        "changes": changes,
        "row": plain_row(result.schema, result.rows[i]),
    }


def _change(result: Counterfactuals, i: int, j: int, words: Words) -> dict[str, Any]:
    line, schema = feature_line(result, j, [i], words), result.schema
    return {
        "column": str(schema.names[j]),
        "label": line.name,
        "from": plain_cell(schema, j, result.x[j]),
        "to": plain_cell(schema, j, result.rows[i, j]),
        "from_text": line.x,
        "to_text": line.texts[0],
        "sign": line.signs[0],
        "consequence": line.follows[0],
    }


def _lifts(result: Counterfactuals, words: Words) -> list[dict[str, Any]]:
    """The constraints whose lifting gives counterfactuals, the most helpful first."""
    if result.diagnosis is None:
        return []
    counts = sorted(result.diagnosis.lifting.items(), key=lambda item: -item[1])
    return [_lift(result, clause, n, words) for clause, n in counts if isinstance(clause, Clause)]


def _lift(result: Counterfactuals, clause: Clause, n: int, words: Words) -> dict[str, Any]:
    return {
        "text": tr("Do without: {constraint}", constraint=constraint_text(clause, result, words)),
        "clause": clause.to_dict(),
        "constraints": result.constraints.without(clause).to_dict(),
        "found": n,
    }
