"""What the texts of options mean: a `Target`, `Constraints`, the order of levels, units.

Classes and levels are found by their texts. What the library would refuse in its own words is refused here, in those of
the command line.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd

from countarfactuals.cli.arguments import words
from countarfactuals.cli.data_files import shown
from countarfactuals.cli.wishes_file import Wishes, joined
from countarfactuals.constraints import KINDS, Constraints
from countarfactuals.constraints.option import assigned_by_name, no_column, parts_of
from countarfactuals.exceptions import DataError, ParameterError, TargetError, did_you_mean, listed
from countarfactuals.language.vocabulary import Unit
from countarfactuals.prediction import Target
from countarfactuals.prediction.models import REGRESSION
from countarfactuals.prediction.predictor import Predictor
from countarfactuals.schema import Schema

Orders = dict[Hashable, list[Any]]
_NO_WISHES = Wishes()


def target_of(options: argparse.Namespace, predictor: Predictor) -> Target | None:
    """The target that the options say; None for another class than the predicted one."""
    ranges = _ranges(options)
    if predictor.task == REGRESSION:
        return _target_of_numbers(options, ranges)
    if options.probability is not None and options.want is None:
        raise TargetError(f"--probability needs --want: one of the classes {listed(predictor.classes)}.")
    if options.want is not None and options.want_not is not None:
        raise TargetError("--want and --want-not contradict each other. Say one of them.")
    if options.want_not is not None:
        if ranges:
            raise TargetError("--want-not takes no range: a range is for the score of one class. Say --want for it.")
        return Target(none_of=_classes_of(options.want_not, predictor.classes))
    if options.want is None:
        return Target(**ranges) if ranges else None
    return _target_of_classes(_classes_of(options.want, predictor.classes), ranges)


def wanted_cells(options: argparse.Namespace, others: Mapping[str, list[Any]]) -> list[Any]:
    """The cells of `--want-column`, one of the columns of the data that the model does not know."""
    column = options.want_column
    if column not in others:
        raise DataError(
            f"--want-column: {shown(options.data)} has no column {column!r}. Add it, or say --want for all rows."
        )
    return others[column]


def targets_of_rows(options: argparse.Namespace, predictor: Predictor, cells: Sequence[Any]) -> list[Target | None]:
    """What a column of the data says for each row: a class, classes or a range; None for an empty cell."""
    clashing = {"--want": options.want, "--want-not": options.want_not, "--want-change": options.want_change}
    if flags := [flag for flag, value in clashing.items() if value is not None]:
        raise TargetError(f"--want-column says what is wanted of each row, so {listed(flags)} can not be said, too.")
    ranges = _ranges(options)
    texts = [None if pd.isna(cell) or not str(cell).strip() else str(cell).strip() for cell in cells]
    if predictor.task == REGRESSION:
        return [None if text is None else _range_of(text) for text in texts]
    named = [None if text is None else _classes_of(text, predictor.classes) for text in texts]
    return [None if labels is None else _target_of_classes(labels, ranges) for labels in named]


def _ranges(options: argparse.Namespace) -> dict[str, Any]:
    given = {name: getattr(options, name) for name in ("probability", "above", "below")}
    given["change"] = options.want_change
    ranges = {name: value for name, value in given.items() if value is not None}
    for name in ("above", "below"):
        if not math.isfinite(ranges.get(name, 0.0)):
            raise TargetError(f"--{name} needs a finite number, got {ranges[name]}.")
    if "change" in ranges and len(ranges) > 1:
        flags = ["--want-change" if name == "change" else f"--{name}" for name in ranges]
        raise TargetError(f"The options say more than one range: {listed(flags)}. Say one.")
    return ranges


def _target_of_numbers(options: argparse.Namespace, ranges: Mapping[str, Any]) -> Target:
    ways = "--above or --below, or both, or --want-change"
    if options.want is not None or options.want_not is not None or options.probability is not None:
        raise TargetError(f"The model predicts numbers, so there is no class to want. Say {ways}.")
    if not ranges:
        raise TargetError(f"The model predicts numbers. Say which are wanted: {ways}.")
    return Target(**ranges)


def _target_of_classes(labels: Sequence[Any], ranges: Mapping[str, Any]) -> Target:
    if len(labels) == 1:
        return Target(labels[0], **ranges)
    if ranges:
        raise TargetError(f"A range is for the score of one class, got {listed(labels)}. Name one of them by --want.")
    return Target(any_of=labels)


def _range_of(text: str) -> Target:
    """A range of a cell, `low:high`, where an end may be empty."""
    low, sign, high = text.partition(":")
    try:
        if not sign:
            raise ValueError
        ends = [None if not end.strip() else float(end) for end in (low, high)]
    except ValueError:
        raise TargetError(
            f"--want-column: {text!r} is no range of numbers. Write low:high, such as 100:200, 100: or :200."
        ) from None
    return Target(above=ends[0], below=ends[1])


def _classes_of(text: str, classes: Sequence[Any]) -> list[Any]:
    """The classes that a text stands for, with commas between them; one may hold a comma itself."""
    try:
        return [_class_of(text, classes)]
    except TargetError:
        if "," not in text:
            raise
    return [_class_of(part, classes) for part in parts_of(text, "--want")]


def _class_of(text: str, classes: Sequence[Any]) -> Any:
    """The class that a text stands for."""
    alike = [label for label in classes if str(label) == text]
    alike += [label for label in classes if str(label).lower() == text.lower()]
    alike += [label for label in classes if isinstance(label, int | float) and _is_number(text, label)]
    if not alike:
        raise TargetError(
            f"The model has no class {text!r}; its classes: {listed(classes)}.{did_you_mean(text, classes)}"
        )
    return alike[0]


def _is_number(text: str, value: float) -> bool:
    try:
        return not isinstance(value, bool) and float(text) == value
    except ValueError:
        return False


def constraints_of(options: argparse.Namespace, schema: Schema, wishes: Wishes = _NO_WISHES) -> Constraints:
    """The constraints that options and a file say, each as its kind reads it."""
    kinds = {name: kind.option for name, kind in KINDS.items() if kind.option}
    by_options = {name: option.read(getattr(options, option.field), schema) for name, option in kinds.items()}
    filed = wishes.constraints_for(schema)
    both = {name: joined(filed[name], by_options.get(name)) for name in filed}
    return Constraints(**{**by_options, **both})


def labels_of(given: Sequence[str], columns: Sequence[Hashable]) -> dict[Hashable, Any]:
    """Labels by column: of the column itself, of levels, or a pair of both."""
    found: dict[Hashable, tuple[str | None, dict[str, str]]] = {}
    for text in given:
        fitting = [name for name in columns if text.startswith((f"{name}=", f"{name}:"))]
        if not fitting:
            raise no_column(text.partition("=")[0], list(map(str, columns)), "--label", ParameterError)
        name = max(fitting, key=lambda fit: len(str(fit)))
        sign, rest = text[len(str(name))], text[len(str(name)) + 1 :]
        label, levels = found.get(name, (None, {}))
        level, _, level_label = rest.partition("=")
        found[name] = (rest, levels) if sign == "=" else (label, {**levels, level: level_label})
    return dict(found)


def orders_of(given: Sequence[str], X: pd.DataFrame) -> Orders:
    """Levels, lowest first, by column."""
    orders = assigned_by_name(given, [str(name) for name in X.columns], "--ordered", ParameterError)
    return {name: _order(name, parts_of(text, f"--ordered {name}"), X[name]) for name, text in orders.items()}


def _order(name: str, texts: Sequence[str], series: pd.Series) -> list[Any]:
    """The levels that texts stand for: all of the column, and in a column of text any others."""
    by_text = {str(level): level for level in series.dropna().unique().tolist()}
    strangers = [text for text in texts if text not in by_text]
    if unlisted := [text for text in by_text if text not in texts]:
        raise ParameterError(
            f"--ordered: {name!r} also holds {listed(unlisted)}. List all its levels, lowest first."
            f"{did_you_mean(unlisted[0], strangers)}"
        )
    if strangers and pd.api.types.is_numeric_dtype(series.dtype):
        raise ParameterError(f"--ordered: {name!r} never is {listed(strangers)}; it holds {listed(by_text)}.")
    if len(set(texts)) < len(texts):
        raise ParameterError(f"--ordered: the order of {name!r} names a level twice: {listed(texts)}. Say each once.")
    return [by_text.get(text, text) for text in texts]


def units_of(given: Sequence[str], columns: Sequence[Hashable], outcome: str | None) -> dict[str, Unit]:
    """Units by column; the outcome's goes by its name."""
    units: dict[str, Unit] = {}
    features = [*map(str, columns), outcome or "prediction"]
    for name, text in assigned_by_name(given, features, "--unit", ParameterError).items():
        try:
            units[name] = words(text)
        except argparse.ArgumentTypeError as error:
            raise ParameterError(f"--unit {name} {error}.") from None
    return units
