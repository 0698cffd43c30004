"""Frames in, the same frames out: names, kinds, levels and precision of the columns.

    pandas, polars, pyarrow, numpy ─ reading ─ Schema ─ float matrix ─ Schema ─ writing ─ the same again

- `column`: `Kind` and `Column`, what is known of one column, and the coding of single cells.
- `labels`: what readers call columns and levels.
- `permitted`: the values that cells of a number may be given, and the nearest of them.
- `values`: which values occur, learned from the data; `declared`: what a user says of them; `wording`: in words.
- `dtypes`: the name under which a native column type is kept, and the way back.
- `reading`: the only place where a user's data is checked.
- `stored`: checks of what is read from files.
- `writing`: matrix to native frame.
- `schema`: `Schema`, which joins them.
"""

from .column import Column, Kind
from .description import described
from .labels import Label, Labels
from .permitted import Permitted
from .schema import Schema, Values, free_name
from .stored import check_rows

__all__ = ["Column", "Kind", "Label", "Labels", "Permitted", "Schema", "Values", "check_rows", "described", "free_name"]
