"""Which relations a table has: every kind is looked for in turn, and what others say already is left out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np
from threadpoolctl import threadpool_limits

from countarfactuals.relations.formula import Formula, tightest
from countarfactuals.relations.functions import find_functions
from countarfactuals.relations.implications import find_implications
from countarfactuals.relations.linear import Linear, find_linear
from countarfactuals.relations.orders import Order, find_days, find_orders
from countarfactuals.relations.products import find_products
from countarfactuals.relations.relation import Relation
from countarfactuals.relations.searched_table import Table
from countarfactuals.schema import Schema


def discover(schema: Schema, matrix: np.ndarray) -> tuple[Relation, ...]:
    """The relations that all or nearly all rows of a matrix in the codes of the schema keep, and chance would break."""
    with threadpool_limits(1):  # matrices are small: threads would wait for each other
        return _discover(Table.of(schema, matrix))


def _discover(table: Table) -> tuple[Relation, ...]:
    linear = find_linear(table)
    multiples = {
        formula.total: formula.parts[0] for formula in linear if isinstance(formula, Linear) and formula.is_multiple
    }
    formulas = _each_total_once([*linear, *find_products(table, multiples)])
    days = find_days(table)
    alike = _alike(formulas)
    computed = [*alike, *(relation.columns for relation in (*formulas, *days) if relation.is_exact)]
    functions = find_functions(table, computed)
    told = {(function.source, function.target) for function in functions}
    told |= {(function.target, function.source) for function in functions if function.is_mutual}
    implications = [found for found in find_implications(table, told) if (found.column, found.other) not in alike]
    sums = _Sums(table, formulas)
    orders = [order for order in find_orders(table) if not sums.tell(order)]
    return (*formulas, *days, *functions, *implications, *orders)


def _alike(formulas: Sequence[Formula]) -> set[tuple[int, int]]:
    """Pairs of columns that are multiples of the same one, or one of the other: each tells all of the other."""
    roots: dict[int, int] = {}
    for formula in formulas:
        if isinstance(formula, Linear) and formula.is_exact and len(formula.parts) == 1:
            (part,) = formula.parts
            roots[formula.total] = roots.get(part, part)
    families: dict[int, set[int]] = {}
    for column, root in roots.items():
        families.setdefault(root, {root}).add(column)
    return {pair for family in families.values() for pair in permutations(sorted(family), 2)}


def _each_total_once(formulas: Sequence[Formula]) -> list[Formula]:
    """The exact formulas, and the tightest loose one of each column that none of them tells."""
    exact = [formula for formula in formulas if formula.is_exact]
    stands_for = {formula.total: formula.parts[0] for formula in exact if len(formula.parts) == 1}

    def columns(formula: Formula) -> frozenset[int]:
        return frozenset(stands_for.get(j, j) for j in formula.columns)

    totals, sets = {formula.total for formula in exact}, {columns(formula) for formula in exact}
    return [
        *exact,
        *tightest([loose for loose in formulas if loose.total not in totals and columns(loose) not in sets]),
    ]


class _Sums:
    """Columns as sums of those that no exact sum tells: what an order comes down to."""

    def __init__(self, table: Table, formulas: Sequence[Formula]) -> None:
        self.table = table
        p = len(table.cells)
        self.weights, self.used = np.eye(p, p + 1), [{j} for j in range(p)]  # the last weight is the offset
        exact = [
            formula
            for formula in formulas
            if isinstance(formula, Linear) and formula.is_exact and formula.exceptions == 0
        ]
        for _ in exact:  # as often as one may stand in another
            for formula in exact:
                self._put_in(formula)

    def _put_in(self, formula: Linear) -> None:
        weights = np.zeros(self.weights.shape[1])
        weights[-1] = formula.offset
        for j, coefficient in zip(formula.parts, formula.coefficients, strict=True):
            weights += coefficient * self.weights[j]
        self.weights[formula.total] = weights
        self.used[formula.total] = set(formula.columns).union(*(self.used[j] for j in formula.parts))

    def tell(self, order: Order) -> bool:
        """Whether the difference can not be negative within the ranges of the data, nor hidden by gaps."""
        table, used = self.table, self.used[order.low] | self.used[order.high]
        weights = self.weights[order.high] - self.weights[order.low]
        ends = np.where(weights[:-1] > 0.0, table.low, table.high)
        least = float(np.sum((weights[:-1] * ends)[weights[:-1] != 0.0]) + weights[-1])
        both = table.present[order.low] & table.present[order.high]
        return least >= -1e-9 and bool(table.present[sorted(used)][:, both].all())
