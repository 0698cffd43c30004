"""What a user says of columns when fitting: the order of their levels, their units, and what rows are called.

Names are found by their texts, and what is said is checked at once, as it is used much later. `stored` and `restored`
take units to JSON and back, where a pair of words is a list.
"""

from __future__ import annotations

import argparse
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd

from countarfactuals.cli.wishes import assigned_by_name, assignment, parts_of
from countarfactuals.counterfactuals.vocabulary import Unit
from countarfactuals.exceptions import ParameterError, did_you_mean, listed

Orders = dict[Hashable, list[Any]]

ROWS = "rows"


def add_words(parser: argparse.ArgumentParser) -> None:
    """Options that say what things are called."""
    group = parser.add_argument_group("words in sentences and reports")
    group.add_argument(
        "--unit",
        type=assignment,
        action="append",
        default=[],
        metavar="COLUMN=UNIT",
        help="unit of a column, such as income=€, duration=months or height=foot,feet; may be repeated",
    )
    group.add_argument(
        "--rows-are", type=words, metavar="WORD", help="what rows are called, such as applicants or person,people"
    )


def words(text: str) -> Unit:
    """One word, or one for one thing and one for several.

    >>> words("months"), words("foot, feet")
    ('months', ('foot', 'feet'))
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(parts) or len(parts) > 2:
        raise argparse.ArgumentTypeError(f"needs a word, or two such as person,people; got {text!r}")
    return parts[0] if len(parts) == 1 else (parts[0], parts[1])


def units_of(said: Sequence[str], columns: Sequence[str], outcome: str | None) -> dict[str, Unit]:
    """Units by column; the outcome's goes by its name."""
    known = [*columns, outcome or "prediction"]
    units = {}
    for name, text in assigned_by_name(said, known, "--unit", ParameterError).items():
        try:
            units[name] = words(text)
        except argparse.ArgumentTypeError as error:
            raise ParameterError(f"--unit {name} {error}.") from None
    return units


def orders_of(said: Sequence[str], X: pd.DataFrame) -> Orders:
    """Levels, lowest first, by column."""
    orders = assigned_by_name(said, [str(name) for name in X.columns], "--ordered", ParameterError)
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


def stored(units: Mapping[str, Unit]) -> dict[str, Any]:
    """Units as JSON has them."""
    return {name: list(unit) if isinstance(unit, tuple) else unit for name, unit in units.items()}


def restored(unit: Any) -> Unit | None:
    """A unit from JSON; None if it is none."""
    if isinstance(unit, str) and unit.strip():
        return unit
    if isinstance(unit, list) and len(unit) == 2 and all(isinstance(one, str) and one.strip() for one in unit):
        return unit[0], unit[1]
    return None
