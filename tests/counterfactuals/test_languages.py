"""Every word of tables and sentences can be translated: in a language without a letter of English none is left."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from countarfactuals.constraints import Constraints
from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch, Diagnosis, Note, Oddity
from countarfactuals.counterfactuals.remarks import BEYOND, EXTRAPOLATES, GAP, GAPS, NOWHERE, OBSERVED
from countarfactuals.language import speaking
from countarfactuals.language.vocabulary import TEXT, words_of
from countarfactuals.prediction import Target

from ..pseudo import PSEUDO
from .examples import REGRESSION, margins, probabilities, result

# what users call things, and names of our own that are the same in every language
OWN = {
    "Counterfactuals",
    "CounterfactualsBatch",
    "P",
    "arf",
    "x",
    "True",
    "False",
    "max",
    "changed",
    "ARF",
    "NICE",
    "MOCARF",
}
NAMES = ["Ä1", "Ä2", "Ä3", "Ä4"]


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {"Ä1": [1, 2, 3, 1], "Ä2": ["ü", "ö", "ü", None], "Ä3": [True, False, True, True], "Ä4": [4, 5, 6, 7]}
    )


def made(**changes) -> Counterfactuals:
    fields = {
        "target": Target("Ö"),
        "score_columns": probabilities("Ö"),
        "x_label": "Ü",
        "labels": ["Ö"] * 3,
        "is_real_row": [True, False, False],
        "typicality": [0.004, 0.03, 0.5],
        "typicality_range": [[0, 0.1], [0, 0.1], [0.1, 0.9]],
        "oddities": [[Oddity(0, 1, 0.01)], [Oddity(1, None, 0.01)], []],
        "notes": [Note(OBSERVED), Note(EXTRAPOLATES), Note(NOWHERE), Note(GAP, ("Ä1",)), Note(GAPS, ("Ä1", "Ä2")),
                  Note(BEYOND, ("Ä1",), {"own": 9, "low": 1, "high": 3})],
        "constraints": Constraints(
            fixed=["Ä3"], ranges={"Ä1": (None, 7)}, allowed={"Ä2": ["ü"]}, max_changed=2, groups=[["Ä1", "Ä2"]],
            direction={"Ä1": "increase"}, rules=[("Ä1", "<=", "Ä4")], weights={"Ä1": 2.0}, allow_missing=True,
        ),
    }  # fmt: skip
    return result(frame(), **{**fields, **changes})


def empty(status: str, **fields) -> Counterfactuals:
    of = made()
    given = {"target": of.target, "score_columns": of.score_columns, "x_scores": [0.3], "x_label": "Ü"}
    given |= {"constraints": of.constraints, **fields}
    return Counterfactuals.empty(of.schema, of.x, method="arf", status=status, **given)


def diagnoses() -> list[Diagnosis]:
    row, scores, names = made().rows[0], np.array([0.4]), {"max_changed": 3, "range: Ä1": 2, "fixed: Ä3": 1}
    return [
        Diagnosis(0),
        Diagnosis(0, is_spent=False),
        Diagnosis(9, 9),
        Diagnosis(9, 1, names, row, scores, 0.1, names),
        Diagnosis(9, 4, names, row, scores, 0.0),
        Diagnosis(9, 4, n_real=2),
    ]


RESULTS = {
    "found": made,
    "selected": lambda: made().select(1),
    "filtered": lambda: made().filter(max_changed=0),
    "range": lambda: made(target=Target("Ö", probability=(0.5, 1))),
    "margin": lambda: made(target=Target("Ö", above=0.5), score_columns=margins("Ö")),
    "several": lambda: made(score_columns=probabilities(*"ÖÜÄÉ"), x_scores=[0.2] * 4, scores=[[0.2] * 4] * 3),
    "number": lambda: made(score_columns=REGRESSION, target=Target(above=2), labels=[1.0] * 3, x_label=0.5),
    "already": lambda: empty("already"),
    "silent": lambda: empty("none"),
    **{f"none {k}": lambda one=one: empty("none", diagnosis=one) for k, one in enumerate(diagnoses())},
}


def english(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z]+", re.sub(r"<[^>]*>|&\w+;|&#x27;", " ", text))) - OWN


@pytest.mark.parametrize("name", RESULTS)
def test_tables_and_sentences_have_no_english_left(name: str) -> None:
    shown = RESULTS[name]()
    words = words_of(NAMES, {"Ä1": "€"}, ("Ä", "ÄÄ"), None, TEXT)
    assert english(repr(shown))
    with speaking(PSEUDO):
        for text in (shown.describe(None, rows=("Ä", "ÄÄ")), *map(str, shown.notes)):
            assert english(text) == set()
        if shown.diagnosis is None:
            assert english(repr(shown)) == english(shown._repr_html_()) == set()
        else:  # in Python's words, constraints and settings have the names that Python knows
            assert english(shown.diagnosis.text(shown, words)) == set()


def test_batches_have_no_english_left() -> None:
    batch = CounterfactualsBatch((made(), empty("already"), empty("error", error="Ö")), (1, 2, 3), (4,))
    with speaking(PSEUDO):
        assert english(repr(batch)) == set()
        assert english(batch._repr_html_()) == set()
