"""What a study found, in words: the one place that tells numbers, findings and tables.

1. Numbers are told with as many digits as it takes to tell the decisive pair apart.
2. A finding is told by its claim, its verdict and its numbers.
3. RQ1 in sentences: one of our methods is compared with the best of MOC, MOCCTREE and NICE on each data set: ahead,
   level (see `findings`) or behind. Data sets of the same outcome are told together; what can not be compared is not.
4. Claims in sentences: what our methods claim and what is true, on average, and the largest error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from countarfactuals.language import counted, tr
from countarfactuals.language.spelling import joined, share_text
from countarfactuals.study.design import OTHERS, OURS, SEARCHING, method_name
from countarfactuals.study.findings import (
    FAILS,
    GOWER,
    HOLDS,
    LEARNED,
    LEVEL,
    LOG_DENSITY,
    PAPER,
    STUDY,
    Evidence,
    Finding,
    Scale,
    averages,
    verdict,
)
from countarfactuals.study.tables import OWN_FIT, Tables
from countarfactuals.study.trade_off import COORDINATES, MOST_CHANGES

CLAIMS = {
    "plausibility": "On average over data sets, ARF and MOCARF are more plausible than MOC, MOCCTREE and NICE.",
    "plausibility_by_set": "ARF and MOCARF are more plausible than MOC and NICE.",
    "hypervolume": "ARF and MOCARF have a higher hypervolume than MOC, MOCCTREE and NICE.",
    "number": "ARF and MOCARF give larger non-dominated sets than MOC, MOCCTREE and NICE.",
    "arf_fastest": "ARF is the fastest of the methods with a budget of evaluations that search (ARF, MOCARF, MOC, "
    "MOCCTREE).",
    "mocarf_faster": "MOCARF is faster than MOCCTREE with more than two features, counting MOCCTREE's trees but not "
    "the forest, as published.",
    "rq2": "The learned measure of plausibility follows the true density more closely than Gower's (RQ2).",
    "rq2_pooled": "The learned measure follows it more closely on each data set, over the candidates of all methods "
    "together.",
    "ahead": "The best of ARF and MOCARF has a plausible hypervolume above every published method.",
}
_MOST_DIGITS = 6
_CHANGES = Scale(significant=2)
_DISTANCE = Scale(relative=0.01, significant=3)


# Findings


def told(numbers: Mapping[str, float], decisive: Sequence[float], scale: Scale) -> str:
    """Methods, or measures of plausibility, with their numbers.

    >>> from countarfactuals.study.findings import HYPERVOLUME
    >>> told({"arf": 10.7157, "moc": 10.7139}, (10.7157, 10.7139), HYPERVOLUME)
    'ARF 10.72, MOC 10.71'
    """
    form = _form_for(decisive, scale)
    sides = {LEARNED: tr("learned"), GOWER: tr("Gower")}
    names = {side: sides.get(side) or method_name(side) for side in numbers}
    return ", ".join(f"{names[side]} {form.format(number)}{scale.unit}" for side, number in numbers.items())


def _form_for(decisive: Sequence[float], scale: Scale) -> str:
    """A format with the fewest digits that tell the decisive numbers apart."""
    fewest = scale.decimals if scale.significant is None else scale.significant
    kind = "f" if scale.significant is None else "g"
    different = len(set(decisive))
    for digits in range(fewest or 0, _MOST_DIGITS + 1):
        form = f"{{:.{digits}{kind}}}"
        if len({form.format(number) for number in decisive}) >= different:
            break
    return form


def numbers_told(key: str, evidence: Evidence | None) -> str:
    """The numbers that lead to a verdict, and what else is to be known of it; nothing without evidence."""
    if evidence is None:
        return ""
    numbers = told(evidence.numbers, evidence.decisive, evidence.scale)
    if evidence.n_compared < evidence.n_sets:
        phrase = "{numbers} (over {n} of {all} data sets: some method has no counterfactual on the others)"
        numbers = tr(phrase, numbers=numbers, n=evidence.n_compared, all=evidence.n_sets)
    if test := evidence.test:
        return tr("{numbers}, p = {p:.3g}, {n} pairs", numbers=numbers, p=test.p_value, n=test.n_pairs)
    if evidence.beside:
        return _beside_told(key, numbers, evidence)
    return _otherwise_told(key, numbers, evidence) if evidence.otherwise else numbers


def _beside_told(key: str, numbers: str, evidence: Evidence) -> str:
    beside = dict([evidence.beside] if evidence.beside else [])
    if key == "ahead":
        best = told(beside, evidence.decisive, evidence.scale)
        return tr("{numbers}; best published: {best}", numbers=numbers, best=best)
    return tr("{numbers} (NICE, which asks far less: {nice:.3g} s)", numbers=numbers, **beside)


def _otherwise_told(key: str, numbers: str, evidence: Evidence) -> str:
    other = evidence.otherwise
    if other is None or (key != "mocarf_faster" and other.verdict == evidence.verdict):
        return numbers
    phrase = "{numbers}; by medians of instances ({others}): {verdict}"
    if key == "mocarf_faster":
        phrase = {
            HOLDS: "{numbers}; counting neither fit, MOCARF is faster: {others}",
            LEVEL: "{numbers}; counting neither fit, they are level: {others}",
            FAILS: "{numbers}; counting neither fit, MOCCTREE is faster: {others}",
        }[other.verdict]
    return tr(phrase, numbers=numbers, others=numbers_told("", other), verdict=tr(other.verdict))


def finding_line(finding: Finding) -> dict[str, str]:
    """A finding as a line of its table."""
    return {
        "claim": tr(CLAIMS[finding.key]),
        "key": finding.key,
        "dataset": finding.dataset,
        "required_by": finding.required_by,
        "verdict": finding.verdict,
        "numbers": numbers_told(finding.key, finding.evidence),
        "verdict_by_instance": finding.verdict_by_instance,
        "published_verdict": finding.published.verdict if finding.published else "",
        "published_numbers": numbers_told(finding.key, finding.published),
    }


def count(verdicts: Sequence[str]) -> str:
    """How many verdicts there are of each kind, in words.

    >>> count(["holds", "holds", "level"])
    '2 hold, 1 is level and 0 do not hold'
    """
    n_hold, n_level, n_fail = (list(verdicts).count(kind) for kind in (HOLDS, LEVEL, FAILS))
    return tr(
        "{hold}, {level} and {fail}",
        hold=counted(n_hold, "{n} holds", "{n} hold"),
        level=counted(n_level, "{n} is level", "{n} are level"),
        fail=counted(n_fail, "{n} does not hold", "{n} do not hold"),
    )


def told_required(findings: Sequence[Finding]) -> str:
    """How many of the required findings hold, as a sentence."""
    verdicts = [finding.verdict for finding in findings if finding.required]
    if not verdicts:
        return tr("No finding is required of these methods and data sets.")
    phrases = ("Of {n} required finding {counts}.", "Of {n} required findings {counts}.")
    return counted(len(verdicts), *phrases, counts=count(verdicts))


def counts_told(findings: Sequence[Finding], has_published: bool) -> list[str]:
    """How many required findings hold by whom they are required, and by the published results."""
    required = [finding for finding in findings if finding.required]
    phrases = {
        PAPER: ("{n} is claimed by the paper’s text: {counts}.", "{n} are claimed by the paper’s text: {counts}."),
        STUDY: ("{n} is required by this study alone: {counts}.", "{n} are required by this study alone: {counts}."),
    }
    words = []
    for by, forms in phrases.items():
        verdicts = [finding.verdict for finding in required if finding.required_by == by]
        words += [counted(len(verdicts), *forms, counts=count(verdicts))] if verdicts else []
    if has_published and required:
        before = [finding.published.verdict for finding in required if finding.published]
        phrase = "By the published results, judged in the same way, {counts}."
        if len(before) < len(required):
            phrase = "By the published results, judged in the same way, of the {n} that they allow to judge {counts}."
        words.append(tr(phrase, n=len(before), counts=count(before)))
    return words


# RQ1


def rq1_sentences(tables: Tables) -> list[str]:
    """Plausibility, what it costs in changes and distance, the surfaces, and time."""
    summary, trade_off, design = tables.summary, tables.trade_off, tables.design
    sentences = [
        plausible(summary),
        sparse(trade_off),
        dearer(trade_off, "n_changed", _CHANGES),
        dearer(trade_off, "distance", _DISTANCE),
        attained(trade_off),
        _run_time(summary, tables.fits),
        evaluations(tables.per_instance, design.max_evaluations, design.preset),
    ]
    return [sentence for sentence in sentences if sentence]


def plausible(summary: pd.DataFrame) -> str:
    """Who is more plausible where, over all non-dominated rows."""
    phrase = "Plausibility: by the median true log density, compared with the best of {others}, {outcomes}."
    outcomes = _outcomes(summary, "log_density")
    return tr(phrase, others=_others(summary), outcomes=outcomes) if outcomes else ""


def sparse(trade_off: pd.DataFrame) -> str:
    """The same with few changes."""
    phrase = (
        "Sparsity: if only counterfactuals with at most {most} changes count (all of them on data sets with fewer "
        "features), and of each explanation the most plausible one, {outcomes}. Where a method is ahead, its "
        "plausibility is not bought with further changes."
    )
    outcomes = _outcomes(trade_off, "log_density_within")
    return tr(phrase, most=MOST_CHANGES, outcomes=outcomes) if outcomes else ""


def dearer(trade_off: pd.DataFrame, cost: str, scale: Scale) -> str:
    """Where ours pay more than each of the others."""
    first, sentence = {
        "n_changed": (
            "{method} changes more features than each of {others} {places}",
            "Changes: in the median over all non-dominated counterfactuals, {parts}.",
        ),
        "distance": (
            "{method} goes farther from the row than each of {others} {places}",
            "Proximity: in the median over all non-dominated counterfactuals, {parts}.",
        ),
    }[cost]
    parts: list[str] = []
    for method in OURS:
        if (table := _beside_others(trade_off, method, cost)) is not None:
            phrase = "{method} does so {places}" if parts else first
            places = _dear_places(table, method, scale)
            parts.append(tr(phrase, method=method_name(method), others=_others(trade_off), places=places))
    return tr(sentence, parts="; ".join(parts)) if parts else ""


def _dear_places(table: pd.DataFrame, method: str, scale: Scale) -> str:
    places = []
    for name, line in table.iterrows():
        pair = (float(line[method]), float(line.drop(method).max()))
        if verdict(*pair, scale) == HOLDS:
            ours, theirs = (_form_for(pair, scale).format(number) for number in pair)
            places.append(tr("{set} ({ours}, the others at most {theirs})", set=name, ours=ours, theirs=theirs))
    return tr("on {sets}", sets=joined(places)) if places else tr("nowhere")


def attained(trade_off: pd.DataFrame) -> str:
    """How the attainment surfaces lie to each other, on average over data sets."""
    phrase = (
        "that of {method} attains {distance} of their corners against distance and {changes} against changes, and "
        "theirs attain {their_distance} and {their_changes} of its corners"
    )
    ends = ("_attained", "_attained_by_others")
    parts = []
    for method in OURS:
        means = trade_off.loc[trade_off["method"] == method, [c + end for end in ends for c in COORDINATES]].mean()
        if means.notna().any():
            names = ("distance", "changes", "their_distance", "their_changes")
            shares = {name: f"{100 * mean:.0f} %" for name, mean in zip(names, means, strict=True)}
            parts.append(tr(phrase, method=method_name(method), **shares))
    sentence = "Median attainment surfaces, beside those of {others}, on average over data sets: {parts}."
    return tr(sentence, others=_others(trade_off), parts="; ".join(parts)) if parts else ""


def _run_time(summary: pd.DataFrame, fits: pd.DataFrame) -> str:
    """Seconds of an explanation, and of what all share."""
    seconds = averages(summary, OWN_FIT, [*OURS, *OTHERS])
    shared = fits.loc[fits["fitted"] == "forest", "seconds"]
    return tr(
        "Run time: on average over data sets an explanation took {seconds} in the median, with what the method fits on "
        "its own. What all share, the forest and any other judges of plausibility, took {least} to {most} s once per "
        "data set and is not counted.",
        seconds=joined([f"{method_name(str(method))} {value:.2g} s" for method, value in seconds.items()]),
        least=f"{shared.min():.2g}",
        most=f"{shared.max():.2g}",
    )


def evaluations(instances: pd.DataFrame, budget: int, preset: str) -> str:
    """Methods that search but leave a part of their budget."""
    medians = instances.groupby("method", sort=False)["n_evaluated"].median()
    short = {method: medians[method] for method in SEARCHING if method in medians and medians[method] < budget}
    if not short:
        return ""
    phrase = "Of the budget of {budget:,} evaluations {asked} in the median over explanations."
    if preset == "default" and list(short) == ["arf"]:
        phrase = (
            "Of the budget of {budget:,} evaluations {asked} in the median over explanations: its search stops when no "
            "candidate promises to widen its set."
        )
    asked = [tr("{method} asked {n:,.0f} times", method=method_name(method), n=n) for method, n in short.items()]
    return tr(phrase, budget=budget, asked=joined(asked))


def _beside_others(lines: pd.DataFrame, method: str, column: str) -> pd.DataFrame | None:
    """Data sets by methods: one of ours and the others that are there; None without one side."""
    table = lines.pivot(index="dataset", columns="method", values=column).loc[list(dict.fromkeys(lines["dataset"]))]
    others = [other for other in OTHERS if other in table]
    return table[[method, *others]] if method in table and others else None


def _outcomes(lines: pd.DataFrame, column: str) -> str:
    """Where each of our methods is ahead, level and behind by a log density.

    >>> lines = {"dataset": ["one", "one", "two", "two"], "method": ["arf", "moc"] * 2, "p": [-1.0, -2.0, -1.0, -1.0]}
    >>> _outcomes(pd.DataFrame(lines), "p")
    'ARF is ahead on one, level on two'
    """
    phrases = {HOLDS: "ahead on {sets}", LEVEL: "level on {sets}", FAILS: "behind on {sets}"}
    parts = []
    for method in OURS:
        places: dict[str, list[str]] = {outcome: [] for outcome in phrases}
        if (table := _beside_others(lines, method, column)) is not None:
            for name, line in table.dropna(subset=table.columns.drop(method), how="all").iterrows():
                places[verdict(float(line[method]), float(line.drop(method).max()), LOG_DENSITY)].append(str(name))
        outcomes = [tr(phrases[outcome], sets=joined(names)) for outcome, names in places.items() if names]
        if outcomes:
            parts.append(tr("{method} is {outcomes}", method=method_name(method), outcomes=", ".join(outcomes)))
    return "; ".join(parts)


def _others(lines: pd.DataFrame) -> str:
    return joined([method_name(other) for other in OTHERS if other in set(lines["method"])])


# Claims and measures


def claim_sentences(table: pd.DataFrame) -> list[str]:
    """What our methods claim and what holds, on average over data sets, and the largest error; none without claims."""
    if table.empty:
        return []
    told_lines = [_claimed(method, mine) for method in OURS if len(mine := table[table["method"] == method])]
    worst = table.loc[table["error"].idxmax()]
    largest = tr(
        "The largest mean error of a method on a data set is {error} points: {method} on {set}, {claimed} claimed and "
        "{true} true.",
        **{"error": points(worst["error"]), "method": method_name(worst["method"]), "set": worst["dataset"]},
        **{name: share_text(worst[name]) for name in ("claimed", "true")},
    )
    return [*told_lines, largest]


def _claimed(method: str, mine: pd.DataFrame) -> str:
    phrase = (
        "On {set}, a counterfactual of {method} is said to be more typical than {claimed} of real rows and is denser "
        "than {true} of them. The mean error is {error} points."
    )
    if len(mine) > 1:
        phrase = (
            "On average over data sets, a counterfactual of {method} is said to be more typical than {claimed} of real "
            "rows and is denser than {true} of them; on {n_high} of {n} data sets claims are too high on average. The "
            "mean error is {error} points."
        )
    values = {"set": mine["dataset"].iloc[0], "n": len(mine), "n_high": int((mine["claimed"] > mine["true"]).sum())}
    shares = {name: share_text(float(mine[name].mean())) for name in ("claimed", "true")}
    return tr(phrase, method=method_name(method), error=points(float(mine["error"].mean())), **values, **shares)


def points(share: float) -> str:
    """A difference of shares in points of per cent.

    >>> points(0.0412), points(0.25)
    ('4.1', '25.0')
    """
    return f"{100 * share:.1f}"


def told_measures(measures: Mapping[str, str]) -> str:
    """What the learned measure of plausibility is, by data set.

    >>> told_measures({"one": "log density", "two": "log density of a Gaussian mixture", "three": "log density"})
    'log density (one and three); log density of a Gaussian mixture (two)'
    """
    places: dict[str, list[str]] = {}
    for name, measure in measures.items():
        places.setdefault(measure, []).append(name)
    return "; ".join(f"{tr(measure)} ({joined(names)})" for measure, names in places.items())
