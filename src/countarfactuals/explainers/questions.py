"""Searches as coroutines: they yield the rows that they want to know about, and are sent what the model says of them.

1. A search runs until it needs the model. There it yields rows, (n, p), and waits.
2. Who runs it asks the model and sends an `Answer`; what the model raises is thrown into the search in its place.
3. What the search returns in the end is its result.

So a search does not know whether the model was asked for it alone (`alone`) or in one call with others (`together`).
"""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import NamedTuple, TypeVar

import numpy as np

from countarfactuals.prediction import Predictor

Result = TypeVar("Result")


class Answer(NamedTuple):
    """The scores of the rows of a question, (n, s), and the seconds that the model took for them."""

    scores: np.ndarray
    seconds: float


Asking = Generator[np.ndarray, Answer, Result]


def asked(predictor: Predictor, rows: np.ndarray) -> Answer:
    """What the model says of rows."""
    started = time.perf_counter()
    scores = predictor.scores(rows)
    return Answer(scores, time.perf_counter() - started)


def alone(search: Asking[Result], predictor: Predictor) -> Result:
    """The result of a search that is run on its own."""
    try:
        question = next(search)
        while True:
            try:
                answer = asked(predictor, question)
            except Exception as error:
                question = search.throw(error)
            else:
                question = search.send(answer)
    except StopIteration as end:
        return end.value
