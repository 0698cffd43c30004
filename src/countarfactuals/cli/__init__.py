"""The command line.

- `dispatch`: `main`, which finds the subcommand, and what becomes of its errors.
- `fit`, `explain`, `evaluate`, `demo`: one subcommand each, as `add_arguments` and `run`; `study` brings its own.
- `text`: a CSV file as cells, and what the cells of a column are; `tables`: files to frames.
- `models`: a model from a file, or trained; `folder`: what `fit` leaves on disk.
- `wishes`: what is wanted and allowed, from options to a target and constraints.
- `output`: results in every format; `arguments`: options that several subcommands share.
"""

from countarfactuals.cli.dispatch import main

__all__ = ["main"]
