"""The settings of the study."""

from __future__ import annotations

from dataclasses import replace

import pytest

from countarfactuals.datasets.paper import PAPER_SETS
from countarfactuals.exceptions import ParameterError
from countarfactuals.study.design import METHODS, PRESETS, Design


def settings(design: Design, method: str, n_features: int) -> dict[str, object]:
    explainer = design.explainer(method, len, n_features)
    parameters = explainer.get_params(deep=False)
    return {**parameters, "density": parameters["density"].get_params(), "class": type(explainer).__name__}


@pytest.mark.parametrize("preset", PRESETS)
def test_all_methods_share_forest_measure_budget_and_seed(preset: str) -> None:
    design = Design(preset=preset, seed=7, max_evaluations=500)
    common = ("density", "measure", "max_evaluations", "random_state", "n_jobs")
    every = [settings(design, method, 9) for method in METHODS]
    for other in every[1:]:
        assert {name: other[name] for name in common} == {name: every[0][name] for name in common}
    assert every[0]["max_evaluations"] == 500
    assert every[0]["random_state"] == 7
    assert len({one["class"] for one in every}) == len(METHODS)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("method", METHODS)
def test_settings_know_nothing_of_the_data_but_its_width(preset: str, method: str) -> None:
    design = Design(preset=preset)
    others = [replace(design, sets=(name,)) for name in PAPER_SETS]
    others += [replace(design, data="published"), replace(design, n_instances=3)]
    for other in others:
        assert settings(other, method, 4) == settings(design, method, 4)


def test_the_paper_preset_is_the_published_study() -> None:
    design = Design()
    assert design.preset == "paper"
    assert (design.n_instances, design.max_evaluations, design.methods, design.sets) == (10, 1000, METHODS, PAPER_SETS)
    arf = settings(design, "arf", 19)
    assert (arf["preset"], arf["measure"]) == ("paper", "density")
    forest = arf["density"]
    assert isinstance(forest, dict)
    assert (forest["n_estimators"], forest["min_samples_leaf"], forest["leaf_fit"]) == (10, 2, "moments")
    for method in ("moc", "mocarf", "mocctree"):
        known = settings(design, method, 19)
        assert (known["max_changed"], known["population_size"]) == (8, 20)
        assert settings(design, method, 2)["max_changed"] == 2
    assert settings(design, "nice", 19)["reward"] == "plausibility"


def test_the_default_preset_leaves_defaults() -> None:
    arf = settings(Design(preset="default"), "arf", 19)
    assert (arf["preset"], arf["measure"], arf["max_changed"]) == (None, None, None)
    assert isinstance(arf["density"], dict)
    assert arf["density"]["n_estimators"] == 100
    assert settings(Design(preset="default", n_estimators=3), "moc", 19)["density"]["n_estimators"] == 3  # type: ignore[index]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"methods": ("mocarff",)}, "Did you mean 'mocarf'"),
        ({"methods": ()}, "No method was named"),
        ({"methods": ("arf", "arf")}, "named once"),
        ({"sets": ("bn5",)}, "Did you mean 'bn_5'"),
        ({"preset": "papers"}, "preset"),
        ({"n_instances": 0}, "instances"),
        ({"max_evaluations": 1}, "evaluations"),
        ({"n_estimators": 0}, "trees"),
    ],
)
def test_what_can_not_be_run_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        replace(Design(), **change).check()  # type: ignore[arg-type]
