"""What may change, how far, in which direction: said by a user, checked on every row that leaves.

    Constraints ─ bind(schema, row) ─ parts ─ Limits ─ violations, hold, keep_allowed

- `language`: `Constraints`, what a user says, and the checks that need no data.
- `wording`: the same as sentences and as JSON.
- `binding`: the checks against a schema and one row, and the translation to parts.
- `parts`: one constraint in matrix codes; each tells which rows violate it.
- `limits`: `Limits`, all parts for one row, and what follows from them for each column.
"""

from .language import Constraints, as_constraints
from .limits import Limits

__all__ = ["Constraints", "Limits", "as_constraints"]
