"""The report of a study: one HTML page that fetches nothing and reads like the paper's section of results.

1. What was run, and how many of the required findings hold.
2. RQ1 and RQ2 with tables and figures (`report_rq1`, `report_rq2`); wherever the data folder has published results,
   they stand beside. Then whether typicality holds (`report_claims`).
3. Which statements of the paper are checked, the data, seconds, and how all of it was made, with what differs from the
   published study.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from countarfactuals.counterfactuals.wording import joined
from countarfactuals.report.page import bullets, cell, counted, facts, page, paragraph, section, text
from countarfactuals.study.design import method_name
from countarfactuals.study.findings import CLAIMS, NOBODY, PAPER, STUDY, Finding, count, told_required
from countarfactuals.study.report_claims import claims_section
from countarfactuals.study.report_parts import image, number, signed, told_measures, wide_table
from countarfactuals.study.report_rq1 import rq1_section
from countarfactuals.study.report_rq2 import rq2_section
from countarfactuals.study.store import replace
from countarfactuals.study.verdicts import CORRELATION, FAILS, HYPERVOLUME, LOG_DENSITY, NUMBER, SECONDS

if TYPE_CHECKING:
    from countarfactuals.study.study import Tables

TITLE = "Plausible counterfactuals with adversarial random forests: the study"
_AS_PUBLISHED = (10, 1000)  # instances, evaluations
_REQUIRED_BY = {PAPER: "by the paper", STUDY: "here", NOBODY: "no"}
_BY_WEIGHT = "*"  # marks verdicts that depend on how instances are weighed
_STATEMENTS = (
    ("ARF and MOCARF are more plausible on average than the other MOC-based methods and NICE", "checked"),
    ("Higher plausibility may go with lower proximity and sparsity", "not judged; told in numbers under RQ1"),
    (
        "The attainment surfaces of ARF and MOCARF dominate the others’ on average, most of all in plausibility",
        "not judged; the share of attained corners is told under RQ1",
    ),
    ("Hypervolumes are similar on low-dimensional data sets", "not judged; hypervolumes are reported per data set"),
    ("ARF has a lower hypervolume on cassini", "not required; reported per data set"),
    ("ARF and MOCARF have a higher hypervolume on bn_10 and bn_20", "checked"),
    (
        "ARF is the fastest on average, followed by NICE and MOC",
        "the first half is checked, among the methods that search; the order of the others is not",
    ),
    ("MOCARF is faster than MOCCTREE with more than two features", "checked"),
    ("Differences in run time grow with the number of features", "not judged; seconds are reported per data set"),
    ("ARF and MOCARF give the largest non-dominated sets on average", "checked"),
    (
        "The forest’s plausibility goes more closely with the true one than Gower’s (test and medians)",
        "checked, and tested once more on pooled candidates",
    ),
    (
        "Plausibility comes without major sacrifices in sparsity and proximity",
        "not judged, as the paper sets no bound for major; told in numbers under RQ1",
    ),
)


def write_report(tables: Tables, images: Mapping[str, Path], path: Path) -> None:
    """Write the report; `images` are PNG files by the names of figures."""
    html = to_html(tables, images)
    replace(path, lambda place: place.write_text(html, encoding="utf-8", newline="\n"))


def to_html(tables: Tables, images: Mapping[str, Path]) -> str:
    """The report as one document."""
    findings = tables.findings()
    sections = [
        _lead(tables, findings),
        section("findings", "Which findings hold?", *_findings(findings, tables.design.sets)),
        section("rq1", "RQ1: Are the counterfactuals more plausible, and at what cost?", *rq1_section(tables, images)),
        section("rq2", "RQ2: Which measure follows the true density?", *rq2_section(tables, images)),
        section("claims", "Do claims hold? Typicality and the true density", *claims_section(tables, images)),
        section("fits", "Seconds of fitting", *_fits(tables.fits)),
        section("details", "The numbers behind the findings", *_details(findings)),
        section("statements", "Which statements of the paper’s results are checked?", _statements()),
        section("data", "The data", *_pairs(images)),
        section("made", "How it was made", *_made(tables)),
    ]
    return page(TITLE, sections)


# What was run


def _lead(tables: Tables, findings: Sequence[Finding]) -> str:
    design = tables.design
    source = "the published data" if design.data is not None else f"data generated anew with seed {design.seed}"
    sentences = [
        f"{counted(len(design.methods), ('method', 'methods'))} ({joined([method_name(m) for m in design.methods])}) "
        f"explained {counted(design.n_instances, ('instance', 'instances'))} of each of "
        f"{counted(len(design.sets), ('data set', 'data sets'))} with at most {design.max_evaluations:,} evaluations "
        f"of the black box each, on {source}, with the settings of the preset “{design.preset}”.",
        *_counts(findings, tables.published is not None),
    ]
    if tables.published is not None and (design.n_instances, design.max_evaluations) != _AS_PUBLISHED:
        sentences.append(
            "Published results are of 10 instances with 1,000 evaluations: the two do not compare directly."
        )
    return paragraph(" ".join(sentences), "lead")


def _counts(findings: Sequence[Finding], has_published: bool) -> list[str]:
    """How many required findings hold."""
    required = [finding for finding in findings if finding.required]
    words = [f"<em>{told_required(findings)}</em>"]
    if not required:
        return words
    for by, whose in ((PAPER, "claimed by the paper’s text"), (STUDY, "required by this study alone")):
        some = [one.verdict for one in required if one.required_by == by]
        words += [f"{len(some)} {'is' if len(some) == 1 else 'are'} {whose}: {count(some)}."] if some else []
    if has_published:
        before = [one.published_verdict for one in required if one.published_verdict]
        of = f" of the {len(before)} that they allow to judge" if len(before) < len(required) else ""
        words.append(f"By the published results, judged in the same way,{of} {count(before)}.")
    return words


# Findings


def _findings(findings: Sequence[Finding], sets: Iterable[str]) -> list[str]:
    names = ["all", *sets]
    by_place = {(finding.key, finding.dataset): finding for finding in findings}
    keys = [key for key in CLAIMS if any(finding.key == key for finding in findings)]
    rows = []
    for key in keys:
        verdicts = [_verdict(by_place.get((key, name))) for name in names]
        claim = f'<div class="claim">{text(CLAIMS[key])}</div>'
        rows.append((claim, cell(text(_where([one for one in findings if one.key == key]))), *verdicts))
    heads = [("finding", ""), ("required", ""), *((name, "") for name in names)]
    notes = [
        "The paper says most of this “on average”: that is judged by means over the data sets of their medians (column "
        "“all”). Only what it says of data sets by name or by their number of features is judged per data set as its "
        "claim. What is required “here” is asked by this study; the rest is reported. Required findings stand in bold "
        "and are shaded where they do not hold. Verdicts by the published results follow in parentheses.",
        f"Level means that the decisive numbers differ by at most {100 * HYPERVOLUME.relative:g} % (hypervolumes), "
        f"{100 * SECONDS.relative:g} % (seconds), {NUMBER.absolute:g} row or {100 * NUMBER.relative:g} % (numbers of "
        f"non-dominated rows), {LOG_DENSITY.absolute:g} (log densities) or {CORRELATION.absolute:g} "
        "(correlations).",
    ]
    if any(finding.depends_on_weights for finding in findings):
        notes.append(
            f"{_BY_WEIGHT} The verdict would be another if each instance counted alike: see the numbers below."
        )
    return [*(paragraph(text(note), "quiet") for note in notes), wide_table("Findings by data set", heads, rows)]


def _where(findings: Sequence[Finding]) -> str:
    """By whom a finding is required, and on which data sets."""
    required = [finding for finding in findings if finding.required]
    if not required:
        return _REQUIRED_BY[NOBODY]
    return f"{_REQUIRED_BY[required[0].required_by]}: {joined([finding.dataset for finding in required])}"


def _verdict(finding: Finding | None) -> str:
    if finding is None:
        return cell("–", "same")
    word = finding.verdict + (_BY_WEIGHT if finding.depends_on_weights else "")
    before = f" ({finding.published_verdict})" if finding.published_verdict else ""
    if not finding.required:
        return cell(word + before, "same")
    return cell(f"<em>{word}</em>{before}", "changed" if finding.verdict == FAILS else "")


def _details(findings: Sequence[Finding]) -> list[str]:
    """One table per finding."""
    parts = []
    for key, claim in CLAIMS.items():
        some = [finding for finding in findings if finding.key == key]
        has_published = any(finding.published_numbers for finding in some)
        names = ["data set", "required", "verdict", "this run", *(["published"] if has_published else [])]
        rows = []
        for finding in some:
            numbers = [finding.numbers, *([finding.published_numbers or "–"] if has_published else [])]
            cells = [cell(signed(text(one)), "why") for one in numbers]
            rows.append([text(finding.dataset), cell(_REQUIRED_BY[finding.required_by]), _verdict(finding), *cells])
        parts += [wide_table(claim.removesuffix("."), [(name, "") for name in names], rows)] if rows else []
    return parts


def _statements() -> str:
    rows = [(text(statement), cell(text(how), "why")) for statement, how in _STATEMENTS]
    return wide_table(
        "Statements of the paper’s section of results, in our words", [("statement", ""), ("here", "")], rows
    )


# The rest


def _fits(fits: pd.DataFrame) -> list[str]:
    words = (
        "The forest and, with this package’s own settings, other judges of plausibility are fitted once per data set "
        "and shared by all methods; no seconds of explanations contain them. Seconds in findings, tables and box plots "
        "contain what a method fits on its own, MOCCTREE’s trees and NICE’s autoencoder, as the published ones do: "
        "each explanation is charged with the whole fit, although it is made once per data set. The column “explaining "
        "alone” leaves these fits out. All is on one thread."
    )
    kinds = list(dict.fromkeys(fits["fitted"]))
    table = fits.pivot_table(index="dataset", columns="fitted", values="seconds", sort=False)
    rows = [
        [text(name), *(cell(number(line.get(kind, np.nan), "{:.2f}"), "number") for kind in kinds)]
        for name, line in table.iterrows()
    ]
    heads = [("data set", ""), *((kind, "number") for kind in kinds)]
    return [paragraph(text(words)), wide_table("Seconds of fitting", heads, rows)]


def _pairs(images: Mapping[str, Path]) -> list[str]:
    return [image(name, images) for name in images if name.startswith("pairs_")]


def _made(tables: Tables) -> list[str]:
    design = tables.design
    forest = design.forest()
    rows = [
        ("preset", design.preset),
        ("seed", str(design.seed)),
        ("forest", f"{forest.n_estimators} trees, rows per leaf: {forest.min_samples_leaf}"),
        *([("learned measure of plausibility", told_measures(tables.measures))] if tables.measures else []),
        ("evaluations", f"at most {design.max_evaluations:,} per explanation"),
        ("candidates", f"{len(tables.candidates):,} valid and distinct, in counterfactuals.parquet"),
        ("version", " and then ".join(map(str, tables.versions))),
    ]
    return [facts("Settings", ("setting", "value"), rows), paragraph("Notes:"), bullets(map(text, _notes(tables)))]


def _notes(tables: Tables) -> list[str]:
    design = tables.design
    notes = [
        "Features of the networks that are levels are treated as levels by all methods. In the published study they "
        "were numbers, so that MOC proposed rows whose true density is 0.",
        "True densities are normalised. The published ones of cassini and two_sines are log 3 and log 2 too high; that "
        "is subtracted here from published numbers.",
        "HV is the hypervolume as published, whose objectives are scaled over all candidates of all methods: it "
        "compares methods within one run, not runs. Plausible HV minimises distance, share changed and the share of "
        "real rows that are at least as plausible by the true density, up to (1, 1, 1). It can be compared between "
        "runs.",
        "MOC, MOCCTREE and MOCARF put features back to x before they mutate, not after it as published.",
        "NICE's non-dominated set is that by the autoencoder's error, as in the paper's text.",
        "WhatIf, the nearest real rows with the wanted prediction, is no part of the paper.",
        "Published seconds were taken on other machines.",
        "In the tables’ files, arf_plausibility and spearman_arf are those of the learned measure, for every method.",
        "One seed was run. Verdicts whose numbers are close may turn with another.",
    ]
    if len(tables.versions) > 1:
        notes.append("The study was begun with one version of this package and resumed with another.")
    if design.data is None:
        notes.append(
            "The data was generated: the networks are other ones than the published. Explainers got new rows, not "
            "those that the black box was trained on, as in the paper's text."
        )
    return notes if "whatif" in design.methods else [note for note in notes if not note.startswith("WhatIf")]
