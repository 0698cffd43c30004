"""What names of columns suggest: told with reasons, never applied."""

from __future__ import annotations

import pandas as pd
import pytest

from countarfactuals import Constraints, suggest_constraints
from countarfactuals.exceptions import DataTypeError
from countarfactuals.schema import Schema

ORDERED = pd.CategoricalDtype(["primary", "university"], ordered=True)
FRAME = pd.DataFrame(
    {
        "Age": [30, 40],
        "applicantSex": ["f", "m"],
        "birth_country": ["a", "b"],
        "YearBuilt": [1970, 1988],
        "education": pd.Series(["primary", "university"], dtype=ORDERED),
        "tenure_months": [3, 30],
        "employment_status": ["yes", "no"],
        "income": [1.5, 2.5],
        "usage": [1, 2],
        "mortgage": [1, 2],
    }
)


def test_by_whole_words_only():
    found = {s.column: (s.kind, s.value) for s in suggest_constraints(Schema.infer(FRAME))}
    assert found == {
        "Age": ("direction", "increase"),
        "applicantSex": ("fixed", None),
        "birth_country": ("fixed", None),
        "YearBuilt": ("fixed", None),
        "education": ("direction", "increase"),
        "tenure_months": ("direction", "increase"),
    }


def test_each_can_be_said_and_has_a_reason():
    schema = Schema.infer(FRAME)
    for suggestion in suggest_constraints(schema):
        assert suggestion.reason in str(suggestion)
        said = [suggestion.column] if suggestion.kind == "fixed" else {suggestion.column: suggestion.value}
        Constraints(**{suggestion.kind: said}).bind(schema, schema.encode(FRAME)[0])


def test_of_something_else():
    with pytest.raises(DataTypeError, match=r"Schema\.infer"):
        suggest_constraints("age")
