"""The shape of the sources: what keeps them readable is counted here, kernels excepted; ruff bounds complexity."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "countarfactuals"
MODULES = sorted(SOURCE.rglob("*.py"))
MOST_LINES = 20  # of nine functions in ten
Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def functions() -> list[tuple[str, Function]]:
    """All functions that are no kernels, with the files that they stand in."""
    found = []
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, Function) and not is_kernel(node):
                found.append((path.relative_to(SOURCE).as_posix(), node))
    return found


def is_kernel(function: Function) -> bool:
    names = ("njit", "kernel", "inner", "compiled")
    return any(ast.unparse(decorator).split("(")[0] in names for decorator in function.decorator_list)


def n_lines(function: Function) -> int:
    """Lines of a function below its signature and docstring."""
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0  # type: ignore[operator]


def test_most_functions_are_short():
    lengths = sorted(n_lines(function) for _, function in functions())
    assert len(lengths) > 2000
    assert lengths[int(0.9 * len(lengths))] <= MOST_LINES


def test_no_two_modules_have_one_name():
    names = Counter(path.name for path in MODULES if path.name != "__init__.py")
    assert [name for name, n in names.items() if n > 1] == []


def test_no_text_is_read_as_code():
    dangerous = ("literal_eval", "eval", "exec", "__import__")
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                assert called not in dangerous, f"{path.name}:{node.lineno}"
