"""A language without a letter of English, to find words that no catalogue can reach."""

from __future__ import annotations

import re

from countarfactuals.language import Catalogue


class Pseudo(Catalogue):
    """Letters of every phrase are replaced, its places in braces kept."""

    def phrase(self, english: str) -> str:
        return re.sub(r"\{[^}]*\}|[A-Za-z]", lambda found: found[0] if len(found[0]) > 1 else "ж", english)


PSEUDO = Pseudo("xx")
