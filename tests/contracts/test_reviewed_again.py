"""What readers and users of the library found, and what must not come back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from countarfactuals import AdversarialRandomForest, ARFExplainer, Constraints, make_explainer
from countarfactuals.exceptions import ConstraintError, ModelError, ParameterError

from .methods import Method, every_method

RNG = np.random.default_rng(0)
X = pd.DataFrame(
    {"inc": np.round(RNG.gamma(3, 1000, 300), 2), "b": RNG.normal(size=300), "c": RNG.choice(list("uvw"), 300)}
)
FOREST = AdversarialRandomForest(n_estimators=10, min_samples_leaf=10)


def model(frame: Any) -> np.ndarray:
    return 1 / (1 + np.exp(-(frame["inc"].to_numpy() / 1000 - 3 + frame["b"].to_numpy())))


def fit(method: str, **parameters: Any) -> Any:
    settings = {"classes": ("no", "yes"), "density": FOREST, "random_state": 1, **parameters}
    return make_explainer(method, model, **settings).fit(X)


x = X[model(X) < 0.3].iloc[[0]]


@every_method
def test_a_rule_that_sorts_is_understood_by_its_labels(method: Method):
    explainer = method.make(model, classes=("no", "yes"), max_evaluations=300).fit(X)
    sorting = {"rules": [lambda frame: frame.sort_values("inc")["inc"] > 3000]}
    result = explainer.explain(x, constraints=sorting)
    assert (result.to_frame()["inc"] > 3000).all()
    plain = explainer.explain(x, constraints={"rules": [lambda frame: frame["inc"] > 3000]})
    np.testing.assert_array_equal(result.rows, plain.rows)


def test_labels_that_are_not_the_rows_are_refused():
    with pytest.raises(ConstraintError, match="labels are not those of the"):
        fit("arf").explain(x, constraints={"rules": [lambda frame: frame.drop(index=0)["inc"] > 0]})


def test_distances_are_understood_by_their_labels():
    def distance(rows, one):
        return (rows["inc"] - one["inc"].iloc[0]).abs().sort_values()

    result = fit("arf", distance=distance).explain(x)
    expected = (result.to_frame()["inc"] - x["inc"].iloc[0]).abs()
    np.testing.assert_allclose(result.objectives["proximity"], expected)
    with pytest.raises(ModelError, match="labels are not those"):
        fit("arf", distance=lambda rows, one: distance(rows, one).iloc[:1]).explain(x)


def test_what_whatif_says_of_lifting_is_true():
    rng = np.random.default_rng(4)
    data = pd.DataFrame(rng.integers(0, 3, (200, 3)), columns=list("abc"))
    settings = {"classes": ("no", "yes"), "density": FOREST, "random_state": 1}
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


@pytest.mark.parametrize("seed", range(4))
def test_one_change_far_from_x_is_found(seed):
    # only a large income helps, and only one feature may change: near neighbours do not have it
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(300, 6)), columns=list("abcdef"))
    data["income"] = np.round(rng.gamma(2, 1000, 300))
    cut = data["income"].quantile(0.98)
    one = data[data["income"] < 1000].iloc[[0]]
    settings = {"classes": ("no", "yes"), "density": FOREST, "random_state": seed}
    explainer = ARFExplainer(lambda frame: (frame["income"] > cut) * 1.0, **settings).fit(data)
    assert len(explainer.explain(one, constraints={"max_changed": 1, "ranges": {"a": (-1, 1)}}))


def test_a_range_between_two_cents_is_refused():
    with pytest.raises(ConstraintError, match="numbers with 2 decimal"):
        fit("arf").explain(x, constraints={"ranges": {"inc": (3900.001, 3900.004)}})
    assert fit("arf").explain(x, constraints={"ranges": {"inc": (3900.001, 4500.004)}}).status == "found"
    with pytest.raises(ConstraintError, match="too large"):
        fit("arf").explain(x, constraints={"ranges": {"inc": (10**400, None)}})


def test_levels_of_polars_get_an_order():
    levels = ["low", "mid", "high"]
    data = pl.DataFrame(
        {"e": pl.Series(levels * 60, dtype=pl.Enum(levels)), "v": np.random.default_rng(1).normal(size=180)}
    )

    def score(frame):
        return (frame["v"].to_numpy() > 0.5) * 1.0

    settings = {"classes": (0, 1), "density": FOREST, "random_state": 1}
    with pytest.raises(ConstraintError, match="ordered="):
        ARFExplainer(score, **settings).fit(data).explain(data[1], constraints={"direction": {"e": "increase"}})
    explainer = ARFExplainer(score, **settings).fit(data, ordered={"e": levels})
    result = explainer.explain(data[1], constraints={"direction": {"e": "increase"}})
    assert set(result.to_frame()["e"]) <= {"mid", "high"}


def test_the_row_of_an_error_is_the_users():
    rows = X.iloc[:4].copy()
    rows.loc[3, "c"] = "zzz"
    batch = fit("arf", max_evaluations=50).explain_many(rows, "yes", progress=False)
    assert "in row 3 " in batch[3].error


def test_without_evaluations_the_budget_is_to_blame():
    text = str(fit("arf", max_evaluations=1).explain(x))
    assert "max_evaluations" in text
    assert "looser constraints" not in text


def test_real_rows_that_would_do_are_told():
    rare = X["inc"].nlargest(2).min()
    settings = {"classes": ("no", "yes"), "density": FOREST, "random_state": 1, "max_evaluations": 60}
    explainer = make_explainer("moc", lambda frame: (frame["inc"] >= rare) * 1.0, **settings).fit(X)
    result = explainer.explain(X[X["inc"] < 1000].iloc[[0]])
    if result.status == "none":  # by chance it may find one
        assert result.diagnosis.n_real == 2
        assert "2 rows of the data reach the target" in result.diagnosis.text(result)


@pytest.mark.parametrize(
    ("method", "parameters", "message"),
    [
        (["arf"], {}, "There is no method"),
        ("arf", {"max_evaluation": 3}, "has no parameter 'max_evaluation'.*Did you mean 'max_evaluations'"),
    ],
)
def test_wrong_names_are_told(method, parameters, message):
    with pytest.raises(ParameterError, match=message):
        make_explainer(method, model, **parameters)


def test_the_papers_preset_does_not_take_another_forest():
    with pytest.raises(ParameterError, match="preset='paper'"):
        ARFExplainer(model, classes=("no", "yes"), preset="paper").fit_like(fit("arf"))


def test_a_score_that_is_not_finite_shows_its_row():
    def broken(frame):
        return np.where(frame["inc"] > 4000, np.nan, model(frame))

    with pytest.raises(ModelError, match=r"begins with \{'inc': "):
        make_explainer("arf", broken, classes=("no", "yes"), density=FOREST).fit(X)


def test_draws_go_by_the_outcome_where_it_is_a_category():
    """With all columns kept but one, leaves are weighed by their share of the observed outcome."""
    from countarfactuals.explainers.proposals import draws, outcome_shares, weighed_leaves

    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 2000)
    data = pd.DataFrame(
        {"a": np.where(rng.random(2000) < np.where(y == 1, 0.8, 0.3), "u", "v"), "b": rng.choice(["p", "q"], 2000)}
    )
    forest = AdversarialRandomForest(n_estimators=20, min_samples_leaf=20)
    explainer = ARFExplainer(None, outcome="observed", density=forest, random_state=1).fit(data, y)
    row = explainer.encode_row(data[y == 0].iloc[[0]])
    problem = explainer.problem(row, 1, Constraints())
    trees = explainer.background_.plausibility.forest.forest_
    leaves = weighed_leaves(problem, outcome_shares(problem))
    drawn = draws(problem, leaves, row[None], np.array([[True, False]]), 4000, trees)
    u = explainer.schema_.encode_value(0, "u")
    expected = (data["a"][y == 1] == "u").mean()
    assert abs((drawn[:, 0] == u).mean() - expected) < 0.05  # without the weights it would be .25 lower


def test_no_row_is_asked_about_twice_and_zero_has_one_sign():
    rng = np.random.default_rng(5)
    data = pd.DataFrame(
        {"r": np.round(rng.normal(size=400), 1), "k": rng.integers(0, 3, 400), "c": rng.choice(["u", "v"], 400)}
    )
    asked = []

    def score(frame):
        asked.append(frame.copy())
        return 1 / (1 + np.exp(-(frame["r"] + frame["k"] - 1.5).to_numpy()))

    explainer = ARFExplainer(score, classes=(0, 1), density=FOREST, random_state=1).fit(data)
    asked.clear()
    result = explainer.explain(data[score(data) < 0.4].iloc[[0]])
    asked.pop(0)  # the whole data, above
    every = pd.concat(asked)
    assert not every.duplicated().any()
    assert not np.signbit(every["r"].to_numpy()[every["r"] == 0]).any()
    assert len(every) == result.provenance["evaluations"]


def test_groups_keep_within_the_most_changes():
    from countarfactuals.explainers.proposals import admissible

    rng = np.random.default_rng(6)
    data = pd.DataFrame(rng.normal(size=(100, 4)), columns=list("abcd"))
    explainer = ARFExplainer(lambda frame: frame["a"], density=FOREST, random_state=1).fit(data)
    row = explainer.encode_row(data.iloc[[0]])
    constraints = Constraints(max_changed=3, groups=[["a", "b"], ["c", "d"]])
    problem = explainer.problem(row, (5, 6), constraints)
    rows = admissible(problem, data.to_numpy()[1:])
    assert ((rows != row).sum(axis=1) == 2).all()
    assert problem.limits.hold(rows).all()


def test_nice_forgets_what_it_knew_of_other_data():
    settings = {"classes": ("no", "yes"), "density": FOREST}
    y = np.where(model(X) > 0.5, "yes", "no")
    first = make_explainer("nice", model, only_correct=True, random_state=5, **settings).fit(X, y)
    fewer = make_explainer("nice", model, random_state=5, **settings).fit(X.head(100))
    with pytest.raises(ParameterError, match="needs y"):
        first.fit_like(fewer)
    again = make_explainer("nice", model, reward="plausibility", random_state=5, **settings).fit_like(first)
    rows = first.background_.matrix[:5]
    again.reconstruction_error(rows)
    changed_seed = again.set_params(random_state=6).fit_like(first).reconstruction_error(rows)
    fresh = make_explainer("nice", model, reward="plausibility", random_state=6, **settings).fit_like(first)
    np.testing.assert_array_equal(changed_seed, fresh.reconstruction_error(rows))


def test_settings_of_numpy_are_kept(tmp_path):
    explainer = fit("moc", max_evaluations=np.int64(80), n_neighbours=2, neighbour_weights=np.array([0.6, 0.4]))
    assert explainer.explain(x).provenance["settings"]["max_evaluations"] == 80
    explainer.save(tmp_path / "explainer")
    again = type(explainer).load(tmp_path / "explainer", model)
    np.testing.assert_array_equal(again.explain(x).rows, explainer.explain(x).rows)


def test_a_process_that_dies_loses_its_rows_only():
    def deadly(frame):
        import os

        if os.environ.get("OMP_NUM_THREADS") == "1" and len(frame) < 300 and frame["inc"].max() > 8500:
            os._exit(1)
        return model(frame)

    explainer = make_explainer(
        "whatif", deadly, classes=("no", "yes"), density=FOREST, random_state=1, max_evaluations=20
    ).fit(X)
    with pytest.warns(UserWarning, match="ended unexpectedly"):
        batch = explainer.explain_many(
            pd.concat([X.nlargest(1, "inc")] * 3 + [X.head(5)]), "no", n_jobs=2, progress=False
        )
    assert len(batch) + len(batch.unfinished) == 8
    assert batch.unfinished
