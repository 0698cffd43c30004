"""All judges together: real rows are typical by half, odd cells are called out, and files keep every bit."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kstest

from countarfactuals import AdversarialRandomForest, ARFExplainer, Target
from countarfactuals.arf.archive import read_archive, write_archive
from countarfactuals.datasets import random_network, random_plane
from countarfactuals.plausibility import ODD, Plausibility
from countarfactuals.plausibility.panel import CONDITIONALS, FOREST, MIXTURE, WORST_CELL
from countarfactuals.plausibility.saved_judges import pack, unpack
from countarfactuals.plausibility.seats import Skill

from .tables import Judged, all_states, judged, sums

PROCESSES = {
    "plane": lambda: random_plane(random_state=3),
    "network": lambda: random_network(5, random_state=1),
    "wide network": lambda: random_network(9, random_state=2),
    "levels": lambda: random_network(6, categorical_share=0.5, n_levels=3, random_state=4),
}
A, B, C, D, CHILD, LICENCE = range(6)


@cache
def of_process(name: str) -> tuple[Judged, np.ndarray]:
    """The judges of 1,500 rows, and 2,000 fresh ones."""
    process = PROCESSES[name]()
    features = [*process.feature_names]
    found = judged(process.sample(1500, 11)[features])
    return found, found.schema.encode(process.sample(2000, 51)[features])


@cache
def of_sums() -> Judged:
    return judged(sums(900))


@cache
def of_all_states() -> Judged:
    return judged(all_states())


def crossed(matrix: np.ndarray, seed: int = 0) -> np.ndarray:
    """Rows whose cells come from different real rows."""
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.permutation(column) for column in matrix.T])


# How typical real rows are


@pytest.mark.parametrize("name", PROCESSES)
def test_fresh_real_rows_are_typical_by_half(name):
    """Uniform, up to what 1,500 held-out and 2,000 fresh rows tell by the bound of Dvoretzky, Kiefer and Wolfowitz:
    .058 and .05, with error rate 1e-4 each.
    """
    found, fresh = of_process(name)
    assert len(found.panel.real) == 1500
    bound = np.sqrt(np.log(2e4) / 2.0) * (1.0 / np.sqrt(1500) + 1.0 / np.sqrt(len(fresh)))
    typicality = found.panel.typicality(fresh)
    assert kstest(typicality, "uniform").statistic < bound
    assert abs(np.median(typicality) - 0.5) < bound


@pytest.mark.parametrize("name", PROCESSES)
def test_training_rows_are_typical_by_half_too(name):
    """Uniform by construction, as each is judged by models that have not seen it."""
    found, _ = of_process(name)
    typicality = found.panel.typicality(found.matrix)
    assert 0.45 <= np.median(typicality) <= 0.55
    assert kstest(typicality, "uniform").statistic < 0.01


def test_judges_that_saw_the_training_rows_would_flatter_them():
    """The same rows, as if they were new: by the mean of models of which two in three have seen each."""
    found = judged(sums(240), min_samples_leaf=120, dependence=None)
    panel = found.panel
    assert FOREST not in panel.seats
    as_new = Plausibility(**{**vars_of(panel), "matrix": panel.matrix[:0]})
    honest, flattered = panel.typicality(found.matrix), as_new.typicality(found.matrix)
    assert np.median(flattered) > np.median(honest) + 0.05


def vars_of(panel: Plausibility) -> dict:
    return {name: getattr(panel, name) for name in Plausibility.__dataclass_fields__}


# What is told


@pytest.mark.parametrize("name", [*PROCESSES, "all states", "sums"])
def test_claims_are_shares_and_lie_within_their_range(name):
    found = {"all states": of_all_states, "sums": of_sums}.get(name, lambda: of_process(name)[0])()
    rows = np.concatenate([found.matrix[:300], crossed(found.matrix)[:300]])
    claims = found.panel.claims(rows)
    for said in (claims.typicality, claims.low, claims.high):
        assert ((said >= 0.0) & (said <= 1.0)).all()
    assert (claims.low <= claims.typicality).all()
    assert (claims.typicality <= claims.high).all()
    assert ((claims.objector >= 0) & (claims.objector < len(found.panel.voices))).all()
    assert claims.cell.shape == rows.shape
    if CONDITIONALS in found.panel.seats:
        assert ((claims.cell >= 0.0) & (claims.cell <= 1.0)).all()
    else:
        assert np.isnan(claims.cell).all()
    np.testing.assert_array_equal(found.panel.typicality(rows), claims.typicality)


@pytest.mark.parametrize("name", ["network", "all states", "sums"])
def test_a_row_is_judged_by_itself(name):
    found = {"all states": of_all_states, "sums": of_sums}.get(name, lambda: of_process(name)[0])()
    rows = np.concatenate([found.matrix[:20], crossed(found.matrix)[:20]])
    together = found.panel.claims(rows)
    alone = [found.panel.claims(row[None]) for row in rows]
    for k, said in enumerate(together):
        np.testing.assert_array_equal(np.concatenate([one[k] for one in alone]), said)
    nothing = found.panel.claims(rows[:0])
    assert len(nothing.typicality) == 0
    assert nothing.cell.shape == (0, rows.shape[1])


@pytest.mark.parametrize("name", ["plane", "wide network", "levels", "all states", "sums", "network"])
def test_typical_enough_is_what_has_the_typicality(name):
    """Whoever leads; the rank of the parts' mean density, for one, may be lower than the mean of their ranks."""
    found = {"all states": of_all_states, "sums": of_sums}.get(name, lambda: of_process(name)[0])()
    rows = np.concatenate([found.matrix[:600], crossed(found.matrix)[:600]])
    if name in PROCESSES:
        rows = np.concatenate([rows, of_process(name)[1]])
    typicality = found.panel.typicality(rows)
    for least in (0.0, 0.02, 0.1, 0.3, 0.5, 0.8, 0.99, *typicality[:5]):
        np.testing.assert_array_equal(found.panel.is_typical(rows, least), typicality >= least)


def test_rows_far_from_all_real_ones_are_not_typical():
    for found in (of_process("network")[0], of_process("plane")[0], of_sums()):
        rows = found.matrix[:50].copy()
        numbers = [j for j, column in enumerate(found.schema.columns) if column.is_number]
        rows[:, numbers] += 20.0 * found.matrix[:, numbers].std(axis=0)
        claims = found.panel.claims(rows)
        assert (claims.typicality == 0.0).all()
        assert (claims.high < 0.05).all()


# Odd cells


def test_a_broken_sum_is_called_out():
    found = of_sums()
    assert CONDITIONALS in found.panel.seats
    rows = found.matrix[:100].copy()
    rows[:, C] += 3.0
    claims = found.panel.claims(rows)
    assert (claims.cell[:, C] <= ODD).mean() > 0.95
    assert np.median(claims.typicality) < 0.02
    real = found.panel.claims(found.schema.encode(sums(500, seed=8)))
    assert (real.cell[:, C] <= ODD).mean() < 0.03


def test_a_broken_implication_is_called_out():
    """Levels in an impossible combination: the rest of the row is a real one."""
    found = of_sums()
    fresh = found.schema.encode(sums(500, seed=8))
    children = fresh[fresh[:, CHILD] == 1.0]
    rows = children.copy()
    rows[:, LICENCE] = 1.0
    before, claims = found.panel.claims(children), found.panel.claims(rows)
    assert (claims.cell[:, [CHILD, LICENCE]].min(axis=1) <= ODD).mean() > 0.9
    assert np.median(claims.typicality) < 0.1 < np.median(before.typicality)
    partners = found.panel.odd_partners(rows, LICENCE)
    assert np.mean([partner == CHILD for partner in partners]) > 0.9


def test_the_partner_is_the_column_from_which_the_odd_one_follows():
    rng = np.random.default_rng(5)
    n = 900
    age = rng.uniform(20.0, 70.0, n)
    X = pd.DataFrame({"noise": rng.normal(size=n), "age": age, "years": age - 18.0 + rng.normal(0, 0.5, n)})
    X["other"] = rng.normal(size=n)
    found = judged(X)
    assert CONDITIONALS in found.panel.seats
    rows = found.matrix[:60].copy()
    rows = rows[np.abs(rows[:, 1] - np.median(age)) > 12.0]  # whose age is not the usual one
    rows[:, 2] = np.median(X["years"])  # what would be usual beside a usual age
    claims = found.panel.claims(rows)
    assert (claims.cell[:, 2] <= ODD).mean() > 0.95
    assert (claims.typicality < 0.05).mean() > 0.95
    assert np.mean([partner == 1 for partner in found.panel.odd_partners(rows, 2)]) > 0.95


def test_what_is_odder_ranks_lower():
    """Beyond all real cells too: the most surprising real one is not odder than what surprises more."""
    panel = of_sums().panel
    held = np.sort(panel.held_cells[:, C])
    log_p = np.array([held[0] - 30.0, held[0] - 1.0, held[0], held[1], held[450], held[-1]])
    rows = np.tile(np.median(panel.held_cells, axis=0), (6, 1))
    rows[:, C] = log_p
    ranks = panel._cell_ranks(rows)[:, C]
    assert (ranks[1:-1] > 0.0).all()
    assert (np.diff(ranks) >= 0.0).all()


def test_a_grossly_odd_cell_has_the_least_word_of_all():
    """However many columns there are: among real rows each has a worst cell, which must not hide it."""
    panel = of_sums().panel
    words, _ = panel._words(gross(), np.full(20, -1))
    assert panel._ranks(WORST_CELL, words[WORST_CELL].mean(axis=0)).max() <= 1.0 / 0.2 / 900


def gross() -> np.ndarray:
    rows = of_sums().matrix[:20].copy()
    rows[:, C] += 8.0
    return rows


# Who judges


@pytest.mark.parametrize("measure", ["median", "density"])
def test_by_a_measure_of_the_forest_it_judges_alone(measure):
    found = judged(sums(300), measure)
    panel = found.panel
    assert panel.leader == FOREST
    assert panel.seats == panel.voices == (FOREST,)
    assert panel.mixtures is panel.conditionals is None
    assert panel.measure == measure
    assert panel.summary()["seats"] == [FOREST]
    rows = found.schema.encode(sums(100, seed=7))
    np.testing.assert_array_equal(panel(rows), panel.forest_judge(rows))
    claims = panel.claims(rows)
    np.testing.assert_array_equal(claims.objector, 0)
    assert np.isnan(claims.cell).all()
    ranks = [[(panel.real < one).mean() for one in panel.forest_parts(rows, k)] for k in range(3)]
    held = np.array([(panel.real < one).mean() for one in panel.real])
    expected = [(held < one).mean() for one in np.mean(ranks, axis=0)]
    np.testing.assert_allclose(claims.typicality, expected, atol=2.0 / len(panel.real))


def test_few_rows_are_judged_by_the_forest_alone():
    assert judged(sums(99)).panel.seats == (FOREST,)


def test_two_columns_have_no_judge_of_single_cells():
    found, _ = of_process("plane")
    assert CONDITIONALS not in found.panel.skills
    assert WORST_CELL not in found.panel.voices


def test_the_measure_is_the_leaders():
    found, fresh = of_process("network")
    panel = found.panel
    assert panel.leader == MIXTURE
    rows = fresh[:50]
    np.testing.assert_array_equal(panel(rows), panel.mixtures(rows))
    np.testing.assert_array_equal(panel.log_density(rows), panel.forest_judge.log_density(rows))
    measure = panel(rows)
    share_below = [(panel.real < value).mean() for value in measure]
    np.testing.assert_allclose(panel.rank(measure), share_below, atol=1e-12)


LEVEL, BEHIND = Skill(0.5, 0.9, -1.0), Skill(0.5, 0.9, -2.0)
SEEING = Skill(0.7, 0.9, np.nan)


@pytest.mark.parametrize(
    ("leader", "skills", "leaders"),
    [
        (MIXTURE, {MIXTURE: LEVEL, FOREST: BEHIND, CONDITIONALS: SEEING}, (MIXTURE, CONDITIONALS)),
        (FOREST, {FOREST: LEVEL, MIXTURE: BEHIND, CONDITIONALS: SEEING}, (FOREST, CONDITIONALS)),
        (
            MIXTURE,
            {MIXTURE: LEVEL, FOREST: LEVEL, CONDITIONALS: BEHIND},
            (MIXTURE, FOREST),
        ),
        (MIXTURE, {MIXTURE: LEVEL, FOREST: LEVEL, CONDITIONALS: SEEING}, (MIXTURE, FOREST, CONDITIONALS)),
    ],
    ids=["mixture and cells", "forest and cells", "both densities", "all"],
)
def test_the_measure_is_the_mean_of_those_who_lead(leader, skills, leaders):
    found, fresh = of_process("network")
    held = {**found.panel.held, FOREST: found.panel.forest_judge(found.matrix)}
    seats = (leader, *(seat for seat in skills if seat != leader))
    panel, rows = replace(found.panel, seats=seats, held=held, leader=leader, skills=skills), fresh[:50]
    said = {
        MIXTURE: panel.mixtures(rows),
        FOREST: panel.forest_judge(rows),
        CONDITIONALS: panel.conditionals.cell_log_p(rows, 0).sum(axis=1),
    }

    def mean(words):
        densities = [words[seat] for seat in seats if skills[seat] == LEVEL]
        one = sum(densities) / len(densities)
        return 0.5 * (one + words[CONDITIONALS]) if skills[CONDITIONALS] == SEEING else one

    measure = panel(rows)
    np.testing.assert_array_equal(measure, mean(said))
    np.testing.assert_array_equal(panel.judge(rows, np.ones(panel.forest.forest_.n_leaves))[0], measure)
    real = mean(held)
    np.testing.assert_array_equal(panel.real, np.sort(real[~np.isnan(real)]))
    assert tuple(panel.summary()["leaders"]) == leaders
    assert "several judges" in panel.name


def test_the_summary_tells_who_judges_and_how_well():
    panel = of_sums().panel
    summary = panel.summary()
    assert summary["leader"] == panel.leader
    assert tuple(summary["seats"]) == panel.seats
    assert set(summary["skills"]) == set(panel.skills)
    assert summary["far"] == round(max(panel.skills[seat].far for seat in panel.seats), 4)


def test_the_seed_decides():
    X = sums(300)
    rows = judged(X).matrix[:100]
    one, same, other = (judged(X, seed=seed).panel.claims(rows) for seed in (1, 1, 2))
    for ours, theirs in zip(one, same, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert (one.typicality != other.typicality).any()


# Files


@pytest.mark.parametrize("name", ["plane", "network", "levels", "all states", "sums"])
def test_packed_judges_say_the_same_to_the_last_bit(name):
    found = {"all states": of_all_states, "sums": of_sums}.get(name, lambda: of_process(name)[0])()
    meta, arrays = pack(found.panel)
    again = unpack(meta, arrays, found.panel.forest_judge, found.schema)
    rows = np.concatenate([found.matrix[:100], crossed(found.matrix)[:100]])
    for ours, theirs in zip(again.claims(rows), found.panel.claims(rows), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(again(rows), found.panel(rows))
    assert again.voices == found.panel.voices
    assert again.summary() == found.panel.summary()


def predict(X: pd.DataFrame) -> np.ndarray:
    return (1.0 / (1.0 + np.exp(-X["a"] + 10.0))).to_numpy()


@cache
def explainer() -> ARFExplainer:
    forest = AdversarialRandomForest(n_estimators=15)
    return ARFExplainer(predict, density=forest, max_evaluations=200, random_state=3).fit(sums(400))


def test_a_saved_explainer_claims_the_same_to_the_last_bit(tmp_path):
    path = tmp_path / "explainer.npz"
    explainer().save(path)
    again = ARFExplainer.load(path, predict)
    panel, other = explainer().background_.plausibility, again.background_.plausibility
    assert len(panel.seats) > 1
    rows = np.concatenate([panel.matrix[:100], crossed(panel.matrix)[:100]])
    for ours, theirs in zip(other.claims(rows), panel.claims(rows), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    x = sums(1, seed=77)
    target = Target(above=0.5) if predict(x)[0] < 0.5 else Target(below=0.5)
    before, after = explainer().explain(x, target), again.explain(x, target)
    assert len(before)
    np.testing.assert_array_equal(after.rows, before.rows)
    np.testing.assert_array_equal(after.typicality, before.typicality)
    np.testing.assert_array_equal(after.typicality_range, before.typicality_range)
    assert after.objectors == before.objectors
    assert after.oddities == before.oddities


def as_version_1(path, old) -> np.ndarray:
    """A file as version 0.1 wrote it: the forest is all, and only what held-out rows got is kept."""
    meta, arrays = read_archive(path, "countarfactuals.Explainer", 3)
    held = arrays.get("judges.held.forest")
    real = np.sort(np.linspace(-20.0, -5.0, 80) if held is None else held[~np.isnan(held)])
    meta["version"] = 1
    for name in ("judges", "dependence"):
        del meta[name]
    arrays = {name: array for name, array in arrays.items() if not name.startswith("judges.")}
    write_archive(old, meta, {**arrays, "real": real})
    return real


def test_a_file_of_version_1_loads_with_the_forest_as_the_only_judge(tmp_path):
    forest = AdversarialRandomForest(n_estimators=10, dependence=None, values=None)
    fitted = ARFExplainer(predict, density=forest, max_evaluations=200, measure="median", random_state=3)
    fitted.fit(sums(300), values=None).save(tmp_path / "new.npz")
    real = as_version_1(tmp_path / "new.npz", tmp_path / "old.npz")
    loaded = ARFExplainer.load(tmp_path / "old.npz", predict)
    panel = loaded.background_.plausibility
    assert panel.seats == (FOREST,)
    np.testing.assert_array_equal(panel.real, real)
    rows = panel.forest_judge.forest.schema_.select(range(6)).encode(sums(50, seed=9))
    expected = [(real < value).mean() for value in panel(rows)]
    np.testing.assert_allclose(panel.rank(panel(rows)), expected, atol=1e-12)
    np.testing.assert_allclose(panel.typicality(rows), expected, atol=1.5 / len(real))
    x = sums(1, seed=77)
    target = Target(above=0.5) if predict(x)[0] < 0.5 else Target(below=0.5)
    result = loaded.explain(x, target)
    assert len(result)
    assert set(result.objectors) == {FOREST}
    assert not any(result.oddities)


@pytest.mark.parametrize("lost", ["judges.matrix", "judges.held_cells", "judges.part_of"])
def test_a_file_without_a_part_of_the_judges_is_refused(tmp_path, lost):
    from countarfactuals.exceptions import StorageError

    explainer().save(tmp_path / "whole.npz")
    meta, arrays = read_archive(tmp_path / "whole.npz", "countarfactuals.Explainer", 3)
    del arrays[lost]
    write_archive(tmp_path / "torn.npz", meta, arrays)
    with pytest.raises(StorageError, match="lacks or garbles"):
        ARFExplainer.load(tmp_path / "torn.npz", predict)


def test_another_measure_than_the_fitted_one_is_not_taken_over():
    """The forest alone is not what judges of several kinds say."""
    from countarfactuals.exceptions import ParameterError

    with pytest.raises(ParameterError, match="measure"):
        ARFExplainer(predict, measure="median").fit_like(explainer())
