"""What things are called in sentences: columns, units, rows and the outcome, in the user's own words.

1. A user gives units by column, a name for rows and one for the outcome (`words_of`, which checks them). A word is
   taken as a plural, of which the singular is made where none is given.
2. A unit stands behind its number. The sign of a currency, or that of its code such as EUR, stands where the language
   that is spoken has it: €36,000 or 36.000 €.
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

from countarfactuals.exceptions import ParameterError, unknown_column
from countarfactuals.language.catalogue import spoken, tr
from countarfactuals.language.spelling import name_text, one_line
from countarfactuals.schema import Column

Unit = str | tuple[str, str]

_LONGEST = 80
_SIGNS = frozenset("$€£¥₹")
_CODE = re.compile(r"[A-Z]{3}")
_SINGULAR = {"inches": "inch", "feet": "foot", "people": "person", "children": "child", "men": "man", "women": "woman"}
_PLAIN_WORDS = re.compile(r"[\w./+%€$£-]+( [\w./+%€$£-]+)?")  # one or two
_PLAIN_LABEL = re.compile(r"[\w./+%€$£-]+( [\w./+%€$£-]+)*")  # chosen for sentences, so as many as it takes
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
    units : by column, (singular, plural); the sign or code of a currency stands where the language has it.
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
        return self if self.style is TEXT else replace(self, style=TEXT)

    def written(self, value: Any) -> str:
        """A user's text inside a sentence; in quotes where it could be read as a part of the sentence."""
        text = one_line(value, _LONGEST)
        return self.style.escape(text if _PLAIN_WORDS.fullmatch(text) else quoted(text))

    def title(self, column: Column) -> str:
        """What a column is called inside a sentence: its label as it is, or its name."""
        text = name_text(column.title)
        return self.written(text) if column.label is None else self.labelled(text)

    def level(self, column: Column, text: str) -> str:
        """A level inside a sentence, likewise."""
        return self.labelled(text) if column.level_labels else self.written(text)

    def labelled(self, text: str) -> str:
        """A label, which was chosen for sentences: in quotes only if it holds more than words."""
        label = one_line(text, _LONGEST)
        return self.style.escape(label) if _PLAIN_LABEL.fullmatch(label) else self.written(text)

    def strong(self, value: Any) -> str:
        """The same, emphasised."""
        return self.style.emphasis(self.written(value))

    def amount(self, name: Hashable, text: str) -> str:
        """A number, or level, with its unit."""
        unit = self.unit(name, text)
        if not unit:
            return self.style.escape(text)
        if is_currency(unit):
            return self.style.escape(spoken().money(text, unit))
        return self.style.escape(f"{text} {unit}")

    def unit(self, name: Hashable, text: str) -> str:
        """The unit as it stands beside a number."""
        singular, plural = self.units.get(name, ("", ""))
        return singular if text in ("1", "-1") else plural

    def instead(self, name: Hashable, after: str, before: str) -> str:
        """`24 instead of 36 months`: the unit is said once where both have the same."""
        unit = self.unit(name, before)
        if unit and not is_currency(unit) and self.unit(name, after) == unit:
            return tr("{new} instead of {old}", new=self.style.escape(after), old=self.amount(name, before))
        return tr("{new} instead of {old}", new=self.amount(name, after), old=self.amount(name, before))


def quoted(text: str) -> str:
    """A text in quotation marks."""
    return tr("“{text}”", text=text)


def is_currency(unit: str) -> bool:
    """Whether a unit is the sign or the code of a currency.

    >>> is_currency("€"), is_currency("USD"), is_currency("months")
    (True, True, False)
    """
    if unit in _SIGNS or not _CODE.fullmatch(unit):
        return unit in _SIGNS
    from countarfactuals.language.localised import is_currency_code  # only here: codes are Babel's business

    return is_currency_code(unit)


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
            raise unknown_column("units", name, known)
    checked = {name: _both_forms(f"units[{name!r}]", unit) for name, unit in (units or {}).items()}
    forms = (tr("row"), tr("rows")) if isinstance(rows, str) and rows == "rows" else _both_forms("rows", rows)
    return Words(checked, forms, outcome, style, options or {})


def _both_forms(what: str, forms: Any) -> tuple[str, str]:
    if isinstance(forms, tuple) and len(forms) == 2 and all(isinstance(form, str) and form.strip() for form in forms):
        singular, plural = forms
    elif isinstance(forms, str) and forms.strip():
        singular, plural = _singular(forms), forms
    else:
        raise ParameterError(f"`{what}` must be a word, or (singular, plural), got {forms!r}.")
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
