"""The command line.

- `dispatch`: `main`, which finds the subcommand, and what becomes of its errors.
- `fit`, `explain`, `evaluate`, `demo`, `study`: one subcommand each, as `add_arguments` and `run`.
- `text`: a CSV file as cells, and what the cells of a column are; `lookalikes`: what only looks like numbers or dates;
  `tables`: files to frames and back.
- `models`: a model from a file, or trained; `folder`: what `fit` leaves on disk.
- `wishes`: what is wanted and allowed, from options to a target and constraints.
- `columns`: the order of levels, units, and what rows are called.
- `output`: results in every format; `verdict`: what is said of rows without any, and the exit code.
- `arguments`: options that several subcommands share.
"""

from countarfactuals.cli.dispatch import main

__all__ = ["main"]
