"""Verdicts on tables made by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd

from countarfactuals.study.findings import Finding, check_findings

METHODS = ("arf", "mocarf", "moc", "mocctree", "nice", "whatif")
N_FEATURES = {"cassini": 2, "bn_10": 9}


def make_summary() -> pd.DataFrame:
    """A study in which everything holds; WhatIf is better at all, which must not matter."""
    lines = []
    for name in N_FEATURES:
        for k, method in enumerate(METHODS):
            ours = method in ("arf", "mocarf")
            line = {"dataset": name, "method": method, "log_density": -1.0 if ours else -2.0, "hypervolume": 9.0 - k}
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


def changed(name: str, method: str, column: str, value: float) -> pd.DataFrame:
    summary = make_summary()
    summary.loc[(summary["dataset"] == name) & (summary["method"] == method), column] = value
    return summary


def test_everything_holds_where_it_does() -> None:
    found = verdicts()
    assert all(finding.holds for finding in found.values())
    assert ("mocarf_faster", "cassini") not in found  # two features
    assert {key for key, _ in found} == {
        *("plausibility", "hypervolume", "number", "arf_fastest", "mocarf_faster", "rq2", "rq2_pooled")
    }


def test_one_number_turns_its_own_finding_only() -> None:
    cases = [
        (("cassini", "nice", "log_density", -0.9), ("plausibility", "cassini")),
        (("bn_10", "mocarf", "log_density", -2.5), ("plausibility", "bn_10")),
        (("bn_10", "mocctree", "hypervolume", 8.5), ("hypervolume", "bn_10")),
        (("cassini", "moc", "n_nondominated", 20), ("number", "cassini")),
        (("bn_10", "moc", "seconds_with_own_fit", 0.9), ("arf_fastest", "bn_10")),
        (("bn_10", "mocctree", "seconds_with_own_fit", 2.9), ("mocarf_faster", "bn_10")),
    ]
    for change, place in cases:
        found = verdicts(summary=changed(*change))
        assert [key for key, finding in found.items() if not finding.holds] == [place]


def test_the_number_is_claimed_on_average() -> None:
    found = verdicts(summary=changed("cassini", "moc", "n_nondominated", 60))
    assert not found["number", "cassini"].holds
    assert not found["number", "cassini"].required
    assert not found["number", "all"].holds  # (60 + 5) / 2 is above 20
    assert found["number", "all"].required


def test_rq2_needs_a_small_p_value() -> None:
    assert not verdicts(instances=make_instances(0.0))["rq2", "all"].holds
    pooled = make_pooled()
    pooled.loc[pooled["dataset"] == "bn_10", "spearman_arf"] = 0.4
    found = verdicts(pooled=pooled)
    assert (found["rq2_pooled", "cassini"].holds, found["rq2_pooled", "bn_10"].holds) == (True, False)


def test_required_is_what_the_paper_claims() -> None:
    found = verdicts()
    assert found["plausibility", "cassini"].required
    assert not found["plausibility", "bn_10"].required
    assert found["hypervolume", "bn_10"].required
    assert not found["hypervolume", "cassini"].required
    assert found["rq2", "all"].required


def test_published_numbers_stand_beside() -> None:
    published = changed("bn_10", "moc", "log_density", 0.0)
    published["plausible_hypervolume"] = 0.395
    found = verdicts(published=published)
    finding = found["plausibility", "bn_10"]
    assert (finding.holds, finding.published_holds) == (True, False)
    assert "MOC 0.00" in finding.published_numbers
    assert found["ahead", "cassini"].holds  # 0.40 against 0.395
    published["plausible_hypervolume"] = 0.405
    assert not verdicts(published=published)["ahead", "cassini"].holds


def test_absent_methods_leave_findings_out() -> None:
    summary = make_summary()
    found = verdicts(summary=summary[summary["method"].isin(["arf", "nice"])])
    assert ("mocarf_faster", "bn_10") not in found
    assert ("arf_fastest", "cassini") not in found
    assert found["plausibility", "cassini"].numbers == "ARF -1.00, NICE -2.00"


def test_undefined_correlations_are_no_finding() -> None:
    """WhatIf alone: real rows have no distance to real rows."""
    instances, pooled = make_instances().assign(spearman_gower=np.nan), make_pooled().assign(spearman_gower=np.nan)
    found = verdicts(instances=instances, pooled=pooled)
    assert not {key for key, _ in found} & {"rq2", "rq2_pooled"}
