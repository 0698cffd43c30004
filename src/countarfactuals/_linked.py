"""Kernels that only other kernels call are compiled where they are called, and not once more by themselves.

numba optimises every kernel with all that it calls and makes machine code of it, also of one that no Python code can
call. Here such a kernel ends as what its callers link: they optimise it together with their own code, once. That is a
sixth of the time of a first use.

1. `Linked` keeps the code as it was lowered, for callers. What is left as machine code is the place of its environment,
   which numba writes to and caches.
2. `LinkedCompiler` is numba's compiler with such a library, for `njit(pipeline_class=…)`.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

_ENVIRONMENT = "_ZN08NumbaEnv"


class Linked(JITCodeLibrary):
    """The code of a kernel for those that call it."""

    _final_module: Any  # numba makes it, and is not typed

    def _optimize_final_module(self) -> None:
        """Nothing: whoever links the code optimises it."""

    def _finalize_final_module(self) -> None:
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


class LinkedCompiler(Compiler):
    """numba's compiler; what it makes is linked by callers."""

    def _compile_core(self) -> Any:
        library = Linked(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        library.enable_object_caching()
        self.state.library = library
        return super()._compile_core()
