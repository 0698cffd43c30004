"""`Letter`: all that a letter says, as data; words are made when it is written."""

from __future__ import annotations

import datetime
import os
from collections.abc import Hashable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from countarfactuals.constraints.clause import tagged
from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.files import write_whole
from countarfactuals.language import Language, speaking
from countarfactuals.language.vocabulary import Unit

_FORMAT, _VERSION = "countarfactuals.Letter", 1
ABOVE, AT_LEAST, AT_MOST, LARGEST, RANGE = "above", "at least", "at most", "largest", "range"
FILE, CONTENT, DESCRIPTION = "file", "content", "description"


@dataclass(frozen=True)
class Reason:
    """A feature that was scored.

    Parameters
    ----------
    column : its name.
    position : among the features.
    code : the sender's own, "" for none.
    score, best_score : of the row, and the best along the ICE curve: with this feature alone at another value.
    best_value : that value, in matrix codes; None where no value is better than the row's own.
    n_changed : in how many counterfactuals of the whole result it changes.
    """

    column: Hashable
    position: int
    code: str
    score: float
    best_score: float
    best_value: float | None
    n_changed: int

    @property
    def gain(self) -> float:
        """How far the feature alone moves the score towards the target, which reasons are ranked by."""
        return 0.0 if self.best_value is None else abs(self.best_score - self.score)


@dataclass(frozen=True)
class HeldFixed:
    """A column that no counterfactual changes, by constraint or as it is protected.

    Parameters
    ----------
    column : its name.
    is_protected : whether the sender named it as protected.
    is_feature : whether the model gets it at all.
    span : how far the score moves at most, in any direction, if this column alone has other values.
    """

    column: Hashable
    is_protected: bool
    is_feature: bool
    span: float


@dataclass(frozen=True)
class Fingerprint:
    """A SHA-256 hash, and what it is of: the "file", the "content", or only a "description" by class and name."""

    of: str
    digest: str


@dataclass(frozen=True)
class Rule:
    """When the wanted outcome is given: a score "above", "at least" or "at most" a threshold, the "largest" one of all
    classes, or one in the "range" of the target."""

    kind: str
    threshold: float | None = None


@dataclass(frozen=True, eq=False)
class Letter:
    """A letter about one decision.

    Parameters
    ----------
    result : the row, what was predicted and wanted, and the counterfactuals that are told, at most three.
    n_counterfactuals : how many there were to count changes in.
    model : what the model is called.
    rule : when the wanted outcome is given.
    reasons : at most four, the largest gain first.
    held_fixed : what was not considered.
    fingerprints : by "model", "data" and "explainer".
    versions : by package.
    made : when, with its time zone.
    dated : the day that the letter bears.
    sender, applicant, reference, contact : texts of the sender's own, "" for none; they may have several lines.
    units, rows, outcome : what things are called, see `describe`.
    """

    result: Counterfactuals
    n_counterfactuals: int
    model: str
    rule: Rule
    reasons: tuple[Reason, ...]
    held_fixed: tuple[HeldFixed, ...]
    fingerprints: Mapping[str, Fingerprint]
    versions: Mapping[str, str]
    made: datetime.datetime
    dated: datetime.date
    sender: str = ""
    applicant: str = ""
    reference: str = ""
    contact: str = ""
    units: Mapping[Hashable, Unit] = field(default_factory=dict)
    rows: Unit = "rows"
    outcome: str | None = None

    def to_html(self, path: str | os.PathLike[str] | None = None, *, language: Language | None = None) -> str:
        """One HTML page for screens and for paper of size A4, also written to a file if a path is given.

        Parameters
        ----------
        path : of the file, which is replaced if it exists.
        language : such as "de", see `countarfactuals.language.catalogue_of`; None for the one that is spoken.
        """
        from countarfactuals.letter.layout import html

        with speaking(language):
            return _written(html(self), path)

    def to_text(self, path: str | os.PathLike[str] | None = None, *, language: Language | None = None) -> str:
        """Plain text in lines of at most 78 columns; the parameters are those of `to_html`."""
        from countarfactuals.letter.layout import text

        with speaking(language):
            return _written(text(self), path)

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON types, with the name and version of the format."""
        texts = ("model", "sender", "applicant", "reference", "contact", "n_counterfactuals")
        return {
            "format": _FORMAT,
            "version": _VERSION,
            **{name: getattr(self, name) for name in texts},
            "made": self.made.isoformat(),
            "dated": self.dated.isoformat(),
            "rule": asdict(self.rule),
            "reasons": [
                {**asdict(reason), "column": tagged(reason.column), "gain": reason.gain} for reason in self.reasons
            ],
            "held_fixed": [{**asdict(kept), "column": tagged(kept.column)} for kept in self.held_fixed],
            "fingerprints": {what: asdict(fingerprint) for what, fingerprint in self.fingerprints.items()},
            "versions": dict(self.versions),
            "result": self.result.to_dict(),
        }

    def __str__(self) -> str:
        return self.to_text()


def _written(content: str, path: str | os.PathLike[str] | None) -> str:
    if path is not None:
        write_whole(path, content)
    return content
