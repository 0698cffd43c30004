"""Words: made once, at the edge, by this package alone.

- `catalogue`: what an English phrase is in the language that is spoken, and how that writes numbers.
- `languages`: which languages there are; `catalogues/` has one gettext file for each.
- `localised`: languages other than English, by gettext and Babel.
- `extraction`: every phrase of the package, for those who translate.
- `spelling`: cells, changes, scores and names as text.
- `vocabulary`: what a user calls columns, rows and the outcome, units, and how a format escapes all that.
"""

from countarfactuals.language.catalogue import ENGLISH, Catalogue, Language, counted, speaking, spoken, tr
from countarfactuals.language.languages import catalogue_of, languages

__all__ = [
    "ENGLISH",
    "Catalogue",
    "Language",
    "catalogue_of",
    "counted",
    "languages",
    "speaking",
    "spoken",
    "tr",
]
