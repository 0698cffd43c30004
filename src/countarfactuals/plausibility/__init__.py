"""How plausible rows are: judges of several kinds, who of them is seated, and what is told.

| file | holds |
|---|---|
| `forest` | the adversarial random forest as a judge |
| `mixture` | a mixture of full Gaussians |
| `conditionals` | each column given the others, by a linear part and `boosting` |
| `cells` | how judges read the cells of a row |
| `seats` | who leads the search, and who has a seat |
| `panel` | `Plausibility`: the measure, and what is told to a person |
"""

from countarfactuals.plausibility.forest_judge import MEASURES, ForestJudge, points, row_medians
from countarfactuals.plausibility.panel import ODD, Claims, Plausibility, fit_plausibility
from countarfactuals.plausibility.seats import Skill

__all__ = [
    "MEASURES",
    "ODD",
    "Claims",
    "ForestJudge",
    "Plausibility",
    "Skill",
    "fit_plausibility",
    "points",
    "row_medians",
]
