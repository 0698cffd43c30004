"""A letter in words: sections of plain text, which every layout escapes as a whole.

Sentences speak to the person whom the decision concerns. What would have changed it is told as in all sentences
(`counterfactuals.sentences`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from countarfactuals.counterfactuals.outcomes import is_regression, score_name, target_text, wanted_score
from countarfactuals.counterfactuals.sentences import counterfactual_sentences, situation
from countarfactuals.language import counted, spoken, tr
from countarfactuals.language.spelling import (
    count_text,
    date_text,
    joined,
    name_text,
    outcome_texts,
    score_texts,
    value_texts,
)
from countarfactuals.language.vocabulary import TEXT, Words, words_of
from countarfactuals.letter.contents import (
    ABOVE,
    AT_LEAST,
    AT_MOST,
    CONTENT,
    DESCRIPTION,
    FILE,
    LARGEST,
    HeldFixed,
    Letter,
    Reason,
)
from countarfactuals.prediction import Score
from countarfactuals.prediction.scores import PREDICTION


class Section(NamedTuple):
    """A heading with what stands below it; facts are names and their values."""

    heading: str
    paragraphs: Sequence[str] = ()
    items: Sequence[str] = ()
    facts: Sequence[tuple[str, str]] = ()


class Head(NamedTuple):
    """What stands above all sections: the title, and names with one or more lines."""

    title: str
    fields: Sequence[tuple[str, Sequence[str]]]


def head(letter: Letter) -> Head:
    """Title, sender, applicant, reference and date; what was not given is left out."""
    fields = [
        (tr("From"), letter.sender),
        (tr("To"), letter.applicant),
        (tr("Reference"), letter.reference),
        (tr("Date"), date_text(letter.dated)),
    ]
    return Head(tr("A decision and its reasons"), [(name, text.splitlines()) for name, text in fields if text])


def sections(letter: Letter) -> list[Section]:
    """The whole letter."""
    words = words_of(letter.result.schema.names, letter.units, letter.rows, letter.outcome, TEXT)
    return [
        Section(tr("The decision"), [" ".join(_decision(letter, words))]),
        *_why(letter, words),
        _not_considered(letter, words),
        Section(tr("What this letter is not"), _no_promise()),
        Section(tr("Whom to ask"), _whom_to_ask(letter)),
        Section(tr("How this was made"), facts=list(_record(letter))),
    ]


# What was decided


def _decision(letter: Letter, words: Words) -> Iterator[str]:
    result = letter.result
    yield tr("Your case was scored by a model: {model}.", model=words.written(letter.model))
    if result.status == "already":
        yield tr("Wanted is: {target}. That is what the model says.", target=target_text(result, words))
    else:
        yield from situation(result, words)
    rule = _rule_sentence(letter, words)
    yield from [rule] if rule else []


def _rule_sentence(letter: Letter, words: Words) -> str:
    result, rule = letter.result, letter.rule
    phrases = {
        ABOVE: "The decision is {outcome} where {score} is above {threshold}.",
        AT_LEAST: "The decision is {outcome} where {score} is at least {threshold}.",
        AT_MOST: "The decision is {outcome} where {score} is at most {threshold}.",
        LARGEST: "The decision is the class with the largest score.",
    }
    if rule.kind not in phrases:
        return ""
    if rule.threshold is None or result.target is None:
        return tr(phrases[rule.kind])
    outcome, (threshold,) = words.written(result.target.outcome), score_texts([rule.threshold])
    return tr(phrases[rule.kind], outcome=outcome, score=score_name(_score(letter)), threshold=threshold)


def _score(letter: Letter) -> Score:
    """The score that reasons are measured in."""
    return wanted_score(letter.result) or letter.result.score_columns[0]


# Why, and what else would have led to another decision


def _why(letter: Letter, words: Words) -> list[Section]:
    if letter.result.status == "already":
        nothing = tr(
            "The decision is the wanted one. There is nothing to give reasons for, and nothing needs to change."
        )
        return [Section(tr("Principal reasons"), [nothing])]
    return [_principal_reasons(letter, words), _other_ways(letter, words)]


def _principal_reasons(letter: Letter, words: Words) -> Section:
    heading = tr("Principal reasons")
    if not letter.reasons:
        nothing = tr(
            "No single feature, with all others as they are, moves the score towards the wanted outcome: only several "
            "together might."
        )
        return Section(heading, [nothing])
    ranked = tr(
        "In the order of how far each of them alone, with all others as they are, moves the score towards the wanted "
        "outcome. Each of them was in fact scored."
    )
    return Section(heading, [ranked], [_reason_text(letter, reason, words) for reason in letter.reasons])


def _reason_text(letter: Letter, reason: Reason, words: Words) -> str:
    name = words.written(name_text(letter.result.schema.titles[reason.position]))
    what = tr("{name}: {value}.", name=name, value=_own_value(letter, reason, words))
    if reason.code:
        what = tr("{code} – {reason}", code=reason.code, reason=what)
    return " ".join([what, _gain_text(letter, reason, words), *_often(letter, reason)])


def _own_value(letter: Letter, reason: Reason, words: Words) -> str:
    column, own = letter.result.schema.columns[reason.position], float(letter.result.x[reason.position])
    (text,) = value_texts(column, [own])
    return words.amount(column.name, text) if column.is_number and own == own else words.written(text)


def _gain_text(letter: Letter, reason: Reason, words: Words) -> str:
    score = score_name(_score(letter))
    if reason.best_value is None:
        return tr("On its own it does not move {score} towards the wanted outcome.", score=score)
    new, old = _score_values(letter, [reason.best_score, reason.score], words)
    return tr("On its own it moves {score} from {old} as far as {new}.", score=score, old=old, new=new)


def _score_values(letter: Letter, values: Sequence[float], words: Words) -> list[str]:
    if is_regression(letter.result):
        return [words.amount(words.outcome or PREDICTION, text) for text in outcome_texts(values)]
    return score_texts(values)


def _often(letter: Letter, reason: Reason) -> list[str]:
    """In how many counterfactuals it changes, where there are any."""
    if not reason.n_changed:
        return []
    return [
        counted(
            letter.n_counterfactuals,
            "It changes in the one way to another decision that was found.",
            "It changes in {changed} of {n:,} ways to another decision that were found.",
            changed=count_text(reason.n_changed),
        )
    ]


def _other_ways(letter: Letter, words: Words) -> Section:
    result, heading = letter.result, tr("What would have changed the decision")
    if not len(result):
        nothing = tr(
            "No way to another decision was found with what was held fixed. That is no proof that there is none: ask "
            "whom this letter names."
        )
        return Section(heading, [nothing])
    ways = [counterfactual_sentences(result, i, words)[0] for i in range(len(result))]
    any_of = counted(
        len(ways),
        "This would have led to the wanted decision:",
        "Any of these would have led to the wanted decision:",
    )
    return Section(heading, [any_of], ways)


# What had no part in it


def _not_considered(letter: Letter, words: Words) -> Section:
    protected = [held for held in letter.held_fixed if held.is_protected]
    groups = (
        ("Not known to the model: {names}.", [held for held in protected if not held.is_feature]),
        (
            "Known to the model, but without effect on the score in your case: {names}.",
            [held for held in protected if held.is_feature and held.span == 0],
        ),
        (
            "Considered by the model all the same, with an effect on the score in your case: {names}.",
            [held for held in protected if held.span > 0],
        ),
        (
            "Held fixed when other ways were looked for: {names}.",
            [held for held in letter.held_fixed if held.is_feature],
        ),
    )
    paragraphs = [tr(phrase, names=_names(letter, held, words)) for phrase, held in groups if held]
    nothing = tr("Nothing was held fixed: all that the model is told was free to be different.")
    return Section(tr("What was not considered"), paragraphs or [nothing])


def _names(letter: Letter, held: Sequence[HeldFixed], words: Words) -> str:
    titles = dict(zip(letter.result.schema.names, letter.result.schema.titles, strict=True))
    return joined([words.written(name_text(titles.get(column.column, column.column))) for column in held])


# What it does not claim, and whom to ask


def _no_promise() -> list[str]:
    return [
        tr(
            "It is no promise. Whoever applies again is judged anew, by what is known then and by the model that is "
            "used then."
        ),
        tr(
            "It is no advice. It says which other values the model would have decided otherwise by, not what follows "
            "if someone acts to change them, nor whether that is possible or sensible."
        ),
        tr("The list is not complete: there may be other reasons and other ways."),
    ]


def _whom_to_ask(letter: Letter) -> list[str]:
    if not letter.contact:
        return [tr("Please turn to the sender of this letter.")]
    return [tr("If you have questions about this decision, please turn to:"), *letter.contact.splitlines()]


# For those who check it


def _record(letter: Letter) -> Iterator[tuple[str, str]]:
    result = letter.result
    made = result.provenance
    yield tr("Model"), letter.model
    yield tr("Threshold"), _threshold_text(letter)
    yield tr("Method"), result.method
    if isinstance(made.get("training_rows"), int):
        yield tr("Rows of data"), count_text(made["training_rows"])
    if made.get("seed") is not None:
        yield tr("Seed"), str(made["seed"])
    yield from _hashes(letter)
    yield tr("Versions"), ", ".join(f"{package} {version}" for package, version in letter.versions.items())
    yield tr("Made at"), spoken().moment(letter.made)


def _threshold_text(letter: Letter) -> str:
    if letter.rule.threshold is None:
        return tr("none, the largest score counts") if letter.rule.kind == LARGEST else target_text(letter.result)
    return score_texts([letter.rule.threshold])[0]


def _hashes(letter: Letter) -> Iterator[tuple[str, str]]:
    of_model = {
        FILE: "SHA-256 of the model's file",
        CONTENT: "SHA-256 of the model's content",
        DESCRIPTION: "SHA-256 of the model's class and name only, as its content can not be hashed",
    }
    yield tr(of_model[letter.fingerprints["model"].of]), letter.fingerprints["model"].digest
    yield tr("SHA-256 of the data"), letter.fingerprints["data"].digest
    yield tr("SHA-256 of the explainer"), letter.fingerprints["explainer"].digest
