"""What an explainer hands back: a frozen set of counterfactuals for one row, or one such set per row.

- `result`: `Counterfactuals`, for one row.
- `batch`: `CounterfactualsBatch`, for many.
- `diagnosis`: `Diagnosis`, why nothing was found.
- `remarks`: `Note`, what a reader should know, and `Oddity`, a cell that is unusual given the rest of its row.
- `select`: which few rows to show, and which to drop.
- `importance`: how often and how far features change.
- `recourse`: what another outcome costs groups of rows, with `intervals`; `recourse_words` tells it.
- `ways`: changes that would help many rows.
- `frames`: rows and measures as the user's frames.
- `storage`: JSON and back, to the last bit.
- `display` and `overview`: tables for terminals and notebooks.
- `sentences`: results in plain language; `reasons`: why nothing was found.
"""

from countarfactuals.counterfactuals.batch import CounterfactualsBatch
from countarfactuals.counterfactuals.diagnosis import Diagnosis
from countarfactuals.counterfactuals.recourse import Recourse
from countarfactuals.counterfactuals.remarks import Note, Oddity
from countarfactuals.counterfactuals.result import Counterfactuals
from countarfactuals.counterfactuals.ways import CommonWays

__all__ = ["CommonWays", "Counterfactuals", "CounterfactualsBatch", "Diagnosis", "Note", "Oddity", "Recourse"]
