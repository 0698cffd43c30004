"""Languages other than English: phrases from a gettext file, numbers, dates and money as Babel knows them.

1. A `.po` file is read by Babel and kept in memory as gettext keeps compiled ones; `gettext` then chooses plural forms
   by the file's own rule. Entries that are marked fuzzy do not count.
2. Numbers come as plain text with the digits that are to be shown; only their signs and groups are the locale's.
3. The Babel package is imported with this module, and this module when another language, a date or the code of a
   currency is asked for.
"""

from __future__ import annotations

import datetime
import io
import re
from collections.abc import Iterator
from copy import copy
from decimal import Decimal
from functools import lru_cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path
from string import Formatter
from typing import Any

from babel import Locale, UnknownLocaleError
from babel.dates import format_date, format_datetime, format_time
from babel.messages.mofile import write_mo
from babel.messages.pofile import PoFileError, read_po
from babel.numbers import get_currency_symbol, is_currency

from countarfactuals.exceptions import StorageError
from countarfactuals.language.catalogue import Catalogue

_ENGLISH = "en_GB"  # the day before the month, which no one reads as the other
_NUMBER = re.compile(r"-?\d+(?:\.(\d+))?")
_EXPONENT = re.compile(r"(-?\d+(?:\.\d+)?)(e[+-]?\d+)")
_MINUS = "-"
_KEPT = 10_000  # texts


class LocaleCatalogue(Catalogue):
    """A language whose phrases are gettext's and whose numbers are those of a locale.

    Parameters
    ----------
    locale : of Babel.
    translations : of gettext.
    """

    def __init__(self, locale: Locale, translations: NullTranslations) -> None:
        super().__init__(str(locale).replace("_", "-"))
        self.locale = locale
        self.translations = translations

    def phrase(self, english: str) -> str:
        """A phrase, its places kept; English where the file has none."""
        return self.translations.gettext(english) if english else english

    def plural(self, n: int, one: str, several: str) -> str:
        """The phrase that so many things ask for by the file's rule of plurals."""
        return self.translations.ngettext(one, several, n)

    def number(self, text: str, grouped: bool = False) -> str:
        """A plain number with the signs of the locale."""
        return _number(self.locale, text, grouped)

    def percent(self, text: str) -> str:
        """With the locale's sign in the locale's place."""
        return self._around(self.locale.percent_formats[None], "%", "%", text)

    def money(self, text: str, currency: str) -> str:
        """With the currency's sign in the locale's place."""
        return self._around(self.locale.currency_formats["standard"], "¤", self.currency_sign(currency), text)

    def _around(self, pattern: Any, place: str, sign: str, text: str) -> str:
        is_negative = text.startswith(_MINUS)
        before, after = pattern.prefix[is_negative].replace(place, sign), pattern.suffix[is_negative]
        gap = "\N{NO-BREAK SPACE}" if before[-1:].isalpha() else ""
        return f"{before}{gap}{text.removeprefix(_MINUS)}{after.replace(place, sign)}"

    def currency_sign(self, currency: str) -> str:
        """As the locale knows it; what is no code stays as it is."""
        return _currency_sign(self.locale, currency)

    def date(self, day: datetime.date) -> str:
        """A day in words: `16. November 2026`."""
        return str(format_date(day, "long", self.locale))

    def stamp(self, when: datetime.date) -> str:
        """A day or moment of the data, in figures: `16.11.2026 21:45`; seconds only where there are some."""
        day = str(format_date(when, "medium", self.locale))
        if not isinstance(when, datetime.datetime):
            return day
        time = format_time(when.time(), "medium" if when.second else "short", locale=self.locale)
        return f"{day} {time} {when:%Z}".rstrip()

    def moment(self, when: datetime.datetime) -> str:
        """A moment in words."""
        return str(format_datetime(when, "long", tzinfo=when.tzinfo, locale=self.locale))


@lru_cache(_KEPT)  # a page shows the same numbers in many sentences, and Babel takes its time for each
def _number(locale: Locale, text: str, grouped: bool) -> str:
    if power := _EXPONENT.fullmatch(text):
        return f"{_number(locale, power[1], False)}{power[2]}"
    found = _NUMBER.fullmatch(text)
    if not found:
        return text
    pattern = copy(locale.decimal_formats[None])
    decimals = len(found[1] or "")
    pattern.frac_prec = (decimals, decimals)
    return str(pattern.apply(Decimal(text), locale, decimal_quantization=False, group_separator=grouped))


@lru_cache(_KEPT)
def _currency_sign(locale: Locale | str, currency: str) -> str:
    return str(get_currency_symbol(currency, locale))


@lru_cache(_KEPT)
def is_currency_code(code: str) -> bool:
    """Whether a code is that of a currency.

    >>> is_currency_code("EUR"), is_currency_code("BMI")
    (True, False)
    """
    return bool(is_currency(code, _ENGLISH))


def english_currency_sign(code: str) -> str:
    """The sign of a code in English.

    >>> english_currency_sign("EUR"), english_currency_sign("kWh")
    ('€', 'kWh')
    """
    return _currency_sign("en", code)


def english_date(day: datetime.date) -> str:
    """A day in English.

    >>> english_date(datetime.date(2026, 11, 16))
    '16 November 2026'
    """
    return str(format_date(day, "long", _ENGLISH))


def read_catalogue(path: str | None, code: str | None) -> LocaleCatalogue:
    """The catalogue of a `.po` file.

    Parameters
    ----------
    path : of the file; None for English phrases.
    code : of language and region; None for what the file says of itself, or its name.
    """
    if path is None:
        return LocaleCatalogue(_locale(code or "", "the language"), NullTranslations())
    stored = _read(Path(path))
    locale = _locale(code or str(stored.locale or Path(path).stem), f"the file {path!r}")
    compiled = io.BytesIO()
    write_mo(compiled, stored)
    compiled.seek(0)
    return LocaleCatalogue(locale, GNUTranslations(compiled))


def _read(path: Path) -> Any:
    """The entries of a file, checked."""
    try:
        with path.open("rb") as file:
            stored = read_po(file, abort_invalid=True)
    except FileNotFoundError:
        raise StorageError(f"There is no file {str(path)!r} of phrases. Give the path of a .po file.") from None
    except (PoFileError, UnicodeError, ValueError) as error:
        raise StorageError(f"{str(path)!r} is no readable .po file: {error}. Mend it: `msgfmt` tells where.") from error
    for problem in _misfits(stored):
        raise StorageError(f"{str(path)!r}: {problem}")
    return stored


def _misfits(stored: Any) -> Iterator[str]:
    """Translations with places that their phrases do not have."""
    for message in stored:
        ids = message.id if isinstance(message.id, tuple) else (message.id,)
        strings = message.string if isinstance(message.string, tuple) else (message.string,)
        if not message.id or message.fuzzy:
            continue
        allowed = set().union(*map(places, ids))
        for string in strings:
            if strange := sorted(places(string) - allowed):
                yield (
                    f"the translation {string!r} of {ids[0]!r} has the places {strange}; allowed are "
                    f"{sorted(allowed)}. Correct it."
                )


def places(phrase: str) -> set[str]:
    """The places in braces of a phrase.

    >>> sorted(places("{n:,} of {all} shown"))
    ['all', 'n']
    """
    try:
        return {name for _, name, _, _ in Formatter().parse(phrase) if name is not None}
    except ValueError:
        return {phrase}  # a brace without its other half: no place that is allowed


def _locale(code: str, what: str) -> Locale:
    try:
        return Locale.parse(code.replace("-", "_"))
    except (UnknownLocaleError, ValueError) as error:
        raise StorageError(
            f"No locale is known for {what}: {error}. Name it by a code such as 'nl' or 'de-AT', in the name of the "
            "file or in its line Language."
        ) from error
