"""What is said where nothing was found: which constraint, the budget, or that real rows would do."""

from __future__ import annotations

import numpy as np
import pandas as pd

from countarfactuals import make_explainer

from . import income_table as income


def test_what_whatif_says_of_lifting_is_true():
    rng = np.random.default_rng(4)
    data = pd.DataFrame(rng.integers(0, 3, (200, 3)), columns=list("abc"))
    settings = {"classes": ("no", "yes"), "density": income.FOREST, "random_state": 1}
    explainer = make_explainer("whatif", lambda frame: (frame["a"] > 1) * 1.0, **settings).fit(data)
    one = data[data["a"] == 0].iloc[[0]]
    tight = {"fixed": ["a"], "ranges": {"b": (0, 1)}}
    result = explainer.explain(one, constraints=tight)
    assert result.status == "none"
    assert set(result.diagnosis.lifting) == {"fixed: a"}
    assert len(explainer.explain(one, constraints={"ranges": tight["ranges"]}))
    both = explainer.explain(one, constraints={"fixed": ["a"], "max_changed": 0 + 1, "groups": [["b", "c"]]})
    for name in both.diagnosis.lifting:
        assert name == "fixed: a"


def test_without_evaluations_the_budget_is_to_blame():
    text = str(income.fit("arf", max_evaluations=1).explain(income.x))
    assert "max_evaluations" in text
    assert "looser conditions" not in text


def test_real_rows_that_would_do_are_told():
    rare = income.X["inc"].nlargest(2).min()
    settings = {"classes": ("no", "yes"), "density": income.FOREST, "random_state": 1, "max_evaluations": 60}
    explainer = make_explainer("moc", lambda frame: (frame["inc"] >= rare) * 1.0, **settings).fit(income.X)
    result = explainer.explain(income.X[income.X["inc"] < 1000].iloc[[0]])
    if result.status == "none":  # by chance it may find one
        assert result.diagnosis.n_real == 2
        assert "2 rows of the data lead there" in result.diagnosis.text(result)
