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
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from countarfactuals._optional import versions_of
from countarfactuals.language import tr
from countarfactuals.language.spelling import joined
from countarfactuals.parameters import check_n_jobs
from countarfactuals.study import tables as made
from countarfactuals.study.design import Design, known_methods
from countarfactuals.study.findings import check_findings
from countarfactuals.study.measures import KEYS, MEASURES
from countarfactuals.study.published import read_published
from countarfactuals.study.report import write_report
from countarfactuals.study.runner import case_of, every_explanation, fit_seconds, measure_names, run_jobs
from countarfactuals.study.sets import SETS
from countarfactuals.study.store import (
    CANDIDATES,
    REPORT,
    Store,
    needed,
    read_meta,
    read_parquet,
    write_csv,
    write_parquet,
)
from countarfactuals.study.tables import OWN_FIT, SECONDS, Tables
from countarfactuals.study.telling import finding_line
from countarfactuals.study.trade_off import trade_off

_PACKAGES = (
    *("countarfactuals", "numpy", "scipy", "numba", "pandas", "scikit-learn", "joblib", "moocore"),
    *("xgboost", "networkx", "pyarrow", "matplotlib"),
)


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
        needed("matplotlib", extra="plot")
    store = Store(Path(out))
    store.begin(_identity(design), resume)
    _record(design, store, n_jobs)
    run_jobs(design, store, n_jobs=n_jobs, quiet=quiet)
    store.sweep(SETS, known_methods())
    tables = collect(design, store)
    _write_tables(tables, store.out)
    images: dict[str, Path] = {}
    if pictures:
        from countarfactuals.study.figures import draw_figures  # only here, as matplotlib is optional

        images = draw_figures(tables, store.out / "figures")
    write_report(tables, images, store.out / REPORT)
    return tables


def collect(design: Design, store: Store) -> Tables:
    """The tables of a study whose explanations are all made."""
    fits = pd.DataFrame(fit_seconds(design, store))
    candidates, explanations = _explanations(design, store, fits)
    cases = {name: case_of(design, store, name) for name in design.sets}
    real = {name: case.real_log_density for name, case in cases.items()}
    n_features = {name: case.n_features for name, case in cases.items()}
    instances = made.per_instance(candidates, explanations, real)
    instances["valid_share"] = instances["n_candidates"] / instances["n_distinct"]
    instances = instances[[*instances.columns.drop([SECONDS, OWN_FIT]), SECONDS, OWN_FIT]]
    summary, pooled = made.summary(candidates, instances), made.pooled(candidates)
    published = None if design.data is None else read_published(design.data, design.sets, real)
    before = (None, None) if published is None else (published.summary, published.per_instance)
    claims = made.claims(candidates, real)
    return Tables(
        design=design,
        cases=cases,
        candidates=candidates,
        per_instance=instances,
        summary=summary,
        pooled=pooled,
        fits=fits,
        trade_off=trade_off(candidates, instances, n_features),
        claims=claims,
        calibration=made.calibration(claims),
        findings=check_findings(summary, instances, pooled, n_features, *before),
        published=published,
        versions=_versions(store.environments()),
        measures=measure_names(design, store),
    )


def _explanations(design: Design, store: Store, fits: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The candidates of all explanations, and a line for each explanation by what its file tells."""
    own_fits = {(row.dataset, row.method): row.seconds for row in fits.itertuples()}
    parts, lines = [], []
    for key in every_explanation(design):
        path = store.explanation(*key)
        meta = read_meta(path)
        parts.append(read_parquet(path))
        lines.append({name: meta[name] for name in ("n_evaluated", "n_distinct", "status", SECONDS)})
        lines[-1][OWN_FIT] = meta[SECONDS] + own_fits.get(key[:2], 0.0)
    keys = pd.DataFrame(every_explanation(design), columns=list(KEYS))
    return _together(parts), keys.join(pd.DataFrame(lines))


def _together(parts: list[pd.DataFrame]) -> pd.DataFrame:
    """One frame of all; sets with fewer features have none in the others' columns.

    A measure that an earlier version did not know is NaN in its files: what is finished stays.
    """
    whole = [part for part in parts if len(part)] or parts[:1]
    features = max(([name for name in part if name not in (*KEYS, *MEASURES)] for part in parts), key=len)
    return pd.concat([part.reindex(columns=[*KEYS, *MEASURES, *features]) for part in whole], ignore_index=True)


def _write_tables(tables: Tables, out: Path) -> None:
    """Every table as a file."""
    write_parquet(out / CANDIDATES, tables.candidates)
    every = {
        "per_instance": tables.per_instance,
        "summary": tables.summary,
        "pooled_correlations": tables.pooled,
        "fit_seconds": tables.fits,
        "trade_off": tables.trade_off,
        "calibration": tables.calibration,
        "findings": pd.DataFrame([finding_line(finding) for finding in tables.findings]),
    }
    for name, table in every.items():
        write_csv(out / f"{name}.csv", table)


def _identity(design: Design) -> dict[str, Any]:
    """What must be the same when a study is resumed; methods may be added or left out."""
    settings = design.to_dict()
    names = ("preset", "n_instances", "max_evaluations", "seed", "n_estimators", "sets")
    identity = {name: settings[name] for name in names}
    hashes = {name: SETS[name].identity(design) for name in design.sets}
    hashes = {name: digest for name, digest in hashes.items() if digest is not None}
    if design.data is None:
        made_sets = {"made": hashes} if hashes else {}
        return {**identity, "data": "generated", "n_rows": design.n_rows, **made_sets}
    return {**identity, "data": hashes}


def _record(design: Design, store: Store, n_jobs: int) -> None:
    """Write down where the study is made; a study of several versions of this package says so."""
    versions = _versions(store.record_environment(_environment(design, n_jobs)))
    if len(versions) > 1:
        warning = tr(
            "warning: versions {versions} of this package worked on this study; what the earlier finished stays.",
            versions=joined(list(map(str, versions))),
        )
        print(warning, file=sys.stderr)


def _versions(environments: list[dict[str, Any]]) -> tuple[str | None, ...]:
    """The distinct versions of this package, in order."""
    return tuple(dict.fromkeys(environment["packages"]["countarfactuals"] for environment in environments))


def _environment(design: Design, n_jobs: int) -> dict[str, Any]:
    return {
        "design": design.to_dict(),
        "jobs": n_jobs,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "system": platform.platform(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "packages": dict.fromkeys(_PACKAGES) | versions_of(_PACKAGES),
    }
