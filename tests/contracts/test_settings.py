"""Parameters of explainers: understood, kept, refused, and forgotten with the data that they came from."""

from __future__ import annotations

import numpy as np
import pytest

from countarfactuals import make_explainer
from countarfactuals.exceptions import ModelError, ParameterError

from . import income_table as income


def test_distances_are_understood_by_their_labels():
    def distance(rows, one):
        return (rows["inc"] - one["inc"].iloc[0]).abs().sort_values()

    result = income.fit("arf", distance=distance).explain(income.x)
    expected = (result.to_frame()["inc"] - income.x["inc"].iloc[0]).abs()
    np.testing.assert_allclose(result.objectives["distance"], expected)
    with pytest.raises(ModelError, match="labels are not those"):
        income.fit("arf", distance=lambda rows, one: distance(rows, one).iloc[:1]).explain(income.x)


@pytest.mark.parametrize(
    ("method", "parameters", "message"),
    [
        (["arf"], {}, "There is no method"),
        ("arf", {"max_evaluation": 3}, "has no parameter 'max_evaluation'.*Did you mean 'max_evaluations'"),
    ],
)
def test_wrong_names_are_told(method, parameters, message):
    with pytest.raises(ParameterError, match=message):
        make_explainer(method, income.model, **parameters)


def test_nice_forgets_what_it_knew_of_other_data():
    settings = {"classes": ("no", "yes"), "density": income.FOREST}
    y = np.where(income.model(income.X) > 0.5, "yes", "no")
    first = make_explainer("nice", income.model, only_correct=True, random_state=5, **settings).fit(income.X, y)
    fewer = make_explainer("nice", income.model, random_state=5, **settings).fit(income.X.head(100))
    with pytest.raises(ParameterError, match="needs y"):
        first.fit_like(fewer)
    again = make_explainer("nice", income.model, reward="plausibility", random_state=5, **settings).fit_like(first)
    rows = first.background_.matrix[:5]
    again.reconstruction_error(rows)
    changed_seed = again.set_params(random_state=6).fit_like(first).reconstruction_error(rows)
    fresh = make_explainer("nice", income.model, reward="plausibility", random_state=6, **settings).fit_like(first)
    np.testing.assert_array_equal(changed_seed, fresh.reconstruction_error(rows))


def test_settings_of_numpy_are_kept(tmp_path):
    explainer = income.fit("moc", max_evaluations=np.int64(80), n_neighbours=2, neighbour_weights=np.array([0.6, 0.4]))
    assert explainer.explain(income.x).provenance["settings"]["max_evaluations"] == 80
    explainer.save(tmp_path / "explainer")
    again = type(explainer).load(tmp_path / "explainer", income.model)
    np.testing.assert_array_equal(again.explain(income.x).rows, explainer.explain(income.x).rows)
