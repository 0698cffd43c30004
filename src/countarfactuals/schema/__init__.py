"""Frames in, the same frames out: names, kinds, levels and precision of the columns.

    pandas, polars, pyarrow, numpy ─ reading ─ Schema ─ float matrix ─ Schema ─ writing ─ the same again

- `column`: `Kind` and `Column`, what is known of one column, and the coding of single cells.
- `dtypes`: the name under which a native column type is kept, and the way back.
- `reading`: the only place where a user's data is checked.
- `writing`: matrix to native frame.
- `schema`: `Schema`, which joins them.
"""

from .column import Column, Kind
from .schema import Schema, free_name

__all__ = ["Column", "Kind", "Schema", "free_name"]
