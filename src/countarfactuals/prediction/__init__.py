"""Any model as scores, and wanted outcomes in terms of them.

    model ─ models.Source ─ Predictor ─ scores ┐
                              Target ─ resolve ─ Goal ─ distance

- `models`: how a model of each library is asked; `remote` over HTTP, `inference_protocol` by the open protocol,
  `asynchronous` as a coroutine.
- `rowwise`: whether a row has the same score alone as among others.
- `predictor`: `Predictor`, which takes rows of the matrix and checks what the model returns.
- `scores`: `Score`, what one number of a model is about.
- `target`: `Target`, what a user wants; `change`: what is wanted relative to the row's own score.
- `goal`: `Goal`, the same in terms of one model's scores.
"""

from .asynchronous import AsyncModel
from .goal import Goal, resolve
from .predictor import Predictor, make_predictor
from .remote import RemoteModel
from .scores import Score, score_of_class, wanted_score
from .target import Target, end_texts

__all__ = [
    "AsyncModel",
    "Goal",
    "Predictor",
    "RemoteModel",
    "Score",
    "Target",
    "end_texts",
    "make_predictor",
    "resolve",
    "score_of_class",
    "wanted_score",
]
