"""`Diagnosis`: why nothing was found, in numbers and in sentences."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from countarfactuals.counterfactuals.wording import changes_text, joined, score_text, scores_text

if TYPE_CHECKING:
    from countarfactuals.counterfactuals.result import Counterfactuals

_MOST_CONSTRAINTS = 6


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Why a search came back empty.

    Parameters
    ----------
    n_tried : candidates that were judged.
    n_invalid : those of them that do not reach the target.
    n_violating : by constraint, those of them that break it; one candidate may break several.
    nearest_miss : the candidate closest to the target, in matrix codes.
    nearest_miss_scores, nearest_miss_distance : its scores and how far they are from the target.
    lifting : by constraint, how many counterfactuals there would be without it; only those that would give some.
    is_spent : whether the search ended because it had no evaluations left, so that more of them might help.
    n_real : rows of the data that reach the target and break nothing.

    >>> print(Diagnosis(n_tried=20, n_invalid=20).text())
    No counterfactual was found among 20 candidates. None of them reaches the target. Try a target that is easier to \
reach, or a larger `max_evaluations`.
    """

    n_tried: int
    n_invalid: int = 0
    n_violating: dict[str, int] = field(default_factory=dict)
    nearest_miss: np.ndarray | None = None
    nearest_miss_scores: np.ndarray | None = None
    nearest_miss_distance: float | None = None
    lifting: dict[str, int] = field(default_factory=dict)
    is_spent: bool = True
    n_real: int = 0

    def __post_init__(self) -> None:
        self._freeze()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._freeze()

    def _freeze(self) -> None:
        for name in ("nearest_miss", "nearest_miss_scores"):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else read_only(value))
        for name in ("n_violating", "lifting"):
            object.__setattr__(self, name, {str(key): int(count) for key, count in getattr(self, name).items()})

    def text(self, result: Counterfactuals | None = None) -> str:
        """Whole sentences; the result it belongs to lends names, values and the target."""
        sentences = [
            self._found(result),
            *self._failures(),
            *self._nearest(result),
            *self._liftings(),
            *self._real(),
            self._advice(),
        ]
        return " ".join(sentences)

    def _found(self, result: Counterfactuals | None) -> str:
        goal = "" if result is None else f" for the target {result.target}"
        if self.n_tried == 0:
            return f"No counterfactual was found{goal}: no candidate could be made."
        return f"No counterfactual was found{goal} among {_counted(self.n_tried, 'candidate')}."

    def _failures(self) -> list[str]:
        if self.n_tried == 0:
            return []
        sentences = []
        if self.n_invalid == self.n_tried:
            sentences.append("None of them reaches the target.")
        elif self.n_invalid:
            sentences.append(f"{self.n_invalid:,} of them {_verb(self.n_invalid, 'do')} not reach the target.")
        broken = _largest_first({name: count for name, count in self.n_violating.items() if count})
        if broken:
            parts = [f"{count:,} {_verb(count, 'break')} {name!r}" for name, count in broken[:_MOST_CONSTRAINTS]]
            rest = len(broken) - _MOST_CONSTRAINTS
            parts += [f"{_counted(rest, 'further constraint')} {_verb(rest, 'be')} broken"] if rest > 0 else []
            several = " (one candidate may break several)" if len(broken) > 1 else ""
            sentences.append(f"By constraint: {joined(parts)}{several}.")
        return sentences

    def _nearest(self, result: Counterfactuals | None) -> list[str]:
        if self.nearest_miss is None:
            return []
        changes = "" if result is None else changes_text(result.schema, result.x, self.nearest_miss)
        parts = [f"changes {changes}"] if changes else []
        if self.nearest_miss_scores is not None and result is not None:
            parts.append(f"gets {scores_text(result.score_names, self.nearest_miss_scores.tolist())}")
        distance = self.nearest_miss_distance
        if distance is not None:
            short = f"is {score_text(distance)} away from the target"
            parts.append("reaches the target, but breaks a constraint" if distance == 0 else short)
        return [f"The nearest miss {joined(parts)}."] if parts else []

    def _liftings(self) -> list[str]:
        helpful = _largest_first({name: count for name, count in self.lifting.items() if count})[:_MOST_CONSTRAINTS]
        parts = [
            f"{name!r} would give {_counted(count, 'counterfactual')}" if i == 0 else f"{name!r} {count:,}"
            for i, (name, count) in enumerate(helpful)
        ]
        return [f"Lifting the constraint {joined(parts)}."] if len(parts) == 1 else _several(parts)

    def _real(self) -> list[str]:
        if not self.n_real:
            return []
        rows = "1 row of the data reaches" if self.n_real == 1 else f"{self.n_real:,} rows of the data reach"
        return [f"{rows} the target and {_verb(self.n_real, 'break')} nothing."]

    def _advice(self) -> str:
        if self.n_real:
            return "Try another method, such as 'arf' or 'nice', or a larger `max_evaluations`."
        if any(self.lifting.values()):
            best = max(self.lifting, key=lambda name: self.lifting[name])
            return f"Try to lift or relax {best!r}, or choose a target that is easier to reach."
        if self.n_tried == 0 and self.is_spent:
            return "Try a larger `max_evaluations`: no row could be asked about."
        if self.n_tried == 0:
            return "Try looser constraints, or data that varies: there may be nothing to change."
        easier = "a target that is easier to reach" + (", or a larger `max_evaluations`" if self.is_spent else "")
        if any(self.n_violating.values()):
            return f"No single constraint was found to be to blame: relax several at once, or try {easier}."
        return f"Try {easier}."


def read_only(values: Any, dtype: Any = np.float64) -> np.ndarray:
    """A copy that can not be written to."""
    copy = np.array(values, dtype=dtype)
    copy.setflags(write=False)
    return copy


def _several(parts: list[str]) -> list[str]:
    return [f"Lifting one constraint alone: {joined(parts)}."] if parts else []


def _largest_first(counts: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: -item[1])


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _verb(count: int, verb: str) -> str:
    one = {"do": "does", "break": "breaks", "be": "is"}
    return one[verb] if count == 1 else {"be": "are"}.get(verb, verb)
