"""Which languages there are: one file of phrases each, `catalogues/de.po`, and English, which is the key.

1. `catalogue_of("de")` reads `catalogues/de.po`; "de-AT" takes the same phrases with Austria's numbers and dates.
2. A language is added by one file: in that folder, or anywhere else if its path is given instead of a code.
3. A file is read once, and its phrases are compared with their keys: a place in braces that a phrase does not have
   would fail later, in the middle of a page.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from countarfactuals.exceptions import ParameterError, Setting, did_you_mean, listed
from countarfactuals.language.catalogue import ENGLISH, Catalogue, Language

if TYPE_CHECKING:
    from countarfactuals.language.localised import LocaleCatalogue

FOLDER = Path(__file__).with_name("catalogues")
_SUFFIX = ".po"


def languages() -> tuple[str, ...]:
    """The codes of all languages that are there.

    >>> languages()
    ('de', 'en')
    """
    return tuple(sorted({ENGLISH.code, *(path.stem for path in FOLDER.glob(f"*{_SUFFIX}"))}))


def catalogue_of(language: Language) -> Catalogue:
    """The catalogue of a language.

    Parameters
    ----------
    language : a code such as "de", with a region as in "de-AT" or "en-US"; the path of a `.po` file; or a catalogue.

    >>> catalogue_of("de").phrase("yes")
    'ja'
    """
    if isinstance(language, Catalogue):
        return language
    if not isinstance(language, str | os.PathLike) or not os.fspath(language):
        raise _unknown(language)
    name = os.fspath(language)
    if name.endswith(_SUFFIX):
        return _of_file(os.path.abspath(name), None)
    return _of_code(name)


def _of_code(name: str) -> Catalogue:
    """Of a code, whose region says how numbers and dates are written."""
    parts = name.replace("_", "-").split("-")
    code = parts[0].lower()
    if code not in languages():
        raise _unknown(name)
    if len(parts) == 1 and code == ENGLISH.code:
        return ENGLISH
    return _of_file(None if code == ENGLISH.code else str(FOLDER / f"{code}{_SUFFIX}"), "-".join([code, *parts[1:]]))


@cache
def _of_file(path: str | None, code: str | None) -> LocaleCatalogue:
    # only here: who reads English needs no package for other languages
    from countarfactuals.language.localised import read_catalogue

    return read_catalogue(path, code)


def _unknown(language: Any) -> ParameterError:
    return ParameterError(
        "{parameter} must be a known language, the path of a .po file or a Catalogue, got {got!r}; known: {allowed}, "
        "also with a region as in 'de-AT'.{hint} Another one is added by a .po file.",
        parameter=Setting("language"),
        got=language,
        allowed=listed(languages()),
        hint=did_you_mean(language, languages()),
    )
