"""Constraints, and conditions of the explainer itself, as readers know them; plain text, escaped by who shows it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from countarfactuals.constraints import Clause, Constraints, clause_text
from countarfactuals.language import tr
from countarfactuals.language.spelling import one_line, share_text
from countarfactuals.language.vocabulary import Words

if TYPE_CHECKING:
    from countarfactuals.counterfactuals.result import Counterfactuals

_CONDITIONS = {
    "min_typicality": "counterfactuals are as plausible as was asked",
    "allow_real_rows": "rows of the data are not handed out",
    "relations": "what all rows of the data keep is kept",
}


def constraint_text(name: str, result: Counterfactuals, words: Words) -> str:
    """A constraint by its name in a diagnosis, in a few words without a full stop."""
    clause = _clause(name, result)
    if clause is not None:
        return clause_text(clause, words, result.schema)
    settings = result.provenance.get("settings")
    least = settings.get(name) if isinstance(settings, dict) else None
    if name == "min_typicality" and isinstance(least, int | float) and not math.isnan(least):
        share, rows = share_text(float(least)), words.plain.rows[1]
        return tr("at least {share} of real {rows} are less plausible", share=share, rows=rows)
    return tr(_CONDITIONS[name]) if name in _CONDITIONS else one_line(name)


def n_kept(result: Counterfactuals) -> int:
    """How many columns the constraints let no row change."""
    if (limits := result.limits) is None:
        return 0
    free = Constraints().bind(result.schema, result.x)  # a column of one level can not change anyway
    return int((free.may_change & ~limits.may_change).sum())


def _clause(name: str, result: Counterfactuals) -> Clause | None:
    """What a name stands for; one that was read from a file is found among those of the stored constraints."""
    if isinstance(name, Clause):
        return name
    limits = result.limits
    return next((clause for clause in limits.names if clause == name), None) if limits else None
