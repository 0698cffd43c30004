"""`Constraints`: what a user says of the changes a counterfactual may make.

1. Each keyword is a kind of constraint (see `kinds`), which checks at once what needs no data.
2. `bind` checks the rest against a schema and one row. This is done for every row that is explained, so it stays far
   below a millisecond.
3. `describe` and `to_dict` say it as sentences and as JSON, `from_dict` reads it back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import FrozenInstanceError, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from countarfactuals.exceptions import ConstraintError, DataError, DataTypeError, Setting, did_you_mean, listed
from countarfactuals.language import tr

from . import kinds  # noqa: F401  (registers them)
from .clause import Clause
from .kind import KINDS, ConstraintKind, Row
from .kinds.weights import IMMUTABLE, WEIGHTS
from .limits import Limits, all_or_none
from .naming import Wording
from .parts import Part

if TYPE_CHECKING:
    from countarfactuals.language.vocabulary import Words
    from countarfactuals.schema import Schema

_BUILT_IN = frozenset(KINDS)
_FIXING = ("fixed", "vary", "weights")  # kinds that deny a column every change, whatever the row
_NOTHING: Mapping[Any, Any] = MappingProxyType({})


class Constraints:
    """What may change, how far and in which direction. Every part is optional.

    Parameters
    ----------
    fixed : columns that do not change.
    vary : the only columns that may change, None for all; none of them may be fixed.
    ranges : by column the interval (low, high) of a changed value, ends included, None for an open end. For numbers,
        and with levels as ends for ordered categories.
    change : by column the interval (low, high) of a changed value relative to the row's own, ends included, None for
        an open end: numbers that are added, such as (0, 5), or shares of its size, such as ("-20%", "20%"). One end
        alone stands for both ways: 5, "20%". Of ordered categories a number of levels.
    steps : by column the number of which a changed value is a multiple; "±50" for steps from the row's own value.
    allowed : by column the levels or numbers that a changed cell may have; or a dict from each to those that it may
        change to, where values that it does not name can not change. `MISSING` stands for a missing cell.
    direction : by column "increase" or "decrease": numbers, ordered categories and booleans (False is below True).
    derived : by column what it is computed from others by: a text such as `"weight / height ** 2"` (numbers, columns,
        `+ - * / **`, comparisons, min, max, abs, round, floor, ceil; names with blanks in backquotes), or a function of
        a frame that returns one value per row. It changes along with the others, which is no change of its own.
    max_changed : how many columns may change.
    rules : comparisons of two columns such as `("income_min", "<=", "income_max")`, or of
        formulas, `"loan <= 0.8 * price"`, which hold if a cell is missing; and functions of a frame that return one
        bool per row. They must hold for the whole row, whatever changed. A function sees missing cells as its library
        has them: NaN >= 18 is False and so a violation, NA >= 18 is NA and counts as holding.
    groups : lists of columns that change together or not at all.
    exactly_one : lists of columns of which exactly one is 1 (or True), the others 0.
    weights : cost of a change by column in the distance, 1 by default, or a word: "hard" (5), "normal" (1), "easy"
        (0.2) or "immutable", for a column that does not change.
    allow_missing : whether a present value may become missing. Even so, a changed cell with a range, a direction or
        allowed levels stays present, unless `MISSING` is among these levels.

    further : what kinds say that were registered beside these.

    The row's own values may lie outside of what is said and stay. Filling a missing cell is a change.

    >>> import pandas as pd
    >>> loans = pd.DataFrame({"age": [30, 40], "income": [1.5, 2.5], "purpose": ["car", "study"]})
    >>> from countarfactuals.schema import Schema
    >>> schema = Schema.infer(loans)
    >>> constraints = Constraints(fixed=["purpose"], ranges={"income": (None, 3)}, direction={"age": "increase"})
    >>> rows = schema.encode(loans)
    >>> limits = constraints.bind(schema, rows[0])
    >>> limits.hold(rows)
    array([ True, False])
    >>> [name for name, violated in limits.violations(rows).items() if violated.any()]
    ['fixed: purpose']
    >>> print("\\n".join(constraints.describe()))
    'purpose' does not change.
    If 'income' changes, it becomes at most 3.
    'age' can only increase.
    """

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """What is said of a kind."""

    def __init__(
        self,
        *,
        fixed: Collection[Hashable] = (),
        vary: Collection[Hashable] | None = None,
        ranges: Mapping[Hashable, Sequence[Any]] = _NOTHING,
        change: Mapping[Hashable, Any] = _NOTHING,
        steps: Mapping[Hashable, float | str] = _NOTHING,
        allowed: Mapping[Hashable, Collection[Any] | Mapping[Any, Collection[Any]]] = _NOTHING,
        direction: Mapping[Hashable, str] = _NOTHING,
        derived: Mapping[Hashable, str | Callable[[Any], Any]] = _NOTHING,
        max_changed: int | None = None,
        rules: Sequence[Callable[[Any], Any] | Sequence[Any] | str] = (),
        groups: Sequence[Collection[Hashable]] = (),
        exactly_one: Sequence[Collection[Hashable]] = (),
        weights: Mapping[Hashable, float | str] = _NOTHING,
        allow_missing: bool = False,
        **further: Any,
    ) -> None:
        values = {name: value for name, value in locals().items() if name not in ("self", "further")} | further
        for name in values:
            _kind_named(name)
        for name, kind in KINDS.items():
            self.__dict__[name] = kind.check(values.get(name, kind.default))
        _refuse_overlap(self)

    def __setattr__(self, name: str, value: Any) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if isinstance(other, Constraints) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # dicts are part of it

    def __repr__(self) -> str:
        return f"Constraints({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"

    def __getstate__(self) -> dict[str, Any]:
        further = [KINDS[name] for name in vars(self) if name not in _BUILT_IN]
        return {"values": dict(vars(self)), "further": further}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for kind in state["further"]:  # another process may not know them yet
            KINDS.setdefault(kind.name, kind)
        self.__dict__.update(state["values"])

    def _by_kind(self) -> Iterator[tuple[ConstraintKind[Any], Any]]:
        """The kinds in the order of their sentences, and what is said of each."""
        return ((kind, vars(self)[name]) for name, kind in KINDS.items() if name in vars(self))

    def limited(self, max_changed: int | None) -> Constraints:
        """The same, with at most so many changes; None adds nothing."""
        if max_changed is None:
            return self
        return Constraints(**{**vars(self), "max_changed": min(max_changed, self.max_changed or max_changed)})

    def without(self, clause: Clause) -> Constraints:
        """The same without one thing that is said, such as a diagnosis names."""
        kind = _kind_named(clause.kind)
        return Constraints(**{**vars(self), kind.name: kind.without(vars(self)[kind.name], clause)})

    def bind(self, schema: Schema, x: np.ndarray) -> Limits:
        """The limits for one row `x` in the codes of `schema`, shape (p,); all names and values are checked."""
        row = Row(schema, np.array(x, np.float64), self.allow_missing)
        if row.x.shape != (len(schema.columns),):
            raise DataError(
                "The row must be one-dimensional with {allowed} cell(s), got shape {got}.",
                allowed=len(schema.columns),
                got=row.x.shape,
            )
        parts = _with_own_names(part for kind, value in self._by_kind() for part in kind.parts(value, row))
        _refuse_all_fixed(parts, len(row.x))
        return Limits.of(schema, row.x, parts, WEIGHTS.costs(self.weights, row))

    def to_dict(self) -> dict[str, Any]:
        """What is said as plain JSON types, with what JSON lacks tagged (see `clause`); functions by their names."""
        written = {kind.name: kind.to_json(value) for kind, value in self._by_kind()}
        return {name: stored for name, stored in written.items() if stored}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Constraints:
        """The inverse of `to_dict`; a function comes back as a rule that has its name and can not judge."""
        return cls(**{name: _from_json(_kind_named(name), value) for name, value in stored.items()})

    def describe(self, words: Words | None = None, schema: Schema | None = None) -> list[str]:
        """What is said as sentences, in plain text.

        Parameters
        ----------
        words : what a reader calls things; None for names as Python writes them.
        schema : where columns and levels have their labels; None for names as they were said.
        """
        wording = Wording(words, schema)
        entries = [(kind, entry) for kind, value in self._by_kind() for entry in kind.entries(value)]
        phrases = [kind.phrase(*entry, wording) for kind, entry in entries]
        return [tr("{phrase}.", phrase=phrase) for phrase in phrases if phrase is not None]


def _refuse_overlap(constraints: Constraints) -> None:
    """Refuse a column that is said to change and not to."""
    immutable = [name for name, weight in constraints.weights.items() if weight == IMMUTABLE]
    kept = {"fixed": list(constraints.fixed), "weights": immutable}
    for other, names in kept.items():
        if both := _in_both(constraints.vary or (), names):
            raise ConstraintError(
                "{parameter} and {other} both name {got}: a column may change or not. Name it in one of them.",
                parameter=Setting("vary"),
                other=Setting(other),
                got=listed(both),
            )


def _in_both(some: Iterable[Hashable], others: Iterable[Hashable]) -> list[Hashable]:
    """Names that both have; what is no name, such as a list or `pd.NA`, is refused when the columns are known."""
    try:
        known = {*others}
        return [name for name in some if name in known]
    except TypeError:
        return []


def as_constraints(constraints: Any) -> Constraints:
    """Constraints from what a user passes: themselves, a dict of their fields, or None for none."""
    if constraints is None:
        return Constraints()
    if isinstance(constraints, Constraints):
        return constraints
    if isinstance(constraints, Mapping):
        return Constraints(**{str(name): value for name, value in constraints.items()})
    raise DataTypeError(
        "constraints must be {parameter} or a dict of its fields, got {got!r}.",
        parameter=Setting("Constraints"),
        got=constraints,
    )


def clause_text(clause: Clause, words: Words | None = None, schema: Schema | None = None) -> str:
    """A clause as a diagnosis tells it, in plain text without a full stop; the rest as in `Constraints.describe`."""
    return _kind_named(clause.kind).clause_text(clause, Wording(words, schema))


def _from_json(kind: ConstraintKind[Any], stored: Any) -> Any:
    try:
        return kind.from_json(stored)
    except ConstraintError:
        raise
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        sentence = "{parameter} can not be read, as it was not stored by `to_dict`: {got!r}."
        raise kind.refused(sentence, got=stored) from error


def _kind_named(name: str) -> ConstraintKind[Any]:
    if name not in KINDS:
        raise ConstraintError(
            "There is no constraint {got!r}; known: {allowed}.{hint}",
            got=name,
            allowed=", ".join(KINDS),
            hint=did_you_mean(name, KINDS),
        )
    return KINDS[name]


def _with_own_names(parts: Iterable[Part]) -> list[Part]:
    """The parts with names made different, as columns 1 and "1" would share one."""
    named: dict[Clause, Part] = {}
    for part in parts:
        clause, number = part.clause, 2
        while clause in named:
            clause, number = part.clause.numbered(number), number + 1
        named[clause] = part if clause is part.clause else replace(part, clause=clause)
    return list(named.values())


def _refuse_all_fixed(parts: Sequence[Part], n_columns: int) -> None:
    """Refuse constraints under which no row at all could change; a group with a fixed column is fixed."""
    fixing = [part for part in parts if part.clause.kind in _FIXING]
    fixed = {cell.column for part in fixing for cell in part.cells if cell.forbids_all}
    for group in all_or_none(parts) if fixed else ():
        if not fixed.isdisjoint(group.tolist()):
            fixed.update(group.tolist())
    if len(fixed) == n_columns:
        raise ConstraintError(
            "{parameter} and the {other} of fixed columns leave no column that may change, so there is no "
            "counterfactual. Free at least one.",
            parameter=Setting("fixed"),
            other=Setting("groups"),
        )
