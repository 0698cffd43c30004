"""`Diagnosis`: why nothing was found, in numbers; `reasons` tells them in sentences."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from countarfactuals.constraints import Clause

if TYPE_CHECKING:
    from countarfactuals.counterfactuals.result import Counterfactuals
    from countarfactuals.language.vocabulary import Words


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

    >>> print(Diagnosis(n_tried=20, n_invalid=20))
    Nothing was found among 20 attempts. None of them leads there. Try a target that is easier to reach, or a larger \
`max_evaluations`.
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
            object.__setattr__(self, name, {_name(key): int(count) for key, count in getattr(self, name).items()})

    def text(self, result: Counterfactuals | None = None, words: Words | None = None) -> str:
        """Whole sentences in plain text.

        The result it belongs to lends names, values and the target; `words` are those of a reader who does not write
        Python: constraints are then told by their sentences and settings by what they do.
        """
        from countarfactuals.counterfactuals.reasons import reasons

        return reasons(self, result, words)

    def __str__(self) -> str:
        return self.text()


def _name(key: Any) -> str:
    return key if isinstance(key, Clause) else str(key)


def read_only(values: Any, dtype: Any = np.float64) -> np.ndarray:
    """A copy that can not be written to."""
    copy = np.array(values, dtype=dtype)
    copy.setflags(write=False)
    return copy
