"""`rules`: comparisons of two columns or of formulas, and functions of a frame that return one bool per row.

1. They must hold for the whole row, whatever changed.
2. A comparison holds if one of its cells is missing or a formula has no value, a function if its answer is missing.
3. A text such as "loan <= 0.8 * price" is read without running it (see `expression`).
4. A function is called once for all rows, and only for those that obey the rest.
5. JSON keeps the name of a function. What is read from there is a `NamedFunction`, which can not judge.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from countarfactuals.exceptions import ConstraintError
from countarfactuals.language import tr

from ..asked_functions import NamedFunction, answers_of, function_name
from ..expression import ALLOWED, Expression, ExpressionError
from ..kind import Clause, Columns, ConstraintKind, Part, Pool, Row, Wording, tagged, untagged
from ..option import REPEATED, Option

if TYPE_CHECKING:
    from countarfactuals.schema import Column, Schema

_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_IN_ORDER = ("ordered", "boolean")
_FLAG = "--rule"
_EXAMPLE = 'rules=[("income_min", "<=", "income_max"), "loan <= 0.8 * price", lambda frame: frame["age"] >= 18]'


@dataclass(frozen=True, eq=False)
class Comparison(Part):
    """Two cells of a row compared; `recode` takes codes of the right column to those of the left, if they differ."""

    left: int
    sign: str
    right: int
    recode: np.ndarray | None

    def violated(self, pool: Pool) -> np.ndarray:
        """Rows in which it does not hold."""
        left, right = pool.rows[:, self.left], pool.rows[:, self.right]
        present = ~(np.isnan(left) | np.isnan(right))
        if self.recode is not None:
            right = self.recode[np.where(present, right, 0).astype(np.intp)]
        return present & ~_SIGNS[self.sign](left, right)


@dataclass(frozen=True, eq=False)
class FormulaRule(Part):
    """A comparison of formulas; `places` of the columns that it names."""

    formula: Expression
    places: dict[str, int]

    def violated(self, pool: Pool) -> np.ndarray:
        """Rows for which it says no."""
        answers = self.formula({name: pool.rows[:, j] for name, j in self.places.items()})
        return np.broadcast_to(answers == 0.0, len(pool.rows))


@dataclass(frozen=True, eq=False)
class FunctionRule(Part):
    """A user's function of a frame that returns one bool per row."""

    function: Callable[[Any], Any]
    schema: Schema

    is_costly = True

    def violated(self, pool: Pool) -> np.ndarray:
        """Rows for which it says False; one call for all of them."""
        n = len(pool.rows)
        if n == 0:
            return np.zeros(0, np.bool_)
        frame = self.schema.decode(pool.rows)  # a frame for each rule, as its function may write to it
        answer = answers_of(self.function, frame, "The constraint {clause!r}", "bool", clause=str(self.clause))
        return ~self._bools(answer, n)

    def _bools(self, answer: np.ndarray, n: int) -> np.ndarray:
        import pandas as pd

        if answer.shape == (n,):
            if answer.dtype == np.bool_:
                return answer
            missing = pd.isna(answer)  # nullable types come as objects
            if answer.dtype == object and pd.api.types.infer_dtype(answer[~missing]) in ("boolean", "empty"):
                return np.where(missing, True, answer).astype(np.bool_)
        raise ConstraintError(
            "The constraint {clause!r} must return one bool per row, shape ({n},), got shape {got} of type {type}. "
            'Return a comparison of columns, such as frame["a"] > 0.',
            clause=str(self.clause),
            n=n,
            got=answer.shape,
            type=answer.dtype,
        )


def _rule_of(text: str, schema: Schema) -> Any:
    """Two columns and the sign between them, from a text such as "loan <= price", where names may have blanks; any
    other text as it is.

    >>> import pandas as pd
    >>> from countarfactuals.schema import Schema
    >>> schema = Schema.infer(pd.DataFrame({"the loan": [1], "price": [2]}))
    >>> _rule_of("the loan<=price", schema), _rule_of("`the loan` <= 0.8 * price", schema)
    (('the loan', '<=', 'price'), '`the loan` <= 0.8 * price')
    """
    by_text = schema.names_by_text
    for sign in sorted(_SIGNS, key=len, reverse=True):  # "<=" before "<"
        start = text.find(sign)
        while start >= 0:
            left, right = text[:start].strip(), text[start + len(sign) :].strip()
            if left in by_text and right in by_text:
                return by_text[left], sign, by_text[right]
            start = text.find(sign, start + 1)
    return text


def columns_named(formula: Expression, row: Row, kind: ConstraintKind[Any]) -> dict[str, int]:
    """Where the columns stand that a formula names; others than numbers and booleans are refused."""
    by_text, places = row.schema.names_by_text, {}
    for text in formula.names:
        places[text], column = row.column(by_text.get(text, text), kind)
        if not column.is_number and column.kind != "boolean":
            raise kind.refused(
                "The formula {got!r} names {other!r}, which holds levels ({kind}). A text computes with numbers; write "
                "a function of the frame instead.",
                got=formula.text,
                other=column.name,
                kind=column.kind,
            )
    return places


class Rules(ConstraintKind[tuple[Any, ...]]):
    """A list of (column, sign, column), of texts and of functions."""

    name, label = "rules", "rule"
    option = Option(
        _FLAG,
        lambda texts, schema: [_rule_of(text, schema) for text in texts],
        {"metavar": "RULE", "help": "a comparison of columns, such as 'loan <= 0.8 * price'", **REPEATED},
    )

    def check(self, value: Any) -> tuple[Any, ...]:
        """Functions, texts as comparisons of formulas, and triples with a known sign."""
        return tuple(self._checked(rule) for rule in self.items(value, "a list of rules", _EXAMPLE))

    def _checked(self, rule: Any) -> Any:
        if isinstance(rule, str):
            return self._formula(rule)
        if callable(rule):
            return rule
        if not (isinstance(rule, tuple | list) and len(rule) == 3):
            raise self.refused(
                "A rule must be (column, sign, column), a text or a function of a frame, got {got!r}. For example "
                "{example}.",
                got=rule,
                example=_EXAMPLE,
            )
        if not (isinstance(rule[1], str) and rule[1] in _SIGNS):
            sentence = "The sign of rule {got!r} must be one of {allowed}."
            raise self.refused(sentence, got=rule, allowed=", ".join(_SIGNS))
        return tuple(rule)

    def _formula(self, text: str) -> Any:
        try:
            formula, reason = Expression(text), "it compares no columns"
        except ExpressionError as error:
            formula, reason = None, str(error)
        if formula is None or not formula.is_comparison or not formula.names:
            raise self.refused(
                "The rule {got!r} can not be used: {reason}. It compares, as in {example!r}, with one of {signs}; "
                "allowed are {allowed}; names with blanks stand in `backquotes`.",
                got=text,
                reason=reason,
                example="loan <= 0.8 * price",
                signs=", ".join(_SIGNS),
                allowed=ALLOWED,
            )
        return formula.compared or formula

    def from_file(self, value: Any, schema: Schema) -> Any:
        """Texts such as "loan <= price", or lists of their three parts."""
        if not isinstance(value, list):
            return value
        return [_rule_of(rule, schema) if isinstance(rule, str) else rule for rule in value]

    def entries(self, value: tuple[Any, ...]) -> Iterable[tuple[Columns, str]]:
        """Two columns and a sign; columns and a formula of them; or no column and the name of a function."""
        for number, rule in enumerate(value, start=1):
            if isinstance(rule, Expression):
                yield rule.names, rule.text
            else:
                yield ((), function_name(rule, number)) if callable(rule) else ((rule[0], rule[2]), rule[1])

    def parts(self, value: tuple[Any, ...], row: Row) -> Iterator[Part]:
        """A comparison, a formula or a function for each rule."""
        for number, (rule, (columns, entry)) in enumerate(zip(value, self.entries(value), strict=True), start=1):
            text, start = f" {entry} ".join(map(str, columns)) if entry in _SIGNS else entry, f"{self.label} {number}"
            clause = Clause(start if text == f"#{number}" else f"{start}: {text}", self.name, columns, entry)
            if isinstance(rule, Expression):
                yield FormulaRule(clause, rule, columns_named(rule, row, self))
            else:
                yield FunctionRule(clause, rule, row.schema) if callable(rule) else self._comparison(clause, rule, row)

    def _comparison(self, clause: Clause, rule: tuple[Any, str, Any], row: Row) -> Comparison:
        (left, left_column), (right, right_column) = (self._column(name, row) for name in (rule[0], rule[2]))
        if left == right:
            sentence = "The rule {got!r} compares {column!r} with itself. Name two columns."
            raise self.refused(sentence, got=rule, column=left_column.name)
        if _compare_by_code(left_column, right_column):
            return Comparison(clause, left, rule[1], right, None)
        is_equality = rule[1] in ("==", "!=")
        if is_equality and not left_column.is_number and set(left_column.levels) == set(right_column.levels):
            recode = np.array([left_column.codes[level] for level in right_column.levels], np.float64)
            return Comparison(clause, left, rule[1], right, recode)
        raise self.refused(
            "The rule {got!r} can not compare {column!r} ({kind}) with {other!r} ({other_kind}). Numbers compare with "
            "numbers, ordered categories with those of the same levels in the same order, and other categories of the "
            "same levels only by == and !=. Write a function of the frame for anything else.",
            got=rule,
            column=left_column.name,
            kind=left_column.kind,
            other=right_column.name,
            other_kind=right_column.kind,
        )

    def without(self, value: tuple[Any, ...], clause: Clause) -> tuple[Any, ...]:
        """The other rules."""
        lifted = (clause.columns, clause.value)
        return tuple(rule for rule, entry in zip(value, self.entries(value), strict=True) if entry != lifted)

    def _column(self, name: Any, row: Row) -> tuple[int, Column]:
        if isinstance(name, str) and name not in row.schema.names:  # of a text, where names are texts
            name = row.schema.names_by_text.get(name, name)
        return row.column(name, self)

    def phrase(self, columns: Columns, entry: str, words: Wording) -> str:
        """The comparison as it is, or that the function holds."""
        if not columns:
            return tr("The rule {name} holds", name=words.text(entry))
        return f" {entry} ".join(map(words.name, columns)) if entry in _SIGNS else words.text(entry)

    def to_json(self, value: tuple[Any, ...]) -> Any:
        """Comparisons as lists, texts as they are, functions by their names."""
        return [self._stored(rule, entry) for rule, (_, entry) in zip(value, self.entries(value), strict=True)]

    def _stored(self, rule: Any, entry: str) -> Any:
        if isinstance(rule, Expression):
            return entry
        return {"function": entry} if callable(rule) else [tagged(rule[0]), rule[1], tagged(rule[2])]

    def from_json(self, stored: Any) -> list[Any]:
        """The inverse of `to_json`, where functions are known by name only."""
        return [self._restored(rule) for rule in stored]

    def _restored(self, rule: Any) -> Any:
        if isinstance(rule, str):
            return rule
        return NamedFunction(self.name, rule["function"]) if isinstance(rule, dict) else untagged(rule)


def _compare_by_code(left: Column, right: Column) -> bool:
    """Whether codes compare as values do."""
    if left.is_number and right.is_number:
        return True
    return left.kind in _IN_ORDER and right.kind in _IN_ORDER and left.levels == right.levels
