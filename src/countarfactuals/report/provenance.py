"""How a result was made, and what it does not claim."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.counterfactuals.restrictions import constraint_sentence
from countarfactuals.counterfactuals.vocabulary import Words
from countarfactuals.counterfactuals.wording import share_text
from countarfactuals.plausibility.wording import judgement
from countarfactuals.report.page import bullets, counted, facts, paragraph, section, text

_SETTING = 200  # characters of a setting that are shown


def constraints_section(results: Sequence[Counterfactuals], words: Words) -> str:
    """The constraints of all results, each once."""
    own = dict.fromkeys(one for result in results for one in result.constraints)
    said = [constraint_sentence(one, results[0].schema, words) for one in own]
    none = paragraph("There were none: every feature was free to change.")
    return section("constraints", "Constraints in force", bullets(map(text, said)) or none)


def made_section(results: Sequence[Counterfactuals], meta: Mapping[str, str]) -> str:
    """Versions, seed, forest, budget and settings, and what the caller knows of model and data (`meta`).

    Of many results those of the first that was made are told.
    """
    result = next((one for one in results if one.provenance), None)
    known = facts("The model and the data", ("What", "Value"), list(meta.items()))
    if result is None:
        nothing = paragraph("Of the search nothing was recorded." if known else "Of this nothing was recorded.")
        return section("made", "How it was made", known, nothing, _writer())
    rows = list(_lines(result, is_single=len(results) == 1))
    settings = result.provenance.get("settings")
    return section(
        "made",
        "How it was made",
        known,
        facts("The search and the forest", ("What", "Value"), rows),
        facts("Settings of the explainer; those that are None are left out", ("Setting", "Value"), _settings(settings)),
        _writer(),
    )


def _lines(result: Counterfactuals, is_single: bool) -> Iterator[tuple[str, str]]:
    made = result.provenance
    yield "Method", result.method
    names = {"countarfactuals": "Version of countarfactuals", "model": "Model", "seed": "Seed"}
    for key, name in names.items():
        if made.get(key) is not None:
            yield name, str(made[key])
    settings = made.get("settings")
    budget: Any = settings.get("max_evaluations") if isinstance(settings, Mapping) else None
    if _is_count(budget):
        yield "Budget per row", counted(budget, ("evaluation of the model", "evaluations of the model"))
    if is_single and _is_count(made.get("evaluations")):
        yield "Spent", counted(made["evaluations"], ("evaluation", "evaluations"))
    if is_single and isinstance(made.get("seconds"), int | float):
        yield "Time", f"{made['seconds']:.2f} s"
    if _is_count(made.get("training_rows")):
        yield "Rows of data", f"{made['training_rows']:,}"
    if _is_count(made.get("compared_rows")):
        yield "Typicality", f"by comparison with {made['compared_rows']:,} rows that those who judge have not seen"
    if isinstance(made.get("judges"), Mapping):
        yield "Judges", " ".join(judgement(made["judges"]))
    yield from _forest(made.get("forest"))
    yield "Plausibility is", result.measure


def _forest(forest: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(forest, Mapping):
        return
    if _is_count(forest.get("trees")):
        yield "Trees of the forest", f"{forest['trees']:,}"
    if _is_count(forest.get("min_samples_leaf")):
        yield "Fewest rows per leaf", f"{forest['min_samples_leaf']:,}"
    accuracies = forest.get("accuracies")
    if isinstance(accuracies, list) and accuracies:
        last = share_text(float(accuracies[-1]))
        rounds = counted(len(accuracies), ("round", "rounds"))
        yield (
            "Training of the forest",
            f"{rounds}; in the last, real and synthetic rows were told apart in {last} (50 % is guessing)",
        )


def _settings(settings: Any) -> list[tuple[str, str]]:
    if not isinstance(settings, Mapping):
        return []
    shown = {name: str(value) for name, value in settings.items() if value is not None}
    return [(name, value if len(value) <= _SETTING else f"{value[:_SETTING]}…") for name, value in shown.items()]


def _writer() -> str:
    parts = [f"countarfactuals {version('countarfactuals')}", f"Python {platform.python_version()}"]
    for package in ("numpy", "scikit-learn", "matplotlib"):
        try:
            parts.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return paragraph(text(f"This report was written with {', '.join(parts)}."), "quiet")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def limits_section(results: Sequence[Counterfactuals], rows: tuple[str, str]) -> str:
    """What a reader must not conclude."""
    one, many = rows
    settings = [result.provenance.get("settings") for result in results]
    is_observed = any(isinstance(one, Mapping) and one.get("outcome") == "observed" for one in settings)
    about = (
        "It speaks of the outcome as the forest learned it from the data, and of no model."
        if is_observed
        else "It speaks of a model's prediction, which may be wrong, and not of what really happens."
    )
    claims = [
        "It is no causal advice. It says which other values get another outcome, not what follows if someone acts to "
        "change them: acting on one feature may move others.",
        about,
        f"Typicality is the share of real {many} that are less typical by the most sceptical of several judges that "
        "were fitted to the data. It is an estimate: where judges differ, the range is told. Other notions of "
        "plausibility exist and may disagree.",
        f"Plausible does not mean possible, affordable or fair for this {one}. Only the constraints listed above were "
        "kept.",
        "The list is not complete. The search had a budget, and other counterfactuals may exist; where none was found, "
        "that is no proof that there is none.",
    ]
    if any(result.is_real_row.any() for result in results):
        claims.append(
            f"A counterfactual that is marked as a row of the data equals what was recorded of some real {one}. Think "
            "of privacy before passing it on."
        )
    return section("limits", "What this does not claim", bullets(map(text, claims)))
