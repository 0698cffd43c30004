"""Sentences of the report's section on RQ1, made from the numbers of a run.

1. One of our methods is compared with the best of MOC, MOCCTREE and NICE on each data set: ahead, level (see
   `verdicts`) or behind.
2. Data sets of the same outcome are told together. What can not be compared is not told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from countarfactuals.counterfactuals.wording import joined
from countarfactuals.study.design import method_name
from countarfactuals.study.findings import OTHERS, OURS, SEARCHING, averages
from countarfactuals.study.trade_off import MOST_CHANGES
from countarfactuals.study.verdicts import FAILS, HOLDS, LEVEL, LOG_DENSITY, Scale, form_for, verdict

if TYPE_CHECKING:
    from countarfactuals.study.study import Tables

_CHANGES = Scale(significant=2)
_DISTANCE = Scale(relative=0.01, significant=3)
_OUTCOMES = {HOLDS: "ahead", LEVEL: "level", FAILS: "behind"}
_METHODS = ("arf", "mocarf", "moc", "mocctree", "nice")


def rq1_sentences(tables: Tables, trade_off: pd.DataFrame) -> list[str]:
    """Plausibility, what it costs in changes and distance, the surfaces, and time."""
    found = [
        plausible(tables.summary),
        sparse(trade_off),
        dearer(trade_off, "n_changed", "Changes", "changes more features", _CHANGES),
        dearer(trade_off, "distance", "Proximity", "goes farther from the row", _DISTANCE),
        attained(trade_off),
        run_time(tables.summary, tables.fits),
        evaluations(tables.per_instance, tables.design.max_evaluations, tables.design.preset),
    ]
    return [sentence for sentence in found if sentence]


def plausible(summary: pd.DataFrame) -> str:
    """Who is more plausible where, over all non-dominated rows."""
    parts = [_outcomes(summary, method, "log_density", LOG_DENSITY) for method in OURS]
    rivals = _rivals(summary)
    if not any(parts):
        return ""
    return f"Plausibility: by the median true log density, compared with the best of {rivals}, {_and(parts)}."


def sparse(trade_off: pd.DataFrame) -> str:
    """The same with few changes."""
    parts = [_outcomes(trade_off, method, "log_density_within", LOG_DENSITY) for method in OURS]
    if not any(parts):
        return ""
    return (
        f"Sparsity: if only counterfactuals with at most {MOST_CHANGES} changes count (all of them on data sets with "
        f"fewer features), and of each explanation the most plausible one, {_and(parts)}. Where a method is ahead, its "
        "plausibility is not bought with further changes."
    )


def dearer(trade_off: pd.DataFrame, column: str, topic: str, words: str, scale: Scale) -> str:
    """Where ours pay more than each of the others."""
    known = {method: _table(trade_off, method, column) for method in OURS}
    places = {method: _dear_places(table, method, scale) for method, table in known.items() if table is not None}
    told = [f"on {joined(names)}" if names else "nowhere" for names in places.values()]
    if not told:
        return ""
    said = [f"{words} than each of {_rivals(trade_off)} {told[0]}", *(f"does so {where}" for where in told[1:])]
    parts = [f"{method_name(method)} {one}" for method, one in zip(places, said, strict=True)]
    return f"{topic}: in the median over all non-dominated counterfactuals, {_and(parts)}."


def _dear_places(table: pd.DataFrame, method: str, scale: Scale) -> list[str]:
    found = []
    for name, line in table.iterrows():
        pair = (float(line[method]), float(line.drop(method).max()))
        if verdict(*pair, scale) == HOLDS:
            form = form_for(pair, scale)
            found.append(f"{name} ({form.format(pair[0])}, the others at most {form.format(pair[1])})")
    return found


def attained(trade_off: pd.DataFrame) -> str:
    """How the attainment surfaces lie to each other, on average over data sets."""
    parts = []
    for method in OURS:
        some = trade_off[trade_off["method"] == method]
        columns = ("distance_attained", "share_changed_attained")
        if some[list(columns)].isna().all(axis=None):
            continue
        ours = [f"{100 * some[column].mean():.0f} %" for column in columns]
        theirs = [f"{100 * some[f'{column}_by_others'].mean():.0f} %" for column in columns]
        parts.append(
            f"that of {method_name(method)} attains {ours[0]} of their corners against distance and {ours[1]} against "
            f"changes, and theirs attain {theirs[0]} and {theirs[1]} of its corners"
        )
    if not parts:
        return ""
    rivals = _rivals(trade_off)
    return f"Median attainment surfaces, beside those of {rivals}, on average over data sets: {_and(parts)}."


def run_time(summary: pd.DataFrame, fits: pd.DataFrame) -> str:
    """Seconds of an explanation, and of what all share."""
    methods = [method for method in _METHODS if method in set(summary["method"])]
    seconds = averages(summary, "seconds_with_own_fit", methods)
    told = [f"{method_name(str(method))} {value:.2g} s" for method, value in seconds.items()]
    shared = fits.loc[fits["fitted"] == "forest", "seconds"]
    return (
        f"Run time: on average over data sets an explanation took {joined(told)} in the median, with what the method "
        f"fits on its own. What all share, the forest and any other judges of plausibility, took {shared.min():.2g} to "
        f"{shared.max():.2g} s once per data set and is not counted."
    )


def evaluations(instances: pd.DataFrame, budget: int, preset: str) -> str:
    """Methods that search but leave a part of their budget."""
    medians = instances.groupby("method", sort=False)["n_evaluated"].median()
    short = {method: medians[method] for method in SEARCHING if method in medians and medians[method] < budget}
    if not short:
        return ""
    told = [f"{method_name(method)} asked {value:,.0f} times" for method, value in short.items()]
    reason = ": its search stops when no candidate promises to widen its set" if "arf" in short else ""
    reason = reason if preset == "default" and len(short) == 1 else ""
    return f"Of the budget of {budget:,} evaluations {joined(told)} in the median over explanations{reason}."


def _table(lines: pd.DataFrame, method: str, column: str) -> pd.DataFrame | None:
    """Data sets by methods: one of ours and the others that are there; None without one side."""
    table = lines.pivot(index="dataset", columns="method", values=column).loc[list(dict.fromkeys(lines["dataset"]))]
    others = [other for other in OTHERS if other in table]
    return table[[method, *others]] if method in table and others else None


def _outcomes(lines: pd.DataFrame, method: str, column: str, scale: Scale) -> str:
    """Where a method is ahead, level and behind.

    >>> lines = {"dataset": ["one", "one", "two", "two"], "method": ["arf", "moc"] * 2, "p": [-1.0, -2.0, -1.0, -1.0]}
    >>> _outcomes(pd.DataFrame(lines), "arf", "p", LOG_DENSITY)
    'ARF is ahead on one, level on two'
    """
    table = _table(lines, method, column)
    if table is None:
        return ""
    places: dict[str, list[str]] = {outcome: [] for outcome in _OUTCOMES}
    for name, line in table.dropna(subset=table.columns.drop(method), how="all").iterrows():
        places[verdict(float(line[method]), float(line.drop(method).max()), scale)].append(str(name))
    told = [f"{_OUTCOMES[outcome]} on {joined(names)}" for outcome, names in places.items() if names]
    return f"{method_name(method)} is {', '.join(told)}" if told else ""


def _rivals(lines: pd.DataFrame) -> str:
    return joined([method_name(other) for other in OTHERS if other in set(lines["method"])])


def _and(parts: list[str]) -> str:
    return "; ".join(part for part in parts if part)
