"""The kinds of constraints, one file each, registered in the order of their sentences."""

from ..kind import register
from .allow_missing import AllowMissing
from .allowed import Allowed
from .change import Change
from .derived import Derived
from .direction import Direction
from .exactly_one import ExactlyOneOf
from .fixed import Fixed
from .groups import Groups
from .max_changed import MaxChanged
from .ranges import Ranges
from .rules import Rules
from .steps import Steps
from .vary import Vary
from .weights import WEIGHTS

for kind in (
    Fixed(),
    Vary(),
    Ranges(),
    Change(),
    Steps(),
    Allowed(),
    Direction(),
    Derived(),
    MaxChanged(),
    Rules(),
    Groups(),
    ExactlyOneOf(),
    WEIGHTS,
    AllowMissing(),
):
    register(kind)
