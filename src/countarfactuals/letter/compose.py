"""`make_letter`: from a result and the explainer that made it to a `Letter`; all that is passed is checked here."""

from __future__ import annotations

import datetime
import os
import platform
import warnings
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from countarfactuals._optional import versions_of
from countarfactuals.counterfactuals import Counterfactuals, CounterfactualsBatch
from countarfactuals.counterfactuals.outcomes import is_range
from countarfactuals.exceptions import (
    ConstraintError,
    DataError,
    DataTypeError,
    LetterWarning,
    ParameterError,
    Setting,
    did_you_mean,
    listed,
    unknown_column,
)
from countarfactuals.explainers.background import Background
from countarfactuals.explainers.curves import Curve
from countarfactuals.explainers.made_by import background_for, goal_of
from countarfactuals.language.vocabulary import TEXT, Unit, words_of
from countarfactuals.letter.contents import ABOVE, AT_LEAST, AT_MOST, LARGEST, RANGE, HeldFixed, Letter, Rule
from countarfactuals.letter.fingerprints import fingerprints_of
from countarfactuals.letter.influences import Measured, curves_of, measured, reasons_of, span
from countarfactuals.prediction import Goal

_TOLD = 3  # counterfactuals that a letter tells
_PACKAGES = ("countarfactuals", "numpy", "pandas", "scikit-learn")


def make_letter(
    result: Counterfactuals,
    explainer: Any,
    *,
    codes: Mapping[Hashable, str] | None = None,
    protected: Sequence[Hashable] = (),
    contact: str = "",
    sender: str = "",
    applicant: str = "",
    reference: str = "",
    dated: datetime.date | None = None,
    model: str | None = None,
    model_file: str | os.PathLike[str] | None = None,
    prefer: str | Mapping[str, float] | None = None,
    units: Mapping[Hashable, Unit] | None = None,
    rows: Unit = "rows",
    outcome: str | None = None,
    made: datetime.datetime | None = None,
) -> Letter:
    """A letter about the decision on one row.

    Parameters
    ----------
    result : of `explain`.
    explainer : the one that made it; its model is asked which features it heeds.
    codes : by column the code of a reason, such as {"income": "R12"}.
    protected : columns that must have no part in it; a counterfactual may not change them, and the letter says whether
        the model heeds them. They need not be features.
    contact, sender, applicant, reference : whom to ask, from whom, to whom, about what; texts of one or more lines.
    dated : the day that the letter bears, today unless it is given.
    model, model_file : what the model is called, and the file that it came from, whose hash the letter bears.
    prefer : by which objectives counterfactuals are chosen, see `select`.
    units, rows, outcome : what things are called, see `describe`.
    made : when the letter was made, now unless it is given.
    """
    _check_result(result)
    background = background_for(result, explainer)
    goal = goal_of(result, background)
    if goal is None or not result.score_columns:
        raise DataError("The result does not say what was asked for. Pass one that `explain` returned.")
    if getattr(explainer, "outcome", "predicted") == "observed":
        raise ParameterError(
            "The result is about the observed outcome, not a model's decision. Explain with outcome='predicted'."
        )
    names = result.schema.names
    words_of(names, units, rows, outcome, TEXT)  # refuses what is wrong with them
    checked_codes = _codes(codes, names)
    fields = {"contact": contact, "sender": sender, "applicant": applicant, "reference": reference}
    told = measured(result, goal)
    curves = curves_of(result, background, hides_rare=not explainer.allow_real_rows)  # a letter tells the best value
    made = _moment(made)
    return Letter(
        result=result.select(_TOLD, prefer),
        n_counterfactuals=len(result),
        model=_text("model", background.predictor.model_name if model is None else model),
        rule=_rule(result, goal, background),
        reasons=() if result.status == "already" else reasons_of(result, curves, told, checked_codes),
        held_fixed=_held_fixed(result, curves, told, _names("protected", protected)),
        fingerprints=fingerprints_of(explainer, model_file),
        versions={"Python": platform.python_version(), **versions_of(_PACKAGES)},
        made=made,
        dated=_day(dated, made),
        units=dict(units or {}),
        rows=rows,
        outcome=outcome,
        **{name: _text(name, text) for name, text in fields.items()},
    )


def _check_result(result: Any) -> None:
    if isinstance(result, CounterfactualsBatch):
        raise DataTypeError(
            f"A letter is about one row, got a batch of {len(result)}. Write one for each of its results."
        )
    if not isinstance(result, Counterfactuals):
        raise DataTypeError(f"Pass the `Counterfactuals` that `explain` returns, got {type(result).__name__}.")
    if result.status == "error":
        raise DataError(
            f"The row could not be explained, so there is nothing to write about: {result.error} Explain it first."
        )


def _rule(result: Counterfactuals, goal: Goal, background: Background) -> Rule:
    """When the wanted outcome is given, in terms of the score that is told."""
    if is_range(result):
        return Rule(RANGE)
    if goal.wins:
        return Rule(LARGEST)
    predictor = background.predictor
    if goal.target.outcome == predictor.classes[1]:
        return Rule(ABOVE, float(predictor.threshold))
    if predictor.is_probability:  # of the first class it is what is left of the second's
        return Rule(AT_LEAST, 1.0 - float(predictor.threshold))
    return Rule(AT_MOST, float(predictor.threshold))


def _held_fixed(
    result: Counterfactuals, curves: Sequence[Curve], told: Measured, protected: Sequence[Hashable]
) -> tuple[HeldFixed, ...]:
    names = result.schema.names
    changing = [name for name in protected if name in names and result.changed[:, names.index(name)].any()]
    if changing:
        raise ConstraintError(
            "Counterfactuals change {columns}, which {parameter} names. Explain the row again with Constraints(fixed="
            "{changing!r}).",
            columns=listed(changing),
            parameter=Setting("protected"),
            changing=changing,
        )
    fixed = [name for name, is_free in zip(names, _may_change(result), strict=True) if not is_free]
    _warn_of_misspelt([name for name in protected if name not in names], names)
    kept = []
    for name in dict.fromkeys([*protected, *fixed]):
        moves = span(curves[names.index(name)], told) if name in names else 0.0
        kept.append(HeldFixed(name, name in protected, name in names, moves))
    if heeded := [held.column for held in kept if held.is_protected and held.span > 0]:
        warnings.warn(
            f"The score of this row depends on {listed(heeded)}, which is protected. The letter says so: have the "
            "model looked at before it is sent.",
            LetterWarning,
            stacklevel=3,
        )
    return tuple(kept)


def _warn_of_misspelt(strangers: Sequence[Hashable], names: Sequence[Hashable]) -> None:
    """A letter would say that the model does not know a column, only as its name is mistyped."""
    for name in strangers:
        if hint := did_you_mean(name, names):
            warnings.warn(
                f"The letter says that the model does not know the protected {name!r}, as it is no feature.{hint}",
                LetterWarning,
                stacklevel=4,
            )


def _may_change(result: Counterfactuals) -> list[bool]:
    limits = result.limits
    return [True] * len(result.x) if limits is None else list(map(bool, limits.may_change.tolist()))


def _codes(codes: Any, names: Sequence[Hashable]) -> dict[Hashable, str]:
    if codes is None:
        return {}
    if not isinstance(codes, Mapping) or not all(isinstance(code, str) for code in codes.values()):
        raise ParameterError(
            "{parameter} must be a dict of texts by column, such as {example}, got {got!r}.",
            parameter=Setting("codes"),
            example={"income": "R12"},
            got=codes,
        )
    for name in codes:
        if name not in names:
            raise unknown_column("codes", name, names)
    return dict(codes)


def _names(parameter: str, names: Any) -> list[Hashable]:
    if isinstance(names, str) or not isinstance(names, list | tuple | set | frozenset):
        raise ParameterError(f"`{parameter}` must be a list of columns, such as ['age', 'sex'], got {names!r}.")
    return list(names)


def _text(parameter: str, text: Any) -> str:
    if not isinstance(text, str):
        raise ParameterError(f"`{parameter}` must be a text, got {text!r}.")
    return text.strip()


def _moment(made: Any) -> datetime.datetime:
    if made is None:
        return datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    if not isinstance(made, datetime.datetime) or made.tzinfo is None:
        raise ParameterError(f"`made` must be a datetime with its time zone, such as datetime.now(UTC), got {made!r}.")
    return made


def _day(dated: Any, made: datetime.datetime) -> datetime.date:
    if dated is None:
        return made.date()
    if not isinstance(dated, datetime.date) or isinstance(dated, datetime.datetime):
        raise ParameterError(f"`dated` must be a datetime.date or None, got {dated!r}.")
    return dated
