"""What may change, how far, in which direction: said by a user, checked on every row that leaves.

    Constraints ─ bind(schema, row) ─ parts ─ Limits ─ violations, hold, keep_allowed

- `kinds`: one file for each kind of constraint, with all that is to be known of it.
- `kind`: what a kind must tell, and the registry; `option`: how a command line says it; `wording`: how it is worded.
- `language`: `Constraints`, what a user says.
- `clause`: one thing that is said, as data.
- `suggestion`: what names of columns suggest, told and never applied.
- `parts`: single constraints bound to a row; `limits`: `Limits`, all of them, and what follows for each column.
"""

from .clause import Clause
from .kind import KINDS, ConstraintKind, register
from .language import Constraints, as_constraints, clause_text
from .limits import Limits
from .suggestion import Suggestion, suggest_constraints

__all__ = [
    "KINDS",
    "Clause",
    "ConstraintKind",
    "Constraints",
    "Limits",
    "Suggestion",
    "as_constraints",
    "clause_text",
    "register",
    "suggest_constraints",
]
