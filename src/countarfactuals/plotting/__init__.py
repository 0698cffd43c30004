"""Pictures of counterfactuals, with matplotlib (the extra `plot`).

Of each picture a function computes an info object, plain values that can be tested, and `plot_*` draws it on the axes
given, or on new ones of a page's width, and returns the axes. Nothing that is passed in is changed.

| picture | shows |
|---|---|
| `plot_change_table` | what each counterfactual changes, with ↑ ↓ ↔ |
| `plot_parallel` | x and its counterfactuals as lines across the features |
| `plot_surface` | the prediction and what is plausible over two features |
| `plot_frequency` | how often each feature changes, also over many rows |
| `plot_change_importance` | how often and how far each feature changes, also over many rows |
| `plot_recourse` | what another outcome would cost groups of rows |
| `plot_common_ways` | a few changes that help most of a batch |
| `plot_pareto` | typicality, distance and number of changes against each other |
| `plot_density_strip` | where counterfactuals stand among the real rows |
| `plot_ice`, `plot_importance` | the prediction along each feature, and how much it varies |
| `plot_history` | hypervolume over the generations of a search |

`style` says how pictures look: colours, sizes, axes, and texts that fit. `subject` checks what a picture is about, and
places values of any kind on an axis.
"""

from countarfactuals.exceptions import MissingDependencyError

try:
    import matplotlib  # noqa: F401
except ImportError as error:
    raise MissingDependencyError(
        "Pictures need matplotlib, which is not installed. Install it with `pip install 'countarfactuals[plot]'`."
    ) from error

from countarfactuals.plotting.audit import plot_change_importance, plot_recourse
from countarfactuals.plotting.changes import plot_change_table, plot_frequency
from countarfactuals.plotting.helped import plot_common_ways
from countarfactuals.plotting.ice import plot_ice, plot_importance
from countarfactuals.plotting.merits import plot_density_strip, plot_history, plot_pareto
from countarfactuals.plotting.parallel import plot_parallel
from countarfactuals.plotting.surface import plot_surface

__all__ = [
    "plot_change_importance",
    "plot_change_table",
    "plot_common_ways",
    "plot_density_strip",
    "plot_frequency",
    "plot_history",
    "plot_ice",
    "plot_importance",
    "plot_parallel",
    "plot_pareto",
    "plot_recourse",
    "plot_surface",
]
