"""How well plausibility can be judged on a table, in plain words; the one place for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_NAMES = {
    "forest": "an adversarial random forest",
    "mixture": "a mixture of Gaussians",
    "conditionals": "models of each column given the others",
}
_WELL, _FAIRLY = 0.8, 0.65  # share of pairs in which the real row is preferred


def judgement(summary: Mapping[str, Any]) -> list[str]:
    """Who judges and how well, as sentences, from `Plausibility.summary`.

    >>> judgement({"seats": ["mixture", "conditionals"], "far": 0.93, "near": 0.85})[1]
    'Plausibility can be judged well here: of a real row and one mixed with another row, 93 % of the time the real one \
is preferred (85 % if the two are alike; 50 % would be guessing).'
    """
    names = [_NAMES.get(seat, str(seat)) for seat in summary.get("seats", ())]
    said = [f"Plausibility is judged by {' and '.join([', '.join(names[:-1]), names[-1]] if names[1:] else names)}."]
    far, near = summary.get("far"), summary.get("near")
    if not isinstance(far, float) or not isinstance(near, float):
        return said
    how = "well" if far >= _WELL else "fairly" if far >= _FAIRLY else "hardly"
    can = "can hardly be judged" if how == "hardly" else f"can be judged {how}"
    return [
        *said,
        f"Plausibility {can} here: of a real row and one mixed with another row, {100 * far:.0f} % of the time the "
        f"real one is preferred ({100 * near:.0f} % if the two are alike; 50 % would be guessing).",
    ]
