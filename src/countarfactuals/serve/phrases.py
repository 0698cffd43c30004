"""The phrases of the page in a language, for its scripts.

1. The page's scripts say English phrases by `tr` and `counted`, as Python does; `language.extraction` finds them.
2. A language is handed out as plain data: translations by English phrase; and of phrases for one thing and for several,
   by that for several, a text for each category of numbers that the language has, such as "one" and "other".
3. English is the key and needs none.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from countarfactuals.language import ENGLISH, Catalogue, catalogue_of
from countarfactuals.language.extraction import Phrase, extracted

PAGE = Path(__file__).with_name("page")
_NUMBERS = range(101)  # among which every category of numbers has one


@cache
def spoken_by_page() -> tuple[Phrase, ...]:
    """All that the page says."""
    return tuple(extracted(PAGE).phrases)


def page_phrases(code: str) -> dict[str, dict[str, Any]]:
    """What the page says in a language.

    >>> german = page_phrases("de")
    >>> german["phrases"]["Ways there"], german["plurals"]["{n} changes"]
    ('Wege dorthin', {'other': '{n} Änderungen', 'one': '{n} Änderung'})
    """
    catalogue = catalogue_of(code)
    if catalogue.code == ENGLISH.code:
        return {"phrases": {}, "plurals": {}}
    return {
        "phrases": {said.one: catalogue.phrase(said.one) for said in spoken_by_page() if said.several is None},
        "plurals": {
            said.several: _forms(catalogue, said.one, said.several)
            for said in spoken_by_page()
            if said.several is not None
        },
    }


def _forms(catalogue: Catalogue, one: str, several: str) -> dict[str, str]:
    """The phrase by category of numbers."""
    from babel import Locale

    category = Locale.parse(catalogue.code, sep="-").plural_form
    return {category(n): catalogue.plural(n, one, several) for n in _NUMBERS}
