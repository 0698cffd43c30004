"""Words in the reader's language: English phrases are the keys, a catalogue says what they are in another language.

1. `tr("{n} found", n=3)` looks the English phrase up in the catalogue that is spoken and fills it in.
2. `counted(3, "{n:,} row", "{n:,} rows")` takes the phrase that the number asks for.
3. `speaking("de")` chooses the language of a `with` block, for this thread and task alone.
4. A catalogue also says how numbers, shares, money and dates are written. English ones are written here, so that
   nothing more needs to be imported; those of other languages by `localised`.

Phrases are whole where they can be: other languages put their parts in another order. What users call things is
filled in and never looked up.
"""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Number
from string import Formatter
from typing import Any

_PLAIN_NUMBER = re.compile(r"(-?)(\d+)((?:\.\d+)?)")
_CURRENCY_CODE = re.compile(r"[A-Z]{3}")


class Catalogue:
    """What English phrases are in one language, and how it writes numbers.

    Parameters
    ----------
    code : of the language, such as "de".
    phrases : by English phrase; what is not there stays English.
    """

    def __init__(self, code: str, phrases: Mapping[str, str] | None = None) -> None:
        self.code = code
        self.phrases = phrases or {}

    def phrase(self, english: str) -> str:
        """A phrase, its places in braces kept."""
        return self.phrases.get(english, english)

    def plural(self, n: int, one: str, several: str) -> str:
        """The phrase that so many things ask for, its places kept."""
        return self.phrase(one if n == 1 else several)

    def filled(self, phrase: str, values: Mapping[str, Any]) -> str:
        """A phrase of this language with its places filled in; numbers as this language writes them."""
        if not values:
            return phrase
        if {*map(type, values.values())} == {str}:
            return phrase.format_map(values)  # the same, and much faster
        return _Filling(self).vformat(phrase, (), values)

    def number(self, text: str, grouped: bool = False) -> str:
        """A number that is written plainly, such as 1234.50, as this language writes it; other texts as they are."""
        found = _PLAIN_NUMBER.fullmatch(text)
        return f"{found[1]}{int(found[2]):,}{found[3]}" if found and grouped else text

    def percent(self, text: str) -> str:
        """A number of per cent that is written already."""
        return f"{text} %"

    def money(self, text: str, currency: str) -> str:
        """A number that is written already, with the sign of its currency or the sign that a code such as EUR has."""
        sign = self.currency_sign(currency)
        minus, rest = ("-", text[1:]) if text.startswith("-") else ("", text)
        gap = "\N{NO-BREAK SPACE}" if sign[-1:].isalpha() else ""
        return f"{minus}{sign}{gap}{rest}"

    def currency_sign(self, currency: str) -> str:
        """The sign of a currency by its code; what is no code is a sign already."""
        if not _CURRENCY_CODE.fullmatch(currency):
            return currency
        from countarfactuals.language.localised import english_currency_sign

        return english_currency_sign(currency)

    def date(self, day: datetime.date) -> str:
        """A day: `16 November 2026`."""
        from countarfactuals.language.localised import english_date

        return english_date(day)

    def stamp(self, when: datetime.date) -> str:
        """A day or moment of the data, in figures: `2026-11-16 21:45`; seconds only where there are some."""
        if not isinstance(when, datetime.datetime):
            return str(when)
        plain = when.replace(tzinfo=None)
        text = plain.isoformat(" ") if plain.second or plain.microsecond else plain.isoformat(" ", "minutes")
        return f"{text} {when:%Z}".rstrip()

    def moment(self, when: datetime.datetime) -> str:
        """A moment to the second, with its time zone: `16 November 2026, 21:45:17 UTC`."""
        return f"{self.date(when.date())}, {when:%H:%M:%S} {when.tzname() or ''}".rstrip()


class _Filling(Formatter):
    """Fills places in braces; numbers pass through the catalogue."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue

    def format_field(self, value: Any, spec: str) -> str:
        """One place."""
        text = format(value, spec)
        if not isinstance(value, Number) or isinstance(value, bool):
            return text
        return self.catalogue.number(text.replace(",", ""), grouped="," in spec)


Language = Catalogue | str | os.PathLike[str]

ENGLISH = Catalogue("en")
_spoken: ContextVar[Catalogue] = ContextVar("spoken", default=ENGLISH)


def tr(english: str, /, **values: Any) -> str:
    """A phrase in the language that is spoken, filled in.

    >>> tr("{n} of {all} shown", n=3, all=12)
    '3 of 12 shown'
    """
    catalogue = _spoken.get()
    return catalogue.filled(catalogue.phrase(english), values)


def counted(n: int, one: str, several: str, /, **values: Any) -> str:
    """The phrase for one or for several; `n` is a value of both.

    >>> counted(1, "{n} row", "{n} rows"), counted(2, "{n} row", "{n} rows")
    ('1 row', '2 rows')
    """
    catalogue = _spoken.get()
    return catalogue.filled(catalogue.plural(n, one, several), {"n": n, **values})


def spoken() -> Catalogue:
    """The language that is spoken."""
    return _spoken.get()


@contextmanager
def speaking(language: Language | None) -> Iterator[None]:
    """Speak a language in a `with` block: a catalogue, or what `catalogue_of` takes; None for the one that is spoken.

    >>> with speaking("de"):
    ...     tr("yes")
    'ja'
    """
    from countarfactuals.language.languages import catalogue_of

    token = _spoken.set(spoken() if language is None else catalogue_of(language))
    try:
        yield
    finally:
        _spoken.reset(token)
