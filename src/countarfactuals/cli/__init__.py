"""The command line: `main` finds the subcommand, runs it, and turns what happens into an exit code.

- `arguments`: the options of every subcommand; `wishes`: what their texts mean; `wishes_file`: the same from a file.
- `fit`, `suggest`, `explain`, `evaluate`, `serve`, `demo`, `study`: one subcommand each, imported when it is run.
- `letters`: one letter for each row.
- `data_files`: files to frames and back; `column_kinds`: what the cells of a column are.
- `model_files`: a model from a file, or trained; `folder`: what `fit` leaves on disk.

| code | meaning |
|---|---|
| 0 | done |
| 1 | something that the user can mend, said in one line on standard error; of several rows the others are written |
| 2 | the command was used wrongly |
| 3 | no counterfactual was found; the result is written and says why |
| 130 | interrupted |

Tracebacks are shown with `--debug` only.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from typing import Any, NoReturn

from countarfactuals.cli.arguments import (
    DONE,
    INTERRUPTED,
    MENDABLE,
    OPTIONS,
    PROGRAM,
    USAGE,
    add_compile,
    add_demo,
    add_evaluate,
    add_explain,
    add_fit,
    add_serve,
    add_suggest,
    note,
)
from countarfactuals.exceptions import CountarfactualsError, MissingDependencyError
from countarfactuals.language import speaking

__all__ = ["main"]

_COMMANDS = {
    "demo": "explain a rejected loan application, from data to report",
    "fit": "learn from a table what is plausible, and keep it with a model",
    "suggest": "a file of wishes to be edited, from what an explainer knows of the data",
    "explain": "counterfactuals of rows",
    "evaluate": "measure counterfactuals from anywhere",
    "serve": "explainers as a page to explore and a service for programs",
    "compile": "compile the kernels ahead of time, for images and clusters",
    "study": "compare methods on data sets whose density is known",
}
_OPTIONS_OF = {
    "compile": add_compile,
    "demo": add_demo,
    "fit": add_fit,
    "suggest": add_suggest,
    "explain": add_explain,
    "evaluate": add_evaluate,
    "serve": add_serve,
}
_EPILOG = """\
first steps:
  countarfactuals demo
  countarfactuals fit --data train.csv --outcome quality --model auto --out explainer
  countarfactuals explain --explainer explainer --data new.csv --rows 3,17 --want good
  countarfactuals explain --help

"""
_CODES = """\
exit codes: 0 done; 1 something to mend, said in one line on standard error; 2 wrong use of the command;
            3 no counterfactual found, the result says why; 130 interrupted
"""
_WARNINGS = "PYTHONWARNINGS"  # read by processes when they start


class _Parser(argparse.ArgumentParser):
    """A parser that tells of a wrong use in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"{self.prog}: error: {message}; see {self.prog} --help\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : what follows the program's name; None for those of the process.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    is_debugging = "--debug" in given
    with warnings.catch_warnings(), _quiet_processes(is_debugging):
        _quieten(is_debugging)
        try:
            return _run(given)
        except SystemExit as stop:
            return stop.code if isinstance(stop.code, int) else (DONE if stop.code is None else USAGE)
        except KeyboardInterrupt:
            print(f"\n{PROGRAM}: interrupted", file=sys.stderr)
            return INTERRUPTED
        except BrokenPipeError:
            # who read standard output has gone; nothing may be written to it at exit either
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return MENDABLE
        except Exception as error:
            if is_debugging:
                traceback.print_exc()
            print(f"{PROGRAM}: error: {_sentence(error)}", file=sys.stderr)
            return MENDABLE


def _run(given: list[str]) -> int:
    parser, parsers = _parsers()
    name = next((argument for argument in given if not argument.startswith("-")), "")
    if name in _COMMANDS:
        add_arguments = _OPTIONS_OF.get(name) or _command(name).add_arguments
        add_arguments(parsers[name])
        parsers[name].epilog = "\n".join(filter(None, [parsers[name].epilog, _CODES]))
    for flag, _, value in (argument.partition("=") for argument in given):
        if flag.startswith("--") and value == "--":  # which argparse takes for no value at all
            parser.error(f"argument {flag}: '--' is no value")
    options, unknown = parser.parse_known_args(_with_losses(given))
    if unknown:
        parsers.get(name, parser).error(f"unrecognized arguments: {' '.join(unknown)}")
    if name not in _COMMANDS:
        parser.error(f"needs a command: {', '.join(_COMMANDS)}")
    with speaking(getattr(options, "language", None)):
        return int(_command(name).run(options))


def _with_losses(given: Sequence[str]) -> list[str]:
    """The arguments, `--want-change -10%` as one: on its own the loss would be taken for an option."""
    joined: list[str] = []
    for argument in given:
        if joined and joined[-1] == "--want-change":
            joined[-1] = f"--want-change={argument}"
        else:
            joined.append(argument)
    return joined


def _parsers() -> tuple[_Parser, dict[str, _Parser]]:
    """The parser of the program, and those of its subcommands."""
    parser = _Parser(
        prog=PROGRAM,
        description="Plausible counterfactual explanations with adversarial random forests.",
        epilog=f"{_EPILOG}{_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {version(PROGRAM)}")
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    commands = parser.add_subparsers(title="commands", dest="command", metavar="command")
    parsers = {
        name: commands.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        for name, summary in _COMMANDS.items()
    }
    for subparser in parsers.values():
        subparser.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help="show tracebacks")
    return parser, parsers


def _command(name: str) -> Any:
    """The module of a subcommand."""
    try:
        return import_module(f"countarfactuals.cli.{name}")
    except ImportError as error:
        if name != "study":
            raise
        raise MissingDependencyError(
            f"The study can not be run: {error}. Install what it needs: pip install 'countarfactuals[study]'"
        ) from error


def _quieten(is_debugging: bool) -> None:
    """Warnings for users in one line; those for developers only with `--debug`."""
    warnings.resetwarnings()  # none behind "default" would count, and scikit-learn goes through all for every tree
    warnings.simplefilter("default")
    if is_debugging:
        return
    for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning, RuntimeWarning):
        warnings.simplefilter("ignore", category)

    shown: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in shown:  # some libraries warn once per call, of which there are many
            shown.add(str(message))
            note(str(message))

    warnings.showwarning = show


@contextmanager
def _quiet_processes(is_debugging: bool) -> Iterator[None]:
    """Without warnings of the processes of `--jobs`: this one has told of what the model complains when it is asked."""
    if is_debugging or _WARNINGS in os.environ:
        yield
        return
    os.environ[_WARNINGS] = "ignore"
    try:
        yield
    finally:
        os.environ.pop(_WARNINGS, None)


def _sentence(error: Exception) -> str:
    if isinstance(error, CountarfactualsError):
        return " ".join(error.worded(OPTIONS).split())
    text = " ".join(str(error).split())
    if isinstance(error, OSError):
        return f"{error.filename or 'a file'} can not be used: {error.strerror or text}"
    return f"unexpected {type(error).__name__}: {text}. Run it again with --debug to see where, and report it."
