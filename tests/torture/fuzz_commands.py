"""Odd words on the command line, with odd files: each call ends with an exit code and an error of ours, or a result.

1. A command is drawn: `explain`, `evaluate`, `suggest` or `fit`, with options of which most have odd texts, a table
   that is damaged, and a file of wishes that says odd things.
2. It runs in this process. One that raises, ends with another exit code, calls its error unexpected, changes a file
   that it was given, or takes more than 20 seconds of CPU is told with its number, which is its seed.

Run it: `python -m tests.torture.fuzz_commands 2000`
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from countarfactuals.cli import main
from countarfactuals.constraints import KINDS
from tests.torture import small
from tests.torture.fuzz import SLOW

_NAMES = ("age", "income", "debt", "term", "town", "home", "member", "since", "answer", "no such")
_ODD = (
    *(
        "",
        " ",
        "=",
        ":",
        ",",
        "-",
        "--",
        "a",
        "yes",
        "no",
        "maybe",
        "nan",
        "inf",
        "-inf",
        "0",
        "-0.0",
        "1",
        "-1",
        "0.5",
    ),
    *("1e308", "1e999", "9" * 400, "9" * 5000, "1:2", "2:1", ":", "1:", ":1", "1:2:3", "1,2", "2,1", "a,b", "1e3:1e4"),
    *("50%", "-10%", "±5", "-5", "%s", "{row}", "{0}", "{no such}", "'", '"', '"a', "[]", "\x00", "\udcff", "é" * 5000),
    *("..", "/", "no/such/file", "train.csv", "2021-05-05", "2021-99-99", "increase", "t1", "own,rent", "age + 1"),
    *("age <", "__import__('os').getcwd()", "(" * 300, "age=1", "age=0:5", "age=t1", "town=t1,t2", "no such=1", "=1"),
)
_WORTH = ("yes", "no", "0.5", "1", "age", "town", "0,3", "30")
_VALUES = ("rows", "want", "want-not", "probability", "above", "below", "want-change", "want-column", "min-typicality")
_VALUES += ("seed", "top", "by", "language", "key", "letter", "code", "protected", "contact", "unit", "label")
_VALUES += ("rows-are", "delimiter", "decimal", "missing", "encoding", "format", "out", "max-evaluations", "method")
_FLAGS = ("--no-allow-real-rows", "--allow-real-rows", "--exact-cells", "--resume", "--trust-model", "--force")
_FORMATS = ("table", "csv", "json", "html", "sentences", "markdown", "parquet", "frame")
_OUT = ("made", "made.csv", "made.json", "made.html", "made.txt", "made.parquet", "classes")
_NUMBERS = ("above", "below", "min-typicality", "top", "seed", "probability", "want-change", "max-changed", "rows")
_NUMERALS = ("0", "1", "2", "-1", "0.5", "1e308", "-1e308", "1e999", "nan", "9" * 400, "0.2,0.9", "1,0", "-10%", "50%")
_OF_COLUMNS = (
    "range",
    "change",
    "step",
    "allowed",
    "direction",
    "derive",
    "weight",
    "ordered",
    "label",
    "unit",
    "code",
)
_SAID = ("0:50", ":40", "2021-01-01:", "increase", "decrease", "20%", "0:5", "-20%:20%", "t1,t2", "36", "5", "age + 1")
_SAID += ("hard", "immutable", "own", "True", "2021-05-05", "±5", "income / age", "round(age, 1)", "10:20", "MISSING")
_CODES = (0, 1, 2, 3)
_TOML = (
    "1",
    "-1",
    "1e400",
    "9" * 400,
    "9" * 5000,
    "nan",
    "inf",
    "true",
    '""',
    '"yes"',
    '"no such"',
    "[]",
    "[[]]",
    "{}",
)
_TOML += (
    "[1, 2]",
    '["age"]',
    '["age", 1]',
    '"20%"',
    "2021-05-05",
    "07:00:00",
    "{ age = 1 }",
    '{ age = "1:2" }',
    "'''a\n'''",
)
_TOML += (
    '{ town = ["t1"] }',
    '{ age = [1, "x"] }',
    '{ "no such" = 1 }',
    "{ age = [] }",
    '"\\ud800"',
    "[" * 500,
    '"a\\u0000"',
)


def attack(count: int, seed: int) -> dict[str, Any]:
    """How many commands ended how."""
    outcomes: Counter[str] = Counter()
    told: list[str] = []
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        world = _World(Path(name))
        for k in range(count):
            words = world.words(np.random.default_rng([seed, k]))
            outcome = world.run(words)
            outcomes[outcome.partition(":")[0]] += 1
            if outcome.startswith(("foreign", "changed", "slow")):
                told.append(f"{k}: {outcome}")
            world.clear()
    return {"commands": count, **dict.fromkeys(("foreign", "changed", "slow"), 0), **outcomes, "told": told[:20]}


class _World:
    """A folder with fitted explainers and a table."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        rows = small.table().assign(answer=lambda frame: np.where(small.model(frame)[:, 1] > 0.5, "yes", "no"))
        rows.to_csv("train.csv", index=False)
        rows.drop(columns=["answer"]).head(5).to_csv("new.csv", index=False)
        few = ("--trees", "3", "--model-trees", "5", "--data", "train.csv", "--model", "auto")
        for outcome, drop, out in (("answer", "since", "classes"), ("income", "answer", "numbers")):
            code, said = _ran(["fit", *few, "--outcome", outcome, "--drop", drop, "--out", out])
            assert code == 0, said
        self.kept = self._files()

    def _files(self) -> dict[str, str]:
        found = [path for path in sorted(self.folder.rglob("*")) if path.is_file()]
        return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}

    def run(self, words: list[str]) -> str:
        """What comes of a command."""
        before, started = self._files(), time.process_time()
        shown = f"of {words!a}"[-300:]
        try:
            code, said = _ran(words)
        except BaseException as error:
            return f"foreign: {type(error).__name__}: {str(error)[:150]!a} {shown}"
        if time.process_time() - started > SLOW:
            return f"slow: {shown}"
        if code not in _CODES or "unexpected" in said or "Traceback" in said:
            return f"foreign: {code} {said[:250]!a} {shown}"
        if self._files() | before != self._files() and "--force" not in words:
            return f"changed: {shown}"
        return {0: "done", 1: "error of ours", 2: "wrong use", 3: "nothing found"}[code]

    def clear(self) -> None:
        """Take away what commands have written."""
        for path in map(Path, self._files().keys() - self.kept.keys()):
            path.unlink()

    def words(self, rng: np.random.Generator) -> list[str]:
        """A command."""
        of = _Drawn(rng)
        command = of.one_of(("explain",) * 7 + ("evaluate", "suggest", "fit"))
        words = [command]
        if command == "fit":
            words += ["--data", of.table(), "--out", of.one_of(("made", "made", "classes", *_ODD[:5]))]
            words += ["--model", of.one_of(("auto", "auto", "observed", "new.csv", of.text()))]
            words += ["--outcome", of.one_of(("answer", "income", "town", of.text())), "--trees=2", "--model-trees=2"]
            return words + of.options(("drop", "classes", "ordered", "task", "seed", "label", "delimiter", "missing"))
        words += ["--explainer", of.one_of(("classes", "classes", "numbers", "numbers", ".", "no such"))]
        if command == "suggest":
            return words + of.options(("out",))
        words += ["--data", of.table()]
        if command == "evaluate":
            words += ["--counterfactuals", of.table()]
        else:
            words += [f"--method={of.one_of(('whatif', 'whatif', 'random', 'arf', 'nice'))}", "--max-evaluations=30"]
        if rng.random() < 0.3:
            words += ["--constraints", of.wishes()]
        kinds = tuple(kind.option.flag.removeprefix("--") for kind in KINDS.values() if kind.option)
        return words + of.options((*_VALUES, *kinds, *kinds))


class _Drawn:
    """Texts and files as they are drawn."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def one_of(self, values: Any) -> Any:
        return values[int(self.rng.integers(len(values)))]

    def text(self) -> str:
        """An odd text, or one of a column."""
        odd, name = self.one_of(_ODD), self.one_of(_NAMES)
        return str(
            self.one_of((odd, odd, name, f"{name}={odd}", f"{name}={self.one_of(_ODD)}:{odd}", self.one_of(_WORTH)))
        )

    def options(self, names: tuple[str, ...]) -> list[str]:
        """Up to four options."""
        words = []
        for _ in range(int(self.rng.integers(4))):
            name = self.one_of(names)
            words.append(self.one_of(_FLAGS) if self.rng.random() < 0.1 else f"--{name}={self._value(name)}")
        return words

    def _value(self, name: str) -> str:
        """A text of the form that the option has, most of the time."""
        if name == "format":
            return str(self.one_of(_FORMATS))
        if name in ("out", "letter"):
            return str(self.one_of(_OUT))
        if self.rng.random() < 0.3:
            return self.text()
        if name in _NUMBERS:
            return str(self.one_of(_NUMERALS))
        if name in _OF_COLUMNS:
            return f"{self.one_of(_NAMES)}={self.one_of((*_ODD, *_WORTH, *_WORTH, *_SAID, *_SAID))}"
        return str(self.one_of((*_NAMES, *_WORTH)))

    def table(self) -> str:
        """A table whose bytes or cells are damaged, most of the time."""
        whole = Path(self.one_of(("new.csv", "train.csv"))).read_bytes()
        path = Path(self.one_of(("odd.csv", "odd.parquet", "odd.csv", "odd.csv", "odd.csv")))
        match int(self.rng.integers(10)):
            case 0:
                return str(self.one_of(("no such", "-", ".", "classes")))
            case 6 | 7 | 8 | 9:
                return str(self.one_of(("new.csv", "new.csv", "train.csv")))
            case 1:
                path.write_bytes(b"".join(self._shuffled(whole.splitlines(keepends=True))))
            case 2:
                path.write_bytes(whole[: int(self.rng.integers(len(whole)))])
            case 3:
                path.write_bytes(bytes(self.rng.integers(0, 256, int(self.rng.integers(200))).astype(np.uint8)))
            case 4:
                data = np.frombuffer(whole, np.uint8).copy()
                at = self.rng.integers(0, len(data), 5)
                data[at] = self.rng.integers(0, 256, len(at))
                path.write_bytes(data.tobytes())
            case _:
                path.write_bytes(self._with_odd_cells(whole))
        return str(path)

    def _shuffled(self, lines: list[bytes]) -> list[bytes]:
        return [lines[k] for k in self.rng.integers(0, len(lines), len(lines))]

    def _with_odd_cells(self, whole: bytes) -> bytes:
        rows = [line.split(",") for line in whole.decode().splitlines()]
        for _ in range(int(self.rng.integers(1, 4))):
            row = self.one_of(rows)
            row[int(self.rng.integers(len(row)))] = self.one_of(_ODD)
        return "\n".join(",".join(row) for row in rows).encode("utf-8", "surrogateescape")

    def wishes(self) -> str:
        """A file of wishes."""
        path = Path("odd.toml")
        lines = [f"{self.one_of(('rows', 'allow_real_rows', 'odd'))} = {self.one_of(_TOML)}"] * int(
            self.rng.integers(2)
        )
        for table, keys in (
            ("target", _VALUES[1:8]),
            ("constraints", tuple(KINDS)),
            ("labels", _NAMES),
            ("units", _NAMES),
        ):
            if self.rng.random() < 0.4:
                lines += [f"[{table}]", f'"{self.one_of(keys)}" = {self.one_of(_TOML)}']
        path.write_text("\n".join(lines), encoding="utf-8", errors="surrogateescape")
        return str(path)


def _ran(words: list[str]) -> tuple[int, str]:
    """The exit code of a command, and what it says on standard error."""
    said = io.StringIO()
    read = io.TextIOWrapper(io.BytesIO(b"age,town\n1,t1\n"), encoding="utf-8")
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said), patch.object(sys, "stdin", read):
        code = main(words)
    return code, said.getvalue()


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    figures = attack(int(sys.argv[1]), seed=int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    print(json.dumps(figures, indent=1))
