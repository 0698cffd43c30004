"""Every phrase that the package speaks, for those who translate: `python -m countarfactuals.language.extraction nl.po`.

1. The sources are read, not run: each call of `tr` and `counted`, in Python, in templates and in scripts of pages.
2. A phrase need not stand in the call itself. Names, conditions, sums, entries of dicts and places in f-strings are
   followed to the texts that they can be; in scripts it does. A call whose phrase can not be told is an error of the
   package.
3. A file that exists is completed: what is new is added without a translation, what is gone is kept as a comment.

The study and the commands `demo`, `evaluate`, `fit` and `study` are left out: no option chooses their language.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from countarfactuals.exceptions import StorageError
from countarfactuals.files import whole_file

PACKAGE = Path(__file__).parent.parent
_LEFT_OUT = ("study", "cli/demo.py", "cli/evaluate.py", "cli/fit.py", "cli/model_files.py", "cli/study.py")
_OWN = (
    *("language/catalogue.py", "language/localised.py", "language/languages.py", "language/extraction.py"),
    "serve/page/phrases.js",
)
_WIDTH = 100
_VENDORED = "/vendor/"  # libraries of pages, which are not ours
_TEXT = r'"(?:[^"\\\n]|\\.)*"'
_CALL_IN_SCRIPT = re.compile(r"(?<![\w.])(?:tr|counted)\(")
_SPOKEN_IN_SCRIPT = re.compile(rf"tr\((?P<alone>{_TEXT})|counted\([^\"]+?,\s*(?P<one>{_TEXT}),\s*(?P<several>{_TEXT})")
_Texts = dict[str, list[ast.expr]]  # by name, all that it is given


@dataclass(frozen=True)
class Phrase:
    """A phrase, or that for one thing and that for several, and the file and line that say it."""

    one: str
    several: str | None
    place: tuple[str, int]

    @property
    def key(self) -> str | tuple[str, str]:
        """As Babel has it."""
        return self.one if self.several is None else (self.one, self.several)


@dataclass
class Extraction:
    """What was found, and the calls whose phrases can not be told."""

    phrases: list[Phrase] = field(default_factory=list)
    unclear: list[tuple[str, int]] = field(default_factory=list)


def extracted(folder: Path = PACKAGE) -> Extraction:
    """The phrases of all sources that speak to readers."""
    found = Extraction()
    for path in sorted(path for suffix in _READERS for path in folder.rglob(f"*{suffix}")):
        name = path.relative_to(folder).as_posix()
        if not name.startswith((*_LEFT_OUT, *_OWN)) and _VENDORED not in name:
            _READERS[path.suffix](path.read_text(encoding="utf-8"), name, found)
    return found


def _of_template(source: str, name: str, found: Extraction) -> None:
    from jinja2 import Environment
    from jinja2.ext import extract_from_ast

    for line, function, message in extract_from_ast(Environment().parse(source), ("tr", "counted")):
        texts = [text for text in (message if isinstance(message, tuple) else (message,)) if text is not None]
        if len(texts) == (1 if function == "tr" else 2):
            found.phrases.append(Phrase(texts[0], texts[1] if texts[1:] else None, (name, line)))
        else:
            found.unclear.append((name, line))


def _of_script(source: str, name: str, found: Extraction) -> None:
    """Of a page's script, where phrases stand in their calls."""
    for call in _CALL_IN_SCRIPT.finditer(source):
        place = (name, source.count("\n", 0, call.start()) + 1)
        spoken = _SPOKEN_IN_SCRIPT.match(source, call.start())
        if spoken is None:
            found.unclear.append(place)
        else:
            alone, several = spoken["alone"] or spoken["one"], spoken["several"]
            found.phrases.append(Phrase(json.loads(alone), several and json.loads(several), place))


def _of_python(source: str, name: str, found: Extraction) -> None:
    if "tr(" in source or "counted(" in source:  # most files say nothing
        tree = ast.parse(source)
        _Reader(name, found, [_assigned(tree)]).visit(tree)


_READERS = {".py": _of_python, ".j2": _of_template, ".js": _of_script}


class _Reader(ast.NodeVisitor):
    """Goes through a module; of names it follows what the functions around give them, and the module."""

    def __init__(self, name: str, found: Extraction, scopes: list[_Texts]) -> None:
        self.name = name
        self.found = found
        self.scopes = scopes

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Names of a function hide those around it."""
        _Reader(self.name, self.found, [_assigned(node), *self.scopes]).generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        """A call that speaks."""
        function = node.func.id if isinstance(node.func, ast.Name) else ""
        if function in ("tr", "counted"):
            place = (self.name, node.lineno)
            phrases = [Phrase(*texts, place) for texts in self._spoken(function, node.args)]
            self.found.phrases += phrases
            self.found.unclear += [] if phrases else [place]
        self.generic_visit(node)

    def _spoken(self, function: str, arguments: Sequence[ast.expr]) -> list[tuple[str, str | None]]:
        if function == "tr":
            return [(text, None) for text in self.texts(arguments[0])]
        if isinstance(arguments[1], ast.Starred):
            pairs = [node for node in self._given(arguments[1].value) if isinstance(node, ast.Tuple)]
            return [(single, several) for pair in pairs for single, several in product(*map(self.texts, pair.elts))]
        return list(product(self.texts(arguments[1]), self._nearest(arguments[2])))

    def texts(self, node: ast.expr) -> list[str]:
        """All texts that an expression can be; nothing where that can not be told."""
        if isinstance(node, ast.Constant):
            return [node.value] if isinstance(node.value, str) else []
        if isinstance(node, ast.IfExp):
            return [*self.texts(node.body), *self.texts(node.orelse)]
        if isinstance(node, ast.BinOp):
            return [first + last for first, last in product(self.texts(node.left), self.texts(node.right))]
        if isinstance(node, ast.JoinedStr):
            return ["".join(parts) for parts in product(*map(self._part, node.values))]
        if isinstance(node, ast.Name):
            return self._of_name(node.id)
        if isinstance(node, ast.Subscript):
            return self._entries(node.value)
        return self._of_call(node) if isinstance(node, ast.Call) else []

    def _of_call(self, node: ast.Call) -> list[str]:
        """What `dict.get` and `next` of a loop can be."""
        if isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            return [*self._entries(node.func.value), *(text for rest in node.args[1:] for text in self.texts(rest))]
        is_loop = bool(node.args) and isinstance(node.args[0], ast.GeneratorExp)
        return self.texts(node.args[0].elt) if is_loop else []  # type: ignore[attr-defined]

    def _nearest(self, node: ast.expr) -> list[str]:
        """What was given last before: a name may be used for one phrase after the other."""
        if not isinstance(node, ast.Name):
            return self.texts(node)
        before = [given for given in self._given(node) if given.lineno <= node.lineno]
        return self.texts(before[-1]) if before else []

    def _part(self, node: ast.expr) -> list[str]:
        return self.texts(node.value) if isinstance(node, ast.FormattedValue) else self.texts(node)

    def _given(self, node: ast.expr) -> list[ast.expr]:
        if not isinstance(node, ast.Name):
            return [node]
        return next((given[node.id] for given in self.scopes if node.id in given), [])

    def _of_name(self, name: str) -> list[str]:
        given = next((given[name] for given in self.scopes if name in given), [])
        return list(dict.fromkeys(text for node in given for text in self.texts(node)))

    def _entries(self, node: ast.expr) -> list[str]:
        """The texts inside a dict or a tuple."""
        return [text for given in self._given(node) for text in self._inside(given)]

    def _inside(self, node: ast.expr) -> list[str]:
        if isinstance(node, ast.Dict):
            return [text for value in node.values for text in self._inside(value)]
        if isinstance(node, ast.Tuple | ast.List):
            return [text for value in node.elts for text in self._inside(value)]
        return self.texts(node)


def _assigned(scope: ast.AST) -> _Texts:
    """What names of a scope are given: by assignments, sums, loops and imports from this package."""
    given: _Texts = {}
    for node in _own_nodes(scope):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                _note(given, target, node.value)
        elif isinstance(node, ast.For | ast.comprehension):
            _note_loop(given, node.target, node.iter)
        elif isinstance(node, ast.ImportFrom):
            _note_import(given, node)
    for node in _own_nodes(scope):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id in given:
            given[node.target.id] = [ast.BinOp(old, ast.Add(), node.value) for old in given[node.target.id]]
    return given


def _note(given: _Texts, target: ast.expr, value: ast.expr) -> None:
    if isinstance(target, ast.Name):
        given.setdefault(target.id, []).append(value)
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for name, part in zip(target.elts, value.elts, strict=False):
            _note(given, name, part)


def _note_loop(given: _Texts, target: ast.expr, through: ast.expr) -> None:
    """A loop over what is written there, part by part; over a name, or the items of one, any text inside it."""
    if isinstance(through, ast.Tuple | ast.List):
        for value in through.elts:
            _note(given, target, value)
        return
    if isinstance(through, ast.Call) and isinstance(through.func, ast.Attribute):
        through = through.func.value
    if isinstance(through, ast.Name | ast.Dict):
        for name in ast.walk(target):
            if isinstance(name, ast.Name):
                given.setdefault(name.id, []).append(ast.Subscript(through, ast.Constant(0)))


def _note_import(given: _Texts, node: ast.ImportFrom) -> None:
    """Constants of other modules of this package."""
    source = PACKAGE.parent.joinpath(*(node.module or "").split(".")).with_suffix(".py")
    constants = [alias for alias in node.names if alias.name.strip("_").isupper()]
    if constants and source.is_file():
        there = _of_module(source)
        given.update({alias.asname or alias.name: there.get(alias.name, []) for alias in constants})


@cache
def _of_module(source: Path) -> _Texts:
    return _assigned(ast.parse(source.read_text(encoding="utf-8")))


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """All below a node but what is inside functions of it."""
    for child in ast.iter_child_nodes(scope):
        yield child
        if not isinstance(child, ast.FunctionDef | ast.Lambda):
            yield from _own_nodes(child)


# Files of phrases


def complete(path: Path, phrases: Sequence[Phrase]) -> int:
    """Write a `.po` file that has all phrases, with the translations that it has already; how many are without one."""
    from babel.messages.catalog import Catalog
    from babel.messages.pofile import read_po, write_po

    template = Catalog(charset="utf-8")
    for phrase in phrases:
        _add(template, phrase)
    stored = Catalog(locale=path.stem.replace("-", "_"), fuzzy=False, header_comment="")
    if path.is_file():
        with path.open("rb") as file:
            stored = read_po(file)
    stored.project, stored.version = "countarfactuals", ""
    stored.msgid_bugs_address = stored.last_translator = stored.language_team = ""
    stored.update(template, no_fuzzy_matching=True, update_header_comment=False, update_creation_date=False)
    for message in stored:
        message.flags.discard("python-format")  # which Babel takes a per cent sign for
    with whole_file(path) as unfinished, unfinished.open("wb") as file:
        # without line numbers, which would change with every edit of the sources
        write_po(file, stored, width=_WIDTH, sort_by_file=True, include_lineno=False, include_previous=False)
    return sum(not all(_strings(message.string)) for message in stored if message.id)


def _add(template: Any, phrase: Phrase) -> None:
    """A phrase that is said alone and for several things is one entry: gettext looks the first up in it."""
    message = template.get(phrase.one)
    if message is not None and isinstance(message.id, tuple) and phrase.several is None:
        template.add(message.id, locations=[phrase.place])
        return
    if message is not None and phrase.several is not None and isinstance(message.id, str):
        locations = message.locations
        template.delete(message.id)
        template.add(phrase.key, locations=locations)
    template.add(phrase.key, locations=[phrase.place])


def _strings(translation: Any) -> tuple[str, ...]:
    return tuple(translation) if isinstance(translation, tuple | list) else (translation,)


def main(arguments: Sequence[str]) -> int:
    """Complete the file that is named; 2 for wrong use."""
    if len(arguments) != 1 or not arguments[0].endswith(".po"):
        print("usage: python -m countarfactuals.language.extraction LANGUAGE.po", file=sys.stderr)
        return 2
    found = extracted()
    if found.unclear:
        raise StorageError(f"Phrases that can not be told: {found.unclear}. Write them where they can be found.")
    without = complete(Path(arguments[0]), found.phrases)
    print(f"{arguments[0]}: {len({phrase.one for phrase in found.phrases})} phrases, {without} without a translation")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
