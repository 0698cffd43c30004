"""A diagnosis in sentences: what was tried, what it failed, what came closest, and what to do.

1. Values, scores and targets are spelt as in all other sentences.
2. Without words of a reader, constraints and settings have the names that Python knows them by, so that they can be
   looked up: 'fixed: age', `max_evaluations`.
3. With words, constraints are told by their own sentences and settings by what they do, or by the options of a command
   line that set them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from countarfactuals.counterfactuals.outcomes import is_regression, score_name, target_text, wanted_score
from countarfactuals.counterfactuals.restrictions import constraint_text
from countarfactuals.counterfactuals.restrictions import n_kept as n_kept_of
from countarfactuals.counterfactuals.sentences import changed_texts
from countarfactuals.language import counted, tr
from countarfactuals.language.spelling import joined, outcome_texts, score_texts, scores_text
from countarfactuals.language.vocabulary import TEXT, Words, quoted, words_of
from countarfactuals.prediction.scores import PREDICTION, PROBABILITY

if TYPE_CHECKING:
    from countarfactuals.counterfactuals.diagnosis import Diagnosis
    from countarfactuals.counterfactuals.result import Counterfactuals

_MOST_CONSTRAINTS, _MOST_CHANGES = 6, 6
_METHODS = ("arf", "nice", "mocarf")  # that find what others miss, best first


def reasons(diagnosis: Diagnosis, result: Counterfactuals | None, words: Words | None) -> str:
    """The diagnosis of a result, as plain text; `words` of a reader who does not write Python."""
    telling = _Telling(diagnosis, result, words)
    return " ".join(
        [
            telling.found(),
            *telling.failures(),
            *telling.nearest(),
            *telling.kept(),
            *telling.liftings(),
            *telling.real_rows(),
            telling.advice(),
        ]
    )


class _Telling:
    """The sentences of one diagnosis."""

    def __init__(self, diagnosis: Diagnosis, result: Counterfactuals | None, words: Words | None) -> None:
        self.diagnosis = diagnosis
        self.result = result
        self.readers = words
        names = () if result is None else result.schema.names
        self.words = words_of(names, None, "rows", None, TEXT) if words is None else words.plain

    def found(self) -> str:
        n_tried = self.diagnosis.n_tried
        target = "" if self.result is None else target_text(self.result, self.words)
        start = "Nothing was found that leads to {target}" if target else "Nothing was found"
        if n_tried == 0:
            return tr(f"{start}: there was nothing to try.", target=target)
        among = counted(n_tried, "{n:,} attempt", "{n:,} attempts")
        return tr(f"{start} among {{attempts}}.", target=target, attempts=among)

    def kept(self) -> list[str]:
        """How many columns could not change: a search is seldom to blame where there are many."""
        n_kept = 0 if self.result is None else n_kept_of(self.result)
        if self.result is None or not n_kept:
            return []
        n_columns = len(self.result.schema.columns)
        several = "{n} of {n_columns} features are kept from changing by the conditions."
        one = "{n} of {n_columns} features is kept from changing by the conditions."
        return [counted(n_kept, one, several, n_columns=n_columns)]

    def failures(self) -> list[str]:
        n_tried, n_invalid = self.diagnosis.n_tried, self.diagnosis.n_invalid
        if n_tried == 0:
            return []
        sentences = []
        if n_invalid == n_tried:
            sentences.append(tr("None of them leads there."))
        elif n_invalid:
            several = "{n:,} of them do not lead there."
            sentences.append(counted(n_invalid, "{n:,} of them does not lead there.", several))
        broken = _largest_first(self.diagnosis.n_violating)
        if broken:
            parts = [
                counted(count, "{condition} (once)", "{condition} ({n:,} times)", condition=self._named(name))
                for name, count in broken[:_MOST_CONSTRAINTS]
            ]
            rest = len(broken) - _MOST_CONSTRAINTS
            parts += [counted(rest, "{n:,} other condition", "{n:,} other conditions")] if rest > 0 else []
            phrase = "Conditions that were not kept: {parts}."
            if len(broken) > 1:
                phrase = "Conditions that were not kept, at times several at once: {parts}."
            sentences.append(tr(phrase, parts=joined(parts)))
        return sentences

    def nearest(self) -> list[str]:
        if self.diagnosis.nearest_miss is None:
            return []
        parts = []
        if self.result is not None:
            changes = _few(changed_texts(self.result, self.diagnosis.nearest_miss, self.words))
            parts += [tr("has {changes}", changes=joined(changes))] if changes else []
            parts += self._its_score(self.result)
        distance = self.diagnosis.nearest_miss_distance
        if distance == 0:
            parts.append(tr("leads there, but does not keep a condition"))
        elif distance is not None:
            parts.append(tr("is {distance} away from the target", distance=self._distance(distance)))
        return [tr("The closest attempt {parts}.", parts=joined(parts))] if parts else []

    def _its_score(self, result: Counterfactuals) -> list[str]:
        scores = self.diagnosis.nearest_miss_scores
        if scores is None or not result.score_columns:
            return []
        if is_regression(result):
            amount = self._amount(outcome_texts([float(scores[0])])[0])
            if self.words.outcome:
                return [tr("gets a predicted {outcome} of {amount}", outcome=self.words.outcome, amount=amount)]
            return [tr("gets a prediction of {amount}", amount=amount)]
        score = wanted_score(result)
        if score is None:
            return [
                tr("gets {scores}", scores=scores_text(list(map(score_name, result.score_columns)), scores.tolist()))
            ]
        (text,) = score_texts([float(score.of(scores))])
        if score.kind == PROBABILITY:
            return [tr("gets {score} as the probability of {label}", score=text, label=self.words.written(score.label))]
        return [tr("gets {scores}", scores=f"{score_name(score)} = {text}")]

    def _distance(self, distance: float) -> str:
        if self.result is not None and is_regression(self.result):
            return self._amount(outcome_texts([distance])[0])
        (text,) = score_texts([distance])
        is_shown = any(digit in "123456789" for digit in text)
        return text if is_shown else tr("less than {amount}", amount=f"{text[:-1]}1")

    def _amount(self, text: str) -> str:
        return self.words.amount(self.words.outcome or PREDICTION, text)

    def liftings(self) -> list[str]:
        helpful = _largest_first(self.diagnosis.lifting)[:_MOST_CONSTRAINTS]
        if not helpful:
            return []
        parts = [
            counted(count, "{condition} ({n:,} way then)", "{condition} ({n:,} ways then)", condition=self._named(name))
            for name, count in helpful
        ]
        alone = "It would help to do without one of these conditions: {parts}."
        return [
            tr(alone if len(parts) > 1 else "It would help to do without the condition {parts}.", parts=joined(parts))
        ]

    def real_rows(self) -> list[str]:
        count = self.diagnosis.n_real
        several = "{n:,} rows of the data lead there and keep all conditions."
        return [counted(count, "1 row of the data leads there and keeps all conditions.", several)] if count else []

    def advice(self) -> str:
        diagnosis = self.diagnosis
        if diagnosis.n_real:
            return tr(
                "Try another method of search, such as {methods}, or {more}.",
                methods=self._methods(),
                more=self._more(),
            )
        helpful = _largest_first(diagnosis.lifting)
        if helpful:
            phrase = "Try to do without {condition} or to relax it, or choose a target that is easier to reach."
            if helpful[0][0] == "max_changed":
                # few changes are a matter of the search as well: a method that goes step by step may find some
                phrase = (
                    "Try to do without {condition} or to relax it, try another method of search, such as {methods}, or "
                    "choose a target that is easier to reach."
                )
            return tr(phrase, condition=self._named(helpful[0][0], with_option=True), methods=self._methods())
        if diagnosis.n_tried == 0 and diagnosis.is_spent:
            return tr("Try {more}: no row could be asked about.", more=self._more())
        if diagnosis.n_tried == 0:
            return tr("Try looser conditions, or data that varies: there may be nothing to change.")
        easier = tr("a target that is easier to reach")
        if diagnosis.is_spent:
            easier = tr("a target that is easier to reach, or {more}", more=self._more())
        if any(diagnosis.n_violating.values()):
            phrase = "No single condition was found to be to blame: relax several at once, or try {easier}."
            return tr(phrase, easier=easier)
        return tr("Try {easier}.", easier=easier)

    def _named(self, name: str, with_option: bool = False) -> str:
        """A constraint."""
        if self.readers is None or self.result is None:
            return repr(name)
        option = self.words.options.get(getattr(name, "kind", name)) if with_option else None
        text = quoted(constraint_text(name, self.result, self.words))
        return f"{text} ({option})" if option else text

    def _more(self) -> str:
        """The advice to spend more."""
        option = "`max_evaluations`" if self.readers is None else self.words.options.get("max_evaluations")
        return tr("a larger {option}", option=option) if option else tr("a longer search")

    def _methods(self) -> str:
        """Methods that are worth a try, none of which is in use."""
        used = "" if self.result is None else self.result.method
        first, last, *_ = [method for method in _METHODS if method != used]
        option = self.words.options.get("method")
        if self.readers is None:
            names = repr(first), repr(last)
        else:
            names = (f"{option} {first}", f"{option} {last}") if option else (first.upper(), last.upper())
        return tr("{first} or {last}", first=names[0], last=names[1])


def _few(parts: Sequence[str]) -> list[str]:
    if len(parts) <= _MOST_CHANGES:
        return list(parts)
    rest = len(parts) - _MOST_CHANGES + 1
    return [*parts[: _MOST_CHANGES - 1], tr("{n} other features changed", n=rest)]


def _largest_first(counts: dict[str, int]) -> list[tuple[str, int]]:
    """Constraints that count at all."""
    return sorted(((name, count) for name, count in counts.items() if count), key=lambda item: -item[1])
