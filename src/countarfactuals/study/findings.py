"""Each finding of the paper, held against the tables of a study: holds or does not hold, with numbers.

| finding | compared |
|---|---|
| plausibility | median true log density of non-dominated rows: ARF and MOCARF against MOC and NICE |
| hypervolume | median published hypervolume: ARF and MOCARF against MOC, MOCCTREE and NICE |
| number | median number of non-dominated rows: the same; claimed on average over data sets |
| arf_fastest | median seconds: ARF against the other methods that spend the whole budget |
| mocarf_faster | median seconds: MOCARF against MOCCTREE, with more than two features |
| rq2 | correlations to the true density: the forest against Gower, p < 0.001 |

A finding about several methods holds where each of ours beats each of the others. Two findings go beyond the paper:
`rq2_pooled` asks for the forest's correlation to be the higher one on each data set, over candidates of all methods
together, and `ahead` asks the best of ARF and MOCARF for a plausible hypervolume above every published method.
Seconds count what a method fits on its own (MOCCTREE's trees, NICE's autoencoder) but not the forest, as published;
those of the explanation alone are told beside. What is *required* is what the paper's text claims of that data set; the
rest is reported.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from countarfactuals.study.design import method_name
from countarfactuals.study.hypotheses import Comparison, compare

OURS, PUBLISHED_METHODS = ("arf", "mocarf"), ("arf", "mocarf", "moc", "mocctree", "nice")
SPENDING = ("arf", "mocarf", "moc", "mocctree")  # the methods that use up their evaluations
LEVEL = 0.001
ALL = "all"
CLAIMS = {
    "plausibility": "ARF and MOCARF are more plausible than MOC and NICE.",
    "hypervolume": "ARF and MOCARF have a higher hypervolume than MOC, MOCCTREE and NICE.",
    "number": "ARF and MOCARF give the largest non-dominated sets.",
    "arf_fastest": "ARF is the fastest of the methods that spend all evaluations.",
    "mocarf_faster": "MOCARF is faster than MOCCTREE with more than two features.",
    "rq2": "The forest's plausibility follows the true density more closely than Gower's (RQ2).",
    "rq2_pooled": "The forest's follows it more closely on each data set, over all candidates (beyond the paper).",
    "ahead": "The best of ARF and MOCARF has a plausible hypervolume above every published method (beyond the paper).",
}
_REQUIRED = {"plausibility": ("cassini", "two_sines", "bn_5"), "hypervolume": ("bn_10", "bn_20"), "number": (ALL,)}
_SECONDS = "seconds_with_own_fit"


@dataclass(frozen=True)
class Finding:
    """One finding on one data set, or on all together.

    Parameters
    ----------
    key : see the table above.
    dataset : its name, or "all".
    required : whether the paper claims it of this data set.
    holds : whether it does here.
    numbers : the numbers that tell.
    published_holds, published_numbers : the same by the published results; None and "" without them.
    """

    key: str
    dataset: str
    required: bool
    holds: bool
    numbers: str
    published_holds: bool | None = None
    published_numbers: str = ""

    @property
    def claim(self) -> str:
        """The finding in a sentence."""
        return CLAIMS[self.key]

    def to_dict(self) -> dict[str, Any]:
        """As a line of a table."""
        return {"claim": self.claim, **asdict(self)}


Verdict = tuple[bool, str]


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
    found = [
        *_per_set("plausibility", summary, published, _better("log_density", ("moc", "nice"), "{:.2f}")),
        *_per_set("hypervolume", summary, published, _better("hypervolume", PUBLISHED_METHODS[2:], "{:.3g}")),
        *_per_set("number", summary, published, _better("n_nondominated", PUBLISHED_METHODS[2:], "{:.3g}")),
        *_per_set(
            "number", *_on_average(summary, published), _better("n_nondominated", PUBLISHED_METHODS[2:], "{:.1f}")
        ),
        *_per_set("arf_fastest", summary, published, _fastest),
    ]
    wide = summary[summary["dataset"].map(n_features) > 2]
    found += _per_set("mocarf_faster", wide, published, _mocarf_faster)
    return [*found, *_rq2(instances, published_instances), *_rq2_pooled(pooled), *_ahead(summary, published)]


# Verdicts on one data set: a function of its lines of `summary` by method, None if methods are absent


def _better(column: str, others: Sequence[str], form: str) -> Callable[[pd.DataFrame], Verdict | None]:
    def judge(lines: pd.DataFrame) -> Verdict | None:
        ours = [method for method in OURS if method in lines.index]
        rest = [method for method in others if method in lines.index]
        if not ours or not rest:
            return None
        holds = lines.loc[ours, column].min() > lines.loc[rest, column].max()
        return bool(holds), _told(lines, column, [*ours, *rest], form)

    return judge


def _fastest(lines: pd.DataFrame) -> Verdict | None:
    spending = [method for method in SPENDING if method in lines.index]
    if "arf" not in spending or len(spending) < 2:
        return None
    seconds = lines.loc[spending, _SECONDS]
    return bool(seconds["arf"] < seconds.drop("arf").min()), _told(lines, _SECONDS, spending, "{:.3g} s")


def _mocarf_faster(lines: pd.DataFrame) -> Verdict | None:
    if not {"mocarf", "mocctree"} <= set(lines.index):
        return None
    numbers = _told(lines, _SECONDS, ["mocarf", "mocctree"], "{:.3g} s")
    alone = lines.loc["mocctree", "seconds"]
    if alone != lines.loc["mocctree", _SECONDS]:
        numbers += f" ({alone:.3g} s without growing its trees)"
    return bool(lines.loc["mocarf", _SECONDS] < lines.loc["mocctree", _SECONDS]), numbers


def _told(lines: pd.DataFrame, column: str, methods: Sequence[str], form: str) -> str:
    return ", ".join(f"{method_name(method)} {form.format(lines.loc[method, column])}" for method in methods)


def _per_set(
    key: str,
    summary: pd.DataFrame,
    published: pd.DataFrame | None,
    judge: Callable[[pd.DataFrame], Verdict | None],
) -> Iterator[Finding]:
    for name, lines in summary.groupby("dataset", sort=False):
        verdict = judge(lines.set_index("method"))
        if verdict is None:
            continue
        before: Verdict | None = None
        if published is not None:
            before = judge(published[published["dataset"] == name].set_index("method"))
        required = str(name) in _REQUIRED.get(key, (str(name),))
        yield Finding(key, str(name), required, *verdict, *(before or (None, "")))


# Findings over all data sets


def _on_average(summary: pd.DataFrame, published: pd.DataFrame | None) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Means over the data sets of both, as if of one data set."""
    return _mean_over_sets(summary), None if published is None else _mean_over_sets(published)


def _mean_over_sets(summary: pd.DataFrame) -> pd.DataFrame:
    means = summary.groupby("method", sort=False).mean(numeric_only=True).reset_index()
    return means.assign(dataset=ALL)


def _rq2(instances: pd.DataFrame, published: pd.DataFrame | None) -> Iterator[Finding]:
    test = rq2(instances)
    if test.n_pairs == 0:
        return
    verdict = _judge_rq2(test)
    before = (None, "") if published is None else _judge_rq2(rq2(published))
    yield Finding("rq2", ALL, True, *verdict, *before)


def rq2(instances: pd.DataFrame) -> Comparison:
    """The test of RQ2 on a table of instances."""
    return compare(instances["spearman_arf"], instances["spearman_gower"])


def _judge_rq2(test: Comparison) -> Verdict:
    numbers = f"median {test.median_first:.2f} against {test.median_second:.2f}, p = {test.p_value:.3g}"
    return test.p_value < LEVEL, f"{numbers}, {test.n_pairs} pairs"


def _rq2_pooled(pooled: pd.DataFrame) -> Iterator[Finding]:
    for name, some in pooled.groupby("dataset", sort=False):
        forest, gower = some["spearman_arf"].median(), some["spearman_gower"].median()
        if not (math.isnan(forest) or math.isnan(gower)):
            yield Finding("rq2_pooled", str(name), False, bool(forest > gower), f"ARF {forest:.2f}, Gower {gower:.2f}")


def _ahead(summary: pd.DataFrame, published: pd.DataFrame | None) -> Iterator[Finding]:
    if published is None:
        return
    column = "plausible_hypervolume"
    for name, lines in summary[summary["method"].isin(OURS)].groupby("dataset", sort=False):
        before = published[published["dataset"] == name].set_index("method")[column]
        ours = lines.set_index("method")[column]
        numbers = f"{method_name(str(ours.idxmax()))} {ours.max():.3f}"
        best = f"best published: {method_name(str(before.idxmax()))} {before.max():.3f}"
        yield Finding("ahead", str(name), False, bool(ours.max() > before.max()), f"{numbers}; {best}")
