"""Plain names for columns and levels: in all that people read, and in nothing that programs read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.text import Text

from countarfactuals import AdversarialRandomForest, ARFExplainer, Constraints, Counterfactuals, plotting
from countarfactuals.counterfactuals import CounterfactualsBatch
from countarfactuals.exceptions import ParameterError
from countarfactuals.plotting.changes import frequency_info
from countarfactuals.report import to_html

from .examples import result

LABELS = {
    "amount": "sum of the loan",
    "grade": ("school grade", {"high": "very good"}),
    "job": {"clerk": "in an office"},
}
MADE = result()


def test_in_all_that_people_read():
    labelled = MADE.labelled(LABELS)
    for text in (str(labelled), labelled.describe(None), MADE.describe(None, labels=LABELS)):
        assert "sum of the loan" in text
        assert "very good" in text
    page = to_html(MADE, labels={"amount": "<i>sum</i>"}, pictures=False)
    assert "&lt;i&gt;sum&lt;/i&gt;" in page
    assert "<i>sum</i>" not in page
    assert "sum of the loan" in str(frequency_info([labelled]))


def test_in_nothing_that_programs_read():
    labelled = MADE.labelled(LABELS)
    assert labelled.to_frame().equals(MADE.to_frame())
    assert labelled.changes().equals(MADE.changes())
    assert labelled.schema == MADE.schema


def test_json_keeps_them():
    labelled = MADE.labelled(LABELS)
    again = Counterfactuals.from_json(labelled.to_json())
    assert str(again) == str(labelled) != str(MADE)
    assert "label" not in json.loads(MADE.to_json())["schema"]["columns"][0]


def test_constraints_speak_by_them():
    schema = MADE.labelled(LABELS).schema
    said = Constraints(fixed=["amount"], allowed={"grade": ["high"]}).describe(schema=schema)
    assert said == ["'sum of the loan' does not change.", "If 'school grade' changes, it becomes 'very good'."]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"amuont": "x"}, "`labels` names 'amuont', which is no column.*'amount'"),
        ({"grade": {"hihg": "x"}}, "names the level 'hihg'.*'high'"),
        ({"amount": {"1": "x"}}, "which have no labels"),
        ({"amount": 3}, "must be a text, a dict from levels to texts, or a pair of both; got 3"),
        ({"amount": " "}, "must be a text"),
        (["amount"], "must be a dict of names by column"),
    ],
)
def test_refused(labels, message):
    with pytest.raises(ParameterError, match=message):
        MADE.labelled(labels)


@cache
def explained() -> tuple[ARFExplainer, CounterfactualsBatch]:
    """An explainer that was given no labels, and what it found for three rows, which are."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"zzq": rng.normal(size=150), "xxk": rng.normal(size=150), "vvj": rng.choice(["uuw", "uum"], 150)})
    forest = AdversarialRandomForest(n_estimators=5)
    explainer = ARFExplainer(
        lambda frame: 1 / (1 + np.exp(-frame["zzq"] - frame["xxk"])),
        classes=("no", "yes"),
        density=forest,
        max_evaluations=100,
        random_state=1,
    ).fit(X)
    found = explainer.explain_many(X[X["zzq"] + X["xxk"] < -1].head(3), "yes", {"fixed": ["vvj"]}, progress=False)
    return explainer, found.labelled(NAMES)


NAMES = {"zzq": "heat", "xxk": "light", "vvj": ("place", {"uuw": "inside", "uum": "outside"})}


def seen(ax: Axes) -> str:
    return " ".join(text.get_text() for text in ax.figure.findobj(Text))


OUTPUTS: dict[str, Callable[[ARFExplainer, CounterfactualsBatch], str]] = {
    "letter": lambda explainer, batch: batch[0].letter(explainer, protected=["vvj"]).to_text(),
    "report": lambda explainer, batch: batch[0].to_html(explainer, pictures=False),
    "reports": lambda explainer, batch: batch.to_html(explainer, by="vvj", pictures=False),
    "recourse": lambda explainer, batch: f"{batch.recourse('vvj')}\n{batch.recourse('vvj').describe()} heat",
    "ways": lambda explainer, batch: str(explainer.common_ways(batch, min_typicality=0.0)),
    "picture of changes": lambda explainer, batch: seen(plotting.plot_change_table(batch[0])),
    "parallel": lambda explainer, batch: seen(plotting.plot_parallel(batch[0])),
    "frequency": lambda explainer, batch: seen(plotting.plot_frequency(batch)),
    "how far": lambda explainer, batch: seen(plotting.plot_change_importance(batch)),
    "curves": lambda explainer, batch: seen(plotting.plot_ice(batch[0], explainer).figure.axes[0]),
    "bars": lambda explainer, batch: seen(plotting.plot_importance(batch[0], explainer)),
    "surface": lambda explainer, batch: seen(plotting.plot_surface(batch[0], explainer)),
}


@pytest.mark.parametrize("output", OUTPUTS)
def test_labels_are_in_every_output(output):
    text = OUTPUTS[output](*explained())
    assert "heat" in text or "light" in text
    # what programs read keeps the names of the data: ids and keys of a report are in its tags
    assert not re.search(r"zzq|xxk|vvj|uuw|uum", re.sub(r"<script.*?</script>|<[^>]*>", " ", text, flags=re.DOTALL))
