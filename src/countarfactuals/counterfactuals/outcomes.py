"""The wanted outcome: whose score is shown, and the target as text.

1. A target is a class, or a range of one score; its text says which (`prediction.target` writes it).
2. The score that is shown is that of the wanted class. A model of two classes has one probability: that of the other
   class is one minus it.
3. Numbers in the text of a target are spelt as in sentences, those of a regression with the outcome's unit.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from countarfactuals.counterfactuals.spelling import number_texts
from countarfactuals.counterfactuals.vocabulary import Words
from countarfactuals.counterfactuals.wording import one_line

if TYPE_CHECKING:
    from countarfactuals.counterfactuals.result import Counterfactuals

REGRESSION = ("prediction",)
_MOST_SCORES = 3
_CLASS = "class "
_RANGE = re.compile(r"(.*) (?:(at least|at most) ([^ ()]+)|from ([^ ()]+) to ([^ ()]+))", re.DOTALL)


@dataclass(frozen=True)
class Score:
    """A score as people know it: its name, and where it is among the model's scores."""

    name: str
    column: int
    is_mirrored: bool = False

    def of(self, scores: np.ndarray) -> np.ndarray:
        """Its values: of one row of scores, or of many."""
        values: np.ndarray = scores[..., self.column]
        return 1.0 - values if self.is_mirrored else values

    @property
    def is_probability(self) -> bool:
        """Whether it is one, and not a score of the model's own making."""
        return self.name.startswith("P(")

    @property
    def label(self) -> str:
        """The class that it is the score of."""
        return self.name.partition("(")[2][:-1]


def is_range(result: Counterfactuals) -> bool:
    """Whether a range of scores is wanted, and no class."""
    return not result.target.startswith(_CLASS)


def wanted_score(result: Counterfactuals) -> Score | None:
    """The score that the target is about; None where its text does not tell."""
    if result.target.startswith(_CLASS):
        return _score_of_class(result, _class_name(result.target))
    named = [i for i, name in enumerate(result.score_names) if result.target.startswith(f"{name} ")]
    if named:
        longest = max(named, key=lambda i: len(result.score_names[i]))
        return Score(result.score_names[longest], longest)
    ranged = _RANGE.fullmatch(result.target)
    if ranged and ranged[1].startswith("P(") and _has_one_probability(result):
        return Score(ranged[1], 0, is_mirrored=True)
    return None


def _class_name(target: str) -> str:
    written = target.removeprefix(_CLASS)
    try:
        return str(ast.literal_eval(written))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return written


def _score_of_class(result: Counterfactuals, label: str) -> Score | None:
    for i, name in enumerate(result.score_names):
        if name in (f"P({label})", f"score({label})"):
            return Score(name, i)
    return Score(f"P({label})", 0, is_mirrored=True) if _has_one_probability(result) else None


def _has_one_probability(result: Counterfactuals) -> bool:
    return len(result.score_names) == 1 and result.score_names[0].startswith("P(")


def shown_scores(result: Counterfactuals) -> list[Score]:
    """The scores that tables have: of two classes the wanted one's, of three all, of more the wanted one's if known."""
    own = [Score(name, i) for i, name in enumerate(result.score_names)]
    if 1 < len(own) <= _MOST_SCORES:
        return own
    wanted = wanted_score(result)
    return [wanted] if wanted is not None else own[:1] if len(own) == 1 else []


def target_text(result: Counterfactuals, words: Words | None = None) -> str:
    """The target in one line of plain text: `price at least €300,000`."""
    ranged = _RANGE.fullmatch(result.target)
    if result.target.startswith(_CLASS) or not ranged:
        return one_line(result.target)
    name, way, end, low, high = ranged.groups()
    is_number = name == "prediction"
    numbers = number_texts([end] if way else [low, high])
    if words is not None and is_number:
        name = words.outcome or name
        numbers = [words.plain.amount(words.outcome or "prediction", text) for text in numbers]
    return one_line(f"{name} {way} {numbers[0]}" if way else f"{name} from {numbers[0]} to {numbers[1]}")
