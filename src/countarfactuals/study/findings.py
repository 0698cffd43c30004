"""Findings, held against the tables of a study: each holds, is level or does not hold, with numbers.

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
2. A finding about several methods holds where the weakest of ours is ahead of the strongest of the others. Within the
   tolerances of `verdicts` they are level.
3. Seconds count what a method fits on its own (MOCCTREE's trees, NICE's autoencoder) but not the forest, as published.
4. Log densities are medians over all non-dominated rows, as in the paper, which weighs instances by their number of
   rows. Where the median of the instances' medians leads to another verdict, the finding says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import pandas as pd

from countarfactuals.study.aggregate import BY_INSTANCE
from countarfactuals.study.design import method_name
from countarfactuals.study.hypotheses import Comparison, compare
from countarfactuals.study.verdicts import (
    CORRELATION,
    FAILS,
    HOLDS,
    HYPERVOLUME,
    LEVEL,
    LOG_DENSITY,
    NUMBER,
    SECONDS,
    Scale,
    form_for,
    told,
    verdict,
)

OURS, OTHERS = ("arf", "mocarf"), ("moc", "mocctree", "nice")
SEARCHING = ("arf", "mocarf", "moc", "mocctree")  # within the budget of evaluations; ARF may stop before it is spent
LARGEST_P = 0.001
ALL = "all"
PAPER, STUDY, NOBODY = "paper", "study", ""
CLAIMS = {
    "plausibility": "On average over data sets, ARF and MOCARF are more plausible than MOC, MOCCTREE and NICE.",
    "plausibility_by_set": "ARF and MOCARF are more plausible than MOC and NICE.",
    "hypervolume": "ARF and MOCARF have a higher hypervolume than MOC, MOCCTREE and NICE.",
    "number": "ARF and MOCARF give larger non-dominated sets than MOC, MOCCTREE and NICE.",
    "arf_fastest": "ARF is the fastest of the methods with a budget of evaluations that search (ARF, MOCARF, MOC, "
    "MOCCTREE).",
    "mocarf_faster": "MOCARF is faster than MOCCTREE with more than two features, counting MOCCTREE's trees but not "
    "the forest, as published.",
    "rq2": "The learned measure of plausibility follows the true density more closely than Gower's (RQ2).",
    "rq2_pooled": "The learned measure follows it more closely on each data set, over the candidates of all methods "
    "together.",
    "ahead": "The best of ARF and MOCARF has a plausible hypervolume above every published method.",
}
REQUIRED: dict[str, tuple[str, tuple[str, ...] | None]] = {  # by whom, and on which data sets; None for each
    "plausibility": (PAPER, (ALL,)),
    "plausibility_by_set": (STUDY, ("cassini", "two_sines", "bn_5")),
    "hypervolume": (PAPER, ("bn_10", "bn_20")),
    "number": (PAPER, (ALL,)),
    "arf_fastest": (PAPER, (ALL,)),
    "mocarf_faster": (PAPER, None),
    "rq2": (PAPER, (ALL,)),
}
_SECONDS = "seconds_with_own_fit"


@dataclass(frozen=True)
class Finding:
    """One finding on one data set, or on all together.

    Parameters
    ----------
    key : see the table above.
    dataset : its name, or "all".
    required_by : "paper" if the paper's text claims it, "study" if this study asks for it, "" if it is only reported.
    verdict : "holds", "level" or "does not hold".
    numbers : the numbers that tell.
    verdict_by_instance : the verdict by medians of the instances' medians; "" but for plausibility.
    published_verdict, published_numbers : the same by the published results; "" without them.
    """

    key: str
    dataset: str
    required_by: str
    verdict: str
    numbers: str
    verdict_by_instance: str = ""
    published_verdict: str = ""
    published_numbers: str = ""

    @property
    def claim(self) -> str:
        """The finding in a sentence."""
        return CLAIMS[self.key]

    @property
    def required(self) -> bool:
        """Whether the paper or this study asks for it."""
        return self.required_by != NOBODY

    @property
    def depends_on_weights(self) -> bool:
        """Whether another verdict would be given if each instance counted alike."""
        return self.verdict_by_instance not in ("", self.verdict)

    def to_dict(self) -> dict[str, Any]:
        """As a line of a table."""
        return {"claim": self.claim, **asdict(self)}


class Judged(NamedTuple):
    """A verdict with the numbers that tell."""

    verdict: str
    numbers: str
    by_instance: str = ""


Judge = Callable[[pd.DataFrame], Judged | None]  # of lines of `summary`; None if methods are absent


def check_findings(
    summary: pd.DataFrame,
    instances: pd.DataFrame,
    pooled: pd.DataFrame,
    n_features: Mapping[str, int],
    published: pd.DataFrame | None = None,
    published_instances: pd.DataFrame | None = None,
) -> list[Finding]:
    """All findings that the methods of a study allow to check.

    Parameters
    ----------
    summary, instances, pooled : see `aggregate`.
    n_features : of each data set.
    published, published_instances : `summary` and `instances` of the published results.
    """
    wide = summary[summary["dataset"].map(n_features) > 2]
    hypervolume, number = _better("hypervolume", HYPERVOLUME), _better("n_nondominated", NUMBER)
    return [
        *_over_all("plausibility", summary, published, _more_plausible(OTHERS)),
        *_per_set("plausibility_by_set", summary, published, _more_plausible(("moc", "nice"))),
        *_per_set("hypervolume", summary, published, hypervolume),
        *_over_all("number", summary, published, number),
        *_per_set("number", summary, published, number),
        *_over_all("arf_fastest", summary, published, _fastest),
        *_per_set("arf_fastest", summary, published, _fastest),
        *_per_set("mocarf_faster", wide, published, _mocarf_faster),
        *_rq2(instances, published_instances),
        *_rq2_pooled(pooled),
        *_ahead(summary, published),
    ]


def count(verdicts: Sequence[str]) -> str:
    """How many verdicts there are of each kind, in words.

    >>> count(["holds", "holds", "level"])
    '2 hold, 1 is level and 0 do not hold'
    """
    n = {kind: list(verdicts).count(kind) for kind in (HOLDS, LEVEL, FAILS)}
    hold, level = "holds" if n[HOLDS] == 1 else "hold", "is" if n[LEVEL] == 1 else "are"
    fail = "does" if n[FAILS] == 1 else "do"
    return f"{n[HOLDS]} {hold}, {n[LEVEL]} {level} level and {n[FAILS]} {fail} not hold"


def told_required(findings: Sequence[Finding]) -> str:
    """How many of the required findings hold, as a sentence."""
    verdicts = [finding.verdict for finding in findings if finding.required]
    if not verdicts:
        return "No finding is required of these methods and data sets."
    noun = "required finding" if len(verdicts) == 1 else "required findings"
    return f"Of {len(verdicts)} {noun} {count(verdicts)}."


# Judges


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
    def judge(lines: pd.DataFrame) -> Judged | None:
        present = set(lines["method"])
        ours, rest = [one for one in OURS if one in present], [one for one in others if one in present]
        table = _comparable(lines, column, [*ours, *rest])
        numbers, n_sets = table.mean(), lines["dataset"].nunique()
        rest = [one for one in rest if one in numbers]  # one without a counterfactual can not be compared
        if not ours or not rest:
            return None
        weakest = numbers.reindex(ours).min(skipna=False)
        decisive = (float(weakest), float(numbers[rest].max()))
        words = told(numbers.to_dict(), decisive, scale)
        if len(table) < n_sets:
            words += f" (over {len(table)} of {n_sets} data sets: some method has no counterfactual on the others)"
        return Judged(verdict(*decisive, scale), words)

    return judge


def _more_plausible(others: Sequence[str]) -> Judge:
    """By the rows' median as in the paper, and by that of the instances' medians."""
    by_rows, by_instance = (_better(column, LOG_DENSITY, others) for column in ("log_density", BY_INSTANCE))

    def judge(lines: pd.DataFrame) -> Judged | None:
        found, other = by_rows(lines), by_instance(lines)
        if found is None or other is None:
            return found
        numbers = found.numbers
        if found.verdict != other.verdict:
            numbers += f"; by medians of instances ({other.numbers}): {other.verdict}"
        return Judged(found.verdict, numbers, other.verdict)

    return judge


def _fastest(lines: pd.DataFrame) -> Judged | None:
    searching = [method for method in SEARCHING if method in set(lines["method"])]
    if "arf" not in searching or len(searching) < 2:
        return None
    seconds = averages(lines, _SECONDS, searching)
    decisive = (float(seconds["arf"]), float(seconds.drop("arf").min()))
    numbers = told(seconds.to_dict(), decisive, SECONDS)
    if "nice" in set(lines["method"]):
        numbers += f" (NICE, which asks far less: {averages(lines, _SECONDS, ['nice'])['nice']:.3g} s)"
    return Judged(verdict(*decisive, SECONDS), numbers)


def _mocarf_faster(lines: pd.DataFrame) -> Judged | None:
    pair = ("mocarf", "mocctree")
    if not set(pair) <= set(lines["method"]):
        return None
    seconds, alone = averages(lines, _SECONDS, pair), averages(lines, "seconds", pair)
    with_trees, without = ((float(some["mocarf"]), float(some["mocctree"])) for some in (seconds, alone))
    numbers = told(seconds.to_dict(), with_trees, SECONDS)
    if not alone.equals(seconds):  # published seconds do not tell the fits apart
        even = {HOLDS: "MOCARF is faster", LEVEL: "they are level", FAILS: "MOCCTREE is faster"}
        fair = even[verdict(*without, SECONDS)]
        numbers += f"; counting neither fit, {fair}: {told(alone.to_dict(), without, SECONDS)}"
    return Judged(verdict(*with_trees, SECONDS), numbers)


# Places


def _finding(key: str, dataset: str, found: Judged, before: Judged | None = None) -> Finding:
    by, where = REQUIRED.get(key, (NOBODY, ()))
    required_by = by if where is None or dataset in where else NOBODY
    published = ("", "") if before is None else before[:2]
    return Finding(key, dataset, required_by, found.verdict, found.numbers, found.by_instance, *published)


def _per_set(key: str, summary: pd.DataFrame, published: pd.DataFrame | None, judge: Judge) -> Iterator[Finding]:
    for name, lines in summary.groupby("dataset", sort=False):
        if (found := judge(lines)) is not None:
            before = None if published is None else judge(published[published["dataset"] == name])
            yield _finding(key, str(name), found, before)


def _over_all(key: str, summary: pd.DataFrame, published: pd.DataFrame | None, judge: Judge) -> Iterator[Finding]:
    if (found := judge(summary)) is not None:
        yield _finding(key, ALL, found, None if published is None else judge(published))


def _rq2(instances: pd.DataFrame, published: pd.DataFrame | None) -> Iterator[Finding]:
    test = rq2(instances)
    if test.n_pairs:
        yield _finding("rq2", ALL, _judge_rq2(test), None if published is None else _judge_rq2(rq2(published)))


def rq2(instances: pd.DataFrame) -> Comparison:
    """The test of RQ2 on a table of instances."""
    return compare(instances["spearman_arf"], instances["spearman_gower"])


def _judge_rq2(test: Comparison) -> Judged:
    numbers = f"learned {test.median_first:.2f}, Gower {test.median_second:.2f}, p = {test.p_value:.3g}"
    return Judged(HOLDS if test.p_value < LARGEST_P else FAILS, f"{numbers}, {test.n_pairs} pairs")


def _rq2_pooled(pooled: pd.DataFrame) -> Iterator[Finding]:
    for name, some in pooled.groupby("dataset", sort=False):
        pair = (float(some["spearman_arf"].median()), float(some["spearman_gower"].median()))
        if not any(map(math.isnan, pair)):
            form = form_for(pair, CORRELATION)
            numbers = f"learned {form.format(pair[0])}, Gower {form.format(pair[1])}"
            yield _finding("rq2_pooled", str(name), Judged(verdict(*pair, CORRELATION), numbers))


def _ahead(summary: pd.DataFrame, published: pd.DataFrame | None) -> Iterator[Finding]:
    if published is None:
        return
    column = "plausible_hypervolume"
    for name, lines in summary[summary["method"].isin(OURS)].groupby("dataset", sort=False):
        before = published[published["dataset"] == name].set_index("method")[column]
        if before.empty:
            continue
        ours = lines.set_index("method")[column]
        pair = (float(ours.max()), float(before.max()))
        form = form_for(pair, HYPERVOLUME)
        numbers = f"{method_name(str(ours.idxmax()))} {form.format(pair[0])}"
        best = f"best published: {method_name(str(before.idxmax()))} {form.format(pair[1])}"
        yield _finding("ahead", str(name), Judged(verdict(*pair, HYPERVOLUME), f"{numbers}; {best}"))
