"""Findings, held against the tables of a study: each holds, is level or does not hold, by numbers.

| finding | compared, by medians over rows or instances | required |
|---|---|---|
| plausibility | true log density: ARF and MOCARF against MOC, MOCCTREE and NICE | by the paper, on average |
| plausibility_by_set | the same against MOC and NICE | here, on cassini, two_sines and bn_5 |
| hypervolume | as published: ARF and MOCARF against MOC, MOCCTREE and NICE | by the paper, on bn_10 and bn_20 |
| number | of non-dominated rows: the same | by the paper, on average |
| arf_fastest | seconds: ARF against the other methods that search | by the paper, on average |
| mocarf_faster | seconds: MOCARF against MOCCTREE | by the paper, with more than two features |
| rq2 | correlations to the true density: the learned measure against Gower, p < 0.001 | by the paper, over all |
| rq2_pooled | the same over candidates of all methods together | no |
| ahead | plausible hypervolume: the best of ARF and MOCARF against the best published method | no |

1. What the paper's text says of all data sets together ("on average") is judged by means over data sets of the medians
   in `summary`. What it says of a data set by name is judged there. All else that is required is required by this
   study, and the rest is reported; the paper does not claim it.
2. A verdict compares two numbers, the *decisive* pair: the weakest of ours and the strongest of the others. Where they
   differ by no more than a tolerance they are *level*, and no winner is named.
3. Seconds count what a method fits on its own (MOCCTREE's trees, NICE's autoencoder) but not the forest, as published.
4. Log densities are medians over all non-dominated rows, as in the paper, which weighs instances by their number of
   rows. Where the median of the instances' medians leads to another verdict, the finding says so.
5. RQ2 is a one-sided Wilcoxon signed rank test, by scipy, of the two Spearman correlations of each explanation. Pairs
   with an undefined correlation or without a difference are dropped, ties share their ranks, and the p-value comes from
   the normal approximation with continuity correction. It takes pairs as independent. Those of the paper are not: the
   methods share each instance, and all pairs of a data set share what was fitted to it. So the report also tests the
   pairs of pooled candidates, of which each instance has one.

Words for all of it are made by `telling`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon

from countarfactuals.study.design import OTHERS, OURS, SEARCHING
from countarfactuals.study.tables import BY_INSTANCE, OWN_FIT, SECONDS, SIDES

HOLDS, LEVEL, FAILS = "holds", "level", "does not hold"
_LARGEST_P = 0.001
ALL = "all"
PAPER, STUDY, NOBODY = "paper", "study", ""
LEARNED, GOWER = "learned", "Gower"  # the measures of plausibility
REQUIRED: dict[str, tuple[str, tuple[str, ...] | None]] = {  # by whom, and on which data sets; None for each
    "plausibility": (PAPER, (ALL,)),
    "plausibility_by_set": (STUDY, ("cassini", "two_sines", "bn_5")),
    "hypervolume": (PAPER, ("bn_10", "bn_20")),
    "number": (PAPER, (ALL,)),
    "arf_fastest": (PAPER, (ALL,)),
    "mocarf_faster": (PAPER, None),
    "rq2": (PAPER, (ALL,)),
}


# Verdicts


class Scale(NamedTuple):
    """How numbers of a kind are compared and told.

    `relative`, `absolute` : differences up to this share of the larger number, or up to this much, are no difference.
    `is_less_better` : true of seconds.
    `decimals`, `significant` : fewest digits that are told; one of them is None.
    `unit` : what stands after a number.
    """

    relative: float = 0.0
    absolute: float = 0.0
    is_less_better: bool = False
    decimals: int | None = None
    significant: int | None = None
    unit: str = ""


# 0.01 of a log density is 1 % of a density, which is no more than the tolerance of hypervolumes
LOG_DENSITY = Scale(absolute=0.01, decimals=2)
# another seed moves the median plausible hypervolume of ARF by about 1 % on two features, and more on many
HYPERVOLUME = Scale(relative=0.01, significant=3)
# sets of 13 and 14 rows are not to be ranked by half a row, which is a median's step
NUMBER = Scale(relative=0.01, absolute=1.0, significant=4)
# medians of fractions of a second vary by some 20 % from run to run, by whatever else a machine does
TIME = Scale(relative=0.2, is_less_better=True, significant=3, unit=" s")
# correlations are told with two decimals
CORRELATION = Scale(absolute=0.01, decimals=2)


def verdict(ours: float, others: float, scale: Scale) -> str:
    """Whether ours is ahead of the others' number.

    >>> verdict(10.70, 10.65, HYPERVOLUME), verdict(0.9, 2.0, TIME), verdict(-4.0, -3.0, LOG_DENSITY)
    ('level', 'holds', 'does not hold')
    """
    if math.isnan(ours) or math.isnan(others):
        return FAILS
    if is_level(ours, others, scale):
        return LEVEL
    return HOLDS if (ours < others) == scale.is_less_better else FAILS


def is_level(number: float, other: float, scale: Scale) -> bool:
    """Whether two numbers differ by no more than the tolerance."""
    if number == other:
        return True
    if math.isinf(number) or math.isinf(other):
        return False
    return abs(number - other) <= max(scale.absolute, scale.relative * max(abs(number), abs(other)))


class Comparison(NamedTuple):
    """What the test of RQ2 says.

    `median_first`, `median_second` : medians of each side, over the pairs that were compared.
    `n_pairs`, `n_dropped` : pairs that were compared, and those with an undefined value.
    `statistic`, `p_value` : the sum of the positive ranks, and how likely it or more is without an effect.
    """

    median_first: float
    median_second: float
    n_pairs: int
    n_dropped: int
    statistic: float
    p_value: float


def compare(first: Any, second: Any) -> Comparison:
    """Test whether the first of each pair is the higher one.

    >>> compare([0.9, 0.8, 0.7, 0.6], [0.5, 0.6, 0.4, float("nan")])._replace(p_value=0)
    Comparison(median_first=0.8, median_second=0.5, n_pairs=3, n_dropped=1, statistic=6.0, p_value=0)
    """
    pairs = np.column_stack([np.asarray(first, np.float64), np.asarray(second, np.float64)])
    defined = pairs[~np.isnan(pairs).any(axis=1)]
    median_first, median_second = np.median(defined, axis=0).tolist() if len(defined) else (math.nan, math.nan)
    statistic, p_value = 0.0, 1.0
    if (defined[:, 0] != defined[:, 1]).any():
        test = wilcoxon(*defined.T, zero_method="wilcox", correction=True, alternative="greater", method="approx")
        statistic, p_value = float(test.statistic), float(test.pvalue)
    n_dropped = len(pairs) - len(defined)
    return Comparison(median_first, median_second, len(defined), n_dropped, statistic, p_value)


def rq2(instances: pd.DataFrame) -> Comparison:
    """The test of RQ2 on a table of instances."""
    return compare(*(instances[side] for side in SIDES))


# Findings


@dataclass(frozen=True)
class Evidence:
    """A verdict and the numbers that lead to it.

    Parameters
    ----------
    verdict : "holds", "level" or "does not hold".
    numbers : by method, or by measure of plausibility.
    decisive : the two that were compared.
    scale : how they are compared and told.
    n_sets, n_compared : data sets that are there, and those on which every method has a number.
    beside : numbers that were not compared: NICE's seconds, or the best published hypervolume.
    otherwise : the same with each instance counted alike, or without what methods fit on their own.
    test : of RQ2.
    """

    verdict: str
    numbers: Mapping[str, float]
    decisive: tuple[float, float]
    scale: Scale
    n_sets: int = 1
    n_compared: int = 1
    beside: tuple[str, float] | None = None
    otherwise: Evidence | None = None
    test: Comparison | None = None


@dataclass(frozen=True)
class Finding:
    """One finding on one data set, or on all together.

    Parameters
    ----------
    key : see the table above.
    dataset : its name, or "all".
    required_by : "paper" if the paper's text claims it, "study" if this study asks for it, "" if it is only reported.
    evidence : the verdict with its numbers.
    published : the same by the published results, where they allow it.
    """

    key: str
    dataset: str
    required_by: str
    evidence: Evidence
    published: Evidence | None = None

    @property
    def verdict(self) -> str:
        """Whether it holds."""
        return self.evidence.verdict

    @property
    def required(self) -> bool:
        """Whether the paper or this study asks for it."""
        return self.required_by != NOBODY

    @property
    def verdict_by_instance(self) -> str:
        """The verdict by medians of the instances' medians; "" but for plausibility."""
        other = self.evidence.otherwise
        return other.verdict if other is not None and self.key.startswith("plausibility") else ""

    @property
    def depends_on_weights(self) -> bool:
        """Whether another verdict would be given if each instance counted alike."""
        return self.verdict_by_instance not in ("", self.verdict)


Judge = Callable[[pd.DataFrame], Evidence | None]  # of lines of a table; None if methods or numbers are absent


def check_findings(
    summary: pd.DataFrame,
    instances: pd.DataFrame,
    pooled: pd.DataFrame,
    n_features: Mapping[str, int],
    published: pd.DataFrame | None = None,
    published_instances: pd.DataFrame | None = None,
) -> tuple[Finding, ...]:
    """All findings that the methods of a study allow to check.

    Parameters
    ----------
    summary, instances, pooled : see `tables`.
    n_features : of each data set.
    published, published_instances : `summary` and `instances` of the published results.
    """
    sets = list(summary["dataset"].unique())
    checks: list[tuple[str, Judge, list[str]]] = [
        ("plausibility", _more_plausible(OTHERS), [ALL]),
        ("plausibility_by_set", _more_plausible(("moc", "nice")), sets),
        ("hypervolume", _better("hypervolume", HYPERVOLUME), sets),
        ("number", _better("n_nondominated", NUMBER), [ALL, *sets]),
        ("arf_fastest", _fastest, [ALL, *sets]),
        ("mocarf_faster", _mocarf_faster, [name for name in sets if n_features[name] > 2]),
    ]
    found = [finding for check in checks for finding in _judged(*check, summary, published)]
    found += _judged("rq2", _correlated, [ALL], instances, published_instances)
    found += _judged("rq2_pooled", _correlated_pooled, list(pooled["dataset"].unique()), pooled, None)
    if published is not None:
        found += _judged("ahead", _ahead_of(published), sets, summary, None)
    return tuple(found)


def _judged(
    key: str, judge: Judge, places: Sequence[str], table: pd.DataFrame, published: pd.DataFrame | None
) -> Iterator[Finding]:
    by, where = REQUIRED.get(key, (NOBODY, ()))
    for place in places:
        if (evidence := judge(at(table, place))) is not None:
            before = None if published is None else judge(at(published, place))
            yield Finding(key, place, by if where is None or place in where else NOBODY, evidence, before)


def at(table: pd.DataFrame, place: str) -> pd.DataFrame:
    """The lines of a data set, or of all."""
    return table if place == ALL else table[table["dataset"] == place]


def averages(lines: pd.DataFrame, column: str, methods: Sequence[str]) -> pd.Series:
    """The mean over data sets per method, over those data sets on which every method has a number.

    A method that has none on any data set is left out first.
    """
    return _comparable(lines, column, methods).mean()


def _comparable(lines: pd.DataFrame, column: str, methods: Sequence[str]) -> pd.DataFrame:
    table = lines.pivot(index="dataset", columns="method", values=column)
    table = table[[method for method in methods if method in table]].dropna(axis=1, how="all")
    return table.dropna(axis=0)


def _better(column: str, scale: Scale, others: Sequence[str] = OTHERS) -> Judge:
    def judge(lines: pd.DataFrame) -> Evidence | None:
        table = _comparable(lines, column, [*OURS, *others])
        numbers = table.mean()
        ours = [method for method in OURS if method in set(lines["method"])]
        rest = [method for method in others if method in numbers]  # one without a counterfactual can not be compared
        if not ours or not rest:
            return None
        decisive = float(numbers.reindex(ours).min(skipna=False)), float(numbers[rest].max())
        n_sets = lines["dataset"].nunique()
        return Evidence(verdict(*decisive, scale), numbers.to_dict(), decisive, scale, n_sets, len(table))

    return judge


def _more_plausible(others: Sequence[str]) -> Judge:
    """By the rows' median as in the paper, and by that of the instances' medians."""
    by_rows, by_instance = (_better(column, LOG_DENSITY, others) for column in ("log_density", BY_INSTANCE))

    def judge(lines: pd.DataFrame) -> Evidence | None:
        evidence = by_rows(lines)
        return evidence and replace(evidence, otherwise=by_instance(lines))

    return judge


def _quicker(lines: pd.DataFrame, column: str, first: str, methods: Sequence[str]) -> Evidence:
    seconds = averages(lines, column, methods)
    decisive = float(seconds[first]), float(seconds.drop(first).min())
    return Evidence(verdict(*decisive, TIME), seconds.to_dict(), decisive, TIME)


def _fastest(lines: pd.DataFrame) -> Evidence | None:
    searching = [method for method in SEARCHING if method in set(lines["method"])]
    if "arf" not in searching or len(searching) < 2:
        return None
    evidence = _quicker(lines, OWN_FIT, "arf", searching)
    if "nice" not in set(lines["method"]):
        return evidence
    return replace(evidence, beside=("nice", float(averages(lines, OWN_FIT, ["nice"])["nice"])))


def _mocarf_faster(lines: pd.DataFrame) -> Evidence | None:
    pair = ("mocarf", "mocctree")
    if not set(pair) <= set(lines["method"]):
        return None
    evidence, alone = (_quicker(lines, column, "mocarf", pair) for column in (OWN_FIT, SECONDS))
    # published seconds do not tell the fits apart
    return evidence if alone.numbers == evidence.numbers else replace(evidence, otherwise=alone)


def _correlated(instances: pd.DataFrame) -> Evidence | None:
    test = rq2(instances)
    pair = (test.median_first, test.median_second)
    numbers = dict(zip((LEARNED, GOWER), pair, strict=True))
    holds = HOLDS if test.p_value < _LARGEST_P else FAILS
    return Evidence(holds, numbers, pair, CORRELATION, test=test) if test.n_pairs else None


def _correlated_pooled(lines: pd.DataFrame) -> Evidence | None:
    learned, gower = (float(lines[side].median()) for side in SIDES)
    if math.isnan(learned) or math.isnan(gower):
        return None
    pair = (learned, gower)
    return Evidence(verdict(*pair, CORRELATION), {LEARNED: learned, GOWER: gower}, pair, CORRELATION)


def _ahead_of(published: pd.DataFrame) -> Judge:
    def judge(lines: pd.DataFrame) -> Evidence | None:
        before, now = (table.set_index("method")["plausible_hypervolume"] for table in (_same_set(lines), lines))
        ours = now[now.index.isin(OURS)]
        if before.empty or ours.empty:
            return None
        pair = float(ours.max()), float(before.max())
        best, theirs = str(ours.idxmax()), (str(before.idxmax()), pair[1])
        return Evidence(verdict(*pair, HYPERVOLUME), {best: pair[0]}, pair, HYPERVOLUME, beside=theirs)

    def _same_set(lines: pd.DataFrame) -> pd.DataFrame:
        return published[published["dataset"].isin(lines["dataset"])]

    return judge
