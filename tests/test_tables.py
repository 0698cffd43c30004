"""Named tuples that kernels get as a pointer: what they read, whom they keep alive, and how they are told apart."""

from __future__ import annotations

import gc
import sys
from typing import NamedTuple

import numpy as np
import pytest
from numba import TypingError, njit, typeof

from countarfactuals._kernels import inner, kernel
from countarfactuals._tables import Table, by_reference


@by_reference
class Inside(NamedTuple):
    values: np.ndarray
    flag: bool


@by_reference
class Outside(NamedTuple):
    weights: np.ndarray
    inside: Inside
    count: int


def table(n: int = 4, dtype: type = float) -> Outside:
    return Outside(np.arange(1.0, n + 1), Inside(np.ones((n, 2), dtype) * 3, True), 7)


@inner
def weighed(outside, k):
    return outside.weights[k] * outside.inside.values[k, 1] if outside.inside.flag else -1.0


@kernel
def everything(outside):
    total = 0.0
    for k in range(len(outside.weights)):
        total += weighed(outside, k)
    return total + outside.count


@kernel
def doubled(outside):
    for k in range(len(outside.weights)):
        outside.inside.values[k, 1] *= 2.0
    return outside.inside.values


@njit
def built(values):
    return Inside(values, False)


def test_kernels_read_what_the_fields_hold():
    outside = table()
    assert everything(outside) == 3.0 * (1 + 2 + 3 + 4) + 7
    assert everything(outside._replace(inside=outside.inside._replace(flag=False))) == 7 - 4.0


def test_what_is_written_to_a_fields_array_is_seen():
    outside = table()
    assert doubled(outside) is not None
    assert everything(outside) == 6.0 * (1 + 2 + 3 + 4) + 7


def test_no_call_keeps_an_array():
    outside = table()
    everything(outside)
    before = [sys.getrefcount(array) for array in (outside.weights, outside.inside.values)]
    for _ in range(50):
        everything(outside)
    assert [sys.getrefcount(array) for array in (outside.weights, outside.inside.values)] == before


def test_a_returned_array_outlives_the_table():
    values = doubled(table())
    gc.collect()
    np.testing.assert_array_equal(values, [[3.0, 6.0]] * 4)


def test_other_types_of_fields_are_another_type():
    assert isinstance(typeof(table()), Table)
    assert typeof(table(3)) == typeof(table(5))
    assert typeof(table()) != typeof(table(dtype=np.float32))
    assert str(typeof(table())) != str(typeof(table(dtype=np.float32)))
    assert everything(table(dtype=np.float32)) == everything(table())


def test_a_field_that_is_not_there_is_refused():
    @njit
    def wrong(outside):
        return outside.nothing

    with pytest.raises(TypingError, match="nothing"):
        wrong(table())


def test_kernels_may_make_one_for_python():
    made = built(np.ones((2, 2)))
    assert isinstance(made, Inside)
    assert made.flag is False


def test_compiling_leaves_the_collector_as_it_was():
    @kernel
    def new(x):
        return x + 1

    assert gc.isenabled()
    assert new(1) == 2
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0
    gc.disable()
    try:
        assert new(1.5) == 2.5
        assert not gc.isenabled()
    finally:
        gc.enable()
