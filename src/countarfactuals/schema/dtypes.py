"""Native column types by name, so that a schema can be stored as JSON and still rebuild its frames.

`Dtype` holds a name and, where the name does not say it all, parameters and categories:

| native type | name | parameters | categories |
|---|---|---|---|
| numpy, nullable pandas, polars, pyarrow | as they print: `float32`, `Int64`, `UInt8`, `large_string` | | |
| pandas string | `string[storage]` (missing is `pd.NA`), `str[storage]` (missing is NaN) | | |
| pandas over pyarrow | `arrow:` and pyarrow's name, as pandas prints both kinds of string as `string[pyarrow]` | | |
| pandas category | `category` | type of the categories, `ordered` or `unordered` | declared |
| polars Enum | `Enum` | | declared |
| polars Categorical | `Categorical` | name, namespace and physical type of named categories | |
| pyarrow dictionary | as it prints | | the dictionary |
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

ARROW = "arrow:"
_STRING = re.compile(r"(str|string)\[(\w+)\]")
_DICTIONARY = re.compile(r"dictionary<values=(.+), indices=(\w+), ordered=([01])>")
_POLARS_TIME = re.compile(r"Datetime\(time_unit='(\w+)', time_zone=(?:None|'(.+)')\)")
_ARROW_TIME = re.compile(r"timestamp\[(\w+), tz=(.+)\]")
_INTEGER = re.compile(r"u?int\d+", re.IGNORECASE)


@dataclass(frozen=True)
class Dtype:
    """What is needed to rebuild a native column type."""

    name: str
    parameters: tuple[str, ...] = ()
    categories: tuple[Any, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON types."""
        return {"name": self.name, "parameters": list(self.parameters), "categories": list(self.categories)}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Dtype:
        """The inverse of `to_dict`."""
        return cls(stored["name"], tuple(stored["parameters"]), tuple(stored["categories"]))


def pandas_name(dtype: Any) -> str:
    """The name of a pandas type that is not categorical.

    >>> pandas_name(pd.Series([1], dtype="Int64").dtype)
    'Int64'
    """
    if isinstance(dtype, pd.ArrowDtype):
        return f"{ARROW}{dtype.pyarrow_dtype}"
    if isinstance(dtype, pd.StringDtype):
        # pandas before 2.3 marks the NaN flavour by the storage "pyarrow_numpy"
        flavour = "string" if dtype.na_value is pd.NA else "str"
        return f"{flavour}[{dtype.storage.removesuffix('_numpy')}]"
    return numpy_name(dtype) if isinstance(dtype, np.dtype) else str(dtype)


@cache
def pandas_type(name: str) -> Any:
    """The inverse of `pandas_name`."""
    if name.startswith(ARROW):
        return pd.ArrowDtype(arrow_type(name.removeprefix(ARROW)))
    if string := _STRING.fullmatch(name):
        flavour, storage = string.groups()
        return pd.StringDtype(storage) if flavour == "string" else _nan_string(storage)
    return pd.api.types.pandas_dtype(name)


def _nan_string(storage: str) -> Any:
    try:
        return pd.StringDtype(storage, na_value=np.nan)
    except TypeError:  # pandas before 2.3
        return pd.StringDtype("pyarrow_numpy")


@cache
def pandas_category(dtype: Dtype) -> Any:
    """The categorical pandas type, with its categories in their own type."""
    categories_type, order = dtype.parameters
    categories = pd.Index(list(dtype.categories), dtype=pandas_type(categories_type))
    return pd.CategoricalDtype(categories, ordered=order == "ordered")


def numpy_name(dtype: Any) -> str:
    """The name of a numpy type; strings keep their width (`<U5`), numbers lose a foreign byte order."""
    return str(dtype) if dtype.kind in "US" else dtype.name


def polars_type(dtype: Dtype) -> Any:
    """The polars type."""
    import polars as pl

    if dtype.name == "Enum":
        return pl.Enum(list(dtype.categories))
    if time := _POLARS_TIME.fullmatch(dtype.name):
        return pl.Datetime(time[1], time[2] or None)
    if dtype.parameters:
        name, namespace, physical = dtype.parameters
        return pl.Categorical(pl.Categories(name, namespace, getattr(pl, physical)))
    return getattr(pl, dtype.name)


def arrow_type(name: str) -> Any:
    """The pyarrow type; `type_for_alias` knows all but dictionaries."""
    import pyarrow as pa

    if dictionary := _DICTIONARY.fullmatch(name):
        values, indices, ordered = dictionary.groups()
        return pa.dictionary(arrow_type(indices), arrow_type(values), ordered=ordered == "1")
    if zoned := _ARROW_TIME.fullmatch(name):
        return pa.timestamp(*zoned.groups())
    return pa.type_for_alias(name)


def integer_limits(name: str) -> tuple[float, float]:
    """Smallest and largest number of an integer type; infinite for any other.

    >>> integer_limits("UInt8"), integer_limits("object")
    ((0.0, 255.0), (-inf, inf))
    """
    found = _INTEGER.search(name)
    if found is None:
        return -math.inf, math.inf
    bits = int(re.sub(r"\D", "", found[0]))
    if found[0][0] in "uU":
        return 0.0, float(2**bits - 1)
    return -float(2 ** (bits - 1)), float(2 ** (bits - 1) - 1)


def integer_name_for(name: str, low: float, high: float) -> str:
    """The name of an integer type of the same family that holds `low` to `high`: itself, or 64 bits with sign.

    A generated value may leave the range of a narrow type; wrapping it around would change it unseen.

    >>> integer_name_for("UInt8", 0, 255), integer_name_for("UInt8", -1, 255), integer_name_for("arrow:int8", 0, 300)
    ('UInt8', 'Int64', 'arrow:int64')
    """
    least, most = integer_limits(name)
    if least <= low and high <= most:
        return name
    found = _INTEGER.search(name)
    assert found is not None  # other types have no limits
    return _INTEGER.sub("Int64" if "I" in found[0] else "int64", name)
