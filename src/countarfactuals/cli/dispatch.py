"""`main`: finds the subcommand, runs it, and turns what happens into an exit code.

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

from countarfactuals.cli.arguments import PROGRAM, by_options, note
from countarfactuals.exceptions import CountarfactualsError, MissingDependencyError

DONE, MENDABLE, USAGE, NOTHING_FOUND, INTERRUPTED = 0, 1, 2, 3, 130

_COMMANDS = {
    "demo": "explain a rejected loan application, from data to report",
    "fit": "learn from a table what is plausible, and keep it with a model",
    "explain": "counterfactuals of rows",
    "evaluate": "measure counterfactuals from anywhere",
    "study": "compare methods on data sets whose density is known",
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
    name = next((one for one in given if not one.startswith("-")), "")
    command: Any = None
    if name in _COMMANDS:
        command = _command(name)
        command.add_arguments(parsers[name])
        parsers[name].epilog = "\n".join(filter(None, [parsers[name].epilog, _CODES]))
    options = parser.parse_args(given)
    if command is None:
        parser.error(f"needs a command: {', '.join(_COMMANDS)}")
    return int(command.run(options))


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
    for one in parsers.values():
        one.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help="show tracebacks")
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
    warnings.simplefilter("default")
    if is_debugging:
        return
    for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning, RuntimeWarning):
        warnings.simplefilter("ignore", category)

    said: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in said:  # some libraries warn once per call, of which there are many
            said.add(str(message))
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
    text = " ".join(str(error).split())
    if isinstance(error, CountarfactualsError):
        return by_options(text)
    if isinstance(error, OSError):
        return f"{error.filename or 'a file'} can not be used: {error.strerror or text}"
    return f"unexpected {type(error).__name__}: {text}. Run it again with --debug to see where, and report it."
