"""A whole study: explanations, tables, figures, report.

1. The folder is claimed (`store`), and explanations are made (`runner`).
2. All candidates are put together and aggregated, always from the files and in the same order, so that a study that was
   interrupted ends with the same tables.
3. Findings are checked, figures drawn, and the report is written.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pandas as pd

from countarfactuals.parameters import check_n_jobs
from countarfactuals.study import aggregate
from countarfactuals.study.calibration import calibration, claims
from countarfactuals.study.cases import Case, checksum, load_case, needed
from countarfactuals.study.design import Design
from countarfactuals.study.findings import Finding, check_findings
from countarfactuals.study.measures import KEYS, MEASURES
from countarfactuals.study.published import Published, read_published
from countarfactuals.study.runner import case_of, every_explanation, fit_seconds, measure_names, run_jobs
from countarfactuals.study.store import CANDIDATES, REPORT, Store, read_meta, read_parquet, write_csv, write_parquet
from countarfactuals.study.trade_off import trade_off

_PACKAGES = (
    *("countarfactuals", "numpy", "scipy", "numba", "pandas", "scikit-learn", "joblib", "moocore"),
    *("xgboost", "networkx", "pyarrow", "matplotlib"),
)


@dataclass(frozen=True, eq=False)
class Tables:
    """What a study found."""

    design: Design
    cases: dict[str, Case]
    candidates: pd.DataFrame
    per_instance: pd.DataFrame
    summary: pd.DataFrame
    pooled: pd.DataFrame
    fits: pd.DataFrame
    published: Published | None
    versions: tuple[str | None, ...] = ()  # of this package, by which the study was made
    measures: Mapping[str, str] = field(default_factory=dict)  # what the learned measure is, where that was recorded

    @property
    def n_features(self) -> dict[str, int]:
        """How many features each data set has."""
        return {name: case.n_features for name, case in self.cases.items()}

    def findings(self) -> list[Finding]:
        """Each finding, held against these tables."""
        before = (None, None) if self.published is None else (self.published.summary, self.published.per_instance)
        return check_findings(self.summary, self.per_instance, self.pooled, self.n_features, *before)

    def trade_off(self) -> pd.DataFrame:
        """What plausibility costs, see `study.trade_off`."""
        return trade_off(self.candidates, self.per_instance, self.n_features)

    def claims(self) -> pd.DataFrame:
        """What is claimed of each non-dominated row, and what is true, see `study.calibration`."""
        return claims(self.candidates, {name: case.real_log_density for name, case in self.cases.items()})

    def calibration(self) -> pd.DataFrame:
        """How true the claims of each method are."""
        return calibration(self.claims())


def run_study(
    design: Design,
    out: str | os.PathLike[str],
    *,
    n_jobs: int = 1,
    resume: bool = False,
    pictures: bool = True,
    quiet: bool = False,
) -> Tables:
    """Run a study and write all of it to a folder.

    Parameters
    ----------
    design : what is compared.
    out : the folder.
    n_jobs : processes.
    resume : go on with the study that the folder holds.
    pictures : draw figures, which takes matplotlib.
    quiet : tell nothing of the progress.
    """
    design.check()
    check_n_jobs(n_jobs)
    for package in ("xgboost", "pyarrow"):  # before hours of work
        needed(package)
    if pictures:
        needed("matplotlib", "plot")
    store = Store(Path(out))
    store.begin(_identity(design), resume)
    _record(design, store, n_jobs)
    run_jobs(design, store, n_jobs=n_jobs, quiet=quiet)
    store.sweep()
    tables = collect(design, store)
    write_tables(tables, store.out)
    images: dict[str, Path] = {}
    if pictures:
        from countarfactuals.study.figures import draw_figures  # only here, as matplotlib is optional

        images = draw_figures(tables, store.out / "figures")
    from countarfactuals.study.report import write_report

    write_report(tables, images, store.out / REPORT)
    return tables


def collect(design: Design, store: Store) -> Tables:
    """The tables of a study whose explanations are all made."""
    keys, parts, lines = list(every_explanation(design)), [], []
    fits = pd.DataFrame(fit_seconds(design, store))
    own = {(row.dataset, row.method): row.seconds for row in fits.itertuples()}
    for key in keys:
        path = store.explanation(*key)
        parts.append(read_parquet(path))
        lines.append({**dict(zip(KEYS, key, strict=True)), **_told(read_meta(path), own.get(key[:2], 0.0))})
    candidates = _together(parts)
    cases = {name: case_of(design, store, name) for name in design.sets}
    real = {name: case.real_log_density for name, case in cases.items()}
    instances = aggregate.per_instance(candidates, pd.DataFrame(lines), real)
    instances["valid_share"] = instances["n_candidates"] / instances["n_distinct"]
    instances = instances[[name for name in instances if name not in aggregate.SECONDS] + list(aggregate.SECONDS)]
    published = None if design.data is None else read_published(design.data, design.sets, real)
    return Tables(
        design,
        cases,
        candidates,
        instances,
        aggregate.summary(candidates, instances),
        aggregate.pooled(candidates),
        fits,
        published,
        _versions(store.environments()),
        measure_names(design, store),
    )


def _told(meta: dict[str, Any], own_fit: float) -> dict[str, Any]:
    """What an explanation's file tells of it."""
    known = {name: meta[name] for name in ("n_evaluated", "n_distinct", "status", "seconds")}
    return {**known, "seconds_with_own_fit": meta["seconds"] + own_fit}


def _together(parts: list[pd.DataFrame]) -> pd.DataFrame:
    """One frame of all; sets with fewer features have none in the others' columns.

    A measure that an earlier version did not know is NaN in its files: what is finished stays.
    """
    whole = [part for part in parts if len(part)] or parts[:1]
    known = [*KEYS, *MEASURES]
    features = max(([name for name in part if name not in known] for part in parts), key=len)
    columns = [*known, *features]
    return pd.concat([part.reindex(columns=columns) for part in whole], ignore_index=True)


def write_tables(tables: Tables, out: Path) -> None:
    """Every table as a file."""
    write_parquet(out / CANDIDATES, tables.candidates)
    every = {
        "per_instance": tables.per_instance,
        "summary": tables.summary,
        "pooled_correlations": tables.pooled,
        "fit_seconds": tables.fits,
        "trade_off": tables.trade_off(),
        "calibration": tables.calibration(),
        "findings": pd.DataFrame([finding.to_dict() for finding in tables.findings()]),
    }
    for name, table in every.items():
        write_csv(out / f"{name}.csv", table)


def _identity(design: Design) -> dict[str, Any]:
    """What must be the same when a study is resumed; methods may be added or left out."""
    known = design.to_dict()
    identity = {name: known[name] for name in ("preset", "n_instances", "max_evaluations", "seed", "n_estimators")}
    identity["sets"] = known["sets"]
    if design.data is None:
        return {**identity, "data": "generated", "n_rows": design.n_rows}
    for name in design.sets:
        load_case(design.data, name, design.n_instances)  # complains at once of what is not there
    return {**identity, "data": {name: checksum(design.data, name) for name in design.sets}}


def _record(design: Design, store: Store, n_jobs: int) -> None:
    """Write down where the study is made; a study of several versions of this package says so."""
    versions = _versions(store.record_environment(_environment(design, n_jobs)))
    if len(versions) > 1:
        told = " and ".join(map(str, versions))
        print(
            f"warning: versions {told} of this package worked on this study; what the earlier finished stays.",
            file=sys.stderr,
        )


def _versions(environments: list[dict[str, Any]]) -> tuple[str | None, ...]:
    """The distinct versions of this package, in order."""
    return tuple(dict.fromkeys(one["packages"]["countarfactuals"] for one in environments))


def _environment(design: Design, n_jobs: int) -> dict[str, Any]:
    return {
        "design": design.to_dict(),
        "jobs": n_jobs,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "system": platform.platform(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "packages": {name: _version(name) for name in _PACKAGES},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
