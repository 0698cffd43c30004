"""The report of a study: one HTML page that fetches nothing and reads like the paper's section of results.

1. What was run, and how many of the required findings hold.
2. RQ1 and RQ2 with tables and figures; wherever the data folder has published results, they stand beside. Then whether
   typicality holds.
3. Which statements of the paper are checked, the data, seconds, and how all of it was made, with what differs from the
   published study.

Its order and prose are those of `report.html.j2`, numbers and findings are told by `telling`, and tables are made here.
"Learned" is the plausibility by all judges that are fitted to the data and seated, the forest alone with the paper's
settings; "ARF" is the method.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup, escape

from countarfactuals.language import counted, tr
from countarfactuals.language.spelling import joined, share_text
from countarfactuals.report.page import cell, facts, page, plain_table, text
from countarfactuals.study import findings as judged
from countarfactuals.study import telling
from countarfactuals.study.design import method_name
from countarfactuals.study.findings import ALL, FAILS, NOBODY, PAPER, STUDY, Finding, at, rq2
from countarfactuals.study.store import replace
from countarfactuals.study.tables import BY_INSTANCE, OWN_FIT, SECONDS, SIDES, Tables

_TITLE = "Plausible counterfactuals with adversarial random forests: the study"
_AS_PUBLISHED = (10, 1000)  # instances, evaluations
_REQUIRED_BY = {PAPER: "by the paper", STUDY: "here", NOBODY: "no"}
_BY_WEIGHT = "*"  # marks verdicts that depend on how instances are weighed
_WIDE = 5  # columns that a narrow screen does not show at once
_MEASURES: dict[str, tuple[str, str]] = {
    "log_density": ("log density", "{:.2f}"),
    BY_INSTANCE: ("by instance", "{:.2f}"),
    "closeness": ("proximity", "{:.3f}"),
    "share_kept": ("sparsity", "{:.2f}"),
    "valid_share": ("valid", "{:.0%}"),
    "hypervolume": ("HV", "{:.4g}"),
    "plausible_hypervolume": ("plausible HV", "{:.4f}"),
    "n_nondominated": ("number", "{:g}"),
    "n_evaluated": ("evaluations", "{:,.0f}"),
    OWN_FIT: ("seconds", "{:.3g}"),
    SECONDS: ("explaining alone", "{:.3g}"),
}


def write_report(tables: Tables, images: Mapping[str, Path], path: Path) -> None:
    """Write the report; `images` are PNG files by the names of figures."""
    html = to_html(tables, images)
    replace(path, lambda place: place.write_text(html, encoding="utf-8", newline="\n"))


def to_html(tables: Tables, images: Mapping[str, Path]) -> str:
    """The report as one document."""
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    environment.globals |= {"_": _phrase, "table": _plain}
    template = files("countarfactuals.study").joinpath("report.html.j2").read_text(encoding="utf-8")
    shown = {
        "images": {name: base64.b64encode(path.read_bytes()).decode() for name, path in images.items()},
        "pairs": {name: name.removeprefix("pairs_") for name in images if name.startswith("pairs_")},
    }
    parts = (_of_design(tables), _of_findings(tables), _of_rq1(tables), _of_rq2(tables), _of_the_rest(tables))
    context = {name: value for part in parts for name, value in part.items()}
    return page(tr(_TITLE), [environment.from_string(template).render(**shown, **context)])


# Pieces


def _phrase(english: str, **values: Any) -> Markup:
    """A phrase as safe HTML: what is filled in is escaped."""
    return Markup(escape(tr(english))).format(**values)


def number(value: float | None, form: str) -> str:
    """A number with a real minus sign; a dash for none."""
    return "–" if value is None or not np.isfinite(value) else form.format(value).replace("-", "−").replace("%", " %")


def signed(words: str) -> str:
    """Words with real minus signs before numbers, which stay with their names; exponents stay as they are."""
    return re.sub(r"(?<=[A-Za-z]) (?=−?\d)", "\u00a0", re.sub(r"(?<![\w.])-(?=\d)", "−", words))


def _table(caption: str, words: Sequence[str], numbers: Sequence[str], rows: Iterable[Sequence[str]]) -> Markup:
    """A table with columns of words and of numbers; its caption says that it scrolls, if it has many."""
    heads = [*((head, "") for head in words), *((head, "number") for head in numbers)]
    hint = tr(" ⇄ On a narrow screen this table scrolls sideways.") if len(heads) > _WIDE else ""
    return Markup(plain_table(f"{caption}.{hint}", heads, rows))


def _plain(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Markup:
    """A table of words that are safe already."""
    return _table(caption, heads, [], [(first, cell(second, "why")) for first, second in rows])


def _numbers(values: Iterable[str], kind: str = "number") -> list[str]:
    return [cell(text(value), kind) for value in values]


def _place(name: str) -> str:
    return tr("all") if name == ALL else name


# What was run, and findings


def _of_design(tables: Tables) -> dict[str, Any]:
    design, published = tables.design, tables.published
    source = tr("the published data")
    if design.data is None:
        source = tr("data generated anew with seed {seed}", seed=design.seed)
    lead = {
        "n_methods": counted(len(design.methods), "{n:,} method", "{n:,} methods"),
        "methods": joined([method_name(method) for method in design.methods]),
        "n_instances": counted(design.n_instances, "{n:,} instance", "{n:,} instances"),
        "n_sets": counted(len(design.sets), "{n:,} data set", "{n:,} data sets"),
        "budget": design.max_evaluations,
        "source": source,
        "preset": design.preset,
    }
    as_published = (design.n_instances, design.max_evaluations) == _AS_PUBLISHED
    return {"design": design, "lead": lead, "has_published": published is not None, "is_as_published": as_published}


def _of_findings(tables: Tables) -> dict[str, Any]:
    tolerances = {
        "hypervolume": 100 * judged.HYPERVOLUME.relative,
        "seconds": 100 * judged.TIME.relative,
        "rows": judged.NUMBER.absolute,
        "share": 100 * judged.NUMBER.relative,
        "density": judged.LOG_DENSITY.absolute,
        "correlation": judged.CORRELATION.absolute,
    }
    by_key = {key: [finding for finding in tables.findings if finding.key == key] for key in telling.CLAIMS}
    return {
        "required": telling.told_required(tables.findings),
        "counts": " ".join(telling.counts_told(tables.findings, tables.published is not None)),
        "tolerances": tolerances,
        "depends_on_weights": any(finding.depends_on_weights for finding in tables.findings),
        "findings_table": _findings_table(by_key, tables.design.sets),
        "details": [_details(key, findings) for key, findings in by_key.items() if findings],
    }


def _findings_table(by_key: Mapping[str, Sequence[Finding]], sets: Sequence[str]) -> Markup:
    rows = []
    for key, findings in by_key.items():
        by_place = {finding.dataset: finding for finding in findings}
        verdicts = [_verdict(by_place.get(name)) for name in (ALL, *sets)]
        claim = f'<div class="claim">{text(tr(telling.CLAIMS[key]))}</div>'
        rows += [(claim, cell(text(_where(findings))), *verdicts)] if findings else []
    return _table(tr("Findings by data set"), [tr("finding"), tr("required"), _place(ALL), *sets], [], rows)


def _where(findings: Sequence[Finding]) -> str:
    """By whom a finding is required, and on which data sets."""
    required = [finding for finding in findings if finding.required]
    by = tr(_REQUIRED_BY[required[0].required_by if required else NOBODY])
    return f"{by}: {joined([_place(finding.dataset) for finding in required])}" if required else by


def _verdict(finding: Finding | None) -> str:
    if finding is None:
        return cell("–", "same")
    word = tr(finding.verdict) + (_BY_WEIGHT if finding.depends_on_weights else "")
    before = f" ({tr(finding.published.verdict)})" if finding.published else ""
    if not finding.required:
        return cell(word + before, "same")
    return cell(f"<em>{word}</em>{before}", "changed" if finding.verdict == FAILS else "")


def _details(key: str, findings: Sequence[Finding]) -> Markup:
    has_published = any(finding.published for finding in findings)
    heads = [tr("data set"), tr("required"), tr("verdict"), tr("this run"), *([tr("published")] * has_published)]
    rows = []
    for finding in findings:
        sources = [finding.evidence, *([finding.published] * has_published)]
        numbers = [cell(signed(text(telling.numbers_told(key, source) or "–")), "why") for source in sources]
        required = cell(text(tr(_REQUIRED_BY[finding.required_by])))
        rows.append([text(_place(finding.dataset)), required, _verdict(finding), *numbers])
    return _table(tr(telling.CLAIMS[key]).removesuffix("."), heads, [], rows)


# RQ1 and RQ2


def _of_rq1(tables: Tables) -> dict[str, Any]:
    published = None if tables.published is None else tables.published.summary
    by_set = tables.summary.groupby("dataset", sort=False)
    return {
        "rq1_sentences": [signed(sentence) for sentence in telling.rq1_sentences(tables)],
        "few_changes": _few_changes(tables.trade_off),
        "unexplained": _unexplained(tables.summary),
        "measures": [_measures(str(name), lines, published) for name, lines in by_set],
    }


def _unexplained(summary: pd.DataFrame) -> str:
    missed = summary[summary["n_unexplained"] > 0]
    if missed.empty:
        return tr("Every method found a counterfactual for every instance.")
    places = [
        tr("{method} {n:g} on {set}", method=method_name(line.method), n=line.n_unexplained, set=line.dataset)
        for line in missed.itertuples()
    ]
    return tr("Instances without any counterfactual: {places}.", places=joined(places))


def _measures(name: str, lines: pd.DataFrame, published: pd.DataFrame | None) -> Markup:
    before = pd.DataFrame() if published is None else published[published["dataset"] == name].set_index("method")
    rows = []
    for method, line in lines.set_index("method").iterrows():
        rows.append([text(method_name(str(method))), *_numbers(_formatted(line))])
        if method in before.index:
            # published seconds do not tell the explanation alone
            theirs = before.loc[method].drop(SECONDS, errors="ignore")
            rows.append([text(tr("published")), *_numbers(_formatted(theirs), "number same")])
    heads = [tr(label) for label, _ in _MEASURES.values()]
    return _table(tr("{set}: medians per method", set=name), [tr("method")], heads, rows)


def _formatted(line: pd.Series) -> list[str]:
    return [number(line.get(column), form) for column, (_, form) in _MEASURES.items()]


def _few_changes(trade_off: pd.DataFrame) -> Markup:
    """The most plausible counterfactuals with few changes."""
    methods = list(dict.fromkeys(trade_off["method"]))
    rows = []
    for name, lines in trade_off.groupby("dataset", sort=False):
        values = lines.set_index("method")["log_density_within"]
        densities = [number(values.get(method), "{:.2f}") for method in methods]
        rows.append([text(name), *_numbers([str(lines["most_changes"].iloc[0]), *densities])])
    caption = tr(
        "True log density of the most plausible counterfactual with at most this many changes; median over instances, "
        "– where half or more have none"
    )
    return _table(caption, [tr("data set")], [tr("changes"), *map(method_name, methods)], rows)


def _of_rq2(tables: Tables) -> dict[str, Any]:
    published = None if tables.published is None else tables.published.per_instance
    return {
        "test": _test(tables.per_instance),
        "pooled_test": _test(tables.pooled),
        "published_test": None if published is None else _test(published),
        "learned_measures": telling.told_measures(tables.measures),
        "correlations_by_set": _by_set(tables, published),
        "correlations_by_method": _by_method(tables),
    }


def _test(instances: pd.DataFrame) -> dict[str, Any]:
    test = rq2(instances)
    learned, gower = test.median_first, test.median_second
    return {
        **{"learned": learned, "gower": gower, "p": test.p_value, "n": test.n_pairs, "n_dropped": test.n_dropped},
        "pairs": counted(test.n_pairs, "{n:,} pair", "{n:,} pairs"),
        "strong_learned": Markup("<em>{:.2f}</em>").format(learned),
        "strong_gower": Markup("<em>{:.2f}</em>").format(gower),
    }


def _by_set(tables: Tables, published: pd.DataFrame | None) -> Markup:
    sources = {("learned", "Gower"): tables.per_instance, ("learned, pooled", "Gower, pooled"): tables.pooled}
    if published is not None:
        sources["learned, published", "Gower, published"] = published
    rows = []
    for name in [*tables.design.sets, ALL]:
        lines = [at(table, name) for table in sources.values()]
        rows.append([text(_place(name)), *_numbers(median for table in lines for median in _medians(table))])
    caption = tr(
        "Median Spearman correlation to the true density, over explanations; pooled: over the candidates of all "
        "methods together"
    )
    return _table(caption, [tr("data set")], [tr(head) for heads in sources for head in heads], rows)


def _by_method(tables: Tables) -> Markup:
    names = [*tables.design.sets, ALL]
    rows = []
    for method in tables.design.methods:
        lines = tables.per_instance[tables.per_instance["method"] == method]
        rows.append([text(method_name(method)), *_numbers(" / ".join(_medians(at(lines, name))) for name in names)])
    caption = tr("Median Spearman correlation per method and data set: learned / Gower")
    return _table(caption, [tr("method")], [_place(name) for name in names], rows)


def _medians(table: pd.DataFrame) -> list[str]:
    """Medians of both sides, over the lines in which both are defined."""
    defined = table.dropna(subset=list(SIDES))
    return [number(defined[side].median(), "{:.2f}") for side in SIDES]


# Claims, fits and settings


def _of_the_rest(tables: Tables) -> dict[str, Any]:
    return {
        "claim_sentences": telling.claim_sentences(tables.calibration),
        "calibration": _calibration(tables.calibration),
        "fits": _fits(tables.fits),
        "settings": _settings(tables),
        "n_versions": len(tables.versions),
    }


def _calibration(calibration: pd.DataFrame) -> Markup:
    rows = []
    for line in calibration.itertuples():
        values = [share_text(line.claimed), share_text(line.true), telling.points(line.error), f"{line.n_rows:,}"]
        rows.append([text(line.dataset), cell(text(method_name(line.method))), *_numbers(values)])
    heads = [tr("claimed"), tr("true"), tr("error, points"), tr("counterfactuals")]
    caption = tr("Share of real rows that are less typical: what is claimed and what is true")
    return _table(caption, [tr("data set"), tr("method")], heads, rows)


def _fits(fits: pd.DataFrame) -> Markup:
    kinds = list(dict.fromkeys(fits["fitted"]))
    table = fits.pivot_table(index="dataset", columns="fitted", values="seconds", sort=False)[kinds]
    rows = [[text(name), *_numbers(number(value, "{:.2f}") for value in line)] for name, line in table.iterrows()]
    return _table(tr("Seconds of fitting"), [tr("data set")], [tr(kind) for kind in kinds], rows)


def _settings(tables: Tables) -> Markup:
    design, forest = tables.design, tables.design.forest()
    rows = [
        (tr("preset"), design.preset),
        (tr("seed"), str(design.seed)),
        (tr("forest"), tr("{n} trees, rows per leaf: {rows}", n=forest.n_estimators, rows=forest.min_samples_leaf)),
        *([(tr("learned measure of plausibility"), telling.told_measures(tables.measures))] if tables.measures else []),
        (tr("evaluations"), tr("at most {n:,} per explanation", n=design.max_evaluations)),
        (tr("candidates"), tr("{n:,} valid and distinct, in counterfactuals.parquet", n=len(tables.candidates))),
        (tr("version"), tr(" and then ").join(map(str, tables.versions))),
    ]
    return Markup(facts(tr("Settings"), (tr("setting"), tr("value")), rows))
