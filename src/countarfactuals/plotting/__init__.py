"""Pictures of counterfactuals, with matplotlib (the extra `plot`).

Each file is one picture: a function computes an info object, plain values that can be tested, and `plot_*` draws it on
the axes given, or on new ones of a page's width, and returns the axes. Nothing that is passed in is changed.

| picture | shows |
|---|---|
| `plot_change_table` | what each counterfactual changes, with ↑ ↓ ↔ |
| `plot_parallel` | x and its counterfactuals as lines across the features |
| `plot_surface` | the prediction and what is plausible over two features |
| `plot_frequency` | how often each feature changes, also over many rows |
| `plot_pareto` | typicality, distance and number of changes against each other |
| `plot_density_strip` | where counterfactuals stand among the real rows |
| `plot_ice`, `plot_importance` | the prediction along each feature, and how much it varies |
| `plot_history` | hypervolume over the generations of a search |

`style` holds colours and sizes, `text` makes the user's names safe and fits them into their room, `scale` places values
of any kind on an axis, `subject` checks what a picture is about.
"""

from countarfactuals.exceptions import MissingDependencyError

try:
    import matplotlib  # noqa: F401
except ImportError as error:
    raise MissingDependencyError(
        "Pictures need matplotlib, which is not installed. Install it with `pip install 'countarfactuals[plot]'`."
    ) from error

from countarfactuals.plotting.change_table import plot_change_table
from countarfactuals.plotting.density_strip import plot_density_strip
from countarfactuals.plotting.frequency import plot_frequency
from countarfactuals.plotting.history import plot_history
from countarfactuals.plotting.ice import plot_ice
from countarfactuals.plotting.importance import plot_importance
from countarfactuals.plotting.parallel import plot_parallel
from countarfactuals.plotting.pareto import plot_pareto
from countarfactuals.plotting.surface import plot_surface

__all__ = [
    "plot_change_table",
    "plot_density_strip",
    "plot_frequency",
    "plot_history",
    "plot_ice",
    "plot_importance",
    "plot_parallel",
    "plot_pareto",
    "plot_surface",
]
