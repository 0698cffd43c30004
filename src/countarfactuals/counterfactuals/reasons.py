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

from countarfactuals.counterfactuals.outcomes import REGRESSION, target_text, wanted_score
from countarfactuals.counterfactuals.restrictions import constraint_text
from countarfactuals.counterfactuals.sentences import changed_texts
from countarfactuals.counterfactuals.spelling import outcome_texts, score_texts
from countarfactuals.counterfactuals.vocabulary import TEXT, Words, words_of
from countarfactuals.counterfactuals.wording import joined, one_line, scores_text

if TYPE_CHECKING:
    from countarfactuals.counterfactuals.diagnosis import Diagnosis
    from countarfactuals.counterfactuals.result import Counterfactuals

_MOST_CONSTRAINTS, _MOST_CHANGES = 6, 6


def reasons(diagnosis: Diagnosis, result: Counterfactuals | None, words: Words | None) -> str:
    """The diagnosis of a result, as plain text; `words` of a reader who does not write Python."""
    said = _Said(diagnosis, result, words)
    return " ".join(
        [said.found(), *said.failures(), *said.nearest(), *said.liftings(), *said.real_rows(), said.advice()]
    )


class _Said:
    """The sentences of one diagnosis."""

    def __init__(self, diagnosis: Diagnosis, result: Counterfactuals | None, words: Words | None) -> None:
        self.diagnosis = diagnosis
        self.result = result
        self.readers = words
        names = () if result is None else result.schema.names
        self.words = words_of(names, None, "rows", None, TEXT) if words is None else words.plain

    def found(self) -> str:
        goal = "" if self.result is None else f" for the target {target_text(self.result, self.words)}"
        n_tried = self.diagnosis.n_tried
        if n_tried == 0:
            return f"No counterfactual was found{goal}: no candidate could be made."
        return f"No counterfactual was found{goal} among {_counted(n_tried, 'candidate')}."

    def failures(self) -> list[str]:
        n_tried, n_invalid = self.diagnosis.n_tried, self.diagnosis.n_invalid
        if n_tried == 0:
            return []
        sentences = []
        if n_invalid == n_tried:
            sentences.append("None of them reaches the target.")
        elif n_invalid:
            sentences.append(f"{n_invalid:,} of them {_verb(n_invalid, 'do')} not reach the target.")
        broken = _largest_first(self.diagnosis.n_violating)
        if broken:
            parts = [
                f"{count:,} {_verb(count, 'break')} {self._named(name)}" for name, count in broken[:_MOST_CONSTRAINTS]
            ]
            rest = len(broken) - _MOST_CONSTRAINTS
            parts += [f"{_counted(rest, 'further constraint')} {_verb(rest, 'be')} broken"] if rest > 0 else []
            several = " (one candidate may break several)" if len(broken) > 1 else ""
            sentences.append(f"By constraint: {joined(parts)}{several}.")
        return sentences

    def nearest(self) -> list[str]:
        if self.diagnosis.nearest_miss is None:
            return []
        parts = []
        if self.result is not None:
            changes = _few(changed_texts(self.result, self.diagnosis.nearest_miss, self.words))
            parts += [f"has {joined(changes)}"] if changes else []
            parts += self._its_score(self.result)
        distance = self.diagnosis.nearest_miss_distance
        if distance is not None:
            short = f"is {self._distance(distance)} away from the target"
            parts.append("reaches the target, but breaks a constraint" if distance == 0 else short)
        return [f"The nearest miss {joined(parts)}."] if parts else []

    def _its_score(self, result: Counterfactuals) -> list[str]:
        scores = self.diagnosis.nearest_miss_scores
        if scores is None or not result.score_names:
            return []
        if result.score_names == REGRESSION:
            (text,) = outcome_texts([float(scores[0])])
            noun = f"predicted {self.words.outcome}" if self.words.outcome else "prediction"
            return [f"gets a {noun} of {self._amount(text)}"]
        score = wanted_score(result)
        if score is None:
            return [f"gets {scores_text(result.score_names, scores.tolist())}"]
        return [f"gets {one_line(score.name)} = {score_texts([float(score.of(scores))])[0]}"]

    def _distance(self, distance: float) -> str:
        if self.result is not None and self.result.score_names == REGRESSION:
            return self._amount(outcome_texts([distance])[0])
        (text,) = score_texts([distance])
        return text if float(text.replace(",", "")) > 0 else f"less than {text[:-1]}1"

    def _amount(self, text: str) -> str:
        return self.words.amount(self.words.outcome or "prediction", text)

    def liftings(self) -> list[str]:
        helpful = _largest_first(self.diagnosis.lifting)[:_MOST_CONSTRAINTS]
        if not helpful:
            return []
        (first, most), *others = helpful
        parts = [f"{self._named(first)} would give {_counted(most, 'counterfactual')}"]
        parts += [f"{self._named(name)} {count:,}" for name, count in others]
        return [f"Lifting {'the constraint' if len(parts) == 1 else 'one constraint alone:'} {joined(parts)}."]

    def real_rows(self) -> list[str]:
        count = self.diagnosis.n_real
        if not count:
            return []
        rows = "1 row of the data reaches" if count == 1 else f"{count:,} rows of the data reach"
        return [f"{rows} the target and {_verb(count, 'break')} nothing."]

    def advice(self) -> str:
        one = self.diagnosis
        if one.n_real:
            return f"Try another method, such as {self._methods()}, or {self._more()}."
        helpful = _largest_first(one.lifting)
        if helpful:
            best = self._named(helpful[0][0], with_option=True)
            # few changes are a matter of the search as well: a method that goes step by step may find some
            others = f", another method, such as {self._methods()}," if helpful[0][0].startswith("max_changed") else ","
            return f"Try to lift or relax {best}{others} or choose a target that is easier to reach."
        if one.n_tried == 0 and one.is_spent:
            return f"Try {self._more()}: no row could be asked about."
        if one.n_tried == 0:
            return "Try looser constraints, or data that varies: there may be nothing to change."
        easier = "a target that is easier to reach" + (f", or {self._more()}" if one.is_spent else "")
        if any(one.n_violating.values()):
            return f"No single constraint was found to be to blame: relax several at once, or try {easier}."
        return f"Try {easier}."

    def _named(self, name: str, with_option: bool = False) -> str:
        """A constraint."""
        if self.readers is None or self.result is None:
            return repr(name)
        option = self.words.options.get(name.partition(":")[0]) if with_option else None
        said = f"“{constraint_text(name, self.result, self.words)}”"
        return f"{said} ({option})" if option else said

    def _more(self) -> str:
        """The advice to spend more."""
        if self.readers is None:
            return "a larger `max_evaluations`"
        option = self.words.options.get("max_evaluations")
        return f"a larger {option}" if option else "more evaluations of the model"

    def _methods(self) -> str:
        if self.readers is None:
            return "'arf' or 'nice'"
        option = self.words.options.get("method")
        return f"{option} arf or {option} nice" if option else "ARF or NICE"


def _few(parts: Sequence[str]) -> list[str]:
    if len(parts) <= _MOST_CHANGES:
        return list(parts)
    rest = len(parts) - _MOST_CHANGES + 1
    return [*parts[: _MOST_CHANGES - 1], f"{rest} other features changed"]


def _largest_first(counts: dict[str, int]) -> list[tuple[str, int]]:
    """Constraints that count at all."""
    return sorted(((name, count) for name, count in counts.items() if count), key=lambda item: -item[1])


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _verb(count: int, verb: str) -> str:
    one = {"do": "does", "break": "breaks", "be": "is"}
    return one[verb] if count == 1 else {"be": "are"}.get(verb, verb)
