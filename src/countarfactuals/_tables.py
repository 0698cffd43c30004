"""Named tuples of arrays that kernels read where they lie.

numba hands a tuple over value by value: each array is seven, so that one call with a forest and a table of leaves has
four hundred arguments, which the caller takes apart, the callee puts together, and both count references of. Half of
the code of all kernels was that. A class under `by_reference` is handed over as one pointer instead.

1. A `Table` is the type of such a tuple: the type of the named tuple under a name short enough to stand in every
   symbol. Other tuples of the kind may be its fields.
2. When Python calls a kernel, its fields are put on the stack of the call, which holds a reference to each of them.
3. Kernels can read fields, and hand the table on. They can not make one, nor return it. As nothing writes to fields,
   what is read once need not be read again after something else was written.
"""

from __future__ import annotations

import hashlib
from typing import Any, TypeVar

from numba import types
from numba.core import cgutils
from numba.core.datamodel.models import PrimitiveModel
from numba.core.typing.templates import AttributeTemplate
from numba.extending import NativeValue, infer_getattr, lower_getattr_generic, register_model, typeof_impl, unbox

_Kind = TypeVar("_Kind", bound=type)


class Table(types.Type):
    """The type of a named tuple that is handed over as a pointer."""

    def __init__(self, held: types.BaseNamedTuple) -> None:
        self.held = held
        kind = held.instance_class
        digest = hashlib.sha256(f"{kind.__module__} {held}".encode()).hexdigest()[:12]
        super().__init__(name=f"{kind.__name__}#{digest}")


_kinds: set[type] = set()


def by_reference(kind: _Kind) -> _Kind:
    """The decorator of a named tuple that kernels get as a pointer."""
    _kinds.add(kind)
    typeof_impl.register(kind, lambda value, context: typed(kind, [typeof_impl(field, context) for field in value]))
    return kind


def typed(kind: type, fields: list[Any]) -> Any:
    """The type of a named tuple with fields of these types."""
    held = types.BaseTuple.from_types(fields, kind)
    return Table(held) if kind in _kinds else held


@register_model(Table)
class _Pointer(PrimitiveModel):
    def __init__(self, models: Any, table: Table) -> None:
        super().__init__(models, table, models.lookup(table.held).get_value_type().as_pointer())


@infer_getattr
class _Fields(AttributeTemplate):
    key = Table

    def generic_resolve(self, table: Table, name: str) -> Any:
        return table.held[table.held.fields.index(name)] if name in table.held.fields else None


@lower_getattr_generic(Table)
def _read_field(context: Any, builder: Any, table: Table, place: Any, name: str) -> Any:
    number = table.held.fields.index(name)
    field = builder.load(cgutils.gep_inbounds(builder, place, 0, number))
    field.set_metadata("invariant.load", builder.module.add_metadata([]))
    if context.enable_nrt:
        context.nrt.incref(builder, table.held[number], field)
    return field


@unbox(Table)
def _put_on_stack(table: Table, given: Any, c: Any) -> NativeValue:
    native = c.unbox(table.held, given)

    def let_go() -> None:
        if native.cleanup is not None:
            native.cleanup()
        c.context.nrt.decref(c.builder, table.held, native.value)

    place = cgutils.alloca_once_value(c.builder, native.value)
    return NativeValue(place, is_error=native.is_error, cleanup=let_go)
