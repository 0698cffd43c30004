"""The report on many rows: how it went, what changes most often, the best for each, and for whom there is none and why.

1. The best counterfactual of a row is the one that `select(1)` takes of those that are not unusual. Where all are
   unusual it is taken of these, and said to be so.
2. What is predicted for a row stands before what would be predicted for its best counterfactual: of classes the
   prediction and the score of the wanted class, of numbers the prediction. Rows that failed have neither. If not all
   rows want the same class, each score stands with its name.
3. Rows that need nothing are folded into one line below those with a counterfactual, and those without.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch
from countarfactuals.counterfactuals.importance import amount_text, importance
from countarfactuals.counterfactuals.outcomes import is_regression, outcome_head, wanted_score
from countarfactuals.counterfactuals.overview import targets
from countarfactuals.counterfactuals.recourse import Recourse
from countarfactuals.counterfactuals.recourse_words import SHOWN, caveats, comparison, figure_with_ends, heads, key_text
from countarfactuals.counterfactuals.restrictions import constraint_text
from countarfactuals.counterfactuals.sentences import is_unusual, result_sentences, wanted_sentence
from countarfactuals.counterfactuals.table import Line, changes_of, prediction_texts
from countarfactuals.language import counted, tr
from countarfactuals.language.spelling import (
    capital,
    count_text,
    name_text,
    names_text,
    one_line,
    score_text,
    score_texts,
    share_text,
)
from countarfactuals.language.vocabulary import Words
from countarfactuals.prediction import Score
from countarfactuals.report.page import Head, short
from countarfactuals.schema import Column

_MOST_FEATURES, _MOST_ROWS, _MOST_REASONS, _MOST_LABELS, _MOST_TARGETS = 20, 1000, 200, 2000, 4


class Outcome(NamedTuple):
    """A value before and after, the name of its score where rows have different ones, and the class of its cell."""

    texts: Sequence[str]
    score: str = ""
    kind: str = ""


@dataclass
class Row:
    """One row of the batch, a line of a table; `outcomes` are added when all rows are known."""

    label: Hashable
    result: Counterfactuals
    best: Counterfactuals | None
    words: Words
    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def changes(self) -> list[Line] | None:
        """What its best counterfactual changes."""
        return None if self.best is None else changes_of(self.best, 0, self.words)

    @property
    def is_unusual(self) -> bool:
        """Whether even its best counterfactual is."""
        return self.best is not None and is_unusual(float(self.best.typicality[0]))

    @property
    def status(self) -> str:
        """What came of it."""
        shown, n = len(self.result), self.result.n_found
        count = tr("{shown:,} of {n:,} shown", shown=shown, n=n) if shown < n else tr("{n:,} found", n=n)
        if self.best is None and shown == n:
            return {"none": tr("none found"), "error": tr("error")}.get(self.result.status, tr("none"))
        if not self.is_unusual:
            return count
        return counted(shown, "{count}, unusual", "{count}, all unusual", count=count)

    @property
    def measures(self) -> tuple[float, float, float]:
        """Changes, distance and typicality of its best counterfactual, NaN where they are not known."""
        if self.best is None:
            return math.nan, math.nan, math.nan
        distance = self.best.objectives.get("distance", [math.nan])
        return float(self.best.n_changed.sum()), float(distance[0]), float(self.best.typicality[0])

    @property
    def numbers(self) -> list[str]:
        """The same as texts."""
        spelt = zip(self.measures, ("{:.0f}".format, score_text, share_text), strict=True)
        return ["–" if math.isnan(value) else written(value) for value, written in spelt]

    def values(self, score: Score) -> list[float]:
        """A score of the row and, if there is one, of its best counterfactual."""
        if not self.result.score_names:
            return []
        after = [] if self.best is None else [float(score.of(self.best.scores[0]))]
        return [float(score.of(self.result.x_scores)), *after]

    @property
    def labels(self) -> list[str]:
        """Its predicted class and, if there is one, that of its best counterfactual."""
        if not self.result.score_names:
            return []
        return [str(self.result.x_label), *([] if self.best is None else [str(self.best.labels[0])])]


def batch_data(batch: CounterfactualsBatch, words: Words, groups: Sequence[Recourse] = ()) -> dict[str, Any]:
    """What `many.html.j2` shows."""
    pairs = zip(batch.index, batch.results, strict=True)
    every = [Row(label, result, _best(result), words) for label, result in pairs]
    return {
        "lead": _lead(batch, every, words),
        "often": _often([row for row in every if row.best is not None], words),
        "groups": [_group_costs(recourse, words) for recourse in groups],
        "wanting": _wanting([row for row in every if row.result.status != "already"], words),
        "done": _done([row for row in every if row.result.status == "already"], words),
        "nothing": _nothing(batch, [row for row in every if row.result.status in ("none", "error")], words),
    }


def _best(result: Counterfactuals) -> Counterfactuals | None:
    """The result with its best counterfactual alone, None where there is none."""
    return result.select(1) if len(result) else None


def _lead(batch: CounterfactualsBatch, every: Sequence[Row], words: Words) -> list[str]:
    counts = Counter(result.status for result in batch.results)
    n, shown = sum(result.n_found for result in batch.results), sum(map(len, batch.results))
    unusual = sum(row.is_unusual for row in every)
    total, only = tr("{n:,} in all", n=n), ""
    if shown < n:
        total = tr("{n:,} in all; {shown:,} of {n:,} shown", n=n, shown=shown)
    if unusual and shown < n:
        only = tr(", for {n:,} only an unusual one is shown", n=unusual)
    elif unusual:
        only = tr(", for {n:,} only an unusual one", n=unusual)
    lead = [
        counted(
            counts["found"],
            "Of {rows}, {n:,} has a counterfactual ({total}){only}.",
            "Of {rows}, {n:,} have a counterfactual ({total}){only}.",
            rows=_rows_text(len(batch), words),
            total=total,
            only=only,
        )
    ]
    already, none, failed, late = counts["already"], counts["none"], counts["error"], len(batch.unfinished)
    if already:
        lead.append(counted(already, "{n:,} has the wanted outcome already.", "{n:,} have the wanted outcome already."))
    lead += [tr("For {n:,} none was found.", n=none)] if none else []
    lead += [tr("{n:,} could not be explained.", n=failed)] if failed else []
    lead += [counted(late, "{n:,} was not reached.", "{n:,} were not reached.")] if late else []
    wanted = [one_line(target, 200) for target in targets(batch, words)[:_MOST_TARGETS]]
    return [*lead, *([Markup(wanted_sentence(wanted, words))] if wanted else [])]


def _rows_text(n: int, words: Words) -> str:
    return f"{count_text(n)} {words.rows[0] if n == 1 else words.rows[1]}"


def _often(found: Sequence[Row], words: Words) -> dict[str, Any] | None:
    """Per feature, in how many of the best counterfactuals it changes, and in how many of all."""
    if not found:
        return None
    best = np.mean([row.best.changed[0] for row in found if row.best is not None], axis=0)
    every = np.mean([row.result.changed.mean(axis=0) for row in found], axis=0)  # each row counts alike
    order = [j for j in np.lexsort((-every, -best)).tolist() if every[j] > 0]
    names = found[0].result.schema.titles
    less, never = len(order[_MOST_FEATURES:]), [names[j] for j in np.flatnonzero(every == 0).tolist()]
    rest = [counted(less, "{n:,} more feature changes less often.", "{n:,} more features change less often.")]
    return {
        "caption": tr(
            "Share of {rows} whose best counterfactual changes a feature, and share of all counterfactuals of one "
            "{row} that do, on average",
            rows=words.rows[1],
            row=words.rows[0],
        ),
        "heads": [
            Head(tr("Feature")),
            Head(""),
            *(Head(text, "number") for text in (tr("Of the best"), tr("Of all"), tr("Increased"), tr("Decreased"))),
            Head(tr("Mean change, where it changes"), "number"),
        ],
        "shares": [(name_text(names[j]), float(best[j]), float(every[j])) for j in order[:_MOST_FEATURES]],
        "how": _how([row.result for row in found], order[:_MOST_FEATURES], words),
        "rest": [
            *(rest if less else []),
            *([tr("Never changed: {names}.", names=names_text(never, 400))] if never else []),
        ],
    }


def _how(results: Sequence[Counterfactuals], shown: Sequence[int], words: Words) -> list[tuple[float, float, str]]:
    """Per feature the shares of counterfactuals that increase and decrease it, and the mean change in words."""
    lines = {line["feature"]: line for line in importance(results).to_dict("records")}
    columns = [results[0].schema.columns[j] for j in shown]
    chosen = [(column, lines[column.name]) for column in columns]
    return [(float(line["up"]), float(line["down"]), _mean_change(column, line, words)) for column, line in chosen]


def _mean_change(column: Column, line: Mapping[Hashable, Any], words: Words) -> str:
    amount = amount_text(column, line["amount"], words)
    if not amount or math.isnan(line["size"]):
        return amount or "–"
    return tr("{amount} ({share} of the range)", amount=amount, share=share_text(float(line["size"])))


def _group_costs(recourse: Recourse, words: Words) -> dict[str, Any]:
    """What recourse costs each group: a line for each and one for all, and how they compare."""
    name = name_text(recourse.column.title)
    plain = words.plain
    every = [
        *((key_text(recourse.column, group.key, plain), group) for group in recourse),
        (tr("all"), recourse.everyone),
    ]
    return {
        "heading": tr("Cost of recourse by {column}", column=name),
        "caption": tr(
            "What the outcome would cost {rows} by {column}; distance and typicality are medians, changes a mean",
            rows=words.rows[1],
            column=name,
        ),
        "heads": [
            Head(name),
            Head(words.rows[1].capitalize(), "number"),
            *(Head(text.capitalize(), "number") for text in heads().values()),
        ],
        "lines": [
            (label, f"{group.n:,}", [figure_with_ends(measure, group.estimates[measure]) for measure in SHOWN])
            for label, group in every
        ],
        "comparisons": [
            tr("{group}: {comparison}", group=label, comparison=" ".join(comparison(group, plain)))
            for label, group in every[:-1]
        ],
        "caveats": caveats(recourse, plain),
    }


def _wanting(rows: Sequence[Row], words: Words) -> dict[str, Any]:
    """One line per row with its best counterfactual."""
    shown = rows[:_MOST_ROWS]
    measures = np.array([row.measures for row in shown]).reshape(-1, 3).T.tolist()
    names = (tr("Changes"), tr("Distance"), tr("Typicality"))
    return {
        "rows": shown,
        "n_left_out": len(rows) - len(shown),
        "caption": tr(
            "Each {row} with its best counterfactual; an unusual one only where there is no other", row=words.rows[0]
        ),
        "heads": [
            Head(tr("Row"), keys=_keys([row.label for row in shown])),
            Head(tr("Result"), keys=[float(row.result.n_found) for row in shown]),
            Head(tr("Best counterfactual")),
            *_add_outcomes(shown, words),
            *(Head(name, "number", values) for name, values in zip(names, measures, strict=True)),
        ],
    }


def _done(rows: Sequence[Row], words: Words) -> dict[str, Any]:
    """The rows that have the outcome already."""
    shown = rows[:_MOST_ROWS]
    heads = [Head(tr("Row")), *(head._replace(keys=None) for head in _add_outcomes(shown, words))]
    summary = counted(
        len(rows),
        "Not needed: {rows} has the wanted outcome already.",
        "Not needed: {rows} have the wanted outcome already.",
        rows=_rows_text(len(rows), words),
    )
    return {"rows": shown, "n_left_out": len(rows) - len(shown), "heads": heads, "summary": summary}


def _keys(labels: Sequence[Hashable]) -> list[float | str]:
    """Labels to sort by: as numbers if they all are."""
    if all(isinstance(label, int | float) and not isinstance(label, bool) for label in labels):
        return [float(label) for label in labels if isinstance(label, int | float)]
    return [one_line(label) for label in labels]


# What is predicted before and after


def _outcome_head(rows: Sequence[Row]) -> str:
    return capital(outcome_head(rows[0].result)) if rows else tr("Prediction")


def _add_outcomes(rows: Sequence[Row], words: Words) -> list[Head]:
    """Give each row its outcomes; the heads of their columns."""
    if any(is_regression(row.result) for row in rows):
        pairs = [row.values(Score("prediction")) for row in rows]
        return [_add(rows, _outcome_head(rows), pairs, [prediction_texts(pair, words) for pair in pairs])]
    for row in rows:
        row.outcomes.append(Outcome([short(label) for label in row.labels]))
    head = Head(_outcome_head(rows), keys=[row.labels[-1] if row.labels else "" for row in rows])
    scores = [wanted_score(row.result) if row.result.score_names else None for row in rows]
    names = list(dict.fromkeys(score.name for score in scores if score is not None))
    if not names:
        return [head]
    pairs = [[] if score is None else row.values(score) for row, score in zip(rows, scores, strict=True)]
    own = ["" if score is None or len(names) == 1 else short(score.name) for score in scores]
    name = short(names[0]) if len(names) == 1 else tr("Score of the wanted class")
    return [head, _add(rows, name, pairs, [score_texts(pair) for pair in pairs], own)]


def _add(
    rows: Sequence[Row],
    name: str,
    pairs: Sequence[Sequence[float]],
    texts: Sequence[Sequence[str]],
    scores: Sequence[str] | None = None,
) -> Head:
    for row, pair, score in zip(rows, texts, scores or [""] * len(rows), strict=True):
        row.outcomes.append(Outcome(pair, score, "number pair"))
    return Head(name, "number", [pair[-1] if pair else math.nan for pair in pairs])


# For whom nothing was found


def _nothing(batch: CounterfactualsBatch, empty: Sequence[Row], words: Words) -> dict[str, Any] | None:
    """For whom nothing was found, and why; which constraint stands in the way most often."""
    if not empty and not batch.unfinished:
        return None
    in_the_way = Counter(
        constraint_text(name, result, words)
        for result in batch.results
        if result.diagnosis
        for name, count in result.diagnosis.lifting.items()
        if count
    )
    shown = empty[:_MOST_REASONS]
    return {
        "lifting": in_the_way.most_common(_MOST_FEATURES),
        "reasons": [(row.label, Markup(" ".join(result_sentences(row.result, [], words)))) for row in shown],
        "n_left_out": len(empty) - len(shown),
        "unfinished": names_text(batch.unfinished, _MOST_LABELS),
    }
