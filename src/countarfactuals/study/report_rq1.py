"""The report's section on RQ1: sentences, a table per data set, what few changes allow, and figures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from countarfactuals.counterfactuals.wording import joined
from countarfactuals.report.page import bullets, cell, paragraph, text
from countarfactuals.study.aggregate import BY_INSTANCE
from countarfactuals.study.design import method_name
from countarfactuals.study.report_parts import image, number, signed, wide_table
from countarfactuals.study.sentences import rq1_sentences

if TYPE_CHECKING:
    from countarfactuals.study.study import Tables

_OWN_FIT, _ALONE = "seconds_with_own_fit", "seconds"
_MEASURES: dict[str, tuple[str, str]] = {
    "log_density": ("log density", "{:.2f}"),
    BY_INSTANCE: ("by instance", "{:.2f}"),
    "proximity": ("proximity", "{:.3f}"),
    "sparsity": ("sparsity", "{:.2f}"),
    "valid_share": ("valid", "{:.0%}"),
    "hypervolume": ("HV", "{:.4g}"),
    "plausible_hypervolume": ("plausible HV", "{:.4f}"),
    "n_nondominated": ("number", "{:g}"),
    "n_evaluated": ("evaluations", "{:,.0f}"),
    _OWN_FIT: ("seconds", "{:.3g}"),
    _ALONE: ("explaining alone", "{:.3g}"),
}
_WORDS = (
    "Of each method the valid, unique candidates that are non-dominated by its own three objectives are judged by the "
    "true density. True log density, proximity (1 − Gower distance) and sparsity (1 − share of features changed) are "
    "medians over all of them, as in the paper, so that an instance with more of them weighs more; “by instance” is "
    "the median of the instances’ median log densities. The other columns are medians over instances: the share of "
    "distinct rows asked about that are valid, the hypervolume as published (HV), the plausible hypervolume, the "
    "number of non-dominated counterfactuals, the evaluations spent, the seconds of an explanation with what the "
    "method fits on its own but without the forest, as published, and the seconds of explaining alone."
)


def rq1_section(tables: Tables, images: Mapping[str, Path]) -> list[str]:
    """The parts of the section."""
    published = None if tables.published is None else tables.published.summary
    trade_off = tables.trade_off()
    before = " Published numbers stand below those of this run." if published is not None else ""
    parts = [bullets(signed(text(one)) for one in rq1_sentences(tables, trade_off)), _within(trade_off)]
    parts += [paragraph(text(_WORDS + before)), paragraph(_unexplained(tables.summary))]
    for name, lines in tables.summary.groupby("dataset", sort=False):
        parts.append(_table(str(name), lines, published))
    return parts + [image(name, images) for name in ("boxes", "attainment_distance", "attainment_changed")]


def _unexplained(summary: pd.DataFrame) -> str:
    missed = summary[summary["n_unexplained"] > 0]
    if missed.empty:
        return "Every method found a counterfactual for every instance."
    told = [f"{method_name(row.method)} {row.n_unexplained:g} on {row.dataset}" for row in missed.itertuples()]
    return text(f"Instances without any counterfactual: {joined(told)}.")


def _table(name: str, lines: pd.DataFrame, published: pd.DataFrame | None) -> str:
    before = pd.DataFrame() if published is None else published[published["dataset"] == name].set_index("method")
    rows = []
    for _, line in lines.iterrows():
        method = line["method"]
        rows.append([text(method_name(method)), *_cells(line, "number")])
        if method in before.index:
            # published seconds do not tell the explanation alone
            theirs = before.loc[method].drop(_ALONE, errors="ignore")
            rows.append(["published", *_cells(theirs, "number same")])
    heads = [("method", ""), *((label, "number") for label, _ in _MEASURES.values())]
    return wide_table(f"{name}: medians per method", heads, rows)


def _cells(line: pd.Series, kind: str) -> list[str]:
    return [cell(number(line.get(column), form), kind) for column, (_, form) in _MEASURES.items()]


def _within(trade_off: pd.DataFrame) -> str:
    """The most plausible counterfactuals with few changes."""
    methods = list(dict.fromkeys(trade_off["method"]))
    rows = []
    for name, lines in trade_off.groupby("dataset", sort=False):
        values = lines.set_index("method")["log_density_within"]
        cells = [cell(number(values.get(method), "{:.2f}"), "number") for method in methods]
        rows.append([text(name), cell(f"{lines['most_changes'].iloc[0]}", "number"), *cells])
    heads = [("data set", ""), ("changes", "number"), *((method_name(method), "number") for method in methods)]
    caption = (
        "True log density of the most plausible counterfactual with at most this many changes; median over instances, "
        "– where half or more have none"
    )
    return wide_table(caption, heads, rows)
