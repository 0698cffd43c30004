"""The report of a study: one HTML page that fetches nothing and reads like the paper's section of results.

1. What was run, and how many of the paper's findings hold.
2. RQ1 and RQ2 with tables and figures; wherever the data folder has published results, they stand beside.
3. The data, seconds, and how all of it was made, with what differs from the published study.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from countarfactuals.counterfactuals.wording import joined
from countarfactuals.report.page import bullets, cell, counted, facts, page, paragraph, plain_table, section, text
from countarfactuals.study.design import Design, method_name
from countarfactuals.study.findings import CLAIMS, Finding, rq2
from countarfactuals.study.store import replace

if TYPE_CHECKING:
    from countarfactuals.study.study import Tables

TITLE = "Plausible counterfactuals with adversarial random forests: the study"
_MEASURES: dict[str, tuple[str, str]] = {
    "log_density": ("log density", "{:.2f}"),
    "proximity": ("proximity", "{:.3f}"),
    "sparsity": ("sparsity", "{:.2f}"),
    "hypervolume": ("HV", "{:.3g}"),
    "plausible_hypervolume": ("plausible HV", "{:.3f}"),
    "n_nondominated": ("number", "{:g}"),
    "seconds": ("seconds", "{:.2f}"),
}
_AS_PUBLISHED = (10, 1000)  # instances, evaluations
_HOLDS = {True: "holds", False: "does not hold"}
_CAPTIONS = {
    "boxes": "Measures of RQ1 per method and data set. Density, proximity and sparsity are those of all non-dominated "
    "counterfactuals, all else has one value per instance. Higher is better but for seconds. Points beyond the "
    "whiskers are not drawn.",
    "attainment_distance": "Median attainment surfaces: minus the true log density against the distance to the row "
    "explained. What lies above and to the right of a line is attained in half of the instances. Lower is better.",
    "attainment_changed": "Median attainment surfaces: minus the true log density against the share of features "
    "changed. Lower is better.",
    "correlations": "Spearman correlations of both measures of plausibility to the true density: over all explanations "
    "(left; broken lines are medians), and medians per data set, per method and over the candidates of all methods "
    "together (right).",
}


def write_report(tables: Tables, images: Mapping[str, Path], path: Path) -> None:
    """Write the report; `images` are PNG files by the names of figures."""
    html = to_html(tables, images)
    replace(path, lambda place: place.write_text(html, encoding="utf-8", newline="\n"))


def to_html(tables: Tables, images: Mapping[str, Path]) -> str:
    """The report as one document."""
    findings = tables.findings()
    sections = [
        _lead(tables, findings),
        section("findings", "Does each finding of the paper hold?", *_findings(findings, tables.design.sets)),
        section("rq1", "RQ1: Are the counterfactuals more plausible?", *_rq1(tables, images)),
        section("rq2", "RQ2: Which measure follows the true density?", *_rq2(tables, images)),
        section("fits", "Seconds of fitting", *_fits(tables.fits)),
        section("details", "The numbers behind the findings", *_details(findings)),
        section("data", "The data", *_pairs(images)),
        section("made", "How it was made", *_made(tables)),
    ]
    return page(TITLE, sections)


# What was run


def _lead(tables: Tables, findings: Sequence[Finding]) -> str:
    design = tables.design
    claimed = [finding for finding in findings if finding.required]
    n_holding = sum(finding.holds for finding in claimed)
    source = "the published data" if design.data is not None else f"data generated anew with seed {design.seed}"
    sentences = [
        f"{counted(len(design.methods), ('method', 'methods'))} ({joined([method_name(m) for m in design.methods])}) "
        f"explained {counted(design.n_instances, ('instance', 'instances'))} of each of "
        f"{counted(len(design.sets), ('data set', 'data sets'))} with at most {design.max_evaluations:,} evaluations "
        f"of the black box each, on {source}, with the settings of the preset “{design.preset}”.",
        f"<em>{n_holding} of {len(claimed)}</em> claims of the paper that can be checked, one per data set, hold here.",
    ]
    if tables.published is not None:
        before = [finding for finding in claimed if finding.published_holds is not None]
        n_before = sum(bool(finding.published_holds) for finding in before)
        sentences.append(f"By the published results, aggregated in the same way, {n_before} of {len(before)} hold.")
        if (design.n_instances, design.max_evaluations) != _AS_PUBLISHED:
            sentences.append(
                "They are of 10 instances with 1,000 evaluations, so that the two do not compare directly."
            )
    return paragraph(" ".join(sentences), "lead")


def _findings(findings: Sequence[Finding], sets: Iterable[str]) -> list[str]:
    names = [*sets, "all"]
    by_place = {(finding.key, finding.dataset): finding for finding in findings}
    keys = [key for key in CLAIMS if any(finding.key == key for finding in findings)]
    rows = [(text(CLAIMS[key]), *(_verdict(by_place.get((key, name))) for name in names)) for key in keys]
    heads = [("finding", ""), *((name, "") for name in names)]
    note = (
        "What the paper's text claims of a data set stands in bold, and is shaded where it does not hold; the rest is "
        "reported. Verdicts by the published results follow in parentheses, where there are any."
    )
    return [paragraph(text(note), "quiet"), plain_table("Findings by data set", heads, rows)]


def _verdict(finding: Finding | None) -> str:
    if finding is None:
        return cell("–", "same")
    word = _HOLDS[finding.holds]
    before = "" if finding.published_holds is None else f" ({_HOLDS[finding.published_holds]})"
    if not finding.required:
        return cell(word + before, "same")
    return cell(f"<em>{word}</em>{before}", "" if finding.holds else "changed")


def _details(findings: Sequence[Finding]) -> list[str]:
    """One table per finding."""
    parts = []
    for key, claim in CLAIMS.items():
        some = [finding for finding in findings if finding.key == key]
        has_published = any(finding.published_numbers for finding in some)
        heads = [("data set", ""), ("", ""), ("this run", ""), *([("published", "")] if has_published else [])]
        rows = []
        for finding in some:
            numbers = [finding.numbers, *([finding.published_numbers or "–"] if has_published else [])]
            cells = [cell(_signed(text(one)), "why") for one in numbers]
            rows.append([text(finding.dataset), _verdict(finding), *cells])
        parts += [plain_table(claim, heads, rows)] if rows else []
    return parts


def _signed(words: str) -> str:
    """Words with real minus signs before numbers, which stay with their names; exponents stay as they are."""
    return re.sub(r"(?<=[A-Za-z]) (?=−?\d)", "\u00a0", re.sub(r"(?<![\w.])-(?=\d)", "−", words))


# RQ1


def _rq1(tables: Tables, images: Mapping[str, Path]) -> list[str]:
    published = None if tables.published is None else tables.published.summary
    before = " The number in parentheses is the published one." if published is not None else ""
    words = (
        "Of each method the valid, unique candidates that are non-dominated by its own three objectives are judged by "
        "the true density. True log density, proximity (1 − Gower distance) and sparsity (1 − share of features "
        "changed) are medians over all of them, the other columns medians over instances: the hypervolume as published "
        "(HV), the plausible hypervolume, the number of non-dominated counterfactuals, and the seconds of an "
        f"explanation.{before}"
    )
    parts = [paragraph(text(words))]
    for name, lines in tables.summary.groupby("dataset", sort=False):
        parts += [paragraph(_sentence(str(name), lines)), _rq1_table(str(name), lines, published)]
    parts += [_image(name, images) for name in ("boxes", "attainment_distance", "attainment_changed")]
    return parts


def _sentence(name: str, lines: pd.DataFrame) -> str:
    """Who is best at what."""
    by_method = lines.set_index("method")

    def best(column: str, form: str) -> str:
        method = by_method[column].idxmax()
        return f"{method_name(str(method))} ({_number(by_method.loc[method, column], form)})"

    words = (
        f"On <em>{text(name)}</em> the most plausible counterfactuals in the median are those of "
        f"{best('log_density', '{:.2f}')}, the highest hypervolume is that of {best('hypervolume', '{:.3g}')}, "
        f"and the highest plausible hypervolume that of {best('plausible_hypervolume', '{:.3f}')}."
    )
    missed = by_method[by_method["n_unexplained"] > 0]["n_unexplained"]
    if len(missed):
        told = [f"{method_name(str(method))} {n:g}" for method, n in missed.items()]
        words += f" Instances without any counterfactual: {joined(told)}."
    return words


def _rq1_table(name: str, lines: pd.DataFrame, published: pd.DataFrame | None) -> str:
    before = pd.DataFrame() if published is None else published[published["dataset"] == name].set_index("method")
    rows = []
    for _, line in lines.iterrows():
        cells = []
        for column, (_, form) in _MEASURES.items():
            shown = _number(line[column], form)
            if line["method"] in before.index:
                shown += f" ({_number(before.loc[line['method'], column], form)})"
            cells.append(cell(shown, "number"))
        rows.append([text(method_name(line["method"])), *cells])
    heads = [("method", ""), *((label, "number") for label, _ in _MEASURES.values())]
    return plain_table(f"{name}: medians per method", heads, rows)


def _number(value: float, form: str) -> str:
    return "–" if value is None or np.isnan(value) else form.format(value).replace("-", "−")


# RQ2


def _rq2(tables: Tables, images: Mapping[str, Path]) -> list[str]:
    test = rq2(tables.per_instance)
    if test.n_pairs == 0:
        return [paragraph("No explanation has candidates on which both correlations are defined.")]
    words = (
        "Over all methods and data sets the median correlation to the true density is "
        f"<em>{test.median_first:.2f}</em> for the forest's plausibility and <em>{test.median_second:.2f}</em> for "
        f"Gower's. A one-sided Wilcoxon signed rank test of {counted(test.n_pairs, ('pair', 'pairs'))} has p = "
        f"{test.p_value:.3g}"
    )
    words += f"; {test.n_dropped} with an undefined correlation were dropped." if test.n_dropped else "."
    if tables.published is not None:
        before = rq2(tables.published.per_instance)
        words += (
            f" By the published correlations on these data sets: {before.median_first:.2f} against "
            f"{before.median_second:.2f}, p = {before.p_value:.3g}, {before.n_pairs} pairs."
        )
    return [paragraph(words), _rq2_table(tables), _image("correlations", images)]


def _rq2_table(tables: Tables) -> str:
    sources = {"": tables.per_instance, ", pooled": tables.pooled}
    if tables.published is not None:
        sources[", published"] = tables.published.per_instance
    sides = {"spearman_arf": "ARF", "spearman_gower": "Gower"}
    heads = [("data set", ""), *((f"{side}{source}", "number") for source in sources for side in sides.values())]
    rows = []
    for name in [*tables.design.sets, None]:
        cells = []
        for table in sources.values():
            some = (table if name is None else table[table["dataset"] == name]).dropna(subset=list(sides))
            cells += [cell(_number(some[side].median(), "{:.2f}"), "number") for side in sides]
        rows.append([text(name or "all"), *cells])
    caption = "Median Spearman correlation to the true density; pooled: over the candidates of all methods together"
    return plain_table(caption, heads, rows)


# The rest


def _fits(fits: pd.DataFrame) -> list[str]:
    words = (
        "Seconds elsewhere are those of explanations alone, on one thread. The forest is fitted once per data set and "
        "shared by all methods. The published seconds leave out the forest but contain the fits of MOCCTREE's trees "
        "and of NICE's autoencoder; so does the column seconds_with_own_fit of per_instance.csv."
    )
    kinds = list(dict.fromkeys(fits["fitted"]))
    table = fits.pivot_table(index="dataset", columns="fitted", values="seconds", sort=False)
    rows = [
        [text(name), *(cell(_number(line.get(kind, np.nan), "{:.2f}"), "number") for kind in kinds)]
        for name, line in table.iterrows()
    ]
    heads = [("data set", ""), *((kind, "number") for kind in kinds)]
    return [paragraph(text(words)), plain_table("Seconds of fitting", heads, rows)]


def _pairs(images: Mapping[str, Path]) -> list[str]:
    return [_image(name, images) for name in images if name.startswith("pairs_")]


def _made(tables: Tables) -> list[str]:
    design = tables.design
    forest = design.forest()
    rows = [
        ("preset", design.preset),
        ("seed", str(design.seed)),
        ("forest", f"{forest.n_estimators} trees, rows per leaf: {forest.min_samples_leaf}"),
        ("evaluations", f"at most {design.max_evaluations:,} per explanation"),
        ("candidates", f"{len(tables.candidates):,} valid and distinct, in counterfactuals.parquet"),
    ]
    return [facts("Settings", ("setting", "value"), rows), paragraph("Notes:"), bullets(map(text, _notes(design)))]


def _notes(design: Design) -> list[str]:
    notes = [
        "Features of the networks that are levels are treated as levels by all methods. In the published study they "
        "were numbers, so that MOC proposed rows whose true density is 0.",
        "True densities are normalised. The published ones of cassini and two_sines are log 3 and log 2 too high; that "
        "is subtracted here from published numbers.",
        "HV is the hypervolume as published, whose objectives are scaled over all candidates of all methods: it "
        "compares methods within one run, not runs. Plausible HV minimises distance, share changed and the share of "
        "real rows that are at least as plausible by the true density, up to (1, 1, 1). It can be compared between "
        "runs.",
        "NICE's non-dominated set is that by the autoencoder's error, as in the paper's text.",
        "WhatIf, the nearest real rows with the wanted prediction, is no part of the paper.",
        "Published seconds were taken on other machines.",
    ]
    if design.data is None:
        notes.append(
            "The data was generated: the networks are other ones than the published. Explainers got new rows, not "
            "those that the black box was trained on, as in the paper's text."
        )
    return notes if "whatif" in design.methods else [note for note in notes if not note.startswith("WhatIf")]


def _image(name: str, images: Mapping[str, Path]) -> str:
    if name not in images:
        return ""
    of = name.removeprefix("pairs_")
    caption = _CAPTIONS.get(name, f"{of}: the data, by label, and the rows that were explained.")
    source = base64.b64encode(images[name].read_bytes()).decode()
    image = f'<img src="data:image/png;base64,{source}" alt="{text(caption)}">'
    frame = f'<div class="scroll picture" role="group" aria-label="{text(caption)}" tabindex="0">{image}</div>'
    return f"<figure>{frame}<figcaption>{text(caption)}</figcaption></figure>"
