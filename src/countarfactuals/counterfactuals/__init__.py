"""What an explainer hands back: a frozen set of counterfactuals for one row, or one such set per row.

- `result`: `Counterfactuals`, for one row.
- `batch`: `CounterfactualsBatch`, for many.
- `diagnosis`: `Diagnosis`, why nothing was found.
- `oddity`: `Oddity`, a cell that is unusual given the rest of its row.
- `select`: which few rows to show, and which to drop.
- `frames`: rows and measures as the user's frames.
- `storage`: JSON and back, to the last bit.
- `wording`: single values, changes and scores as text; `display` and `overview`: tables for terminals and notebooks.
- `sentences`: results in plain language, by the names and units of `vocabulary` and values written as in `spelling`.
"""

from countarfactuals.counterfactuals.batch import CounterfactualsBatch
from countarfactuals.counterfactuals.diagnosis import Diagnosis
from countarfactuals.counterfactuals.oddity import Oddity
from countarfactuals.counterfactuals.result import Counterfactuals

__all__ = ["Counterfactuals", "CounterfactualsBatch", "Diagnosis", "Oddity"]
