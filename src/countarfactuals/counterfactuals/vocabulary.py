"""What things are called in sentences: columns, units, rows and the outcome, in the user's own words.

1. A user gives units by column, a name for rows and one for the outcome (`words_of`, which checks them). A word is
   taken as a plural, of which the singular is made where none is given.
2. A unit stands behind its number, a currency sign before it.
3. Names and levels may hold anything. They are brought on one line, and quoted where they could be read as a part of
   the sentence.
4. `Style` says how a format writes all that: what it escapes, and how it emphasises.
5. Advice names settings as the reader sets them: on a command line by its options.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

from countarfactuals.counterfactuals.wording import one_line
from countarfactuals.exceptions import ParameterError, did_you_mean, listed

Unit = str | tuple[str, str]

_LONGEST = 80
_SIGNS = frozenset("$€£¥₹")
_SINGULAR = {"inches": "inch", "feet": "foot", "people": "person", "children": "child", "men": "man", "women": "woman"}
_PLAIN_WORDS = re.compile(r"[\w./+%€$£-]+( [\w./+%€$£-]+)?")  # one or two
_MARKDOWN = re.compile(r"([\\`*_\[\]{}()#~|!$^=])")


@dataclass(frozen=True)
class Style:
    """How a format writes what users call things, and what it emphasises."""

    escape: Callable[[str], str]
    emphasis: Callable[[str], str]


def _markdown_text(text: str) -> str:
    # entities, as not every reader of markdown knows backslashes before them
    return _MARKDOWN.sub(r"\\\1", text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


TEXT = Style(escape=lambda text: text, emphasis=lambda text: text)
MARKDOWN = Style(escape=_markdown_text, emphasis=lambda text: f"*{text}*")
HTML = Style(escape=escape, emphasis=lambda text: f"<em>{text}</em>")


@dataclass(frozen=True)
class Words:
    """What things are called.

    Parameters
    ----------
    units : by column, (singular, plural); a currency sign stands before its number.
    rows : what one row and several are called.
    outcome : what the model predicts, None where it has no name.
    style : how names are written.
    options : by setting or kind of constraint, the option of a command line that sets it.
    """

    units: Mapping[Hashable, tuple[str, str]]
    rows: tuple[str, str]
    outcome: str | None
    style: Style
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def plain(self) -> Words:
        """The same words as plain text, which is escaped as a whole later."""
        return replace(self, style=TEXT)

    def written(self, value: Any) -> str:
        """A user's text inside a sentence; in quotes where it could be read as a part of the sentence."""
        text = one_line(value, _LONGEST)
        return self.style.escape(text if _PLAIN_WORDS.fullmatch(text) else f"“{text}”")

    def strong(self, value: Any) -> str:
        """The same, emphasised."""
        return self.style.emphasis(self.written(value))

    def amount(self, name: Hashable, text: str) -> str:
        """A number, or level, with its unit."""
        unit = self.unit(name, text)
        if not unit:
            return self.style.escape(text)
        if unit in _SIGNS:
            sign, rest = ("-", text[1:]) if text.startswith("-") else ("", text)
            return self.style.escape(f"{sign}{unit}{rest}")
        return self.style.escape(f"{text} {unit}")

    def unit(self, name: Hashable, text: str) -> str:
        """The unit as it stands beside a number."""
        singular, plural = self.units.get(name, ("", ""))
        return singular if text in ("1", "-1") else plural

    def instead(self, name: Hashable, after: str, before: str) -> str:
        """`24 instead of 36 months`: the unit is said once where both have the same."""
        unit = self.unit(name, before)
        if unit and unit not in _SIGNS and self.unit(name, after) == unit:
            return f"{self.style.escape(after)} instead of {self.amount(name, before)}"
        return f"{self.amount(name, after)} instead of {self.amount(name, before)}"


def words_of(
    names: Sequence[Hashable],
    units: Mapping[Hashable, Unit] | None,
    rows: Unit,
    outcome: str | None,
    style: Style,
    options: Mapping[str, str] | None = None,
) -> Words:
    """What a user calls things, checked; `options` are ours."""
    if outcome is not None and not isinstance(outcome, str):
        raise ParameterError(f"`outcome` must be the name of what is predicted or None, got {outcome!r}.")
    if units is not None and not isinstance(units, Mapping):
        raise ParameterError(f"`units` must be a dict of units by column, got {units!r}.")
    known = [*names, outcome or "prediction"]
    for name in units or {}:
        if name not in known:
            raise ParameterError(
                f"`units` names {name!r}, which is no column; known: {listed(known)}.{did_you_mean(name, known)}"
            )
    checked = {name: _both_forms(f"units[{name!r}]", unit) for name, unit in (units or {}).items()}
    return Words(checked, _both_forms("rows", rows), outcome, style, options or {})


def _both_forms(what: str, said: Any) -> tuple[str, str]:
    if isinstance(said, tuple) and len(said) == 2 and all(isinstance(one, str) and one.strip() for one in said):
        singular, plural = said
    elif isinstance(said, str) and said.strip():
        singular, plural = _singular(said), said
    else:
        raise ParameterError(f"`{what}` must be a word, or (singular, plural), got {said!r}.")
    return one_line(singular, _LONGEST), one_line(plural, _LONGEST)


def _singular(plural: str) -> str:
    """Without its s, if it is a word and not an abbreviation.

    >>> [_singular(word) for word in ("months", "countries", "boxes", "ms", "kg", "glass", "feet")]
    ['month', 'country', 'box', 'ms', 'kg', 'glass', 'foot']
    """
    start, space, word = plural.rpartition(" ")
    if word in _SINGULAR:
        return f"{start}{space}{_SINGULAR[word]}"
    if len(word) < 4 or not word.isalpha() or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return plural
    if word.endswith("ies"):
        return f"{start}{space}{word[:-3]}y"
    ending = 2 if word.endswith(("xes", "ches", "shes", "sses")) else 1
    return f"{start}{space}{word[:-ending]}"
