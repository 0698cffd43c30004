"""Options that several subcommands share, and what they say to a user."""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import replace
from pathlib import Path

from countarfactuals.cli.text import Dialect
from countarfactuals.cli.wishes import assignment, interval, names, pair
from countarfactuals.exceptions import ParameterError

PROGRAM = "countarfactuals"
_DELIMITERS = {"tab": "\t", "\\t": "\t"}
_SUFFIXES = {"htm": "html", "md": "sentences", "txt": "table", "pq": "parquet"}  # besides the formats themselves
# the library's parameters by the options that set them
_OPTIONS = {
    "fixed": "--fix",
    "ranges": "--range",
    "allowed": "--allowed",
    "direction": "--direction",
    "max_changed": "--max-changed",
    "allow_missing": "--allow-missing",
    "min_plausibility": "--min-plausibility",
    "max_evaluations": "--max-evaluations",
    "n_jobs": "--jobs",
    "random_state": "--seed",
    "classes": "--classes",
    "task": "--task",
    "probability": "--probability",
}
_PARAMETER = re.compile(rf"`({'|'.join(_OPTIONS)})`")


def note(text: str) -> None:
    """Tell the user something on standard error, in one line."""
    print(f"{PROGRAM}: note: {' '.join(text.split())}", file=sys.stderr)


def by_options(text: str) -> str:
    """A sentence of the library, with its parameters under the names of their options.

    >>> by_options("Set `max_changed` to 3, or free a column of `fixed`.")
    'Set --max-changed to 3, or free a column of --fix.'
    """
    return _PARAMETER.sub(lambda found: _OPTIONS[found[1]], text)


def check_jobs(jobs: int | None) -> None:
    """Refuse a number of processes or threads that is none."""
    if jobs == 0:
        raise ParameterError("--jobs must be an integer other than 0 (-1 for all cores), got 0.")


def add_reading(parser: argparse.ArgumentParser) -> None:
    """How CSV files are written."""
    group = parser.add_argument_group("reading CSV files")
    group.add_argument("--delimiter", type=_delimiter, help="sign between cells (default ','; 'tab' for tabulators)")
    group.add_argument("--decimal", choices=(".", ","), help="sign before decimals (default '.')")
    group.add_argument(
        "--missing",
        type=names,
        metavar="TEXT,…",
        help="cells that mean missing, besides empty ones (default NA,NaN,nan,N/A,n/a,NULL,null)",
    )
    group.add_argument("--encoding", help="of the file's bytes (default utf-8)")


def dialect_of(options: argparse.Namespace, default: Dialect | None = None) -> Dialect:
    """How files are written: as the options say, else as by default."""
    said = {name: getattr(options, name) for name in ("delimiter", "decimal", "missing", "encoding")}
    return replace(default or Dialect(), **{name: value for name, value in said.items() if value is not None})


def add_explainer(parser: argparse.ArgumentParser) -> None:
    """The folder of `fit`."""
    parser.add_argument("--explainer", required=True, metavar="FOLDER", help="what `countarfactuals fit` wrote")
    parser.add_argument(
        "--trust-model", action="store_true", help="load a .joblib or .pkl model, which runs code from its file"
    )


def add_wishes(parser: argparse.ArgumentParser) -> None:
    """What is wanted, and what may change."""
    wanted = parser.add_argument_group("what is wanted")
    wanted.add_argument("--want", metavar="CLASS", help="the wanted class; without it the other one of two classes")
    wanted.add_argument(
        "--probability", type=pair, metavar="LOW,HIGH", help="range of the probability of that class, e.g. .7,1"
    )
    wanted.add_argument("--above", type=float, metavar="NUMBER", help="least predicted number, or score")
    wanted.add_argument("--below", type=float, metavar="NUMBER", help="largest predicted number, or score")
    limits = parser.add_argument_group("what may change (options may be repeated)")
    limits.add_argument(
        "--fix", type=names, action="append", default=[], metavar="COLUMN,…", help="columns that do not change"
    )
    limits.add_argument(
        "--range",
        type=interval,
        action="append",
        default=[],
        metavar="COLUMN=LOW:HIGH",
        help="range of a changed value, one end may be left out",
    )
    limits.add_argument(
        "--direction",
        type=assignment,
        action="append",
        default=[],
        metavar="COLUMN=increase|decrease",
        help="the only way in which a column may change",
    )
    limits.add_argument(
        "--allowed",
        type=assignment,
        action="append",
        default=[],
        metavar="COLUMN=LEVEL,…",
        help="levels that a changed cell may have",
    )
    limits.add_argument("--max-changed", type=int, metavar="N", help="how many columns may change")
    limits.add_argument("--allow-missing", action="store_true", help="a known cell may become missing")


def add_output(parser: argparse.ArgumentParser, formats: tuple[str, ...]) -> None:
    """Where results go."""
    parser.add_argument("--format", choices=formats, help="of the output (default: by the suffix of --out, else table)")
    parser.add_argument("--out", metavar="FILE", default="-", help="file to write, - for standard output (default)")


def format_of(options: argparse.Namespace, formats: tuple[str, ...]) -> str:
    """The format that is asked for, by option or by suffix."""
    if options.format is not None:
        return str(options.format)
    suffix = "" if options.out == "-" else Path(options.out).suffix.lower().removeprefix(".")
    if not suffix:
        return formats[0]
    form = _SUFFIXES.get(suffix, suffix)
    if form not in formats:
        known = [f".{one}" for one in (*formats, *_SUFFIXES) if one not in ("table", "sentences")]
        known = [one for one in known if _SUFFIXES.get(one[1:], one[1:]) in formats]
        raise ParameterError(
            f"--out {options.out!r} has the suffix '.{suffix}', which names no format; known are {', '.join(known)}. "
            f"Rename it, or say one by --format: {', '.join(formats)}."
        )
    return form


def _delimiter(text: str) -> str:
    sign = _DELIMITERS.get(text.lower(), text)
    if len(sign) != 1 or sign in '"\r\n':
        raise argparse.ArgumentTypeError(f"needs one sign, such as ';', or tab; got {text!r}")
    return sign
