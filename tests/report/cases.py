"""Results to report on: real explanations of a small table, and results whose every text is hostile."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from countarfactuals import ARFExplainer, Constraints, Counterfactuals, CounterfactualsBatch, Target, report
from countarfactuals.arf import AdversarialRandomForest
from countarfactuals.counterfactuals import Diagnosis

from ..counterfactuals.examples import probabilities, result

RUN = "window.hacked=(window.hacked||0)+1"
HOSTILE = [
    f"<script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f"<!--<script>{RUN}//",
    f'"><img src=x onerror="{RUN}">',
    f"'><svg/onload={RUN}>",
    f"</style></title></caption></textarea><img src=x onerror={RUN}>",
    f"\u2028{RUN}\u2029",
    f"]]>{RUN}",
    f"javascript:{RUN}",
    f"${{{RUN}}}",
    "&lt;img src=x onerror=alert(1)&gt;",
    "\x00\x1b[31m\u202e",
    "http://127.0.0.1:9/a.png",
    "W" * 300,
]
BROKEN = "half a character: \ud800"  # frames can not hold it, sentences can


@cache
def explained() -> tuple[ARFExplainer, Counterfactuals, CounterfactualsBatch]:
    """An explainer, one explanation and a batch in which rows succeed, fail and need nothing."""
    rng = np.random.default_rng(1)
    n = 300
    frame = pd.DataFrame(
        {
            "income": (rng.gamma(4, 9000, n)).round(2),
            "duration": rng.integers(6, 60, n),
            "housing": rng.choice(["own", "rent", "free"], n),
            "owner": rng.random(n) < 0.5,
        }
    )

    def features(rows: pd.DataFrame) -> np.ndarray:
        return np.c_[rows["income"] / 20000, rows["duration"] / 20, rows["housing"] == "own", rows["owner"]]

    good = features(frame) @ [1.0, -1.0, 0.7, 0.3] + rng.normal(size=n) / 2 > 0.5
    model = LogisticRegression().fit(features(frame), good)

    def ask(rows: pd.DataFrame) -> np.ndarray:
        return model.predict_proba(features(rows))

    explainer = ARFExplainer(
        ask,
        classes=["bad", "good"],
        density=AdversarialRandomForest(n_estimators=10),
        max_evaluations=150,
        random_state=1,
    ).fit(frame)
    predicted = ask(frame)[:, 1]
    bad, fine = frame[(predicted > 0.2) & (predicted < 0.4)], frame[predicted > 0.9]
    one = explainer.explain(bad.iloc[[0]], Target("good"))
    rows = pd.concat([bad.head(4), fine.head(1), frame.iloc[[int(predicted.argmin())]]])
    tight = Constraints(fixed=["owner", "duration"], ranges={"income": (None, 45000)}, direction={"income": "increase"})
    batch = explainer.explain_many(rows, Target("good"), tight, progress=False)
    return explainer, one, batch


@cache
def pictured() -> str:
    """The report on the one explanation, with all pictures."""
    explainer, one, _ = explained()
    return report.to_html(one, explainer)


def hostile(**changes: Any) -> Counterfactuals:
    """A result in which every name, level, label, sentence and setting is hostile."""
    n = len(HOSTILE)
    columns: dict[str, Any] = {text: [text, *([HOSTILE[(j + 1) % n]] * 4)] for j, text in enumerate(HOSTILE)}
    frame = pd.DataFrame(columns | {"number": [1.5, 2.5, 3.5, 4.5, np.nan]})
    for j, name in enumerate(HOSTILE):  # not all cells change
        frame.loc[1 + j % 4, name] = name
    fields: dict[str, Any] = {
        "target": Target(HOSTILE[2]),
        "method": HOSTILE[1],
        "score_columns": probabilities(HOSTILE[2]),
        "x_label": HOSTILE[3],
        "labels": HOSTILE[:4],
        "objectives": {"distance": np.arange(4.0), HOSTILE[4]: np.arange(4.0)[::-1], HOSTILE[1]: np.ones(4)},
        "notes": (*HOSTILE, BROKEN),
        "constraints": Constraints(fixed=HOSTILE[:3], allowed={HOSTILE[3]: [HOSTILE[4]]}),
        "provenance": {
            "model": HOSTILE[5],
            "countarfactuals": HOSTILE[0],
            "seed": HOSTILE[1],
            "settings": {text: HOSTILE for text in HOSTILE},
        },
        "measure": HOSTILE[3],
    }
    return result(frame, **{**fields, **changes})


def hostile_empty(status: str) -> Counterfactuals:
    """A hostile result without rows."""
    made = hostile()
    known: dict[str, Any] = {"error": HOSTILE[0]} if status == "error" else {}
    if status == "none":
        counts = {text: 2 for text in HOSTILE}
        known["diagnosis"] = Diagnosis(20, 3, counts, made.rows[0], np.array([0.4]), 0.1, counts)
    return Counterfactuals.empty(
        made.schema,
        made.x,
        target=made.target,
        method=made.method,
        status=status,
        score_columns=made.score_columns,
        x_scores=[0.3],
        x_label=made.x_label,
        objectives=tuple(made.objectives),
        notes=made.notes,
        constraints=made.constraints,
        provenance=made.provenance,
        **known,
    )


def hostile_batch() -> CounterfactualsBatch:
    results = [hostile(), *(hostile_empty(status) for status in ("none", "error", "already"))]
    return CounterfactualsBatch(tuple(results), tuple(HOSTILE[:4]), tuple(HOSTILE))


OPTIONS: dict[str, Any] = {"title": HOSTILE[1], "rows": (HOSTILE[0], HOSTILE[3]), "outcome": HOSTILE[4]}
HOSTILE_UNITS = {text: HOSTILE[3] for text in HOSTILE[:5]} | {"number": HOSTILE[1]}
