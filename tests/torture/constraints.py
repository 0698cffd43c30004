"""Counterfactuals of every method under constraints that are drawn at random, each row judged by slow code of its own.

1. Rows, constraints and the judge are those of `tests/contracts/test_random_constraints.py`.
2. Questions are drawn by hypothesis until every method has handed out its part of the rows.
3. A row violates if a constraint is broken, the model does not give the outcome, or it is the row itself.

Run it: `python -m tests.torture.constraints 1000`
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st

from countarfactuals import Constraints
from tests.constraints.twin import Case, judge
from tests.contracts.methods import METHODS
from tests.contracts.tables import records
from tests.contracts.test_random_constraints import FRAME, fitted, questions

_AT_ONCE, _FRUITLESS = 25, 20


def attack(count: int, seed: int) -> dict[str, Any]:
    """How many rows of how many explanations violate what was asked, of at least `count` rows."""
    figures: Counter[str] = Counter({"rows": 0, "explanations": 0, "violations": 0})
    for method in METHODS:
        told: Counter[str] = Counter()
        for k in range(_FRUITLESS + count):
            if told["rows"] * len(METHODS) >= count:
                break
            _explain_some(method.name, min(_AT_ONCE, count), seed + k, told)
        figures += told
    return {"methods": len(METHODS), "violations": 0, **figures}


def _explain_some(name: str, n: int, seed: int, told: Counter[str]) -> None:
    explainer = fitted(name)
    schema, matrix, model = explainer.schema_, explainer.background_.matrix, explainer.model

    @settings(max_examples=n, phases=[Phase.generate], deadline=None, database=None, suppress_health_check=HealthCheck)
    @seeded(seed)
    @given(data=st.data())
    def explain(data: Any) -> None:
        at, said = data.draw(questions(schema, matrix))
        x = FRAME.iloc[[at]]
        result = explainer.explain(x, constraints=Constraints(**said))
        told["explanations"] += 1
        if not len(result):
            return
        frame = result.to_frame()
        case = Case(schema, matrix[at], result.rows, said)
        is_reached = (model(frame) > 0.5) == (model(x)[0] <= 0.5)
        for row, cells, reached in zip(schema.encode(frame), records(frame), is_reached, strict=True):
            told["rows"] += 1
            told["violations"] += not reached or cells == records(x)[0] or any(judge(case, row).values())

    explain()


if __name__ == "__main__":
    print(attack(int(sys.argv[1]), seed=1))
