"""Which kernels are compiled for which types, as text: `kernels.json`, in the order of their first use.

1. `spelled` writes a numba type in types of JSON: scalars by name, arrays as ["array", item, dimensions, layout], named
   tuples as ["tuple", module, name, fields…]. `read` is the inverse.
2. `load` reads the list. `make kernels` writes it, by noting what is compiled while everything is used once.
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from numba import types

from countarfactuals._tables import Table, typed

_LIST = Path(__file__).with_name("kernels.json")
_REFERENCE = "@"


class Entry(NamedTuple):
    """A kernel and the types of its arguments."""

    module: str
    name: str
    arguments: list[Any]

    def compile(self) -> None:
        """Compile it, or load it from where it is kept."""
        kernel = getattr(import_module(self.module), self.name)
        kernel.compile(tuple(read(argument) for argument in self.arguments))


def load() -> list[Entry]:
    """All kernels of the list."""
    stored = json.loads(_LIST.read_text(encoding="utf-8"))

    def whole(argument: Any) -> Any:
        """The argument with the named tuples that it refers to."""
        if isinstance(argument, str) and argument.startswith(_REFERENCE):
            return whole(["tuple", *stored["tuples"][argument]])
        return [whole(part) for part in argument] if isinstance(argument, list) else argument

    return [Entry(module, name, whole(arguments)) for module, name, arguments in stored["kernels"]]


def save(entries: list[Entry]) -> None:
    """Write the list; each named tuple once, under its name."""
    tuples: dict[str, Any] = {}

    def short(argument: Any) -> Any:
        if not isinstance(argument, list):
            return argument
        parts = [short(part) for part in argument]
        if parts[0] != "tuple":
            return parts
        name = f"{_REFERENCE}{parts[2]}"
        return name if tuples.setdefault(name, parts[1:]) == parts[1:] else parts

    kernels = [[entry.module, entry.name, short(entry.arguments)] for entry in entries]
    lines = ",\n".join(f"  {json.dumps(kernel)}" for kernel in kernels)
    named = ",\n".join(f"  {json.dumps(name)}: {json.dumps(rest)}" for name, rest in tuples.items())
    _LIST.write_text(f'{{"tuples": {{\n{named}\n}}, "kernels": [\n{lines}\n]}}\n', encoding="utf-8")


def spelled(argument: Any) -> Any:
    """A numba type in types of JSON; ValueError for one that has no spelling here."""
    if isinstance(argument, types.Array):
        return ["array", str(argument.dtype), argument.ndim, argument.layout]
    if isinstance(argument, Table):
        return spelled(argument.held)
    if isinstance(argument, types.BaseNamedTuple):
        kind = argument.instance_class
        return ["tuple", kind.__module__, kind.__qualname__, *(spelled(field) for field in argument)]
    if isinstance(argument, types.Omitted):
        return ["omitted", argument.value]
    if isinstance(argument, types.Number | types.Boolean):
        return str(argument)
    raise ValueError(argument)


def read(text: Any) -> Any:
    """The inverse of `spelled`."""
    if isinstance(text, str):
        return getattr(types, "boolean" if text == "bool" else text)
    if text[0] == "array":
        return types.Array(read(text[1]), text[2], text[3])
    if text[0] == "omitted":
        return types.Omitted(text[1])
    return typed(getattr(import_module(text[1]), text[2]), [read(field) for field in text[3:]])
