"""`countarfactuals study`: the comparison of methods on data sets whose density is known."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from countarfactuals.cli.arguments import DONE, INTERRUPTED
from countarfactuals.datasets.paper import PAPER_SETS
from countarfactuals.language import tr
from countarfactuals.study.design import METHODS, PRESETS, Design
from countarfactuals.study.run import run_study
from countarfactuals.study.telling import told_required

_DESCRIPTION = (
    "Rerun the comparison of the CountARFactuals paper: explain instances of data sets whose density is known by "
    "several methods, measure what they find, and write tables, figures and a report."
)

_PRESET = (
    "settings of the methods: those of the published study ('paper', taken unless another is named) or this package's "
    "own defaults ('default')"
)

_PLUGIN = "Python file that registers data sets or methods, which --sets and --methods can then name; may be repeated"

_EPILOG = """\
examples:
  the paper's comparison on its published data, with its settings and with this package's own:
    countarfactuals study --data FOLDER --preset paper --out as-published --jobs 2
    countarfactuals study --data FOLDER --preset default --out ours --jobs 2
  a small one on new data:
    countarfactuals study --generate --sets cassini,bn_5 --methods arf,nice --instances 3 --out small
  on a set of your own, which my_sets.py adds by `countarfactuals.study.register_set`:
    countarfactuals study --generate --plugin my_sets.py --sets mine,cassini --out own
  go on after it was stopped: the same command with --resume
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of this subcommand."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--data", metavar="FOLDER", help="data sets in the published layout")
    source.add_argument("--generate", action="store_true", help="generate new data sets")
    parser.add_argument("--out", metavar="DIR", required=True, help="folder for all that is written")
    parser.add_argument("--methods", type=_names, default=METHODS, help=f"default: {','.join(METHODS)}")
    parser.add_argument("--sets", type=_names, default=PAPER_SETS, help=f"default: {','.join(PAPER_SETS)}")
    parser.add_argument("--plugin", metavar="FILE", action="append", default=[], help=_PLUGIN)
    parser.add_argument("--preset", choices=PRESETS, default="paper", help=_PRESET)
    parser.add_argument("--instances", type=int, default=10, help="rows to explain per data set (default: 10)")
    parser.add_argument("--evaluations", type=int, default=1000, help="most per explanation (default: 1000)")
    parser.add_argument("--seed", type=int, default=1, help="of the explainers and of generated data (default: 1)")
    parser.add_argument("--rows", type=int, default=5000, help="of a generated data set (default: 5000)")
    parser.add_argument("--trees", type=int, help="of the forest (default: those of the preset)")
    parser.add_argument("--jobs", type=int, default=1, help="processes; -1 for one per core (default: 1)")
    parser.add_argument("--resume", action="store_true", help="go on with the study in DIR")
    parser.add_argument("--no-figures", action="store_true", help="draw nothing, which needs no matplotlib")
    parser.add_argument("--quiet", action="store_true", help="tell nothing of the progress")


def run(options: argparse.Namespace) -> int:
    """Run the study that the options describe; 0 if all went well, 130 by Ctrl-C."""
    design = Design(
        data=None if options.data is None else str(Path(options.data).resolve()),
        methods=tuple(options.methods),
        sets=tuple(options.sets),
        preset=options.preset,
        n_instances=options.instances,
        max_evaluations=options.evaluations,
        seed=options.seed,
        n_rows=options.rows,
        n_estimators=options.trees,
        plugins=tuple(str(Path(path).resolve()) for path in options.plugin),
    )
    out = Path(options.out).resolve()
    try:
        tables = run_study(
            design,
            out,
            n_jobs=options.jobs,
            resume=options.resume,
            pictures=not options.no_figures,
            quiet=options.quiet,
        )
    except KeyboardInterrupt:
        stopped = tr("Stopped. What is finished is kept: run the same command with --resume to go on.")
        print(f"\n{stopped}", file=sys.stderr)
        return INTERRUPTED
    print(told_required(tables.findings))
    print(tr("Report: {path}", path=out / "report.html"))
    return DONE


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())
