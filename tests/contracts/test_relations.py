"""Relations of the data: kept by every method that makes rows of its own, computed columns told as consequences."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from countarfactuals import ARFExplainer, Constraints, Explainer
from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.evaluation import evaluate
from countarfactuals.exceptions import ParameterError

from .methods import BY_NAME, METHODS, Method, every_method

KEEPING = [method for method in METHODS if method.name in ("arf", "mocarf", "moc", "mocctree", "random")]
keeping = pytest.mark.parametrize("method", KEEPING, ids=lambda method: method.name)


@cache
def table(n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    ground, upper = rng.integers(40, 200, n), np.where(rng.random(n) < 0.4, 0, rng.integers(20, 150, n))
    built = rng.integers(1900, 2010, n)
    net = rng.choice(["no", "dsl", "fibre"], n, p=[0.3, 0.4, 0.3])
    months, rate = rng.integers(1, 60, n), np.round(rng.uniform(5, 50, n), 1)
    return pd.DataFrame(
        {
            "ground": ground,
            "upper": upper,
            "living": ground + upper,
            "built": built,
            "rebuilt": np.minimum(2010, built + np.where(rng.random(n) < 0.4, 0, rng.integers(0, 60, n))),
            "months": months,
            "rate": rate,
            "paid": np.round(months * rate * rng.normal(1, 0.01, n), 1),
            "net": pd.Categorical(net),
            "tv": pd.Categorical(np.where(net == "no", "none", rng.choice(["yes", "no"], n))),
        }
    )


def score(frame: pd.DataFrame) -> np.ndarray:
    """Wide, watching and well paid for is good."""
    z = frame["living"] / 60 + frame["paid"] / 600 + (frame["tv"] == "yes") + (frame["rebuilt"] - 1950) / 40 - 6.5
    return 1 / (1 + np.exp(-z.to_numpy(float)))


@cache
def fitted(name: str, **settings: Any) -> Explainer:
    explainer = BY_NAME[name].make(score, classes=("bad", "good"), max_evaluations=300, **settings)
    return explainer.fit(table())


def unwanted(n: int = 4) -> list[pd.DataFrame]:
    bad = np.flatnonzero(score(table()) < 0.4)[:n]
    return [table().iloc[[i]] for i in bad]


def broken(explainer: Explainer, result: Counterfactuals) -> int:
    """Rows that are not of the data and break what x keeps."""
    binding = [relation for relation in explainer.relations_ if not relation.broken(result.x[None])[0]]
    return sum(int((relation.broken(result.rows) & ~result.is_real_row).sum()) for relation in binding)


def test_what_the_table_keeps_is_found():
    assert {
        "living is ground + upper",
        "built is at most rebuilt",
        "paid is about months × rate, within 2 %",
        "where net is no, tv is none",
        "where tv is none, net is no",
    } == set(fitted("arf").relations_.phrases())


@keeping
def test_nothing_that_leaves_breaks_a_relation(method: Method):
    explainer, n, n_along = fitted(method.name), 0, 0
    for x in unwanted():
        result = explainer.explain(x, "good")
        n += len(result)
        n_along += int(result.consequence.sum())
        assert broken(explainer, result) == 0
        assert (evaluate(result.to_frame(), x, explainer, "good")["violated"] == "").all()
    assert n
    assert n_along


@keeping
def test_consequences_follow_and_do_not_count(method: Method):
    explainer = fitted(method.name)
    for x in unwanted(2):
        result = explainer.explain(x, "good", Constraints(max_changed=2))
        counts = (result.changed & ~result.consequence).sum(axis=1)
        assert (counts >= 1).all()
        assert (counts <= 2).all()
        np.testing.assert_array_equal(result.objectives["n_changed"], counts)
        np.testing.assert_array_equal(result.n_changed, counts)
        assert not (result.consequence & ~result.changed).any()
        frame, own = result.to_frame(), x.iloc[0]
        sums = frame["ground"] + frame["upper"]
        assert (frame["living"] == sums).all()
        # living is never changed by itself
        np.testing.assert_array_equal(result.consequence[:, 2], (frame["living"] != own["living"]).to_numpy())
        changes = result.changes()
        assert changes["consequence"].tolist() == [
            bool(result.consequence[i, list(frame).index(name)])
            for i, name in zip(changes["counterfactual"], changes["feature"], strict=True)
        ]


@pytest.mark.parametrize("name", ["arf", "mocarf"])
def test_no_change_can_be_taken_back_with_all_that_follows(name: str):
    explainer, n = fitted(name), 0
    for x in unwanted(3):
        result, problem = explainer.trace(x, "good")
        cost = problem.at("implausibility")
        for row, follows in zip(result.rows, result.consequence, strict=True):
            for j in np.flatnonzero((row != problem.x) & ~follows):
                shorter = np.where(np.arange(len(row)) == j, problem.x, row)
                shorter = problem.kept.mended(shorter[None])
                if problem.n_changed(shorter)[0] >= problem.n_changed(row[None])[0]:
                    continue
                n += 1
                is_valid = score(explainer.schema_.decode(shorter))[0] > 0.5 and problem.is_candidate(shorter)[0]
                costs = problem.objectives(np.concatenate([shorter, row[None]]))[:, cost]
                assert not is_valid or costs[0] > costs[1]
    assert n


@keeping
def test_a_fixed_column_is_not_computed(method: Method):
    explainer = fitted(method.name)
    for x in unwanted(2):
        result = explainer.explain(x, "good", {"fixed": ["living"]})
        frame = result.to_frame()
        assert (frame["living"] == x["living"].item()).all()
        assert broken(explainer, result) == 0


def test_a_relation_that_x_breaks_does_not_bind():
    x = unwanted(1)[0].assign(living=90, ground=200, upper=100)
    result = fitted("arf").explain(x, "good")
    assert len(result)
    kept = result.changed[:, 2] & ~result.consequence[:, 2]
    assert (result.to_frame()["living"] != 300).any() or kept.any()


@every_method
def test_methods_that_copy_and_the_paper_keep_none(method: Method):
    explainer = fitted(method.name)
    problem = explainer.problem(explainer.encode_row(unwanted(1)[0]), "good", Constraints())
    assert bool(problem.kept.relations) == (method in KEEPING)


def test_notes_instead_of_keeping():
    result = fitted("random", relations="note").explain(unwanted(1)[0], "good")
    notes = [note for note in result.notes if note.code == "breaks a relation"]
    assert notes
    assert "break what the data keeps: " in str(notes[0])
    assert not result.consequence.any()
    ignoring = fitted("random", relations=None).explain(unwanted(1)[0], "good")
    assert not [note for note in ignoring.notes if note.code == "breaks a relation"]
    np.testing.assert_array_equal(ignoring.rows, result.rows)


def test_some_of_them():
    chosen = ["living is ground + upper"]
    explainer = BY_NAME["arf"].make(score, classes=("bad", "good"), relations=chosen).fit(table())
    problem = explainer.problem(explainer.encode_row(unwanted(1)[0]), "good", Constraints())
    assert [relation.kind for relation in problem.kept.relations] == ["linear"]
    again = ARFExplainer(score, classes=("bad", "good"), relations=explainer.relations_[:1]).fit_like(explainer)
    assert again._asked_relations().phrases() == chosen
    assert explainer.explain(unwanted(1)[0], "good").provenance["settings"]["relations"] == chosen
    explainer.set_params(relations=["living is wide"])
    with pytest.raises(ParameterError, match="'living is wide', which is no relation of the data"):
        explainer.explain(unwanted(1)[0], "good")
    for wrong in ("all", 3, [3]):
        with pytest.raises(ParameterError, match="relations must be 'keep', 'note', None, or a list"):
            explainer.set_params(relations=wrong).explain(unwanted(1)[0], "good")


def test_files_keep_them(tmp_path):
    explainer = fitted("arf")
    explainer.save(tmp_path / "explainer")
    again = Explainer.load(tmp_path / "explainer", score)
    assert again.background_.found == explainer.relations_
    x = unwanted(1)[0]
    result = explainer.explain(x, "good")
    stored = Counterfactuals.from_json(result.to_json())
    np.testing.assert_array_equal(stored.consequence, result.consequence)
    np.testing.assert_array_equal(again.explain(x, "good").rows, result.rows)


def test_words_and_tables_tell_consequences():
    scores = score(table())
    x = table().iloc[[np.where(scores < 0.4, scores, 0.0).argmax()]]
    may_change = {"fixed": [name for name in x if name not in ("ground", "living")]}
    one = fitted("arf").explain(x, "good", may_change).select(1)
    assert len(one)
    assert f", and so living {one.to_frame()['living'].item()}" in one.describe()
    assert f"({one.to_frame()['living'].item()})" in repr(one)
    assert "(in brackets): follows from the other changes" in repr(one)
    page = one.to_html()
    assert 'class="follows"' in page
    assert "In italics: follows from the other changes." in page


@every_method
def test_declared_columns_are_computed_by_every_method(method: Method):
    explainer = fitted(method.name)
    formula = {"rebuilt": "max(built, 1950 + months)"}
    n = 0
    for x in unwanted(3):
        wanted = {"derived": formula, "fixed": ["net"]}
        if method.name == "whatif":
            wanted = {"derived": {"living": "ground + upper"}}
        result = explainer.explain(x, "good", wanted)
        frame, own = result.to_frame(), x.iloc[0]
        n += len(frame)
        if method.name == "whatif":
            assert (frame["living"] == frame["ground"] + frame["upper"]).all()
            continue
        value = np.maximum(frame["built"], 1950 + frame["months"])
        stays = value == max(own["built"], 1950 + own["months"])
        assert (frame["rebuilt"] == np.where(stays, own["rebuilt"], value)).all()
        changed = frame["rebuilt"].to_numpy() != own["rebuilt"]
        np.testing.assert_array_equal(result.consequence[:, 4], changed)
    assert n or method.name == "nice"
