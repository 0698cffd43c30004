"""How well plausibility can be judged on a table, in plain words; the one place for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from countarfactuals.language import tr
from countarfactuals.language.spelling import joined

_NAMES = {
    "forest": "an adversarial random forest",
    "mixture": "a mixture of Gaussians",
    "conditionals": "models of each column given the others",
}
_MEASURES = (
    "median of the trees' log densities",
    "log density",
    "log density of a Gaussian mixture",
    "mean log density of several judges",
    "distance to the nearest real row",
)
# by the least share of pairs in which the real row is preferred
_HOW_WELL = (
    (0.8, "Plausibility can be judged well here: {figures}."),
    (0.65, "Plausibility can be judged fairly here: {figures}."),
    (-1.0, "Plausibility can hardly be judged here: {figures}."),
)


def measure_text(measure: str) -> str:
    """What plausibility is measured by; a user's own words stay."""
    return next((tr(name) for name in _MEASURES if name == measure), measure)


def judgement(summary: Mapping[str, Any]) -> list[str]:
    """Who judges and how well, as sentences, from `Plausibility.summary`.

    >>> judgement({"seats": ["mixture", "conditionals"], "far": 0.93, "near": 0.85})[1]
    'Plausibility can be judged well here: of a real row and one mixed with another row, 93 % of the time the real one \
is preferred (85 % if the two are alike; 50 % would be guessing).'
    """
    names = [tr(_NAMES.get(seat, str(seat))) for seat in summary.get("seats", ())]
    sentences = [tr("Plausibility is judged by {judges}.", judges=joined(names))]
    far, near = summary.get("far"), summary.get("near")
    if not isinstance(far, float) or not isinstance(near, float):
        return sentences
    how = next(phrase for least, phrase in _HOW_WELL if far >= least)
    figures = tr(
        "of a real row and one mixed with another row, {far} % of the time the real one is preferred ({near} % if the "
        "two are alike; 50 % would be guessing)",
        far=f"{100 * far:.0f}", near=f"{100 * near:.0f}",
    )  # fmt: skip
    return [*sentences, tr(how, figures=figures)]
