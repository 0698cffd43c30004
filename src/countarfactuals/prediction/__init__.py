"""Any model as scores, and wanted outcomes as intervals of them.

    model ─ models.Source ─ Predictor ─ scores ┐
                              Target ─ resolve ─ Goal ─ distance

- `models`: how a model of each library is asked.
- `predictor`: `Predictor`, which takes rows of the matrix and checks what the model returns.
- `target`: `Target`, what a user wants, and `Goal`, the same in terms of one model's scores.
"""

from .predictor import Predictor, make_predictor
from .target import Goal, Target, resolve

__all__ = ["Goal", "Predictor", "Target", "make_predictor", "resolve"]
