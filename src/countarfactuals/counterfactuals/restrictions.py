"""Constraints as readers know them: their own sentences, with the units and numbers of all other sentences.

1. A result keeps the sentences that `Constraints.describe` wrote, and a diagnosis counts by names such as
   `range: income`. `constraint_text` finds the sentence that belongs to a name.
2. `constraint_sentence` takes the quotes from plain names, and gives the ends of ranges their separators and units.

All texts are plain: whoever shows them escapes them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable
from typing import TYPE_CHECKING

from countarfactuals.counterfactuals.spelling import number_texts
from countarfactuals.counterfactuals.vocabulary import Words
from countarfactuals.counterfactuals.wording import name_text, one_line, share_text
from countarfactuals.schema import Schema

if TYPE_CHECKING:
    from countarfactuals.counterfactuals.result import Counterfactuals

_RANGE = re.compile(r"If (.+) changes, it becomes (at most|at least|a value from) (\S+?)(?: to (\S+?))?\.")
_ALLOWED = (("If ", "changes, it becomes "), ("", "can only change "), ("", "does not change."))
# by the kind of a constraint: what is said where its name tells all, and where its sentence is not known
_BY_NAME = {
    "fixed": "{} does not change",
    "missing": "{} does not become missing",
    "group": "{} change together or not at all",
    "exactly_one": "exactly one of {} is 1",
    "range": "{} stays within its range",
    "allowed": "{} becomes only what is allowed",
    "direction": "{} changes in one direction only",
    "max_changed": "only so many features may change",
    "min_plausibility": "counterfactuals are as plausible as was asked",
    "allow_real_rows": "rows of the data are not handed out",
    "relations": "what all rows of the data keep is kept",
}


def constraint_text(name: str, result: Counterfactuals, words: Words) -> str:
    """The sentence of a constraint by its name in a diagnosis, without its full stop."""
    kind, _, about = name.partition(": ")
    if kind.startswith("rule "):
        rule = f"The rule {about} holds."
        return one_line(rule[:-1] if rule in result.constraints else about)
    if kind == "min_plausibility" and (least := _least_plausibility(result)) is not None:
        return f"at least {share_text(least)} of real {words.plain.rows[1]} are less plausible"
    said = _said(kind, about, result)
    if said:
        return constraint_sentence(said, result.schema, words).removesuffix(".")
    return one_line(_BY_NAME[kind].format(about) if kind in _BY_NAME else name)


def _said(kind: str, about: str, result: Counterfactuals) -> str | None:
    """The sentence of a constraint whose name does not tell all."""
    named = [repr(column) for column in result.schema.names if str(column) == about]
    beginnings = {
        "range": [f"If {name} changes, it becomes " for name in named],
        "allowed": [f"{start}{name} {rest}" for name in named for start, rest in _ALLOWED],
        "direction": [f"{name} can only {way}crease." for name in named for way in ("in", "de")],
        "max_changed": ["At most "],
    }.get(kind, [])
    found = [one for one in result.constraints if one.startswith(tuple(beginnings))]
    if not found:
        return None
    # an ordered category may have a range and allowed levels, which begin alike: ranges are said first
    return found[-1] if kind == "allowed" else found[0]


def _least_plausibility(result: Counterfactuals) -> float | None:
    settings = result.provenance.get("settings")
    least = settings.get("min_plausibility") if isinstance(settings, dict) else None
    return float(least) if isinstance(least, int | float) and not math.isnan(least) else None


def constraint_sentence(sentence: str, schema: Schema, words: Words) -> str:
    """A sentence of `Constraints.describe` in the words of a user."""
    plain = words.plain
    ranged = _RANGE.fullmatch(sentence)
    column = next((one for one in schema.columns if ranged and repr(one.name) == ranged[1]), None)
    if ranged and column is not None and column.is_number:
        numbers = number_texts([one for one in ranged.groups()[2:] if one])
        ends = " to ".join(plain.amount(column.name, number) for number in numbers)
        return f"If {_named(column.name, plain)} changes, it becomes {ranged[2]} {ends}."
    for name in schema.names:
        if isinstance(name, str):  # others look like numbers in the sentence
            sentence = sentence.replace(repr(name), _named(name, plain))
    return one_line(sentence)


def _named(name: Hashable, words: Words) -> str:
    return words.written(name_text(name))
