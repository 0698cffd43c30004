"""NSGA-II as MOC adapts it, on arrays and callables: nothing here knows of models, targets or frames.

    initial rows ─ evaluate ─ front_ranks, crowding ─ survivors ─ tournament ─ vary ─ evaluate ─ …  ─ Evolution

- `loop`: the generations, the archive of everything that was evaluated, and when to stop.
- `ranking`: who is better than whom.
- `operators`: new rows from old ones; a caller's `vary` is put together from them.
"""

from .loop import Evolution, evolve
from .operators import beyond, gaussian_mutation, level_mutation, reset, sbx, uniform_mutation
from .ranking import crowding, front_ranks, survivors, tournament

__all__ = [
    "Evolution",
    "beyond",
    "crowding",
    "evolve",
    "front_ranks",
    "gaussian_mutation",
    "level_mutation",
    "reset",
    "sbx",
    "survivors",
    "tournament",
    "uniform_mutation",
]
