"""Known processes: what the forest should learn of them. Seeded; the stated margins leave false alarms below 1e-4."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp, norm, spearmanr

from countarfactuals import AdversarialRandomForest
from countarfactuals.datasets import Cassini, ThreeBlobs, TwoSines, load_loan

from ..arf.twins import fit


def test_real_and_synthetic_rows_can_not_be_told_apart_where_they_are_exchangeable():
    """Independent columns: accuracy of n = 600 rows has a standard error of at most 0.02 about ½; 5 of them allowed."""
    rng = np.random.default_rng(0)
    for X in (
        pd.DataFrame({"x": rng.normal(size=600)}),
        pd.DataFrame({"x": rng.normal(size=600), "y": rng.exponential(size=600), "c": rng.choice([*"abc"], 600)}),
    ):
        assert abs(fit(X, n_estimators=20, min_samples_leaf=10).accuracies_[0] - 0.5) < 0.1


def test_strong_dependence_is_seen_at_once_and_then_learnt():
    rng = np.random.default_rng(0)
    z = rng.normal(size=800)
    X = pd.DataFrame({"a": z + 0.1 * rng.normal(size=800), "b": z + 0.1 * rng.normal(size=800)})
    arf = fit(X, n_estimators=20, max_iter=10)
    assert arf.accuracies_[0] > 0.75
    assert arf.accuracies_[-1] < 0.6
    assert np.corrcoef(arf.sample(2000, random_state=1).T)[0, 1] > 0.9


@pytest.mark.parametrize("process", [Cassini(), TwoSines(), ThreeBlobs()], ids=lambda process: type(process).__name__)
def test_held_out_density_is_near_the_truth(process):
    train, test = (process.sample(n, seed).drop(columns="y") for n, seed in ((2000, 1), (1000, 2)))
    arf = AdversarialRandomForest(n_estimators=30, random_state=1).fit(train)
    truth = process.log_density(test)
    ours = arf.score_samples(test)
    # 0.11 nat with 4,000 rows and 100 trees is the aim; here there are half the rows and fewer trees
    assert truth.mean() - 0.3 < ours.mean() < truth.mean() + 0.1
    assert spearmanr(truth, ours).statistic > 0.6


def test_draws_look_like_the_process():
    """Kolmogorov–Smirnov of 1,000 draws against 1,000 fresh rows: 0.1 is a p-value of about 1e-4 for equal laws."""
    process = TwoSines()
    arf = AdversarialRandomForest(n_estimators=30, random_state=1).fit(process.sample(2000, 1).drop(columns="y"))
    fresh, drawn = process.sample(1000, 3), arf.sample(1000, random_state=1)
    for name in ("x1", "x2"):
        assert ks_2samp(fresh[name], drawn[name]).statistic < 0.1


def test_conditional_means_of_a_linear_process():
    rng = np.random.default_rng(0)
    x = rng.normal(size=3000)
    X = pd.DataFrame({"x": x, "y": 2 * x + rng.normal(size=3000)})
    arf = AdversarialRandomForest(n_estimators=50, random_state=1).fit(X)
    given = [{"x": value} for value in (-1.5, -0.5, 0.0, 0.5, 1.5)]
    np.testing.assert_allclose(arf.expect(columns=["y"], given=given)["y"], [-3, -1, 0, 1, 3], atol=0.45)
    above = np.exp(arf.log_probability({"x": (1.0, None)}))
    assert above == pytest.approx(norm.sf(1.0), abs=0.03)  # √(0.16 · 0.84 / 3000) = 0.007


def test_missing_values_at_random_do_not_bend_the_density():
    loan = load_loan(n=2000)
    blank = load_loan(n=2000, missing=True)
    test = load_loan(n=500, random_state=5)
    scores = [fit(X, n_estimators=20).score(test.X) for X in (loan.X, blank.X)]
    # with 3 % of three columns missing, a complete row is about 0.09 nat less likely, and a little is lost
    assert abs(scores[0] - scores[1]) < 0.5
    truth = loan.process.log_density(test.X).mean()
    assert truth - 6 < scores[0] < truth + 0.3


@pytest.mark.full
def test_ranking_of_the_true_density_on_loans():
    train, test = load_loan(n=4000, random_state=1), load_loan(n=1000, random_state=2)
    arf = AdversarialRandomForest(random_state=1).fit(train.X)
    assert spearmanr(arf.score_samples(test.X), train.process.log_density(test.X)).statistic > 0.7
