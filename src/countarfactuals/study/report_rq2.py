"""The report's section on RQ2: the tests, two tables of correlations, and their figure.

"Learned" is the plausibility by all judges that are fitted to the data and seated, the forest alone with the paper's
settings (`measures.measure_name`); "ARF" is the method.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from countarfactuals.report.page import cell, counted, paragraph, text
from countarfactuals.study.design import method_name
from countarfactuals.study.findings import rq2
from countarfactuals.study.report_parts import image, number, told_measures, wide_table

if TYPE_CHECKING:
    from countarfactuals.study.study import Tables

_SIDES = {"spearman_arf": "learned", "spearman_gower": "Gower"}


def rq2_section(tables: Tables, images: Mapping[str, Path]) -> list[str]:
    """The parts of the section."""
    if rq2(tables.per_instance).n_pairs == 0:
        return [paragraph("No explanation has candidates on which both correlations are defined.")]
    words = [paragraph(_per_explanation(tables)), paragraph(_pooled(tables))]
    return [*words, _by_set(tables), _by_method(tables), image("correlations", images)]


def _per_explanation(tables: Tables) -> str:
    test = rq2(tables.per_instance)
    words = (
        "Over all methods and data sets the median correlation to the true density is "
        f"<em>{test.median_first:.2f}</em> for the learned measure of plausibility and "
        f"<em>{test.median_second:.2f}</em> for Gower’s, the distance to the nearest real row. A one-sided Wilcoxon "
        f"signed rank test of {counted(test.n_pairs, ('pair', 'pairs'))}, one per explanation, "
        f"has p = {test.p_value:.3g}"
    )
    words += f"; {test.n_dropped} with an undefined correlation were dropped." if test.n_dropped else "."
    if tables.published is not None:
        before = rq2(tables.published.per_instance)
        words += (
            f" By the published correlations on these data sets: {before.median_first:.2f} against "
            f"{before.median_second:.2f}, p = {before.p_value:.3g}, {before.n_pairs} pairs."
        )
    told = told_measures(tables.measures)
    return words + (f" The learned measure is: {text(told)}." if told else "")


def _pooled(tables: Tables) -> str:
    test = rq2(tables.pooled)
    words = (
        "These pairs are not independent: the methods explain the same instances, and all pairs of a data set share "
        "what was fitted to it. The test takes them as independent, so its p-value says more than it should. "
    )
    if test.n_pairs == 0:
        return words
    return words + (
        f"Over the candidates of all methods together there is one pair per instance: {test.median_first:.2f} against "
        f"{test.median_second:.2f}, p = {test.p_value:.3g}, {counted(test.n_pairs, ('pair', 'pairs'))}. Those of a "
        "data set still share what was fitted to it."
    )


def _by_set(tables: Tables) -> str:
    sources = {"": tables.per_instance, ", pooled": tables.pooled}
    if tables.published is not None:
        sources[", published"] = tables.published.per_instance
    heads = [("data set", ""), *((f"{side}{source}", "number") for source in sources for side in _SIDES.values())]
    rows = []
    for name in [*tables.design.sets, None]:
        cells = []
        for table in sources.values():
            some = table if name is None else table[table["dataset"] == name]
            cells += [cell(one, "number") for one in _medians(some)]
        rows.append([text(name or "all"), *cells])
    caption = (
        "Median Spearman correlation to the true density, over explanations; pooled: over the candidates of all "
        "methods together"
    )
    return wide_table(caption, heads, rows)


def _by_method(tables: Tables) -> str:
    known = tables.per_instance
    heads = [("method", ""), *((name, "number") for name in [*tables.design.sets, "all"])]
    rows = []
    for method in tables.design.methods:
        mine = known[known["method"] == method]
        some = [*(mine[mine["dataset"] == name] for name in tables.design.sets), mine]
        rows.append([text(method_name(method)), *(cell(" / ".join(_medians(one)), "number") for one in some)])
    return wide_table("Median Spearman correlation per method and data set: learned / Gower", heads, rows)


def _medians(table: pd.DataFrame) -> list[str]:
    """Medians of both sides, over the lines in which both are defined."""
    defined = table.dropna(subset=list(_SIDES))
    return [number(defined[side].median(), "{:.2f}") for side in _SIDES]
