"""What the command line writes of results: options by their names, units, and what its folder knows."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import numpy as np
import pytest

from countarfactuals.cli.arguments import OPTIONS
from countarfactuals.cli.demo import _truth
from countarfactuals.cli.explain import facts_of, why_nothing
from countarfactuals.cli.formats import Output, formats
from countarfactuals.constraints import Constraints
from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch, Diagnosis
from countarfactuals.datasets import load_loan

from ..counterfactuals.examples import result
from .cases import explained

WORDS: dict[str, Any] = {"units": {"amount": "€"}, "rows": "applicants"}


def text_of(
    batch: CounterfactualsBatch, form: str, explainer: Any, top: int | None, outcome: str | None, **known: Any
) -> str:
    facts = facts_of(known.pop("meta", {}), date.today())
    output = Output(batch, explainer, top, outcome=outcome, facts=facts, options=OPTIONS, **known)
    return str(formats()[form].write(output))


def nothing() -> Counterfactuals:
    made = result()
    lifting = {"max_changed": 12, "range: amount": 2}
    diagnosis = Diagnosis(1000, 820, lifting, made.rows[0], np.array([0.48]), 0.02, lifting)
    return Counterfactuals.empty(
        made.schema,
        made.x,
        target=made.target,
        method="arf",
        status="none",
        score_columns=made.score_columns,
        x_scores=[0.3],
        x_label="bad",
        diagnosis=diagnosis,
        constraints=Constraints(ranges={"amount": (None, 4000)}, max_changed=1),
    )


@pytest.mark.parametrize("form", ["table", "sentences"])
def test_a_diagnosis_names_options(form: str) -> None:
    said = " ".join(text_of(CounterfactualsBatch((nothing(),), (0,)), form, None, None, "risk", **WORDS).split())
    assert "has amount €3,200.25 instead of €5,000.50" in said
    assert "“If amount changes, it becomes at most €4,000” (2 ways then)." in said
    assert "Try to do without “At most 1 feature may change” (--max-changed) or to relax it, try another" in said
    assert "range:" not in said
    assert "`" not in said
    assert why_nothing(nothing(), **WORDS) in said


def test_tables_and_sentences_of_what_was_found_are_the_librarys() -> None:
    made = result()
    batch = CounterfactualsBatch((made,), (0,))
    assert text_of(batch, "table", None, None, "risk", **WORDS) == f"{made!r}\n"
    assert text_of(batch, "sentences", None, 2, "risk", **WORDS) == f"{made.describe(2, outcome='risk', **WORDS)}\n"


@pytest.mark.parametrize("form", ["table", "sentences", "json", "csv", "html"])
def test_a_selection_says_so_in_every_format_for_people(form: str) -> None:
    said = text_of(CounterfactualsBatch((result(),), (0,)), form, None, 2, None)
    assert ("2 of 4 shown" in said) == (form in ("table", "html"))
    assert "2 found" not in said
    assert "2 counterfactuals were found" not in said
    assert ('"n_found": 4' in said) == (form == "json")


META = {
    "format": "countarfactuals.folder",
    "model_file": "model.joblib",
    "model_from": "mine.joblib",
    "model_sha256": "ab12",
    "model_summary": "accuracy 0.78",
    "data": "train.csv",
    "n_rows": 1500,
    "outcome": None,
    "date": "2026-05-04",
    "versions": {"python": "3.11", "countarfactuals": "0.1"},
    "classes": ["bad", "good"],
}
FACTS = {
    "Model file": "mine.joblib",
    "Model in the folder": "model.joblib",
    "SHA-256 of the model": "ab12",
    "Quality of the model": "accuracy 0.78",
    "Data file": "train.csv",
    "Rows of the data file": "1,500",
    "Fitted on": "4 May 2026",
    "Fitted with": "python 3.11, countarfactuals 0.1",
    "Report written on": "7 June 2026",
}


def test_what_the_folder_knows_is_told() -> None:
    assert facts_of(META, date(2026, 6, 7)) == FACTS
    assert facts_of({}, date(2026, 6, 7)) == {"Report written on": "7 June 2026"}


@pytest.mark.parametrize("n_rows", [1, 2])
def test_reports_have_units_rows_and_facts(n_rows: int) -> None:
    batch = CounterfactualsBatch(explained()[2].results[:n_rows], explained()[2].index[:n_rows])
    page = text_of(batch, "html", explained()[0], None, "risk", units={"income": "€"}, rows="applicants", meta=META)
    for value in FACTS.values():
        assert value == "7 June 2026" or value in page
    assert "ab12" in page
    assert re.search(r"€[\d,.]+", page)
    assert "real applicants" in page
    assert "predicted risk is" in page or "for risk" in page


def test_the_demo_writes_shares_like_everything_else(capsys: pytest.CaptureFixture[str]) -> None:
    loan = load_loan()
    _truth(loan, result(loan.X.head(5)))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    for line in lines:
        assert re.search(
            r"we say that \d+ % of real applicants are less typical, the true process says [<>]?\d+ %$", line
        )
