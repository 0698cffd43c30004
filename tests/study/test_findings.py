"""Verdicts on tables made by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd

from countarfactuals.study.findings import (
    HYPERVOLUME,
    NUMBER,
    REQUIRED,
    TIME,
    Finding,
    check_findings,
    is_level,
    verdict,
)
from countarfactuals.study.telling import CLAIMS, count, numbers_told, told_required

METHODS = ("arf", "mocarf", "moc", "mocctree", "nice", "whatif")
N_FEATURES = {"cassini": 2, "bn_10": 9}


def make_summary() -> pd.DataFrame:
    """A study in which everything holds; WhatIf is better at all, which must not matter."""
    lines = []
    for name in N_FEATURES:
        for k, method in enumerate(METHODS):
            ours = method in ("arf", "mocarf")
            line = {"dataset": name, "method": method, "log_density": -1.0 if ours else -2.0, "hypervolume": 9.0 - k}
            line["log_density_by_instance"] = line["log_density"]
            line |= {"n_nondominated": 20 if ours else 5, "plausible_hypervolume": 0.4 - 0.01 * k}
            seconds = {"arf": 1.0, "mocarf": 3.0, "moc": 2.0, "mocctree": 2.5}.get(method, 0.1)
            line |= {"seconds": seconds, "seconds_with_own_fit": seconds + 4.0 * (method == "mocctree")}
            if method == "whatif":
                line |= {"log_density": 0.0, "hypervolume": 99.0, "n_nondominated": 99}
            lines.append(line)
    return pd.DataFrame(lines)


def make_instances(shift: float = 0.2) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    gower = rng.uniform(0.2, 0.6, 60)
    return pd.DataFrame({"spearman_arf": gower + shift + rng.normal(0, 0.05, 60), "spearman_gower": gower})


def make_pooled(arf: float = 0.9) -> pd.DataFrame:
    names = [name for name in N_FEATURES for _ in range(3)]
    return pd.DataFrame({"dataset": names, "spearman_arf": arf, "spearman_gower": 0.5})


def verdicts(**changes: pd.DataFrame) -> dict[tuple[str, str], Finding]:
    tables = {"summary": make_summary(), "instances": make_instances(), "pooled": make_pooled(), **changes}
    found = check_findings(n_features=N_FEATURES, **tables)  # type: ignore[arg-type]
    return {(finding.key, finding.dataset): finding for finding in found}


def numbers(finding: Finding) -> str:
    return numbers_told(finding.key, finding.evidence)


def changed(name: str, method: str, column: str, value: float) -> pd.DataFrame:
    summary = make_summary()
    summary.loc[(summary["dataset"] == name) & (summary["method"] == method), column] = value
    return summary


def test_everything_holds_where_it_does() -> None:
    found = verdicts()
    assert {finding.verdict for finding in found.values()} == {"holds"}
    assert not any(finding.depends_on_weights for finding in found.values())
    assert ("mocarf_faster", "cassini") not in found  # two features
    assert {key for key, _ in found} == {
        *(
            "plausibility",
            "plausibility_by_set",
            "hypervolume",
            "number",
            "arf_fastest",
            "mocarf_faster",
            "rq2",
            "rq2_pooled",
        )
    }


def test_one_number_turns_its_own_finding_only() -> None:
    cases = [
        (("cassini", "nice", "log_density", -0.9), ("plausibility_by_set", "cassini")),
        (("bn_10", "mocarf", "log_density", -2.5), ("plausibility_by_set", "bn_10")),
        (("bn_10", "mocctree", "hypervolume", 8.5), ("hypervolume", "bn_10")),
        (("cassini", "moc", "n_nondominated", 22), ("number", "cassini")),
        (("bn_10", "moc", "seconds_with_own_fit", 0.7), ("arf_fastest", "bn_10")),
        (("bn_10", "mocctree", "seconds_with_own_fit", 2.0), ("mocarf_faster", "bn_10")),
    ]
    for change, place in cases:
        found = verdicts(summary=changed(*change))
        turned = {key: finding.verdict for key, finding in found.items() if finding.verdict != "holds"}
        assert turned == {place: "does not hold"}


def test_the_number_is_claimed_on_average() -> None:
    found = verdicts(summary=changed("cassini", "moc", "n_nondominated", 60))
    assert found["number", "cassini"].verdict == "does not hold"
    assert not found["number", "cassini"].required
    assert found["number", "all"].verdict == "does not hold"  # (60 + 5) / 2 is above 20
    assert found["number", "all"].required_by == "paper"


def test_rq2_needs_a_small_p_value() -> None:
    assert verdicts(instances=make_instances(0.0))["rq2", "all"].verdict == "does not hold"
    pooled = make_pooled()
    pooled.loc[pooled["dataset"] == "bn_10", "spearman_arf"] = 0.4
    found = verdicts(pooled=pooled)
    assert found["rq2_pooled", "cassini"].verdict == "holds"
    assert found["rq2_pooled", "bn_10"].verdict == "does not hold"


def test_who_requires_what() -> None:
    found = verdicts()
    required = {place: finding.required_by for place, finding in found.items() if finding.required}
    assert required == {
        ("plausibility", "all"): "paper",
        ("plausibility_by_set", "cassini"): "study",
        ("hypervolume", "bn_10"): "paper",
        ("number", "all"): "paper",
        ("arf_fastest", "all"): "paper",
        ("mocarf_faster", "bn_10"): "paper",
        ("rq2", "all"): "paper",
    }
    assert {"bn_20", "bn_10"} == set(REQUIRED["hypervolume"][1] or ())
    assert set(REQUIRED) <= set(CLAIMS)


def test_published_numbers_stand_beside() -> None:
    published = changed("bn_10", "moc", "log_density", 0.0)
    published["plausible_hypervolume"] = 0.395
    found = verdicts(published=published)
    finding = found["plausibility_by_set", "bn_10"]
    assert finding.published is not None
    assert (finding.verdict, finding.published.verdict) == ("holds", "does not hold")
    assert "MOC 0.00" in numbers_told(finding.key, finding.published)
    for best, expected in ((0.395, "holds"), (0.399, "level"), (0.401, "level"), (0.405, "does not hold")):
        published["plausible_hypervolume"] = best  # ours: 0.40
        assert verdicts(published=published)["ahead", "cassini"].verdict == expected


def test_absent_methods_leave_findings_out() -> None:
    summary = make_summary()
    found = verdicts(summary=summary[summary["method"].isin(["arf", "nice"])])
    assert ("mocarf_faster", "bn_10") not in found
    assert ("arf_fastest", "cassini") not in found
    assert numbers(found["plausibility_by_set", "cassini"]) == "ARF -1.00, NICE -2.00"


def test_undefined_correlations_are_no_finding() -> None:
    """WhatIf alone: real rows have no distance to real rows."""
    instances, pooled = make_instances().assign(spearman_gower=np.nan), make_pooled().assign(spearman_gower=np.nan)
    found = verdicts(instances=instances, pooled=pooled)
    assert not {key for key, _ in found} & {"rq2", "rq2_pooled"}


def test_on_average_is_the_mean_over_data_sets_of_medians() -> None:
    found = verdicts(summary=changed("cassini", "mocctree", "log_density", 5.0))["plausibility", "all"]
    assert found.verdict == "does not hold"  # (5 − 2) / 2 is above −1; MOCCTREE counts on average only
    assert "MOCCTREE 1.50" in numbers(found)
    assert verdicts(summary=changed("cassini", "mocctree", "log_density", 5.0))[
        "plausibility_by_set", "cassini"
    ].verdict == ("holds")
    slow = verdicts(summary=changed("cassini", "arf", "seconds_with_own_fit", 9.0))
    assert slow["arf_fastest", "all"].verdict == "does not hold"  # 5 s against MOC's 2 s
    assert slow["arf_fastest", "bn_10"].verdict == "holds"


def test_data_sets_without_a_number_are_left_out_of_averages_and_that_is_told() -> None:
    summary = changed("cassini", "nice", "log_density", np.nan)
    summary.loc[(summary["dataset"] == "cassini") & (summary["method"] == "arf"), "log_density"] = -50.0
    found = verdicts(summary=summary)["plausibility", "all"]
    assert found.verdict == "holds"  # on bn_10 alone
    assert "over 1 of 2 data sets" in numbers(found)
    assert "over" not in numbers(verdicts()["plausibility", "all"])


def test_ours_without_a_counterfactual_is_no_success() -> None:
    found = verdicts(summary=changed("cassini", "mocarf", "log_density", np.nan))
    assert found["plausibility_by_set", "cassini"].verdict == "does not hold"


def test_close_numbers_are_level_and_can_be_told_apart() -> None:
    summary = changed("bn_10", "mocctree", "hypervolume", 7.96)  # MOCARF has 8
    found = verdicts(summary=summary)["hypervolume", "bn_10"]
    assert found.verdict == "level"
    assert "MOCARF 8," in numbers(found)
    assert "MOCCTREE 7.96" in numbers(found)
    closer = verdicts(summary=changed("bn_10", "mocctree", "hypervolume", 7.9996))["hypervolume", "bn_10"]
    assert "MOCCTREE 7.9996" in numbers(closer)
    assert verdicts(summary=changed("bn_10", "mocctree", "hypervolume", 7.9))["hypervolume", "bn_10"].verdict == "holds"


def test_tolerances() -> None:
    assert verdict(1.0, 1.2, TIME) == verdict(1.2, 1.0, TIME) == "level"
    assert (verdict(1.0, 1.3, TIME), verdict(1.3, 1.0, TIME)) == ("holds", "does not hold")
    assert (verdict(14.0, 13.0, NUMBER), verdict(14.5, 13.0, NUMBER)) == ("level", "holds")
    assert (verdict(505.0, 501.0, NUMBER), verdict(507.0, 501.0, NUMBER)) == ("level", "holds")
    assert (verdict(1.009, 1.0, HYPERVOLUME), verdict(1.011, 1.0, HYPERVOLUME)) == ("level", "holds")
    assert is_level(0.0, 0.0, HYPERVOLUME)
    assert not is_level(1e-9, 0.0, HYPERVOLUME)
    assert not is_level(-np.inf, -5.0, HYPERVOLUME)


def test_a_verdict_that_depends_on_weights_is_marked() -> None:
    found = verdicts(summary=changed("cassini", "moc", "log_density_by_instance", -0.5))
    finding = found["plausibility_by_set", "cassini"]
    assert (finding.verdict, finding.verdict_by_instance, finding.depends_on_weights) == (
        "holds",
        "does not hold",
        True,
    )
    assert "by medians of instances" in numbers(finding)
    assert not found["plausibility_by_set", "bn_10"].depends_on_weights
    assert not found["hypervolume", "cassini"].depends_on_weights


def test_the_even_comparison_is_told() -> None:
    finding = verdicts()["mocarf_faster", "bn_10"]
    assert finding.verdict == "holds"  # 3 s against 6.5 s
    assert numbers(finding) == (
        "MOCARF 3 s, MOCCTREE 6.5 s; counting neither fit, they are level: MOCARF 3 s, MOCCTREE 2.5 s"
    )
    assert "not the forest, as published" in CLAIMS[finding.key]
    slower = verdicts(summary=changed("bn_10", "mocctree", "seconds", 2.0))["mocarf_faster", "bn_10"]
    assert "MOCCTREE is faster: MOCARF 3 s, MOCCTREE 2 s" in numbers(slower)
    faster = verdicts(summary=changed("bn_10", "mocctree", "seconds", 5.0))["mocarf_faster", "bn_10"]
    assert "counting neither fit, MOCARF is faster" in numbers(faster)


def test_counts_are_in_words() -> None:
    assert count(["holds", "level", "level", "does not hold"]) == "1 holds, 2 are level and 1 does not hold"
    assert count([]) == "0 hold, 0 are level and 0 do not hold"
    every = list(verdicts(summary=changed("bn_10", "moc", "hypervolume", 60.0)).values())
    assert told_required(every) == "Of 7 required findings 6 hold, 0 are level and 1 does not hold."
    assert told_required([one for one in every if one.key == "rq2"]).startswith("Of 1 required finding 1 holds,")
    assert "No finding" in told_required([one for one in every if not one.required])
