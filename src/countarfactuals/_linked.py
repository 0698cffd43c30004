"""Kernels that only other kernels call are compiled where they are called, and not once more by themselves.

numba optimises every kernel with all that it calls and makes machine code of it, also of one that no Python code can
call. Here such a kernel ends as what its callers link: they optimise it together with their own code, once. That is a
sixth of the time of a first use.

1. `Linked` keeps the code as it was lowered, for callers. What is left as machine code is the place of its environment,
   which numba writes to and caches.
2. `KernelCompiler` is numba's compiler, but what numba itself brings to a kernel, such as `np.empty`, is linked, and
   made once for all kernels.
3. `LinkedCompiler` links the kernel as well. Both are for `njit(pipeline_class=…)`.
"""

from __future__ import annotations

from typing import Any, ClassVar

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags

from countarfactuals._garbage import uncollected

_ENVIRONMENT = "_ZN08NumbaEnv"


class Linked(JITCodeLibrary):
    """The code of a kernel for those that call it."""

    _final_module: Any  # numba makes both, and is not typed
    _shared_module: Any

    def _optimize_final_module(self) -> None:
        """Nothing: whoever links the code optimises it."""

    def _finalize_final_module(self) -> None:
        if self._shared_module is not None:  # it was read from a cache
            super()._finalize_final_module()
            return
        code = self._final_module
        for function in code.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.linkage = "linkonce_odr"  # several callers may bring it
        environment = [str(variable) for variable in code.global_variables if variable.name.startswith(_ENVIRONMENT)]
        header = str(self._codegen._create_empty_module(self.name))
        self._shared_module = code
        self._final_module = llvm.parse_assembly("\n".join([header, *environment]))
        self._final_module.name = code.name
        super()._finalize_final_module()


class _Flags(Flags):
    """The options of a kernel. numba looks up by them what it has made, a hundred thousand times.

    It gets the same object for all kernels with the same options, wrappers apart, which those functions do not have.
    """

    __slots__ = ()
    __eq__, __hash__ = object.__eq__, object.__hash__
    _known: ClassVar[dict[str, _Flags]] = {}

    def copy(self) -> _Flags:
        """What numba's functions see."""
        seen = _Flags(self)
        seen.no_cpython_wrapper = True
        return self._known.setdefault(repr(seen.values()), seen)


class KernelCompiler(Compiler):
    """numba's compiler; what numba brings to the kernel is linked."""

    _library: type[JITCodeLibrary] = JITCodeLibrary

    def _compile_core(self) -> Any:
        self.state.flags = _Flags(self.state.flags)
        codegen = self.state.targetctx.codegen()
        self.state.library = self._library(codegen, self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        before, codegen._library_class = codegen._library_class, Linked
        try:
            with uncollected():
                return super()._compile_core()
        finally:
            codegen._library_class = before


class LinkedCompiler(KernelCompiler):
    """numba's compiler; what it makes is linked by callers."""

    _library = Linked
