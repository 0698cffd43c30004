"""The options of every subcommand, what their texts must look like, and what is said to a user.

1. `add_demo`, `add_fit`, `add_suggest`, `add_explain`, `add_evaluate`, `add_serve` and `add_compile` give a parser the
   options of one subcommand. Nothing here imports pandas, scikit-learn or numba, so that help and wrong use are
   answered at once. Kinds of constraints have options of their own.
2. While options are parsed only their form is looked at (`pair`, `row_numbers`, `words`): what can not be read is a
   wrong use of the command. What they mean is told by `wishes`.
3. `OPTIONS` says which option sets what the library's errors and diagnoses speak of.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from countarfactuals.cli.formats import formats
from countarfactuals.constraints import KINDS
from countarfactuals.constraints.option import REPEATED, assignment, names
from countarfactuals.exceptions import ParameterError, listed
from countarfactuals.language import tr

DONE, MENDABLE, USAGE, NOTHING_FOUND, INTERRUPTED = 0, 1, 2, 3, 130  # exit codes
PROGRAM = "countarfactuals"
WANTED = "what is wanted"
STANDARD = "-"
AUTO, OBSERVED = "auto", "observed"
PARQUET = "parquet"
REPORT = "countarfactuals-demo.html"
CLASSIFICATION, REGRESSION = "classification", "regression"
EVALUATE_FORMATS = ("table", "csv", "json", PARQUET)
ENGINES = ("local", "dask", "spark", "ray")
METHODS = ("arf", "mocarf", "moc", "mocctree", "nice", "whatif", "random")  # those of plug-ins are allowed, too
MISSING = ("NA", "NaN", "nan", "N/A", "n/a", "NULL", "null")  # besides the empty cell
_RANGES = ("probability", "above", "below")
_SETTINGS = ("min_typicality", "max_evaluations", "method", "classes", "task", *_RANGES)
_NUMBERS = ("top", "rows_per_part", "seed", "trees", "model_trees")
OPTIONS = {
    **{name: kind.option.flag for name, kind in KINDS.items() if kind.option},
    **{name: f"--{name.replace('_', '-')}" for name in (*_SETTINGS, *_NUMBERS)},
    "n_jobs": "--jobs",
    "random_state": "--seed",
    "codes": "--code",
    "language": "--language",
    "protected": "--protected",
}
_DELIMITERS = {"tab": "\t", "\\t": "\t"}
_TABLE = "CSV or Parquet file, - for CSV from standard input"
_TRUST = "load a .joblib or .pkl model, which runs code from its file"
_DEMO_EXAMPLES = f"""\
examples:
  countarfactuals demo
  countarfactuals demo --out {REPORT} --seed 2
"""
_COMPILE_EXAMPLES = """\
examples:
  beside the package, where they are found:
    countarfactuals compile
  in a folder that machines or users share:
    countarfactuals compile --out /opt/kernels
    COUNTARFACTUALS_KERNELS=/opt/kernels countarfactuals demo
"""
_FIT_EXAMPLES = """\
examples:
  train a model and keep it with the explainer:
    countarfactuals fit --data train.csv --outcome quality --model auto --out explainer
  with a model of your own, whose file you trust:
    countarfactuals fit --data train.csv --outcome quality --drop id,name \\
        --model model.joblib --trust-model --out explainer
  with levels that have an order, and units for sentences:
    countarfactuals fit --data train.csv --outcome quality --model auto --out explainer \\
        --ordered education=primary,secondary,university --unit income=€ --unit duration=months --rows-are applicants
  from a program that writes CSV with semicolons and decimal commas:
    query | countarfactuals fit --data - --delimiter ';' --decimal , --outcome price --model auto --out prices

A .joblib or .pkl model runs code from its file when it is loaded, so it is refused without --trust-model.
Files of skops, xgboost (.json, .ubj), lightgbm (.txt) and catboost (.cbm) run none.
"""
_EXPLAIN_EXAMPLES = """\
examples:
  two rows, what would make them good, with a probability of at least .7:
    countarfactuals explain --explainer explainer --data new.csv --rows 3,17 --want good --probability .7,1
  only what a person can change:
    countarfactuals explain --explainer explainer --data new.csv --rows 3 --want good --fix age,country \\
        --range income=0:60000 --direction savings=increase --allowed job=clerk,cook --max-changed 3
  a report to look at, and a table to work with:
    countarfactuals explain --explainer explainer --data new.csv --rows 3 --want good --out report.html
    countarfactuals explain --explainer explainer --data new.csv --rows all --want good --jobs 2 --out all.csv
  an audit: whom the wanted outcome costs how much:
    countarfactuals explain --explainer explainer --data new.csv --want good --by sex,age --out audit.html
  more rows than memory holds, on two processes; the same command with --resume goes on after a stop:
    countarfactuals explain --explainer explainer --data 'rows/*.parquet' --want good --key id --out results/ \\
        --engine local --jobs 2
  of a model that predicts numbers, up to a limit, and relative to what is predicted now:
    countarfactuals explain --explainer prices --data new.csv --rows 0 --above 250000
    countarfactuals explain --explainer prices --data new.csv --rows 0 --want-change -10%
  one of several classes, none of them, and what a column of the file says for each row:
    countarfactuals explain --explainer explainer --data new.csv --rows 3 --want good,fair
    countarfactuals explain --explainer explainer --data new.csv --rows 3 --want-not bad
    countarfactuals explain --explainer explainer --data new.csv --want-column wanted
  a letter about the decision, in German:
    countarfactuals explain --explainer explainer --data new.csv --rows 3 --want good --protected age,sex \\
        --letter letter.html --code income=R12 --contact "Tel. 0123 456" --language de
  in words, with units:
    countarfactuals explain --explainer explainer --data new.csv --rows 3 --want good --format sentences \\
        --unit income=€ --unit duration=months --rows-are applicants

Rows are counted from 0. Where some rows can not be explained, the others are written and the exit code is 1; it is 3
if no row that needs a counterfactual has one.
"""
_SUGGEST_EXAMPLES = """\
examples:
  what could be wished, from the data, to be edited:
    countarfactuals suggest --explainer explainer --out wishes.toml
    countarfactuals explain --explainer explainer --data new.csv --rows 3 --constraints wishes.toml
"""
_EVALUATE_EXAMPLES = """\
examples:
  counterfactuals of the first row, however they were made:
    countarfactuals evaluate --explainer explainer --data x.csv --row 0 --counterfactuals theirs.csv --want good
  those that `countarfactuals explain --format csv` wrote, each for its own row:
    countarfactuals evaluate --explainer explainer --data new.csv --counterfactuals all.csv --want good --format csv

The counterfactuals have the columns of the training data; others are left out.
"""
_SERVE_EXAMPLES = """\
examples:
  a page and an API for this machine:
    countarfactuals serve --explainer explainer
  several explainers, for others behind a proxy with TLS:
    countarfactuals serve --explainer loans --explainer prices --token-file token --allow-host explain.example.org
  without any row of the training data:
    countarfactuals serve --explainer explainer --no-real-rows --data new.csv
"""


@dataclass(frozen=True)
class Dialect:
    """How a file is written.

    Parameters
    ----------
    delimiter : between cells.
    decimal : the sign before decimals, "." or ",".
    missing : cells that mean missing, besides empty ones.
    encoding : of the bytes.
    """

    delimiter: str = ","
    decimal: str = "."
    missing: tuple[str, ...] = MISSING
    encoding: str = "utf-8"


def note(text: str) -> None:
    """Tell the user something on standard error, in one line."""
    print(f"{PROGRAM}: {tr('note')}: {' '.join(text.split())}", file=sys.stderr)


def add_demo(parser: argparse.ArgumentParser) -> None:
    """The options of `demo`."""
    parser.epilog = _DEMO_EXAMPLES
    parser.add_argument("--out", default=REPORT, metavar="FILE", help=f"the report (default {REPORT})")
    parser.add_argument("--seed", type=int, default=1, help="of everything random (default 1)")
    parser.add_argument("--serve", action="store_true", help="explore the loan data in a page instead")
    add_server(parser)


def add_compile(parser: argparse.ArgumentParser) -> None:
    """The options of `compile`."""
    parser.epilog = _COMPILE_EXAMPLES
    kept = "folder of the kernels (default: beside the package)"
    parser.add_argument("--out", metavar="FOLDER", help=kept)


def add_fit(parser: argparse.ArgumentParser) -> None:
    """The options of `fit`."""
    parser.epilog = _FIT_EXAMPLES
    add = parser.add_argument
    add("--data", required=True, metavar="FILE", help=_TABLE)
    add("--outcome", metavar="COLUMN", help="what the model predicts; needed to train one")
    model = "auto trains a random forest, observed explains the outcome itself, or a model's file"
    add("--model", required=True, metavar="auto|observed|FILE", help=model)
    add("--out", required=True, metavar="FOLDER", help="folder to write")
    add("--drop", type=names, default=(), metavar="COLUMN,…", help="columns to leave out")
    tasks = (CLASSIFICATION, REGRESSION)
    add("--task", choices=tasks, help="what the outcome is (default: told by its values, or by the model)")
    add("--classes", type=names, metavar="CLASS,…", help="names of the classes of a model that has none")
    order = "levels of a column that have an order, lowest first; may be repeated"
    add("--ordered", type=assignment, **REPEATED, metavar="COLUMN=LEVEL,…", help=order)
    add("--trees", type=int, metavar="N", help="trees of the forest that judges plausibility")
    add("--model-trees", type=int, default=200, metavar="N", help="trees of a model trained here (200)")
    add("--seed", type=int, default=1, help="of everything random (default 1)")
    add("--jobs", type=int, metavar="N", help="threads, -1 for all cores")
    add("--trust-model", action="store_true", help="load a model's file that runs code")
    add("--force", action="store_true", help="replace an explainer's folder that exists")
    _add_words(parser)
    _add_reading(parser)


def add_explain(parser: argparse.ArgumentParser) -> None:
    """The options of `explain`."""
    parser.epilog = _EXPLAIN_EXAMPLES
    _add_explainer(parser)
    several = f"{_TABLE}; with --engine also a pattern in quotes, such as 'rows/*.parquet'"
    parser.add_argument("--data", required=True, metavar="FILE", help=several)
    rows = "rows, counted from 0: 3,17 or 0-4 (default all)"
    parser.add_argument("--rows", type=row_numbers, metavar="N,…", help=rows)
    add_wishes(parser)
    add = parser.add_argument_group("search").add_argument
    add("--method", type=_method, metavar=f"{{{','.join(METHODS)}}}", help="how to search (default: arf)")
    share = "share of real rows that must be less plausible than a counterfactual"
    add("--min-typicality", type=float, default=0.0, metavar="SHARE", help=share)
    real = "whether rows of the training data may be handed out (default: they may)"
    add("--allow-real-rows", action=argparse.BooleanOptionalAction, help=real)
    add("--max-evaluations", type=int, default=1000, metavar="N", help="rows the model is asked about (1000)")
    add("--seed", type=int, help="of the search (default: that of the explainer)")
    add("--jobs", type=int, metavar="N", help="processes, -1 for all cores")
    parser.add_argument("--top", type=int, metavar="K", help="most counterfactuals per row, good and unlike each other")
    by = (
        "columns of --data, also such as the model does not know, by which the report on several rows compares the cost"
    )
    parser.add_argument("--by", type=names, default=(), metavar="COLUMN,…", help=by)
    _add_output(parser, tuple(formats()))
    language = "of all that is written: de, en, one with a region such as de-AT, or a .po file (default en)"
    parser.add_argument("--language", metavar="CODE", help=language)
    _add_engine(parser)
    _add_letter(parser)
    _add_words(parser)
    _add_reading(parser)


def _add_engine(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("more rows than memory holds, written as a folder of Parquet files").add_argument
    add("--engine", choices=ENGINES, help="explain parts of the files one by one: here, or on a cluster")
    address = "of the cluster: a scheduler of Dask, a master of Spark, a cluster of Ray (default: --jobs workers here)"
    add("--address", metavar="TEXT", help=address)
    add("--resume", action="store_true", help="go on in the folder --out; parts that are finished are not done again")
    key = "column of --data that tells rows apart (default: their numbers in the file)"
    add("--key", metavar="COLUMN", help=key)
    size = "rows that are in memory at once, and at most lost by a kill (1000)"
    add("--rows-per-part", type=int, default=1000, metavar="N", help=size)


def add_evaluate(parser: argparse.ArgumentParser) -> None:
    """The options of `evaluate`."""
    parser.epilog = _EVALUATE_EXAMPLES
    _add_explainer(parser)
    add = parser.add_argument
    add("--data", required=True, metavar="FILE", help="the rows explained: CSV, Parquet, - for standard input")
    add("--row", type=int, metavar="N", help="the row of --data, counted from 0, that all of them are for")
    add("--counterfactuals", required=True, metavar="FILE", help="rows to measure: CSV, Parquet, -")
    add_wishes(parser)
    _add_output(parser, EVALUATE_FORMATS)
    _add_reading(parser)


def add_wishes(parser: argparse.ArgumentParser) -> None:
    """What is wanted, and what may change."""
    add = parser.add_argument_group(WANTED).add_argument
    want = "the wanted class, or several of which one will do; without it any other than the predicted one"
    add("--want", metavar="CLASS,…", help=want)
    add("--want-not", metavar="CLASS,…", help="a class, or several, of which none is wanted")
    add("--probability", type=pair, metavar="LOW,HIGH", help="range of the probability of that class, e.g. .7,1")
    add("--above", type=float, metavar="NUMBER", help="least predicted number, or score")
    add("--below", type=float, metavar="NUMBER", help="largest predicted number, or score")
    change = "by how much the number or score shall change at least: 5, -5, 10%%, -10%%; or from, to: -20%%,-10%%"
    add("--want-change", type=change_of, metavar="AMOUNT", help=change)
    column = "column of --data that holds what is wanted of each row: a class, or low:high; empty for the default"
    add("--want-column", metavar="COLUMN", help=column)
    add = parser.add_argument_group("what may change (options may be repeated)").add_argument
    add("--constraints", metavar="FILE", help="target, constraints and words from a TOML file, see `suggest`")
    for kind in KINDS.values():
        if kind.option:
            add(kind.option.flag, **kind.option.arguments)


@cache
def wanted_actions() -> dict[str, argparse.Action]:
    """The options of "what is wanted", by the names of their values: the keys of a target in a file of wishes."""
    parser = argparse.ArgumentParser(add_help=False)
    add_wishes(parser)
    group = next(group for group in parser._action_groups if group.title == WANTED)
    return {action.dest: action for action in group._group_actions}


def add_suggest(parser: argparse.ArgumentParser) -> None:
    """The options of `suggest`."""
    parser.epilog = _SUGGEST_EXAMPLES
    _add_explainer(parser)
    parser.add_argument(
        "--out", metavar="FILE", default=STANDARD, help="file to write, - for standard output (default)"
    )
    parser.add_argument("--force", action="store_true", help="replace a file that exists")


def add_serve(parser: argparse.ArgumentParser) -> None:
    """The options of `serve`."""
    parser.epilog = _SERVE_EXAMPLES
    add = parser.add_argument
    folder = "what `countarfactuals fit` wrote; may be repeated"
    add("--explainer", required=True, action="append", metavar="FOLDER", help=folder)
    add("--trust-model", action="store_true", help=_TRUST)
    add("--data", metavar="FILE", help="rows to pick from in the page: CSV or Parquet (default: the training data)")
    add_server(parser)


def add_server(parser: argparse.ArgumentParser) -> None:
    """Where the service listens, and to whom."""
    add = parser.add_argument_group("service").add_argument
    add("--port", type=int, default=8000, help="port to listen at, 0 for any that is free (default 8000)")
    add("--host", default="127.0.0.1", help="address to listen at (default 127.0.0.1, which only this machine reaches)")
    token = (
        "file with the token that every request needs, of 32 characters or more; or the variable COUNTARFACTUALS_TOKEN"
    )
    add("--token-file", metavar="FILE", help=token)
    name = "name by which a proxy in front reaches this server; may be repeated"
    add("--allow-host", action="append", default=[], metavar="NAME", help=name)
    add("--browser", action=argparse.BooleanOptionalAction, default=True, help="open the page (default: it is)")
    rows = "no row of the training data leaves, neither as counterfactual nor in summaries"
    add("--no-real-rows", action="store_true", help=rows)
    add("--jobs-folder", metavar="FOLDER", help="where jobs are kept (default: in the user's state folder)")
    log = "what is told on standard error: problems of the service, each request without data, or with (problems)"
    add("--log", choices=("problems", "requests", "data"), default="problems", help=log)


def _add_explainer(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--explainer", required=True, metavar="FOLDER", help="what `countarfactuals fit` wrote")
    parser.add_argument("--trust-model", action="store_true", help=_TRUST)


def _add_letter(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("a letter to whom it concerns").add_argument
    file = "write a letter, .html or .txt; of several rows one each, where FILE has {row} for the row's number"
    add("--letter", metavar="FILE", help=file)
    code = "code of a reason, such as income=R12; may be repeated"
    add("--code", type=assignment, **REPEATED, metavar="COLUMN=CODE", help=code)
    protected = "columns that must have no part in the decision; they are fixed, and the letter tells of them"
    add("--protected", type=names, default=(), metavar="COLUMN,…", help=protected)
    texts = {"contact": "whom to ask", "sender": "from whom", "applicant": "to whom", "reference": "about what"}
    for field, what in texts.items():
        add(f"--{field}", default="", metavar="TEXT", help=f"{what}; {{row}} is the row's number")


def _add_words(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("words in sentences and reports").add_argument
    unit = "unit of a column, such as income=€, duration=months or height=foot,feet; may be repeated"
    add("--unit", type=assignment, **REPEATED, metavar="COLUMN=UNIT", help=unit)
    label = "what a column or a level is called, such as emp_len='years in the job' or purpose:A40='new car'"
    add("--label", type=assignment, **REPEATED, metavar="COLUMN[:LEVEL]=TEXT", help=label)
    rows = "what rows are called, such as applicants or person,people"
    add("--rows-are", type=words, metavar="WORD", help=rows)


def _add_output(parser: argparse.ArgumentParser, names: tuple[str, ...]) -> None:
    parser.add_argument("--format", choices=names, help="of the output (default: by the suffix of --out, else table)")
    parser.add_argument("--out", metavar="FILE", default="-", help="file to write, - for standard output (default)")
    exact = "CSV with cells as they are; without it texts that spreadsheets would run get an apostrophe before them"
    parser.add_argument("--exact-cells", action="store_true", help=exact)


def _add_reading(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("reading CSV files").add_argument
    add("--delimiter", type=_delimiter, help="sign between cells (default ','; 'tab' for tabulators)")
    add("--decimal", choices=(".", ","), help="sign before decimals (default '.')")
    missing = f"cells that mean missing, besides empty ones (default {','.join(MISSING)})"
    add("--missing", type=names, metavar="TEXT,…", help=missing)
    add("--encoding", help="of the file's bytes (default utf-8)")


def dialect_of(options: argparse.Namespace, default: Dialect | None = None) -> Dialect:
    """How files are written: as the options say, else as by default."""
    given = {name: getattr(options, name) for name in ("delimiter", "decimal", "missing", "encoding")}
    return replace(default or Dialect(), **{name: value for name, value in given.items() if value is not None})


def format_of(options: argparse.Namespace, known: tuple[str, ...]) -> str:
    """The format that is asked for, by option or by suffix."""
    if options.format is not None:
        return str(options.format)
    suffix = "" if options.out == STANDARD else Path(options.out).suffix.lower().removeprefix(".")
    by_suffix = {name: name for name in known if not formats()[name].is_readable}
    by_suffix |= {suffix: name for name in known for suffix in formats()[name].suffixes}
    form = by_suffix.get(suffix, "") if suffix else known[0]
    if not form:
        usable = ", ".join(f".{name}" for name in by_suffix)
        raise ParameterError(
            f"--out {options.out!r} has the suffix '.{suffix}', which names no format; known are {usable}. "
            f"Rename it, or say one by --format: {', '.join(known)}."
        )
    return form


def check_jobs(jobs: int | None) -> None:
    """Refuse a number of processes or threads that is none."""
    if jobs == 0:
        raise ParameterError("--jobs must be an integer other than 0 (-1 for all cores), got 0.")


def as_option(names: Sequence[str]) -> str:
    """Names as a shell hands them to `names`.

    >>> as_option(["age", "born in"])
    "'age,born in'"
    """
    return shlex.quote(",".join(f'"{name}"' if "," in name else name for name in names))


def words(text: str) -> str | tuple[str, str]:
    """One word, or one for one thing and one for several.

    >>> words("months"), words("foot, feet")
    ('months', ('foot', 'feet'))
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(parts) or len(parts) > 2:
        raise argparse.ArgumentTypeError(f"needs a word, or two such as person,people; got {text!r}")
    return parts[0] if len(parts) == 1 else (parts[0], parts[1])


def pair(text: str) -> tuple[float, float]:
    """Two numbers with a comma between them."""
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"needs two numbers, low and high, such as .7,1; got {text!r}") from None
    return low, high


def change_of(text: str) -> float | str | tuple[float | str | None, ...]:
    """A change, or the least and the largest one with a comma between them; an end may be empty.

    >>> change_of("-10%"), change_of("5"), change_of("-20%,-10%"), change_of(",5")
    ('-10%', 5.0, ('-20%', '-10%'), (None, 5.0))
    """
    try:
        steps = [None if not part.strip() else part if "%" in part else float(part) for part in text.split(",")]
        if len(steps) > 2 or steps[0] is steps[-1] is None:
            raise ValueError
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"needs an amount or a share, such as -5 or -10%, or two with a comma between them; got {text!r}"
        ) from None
    return tuple(steps) if len(steps) == 2 else steps[0]  # type: ignore[return-value]  # one alone is not empty


def row_numbers(text: str) -> tuple[int, ...] | None:
    """Numbers of rows, such as 3,17 or 0-4; None for "all".

    >>> row_numbers("3,0-2")
    (3, 0, 1, 2)
    """
    if text.strip().lower() == "all":
        return None
    rows: list[int] = []
    try:
        for part in text.split(","):
            first, sign, last = part.strip().partition("-")
            numbers = range(int(first), int(last if sign else first) + 1)
            if not numbers:
                raise ValueError
            rows += numbers
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"needs numbers of rows, counted from 0, such as 3,17 or 0-4, or all; got {text!r}"
        ) from None
    return tuple(dict.fromkeys(rows))


def _method(text: str) -> str:
    if text not in METHODS:
        from countarfactuals.explainers import EXPLAINERS  # which takes long: most names are known without it

        if text not in EXPLAINERS:
            raise argparse.ArgumentTypeError(f"invalid choice: {text!r} (choose from {listed(EXPLAINERS, 99)})")
    return text


def _delimiter(text: str) -> str:
    sign = _DELIMITERS.get(text.lower(), text)
    if len(sign) != 1 or not sign.isascii() or sign in '"\r\n':
        raise argparse.ArgumentTypeError(f"needs one sign, such as ';', or tab; got {text!r}")
    return sign
