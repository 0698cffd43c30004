"""`Together`: many searches in step, for all of which the model is asked in one call.

1. A search that is new runs to its first question.
2. The questions of all searches are joined, up to a number of rows, and the model is asked about them at once.
3. Every search gets its own part of the answer and runs to its next question, or to its end.
4. Where a joint call fails, each question is asked on its own, so that only the guilty search gets the error.

Searches may be added between steps at any time. Where the model scores rows one by one, each search finds what it
finds alone, to the last bit; where it does not, `joint=False` asks each question on its own, all at a time if the model
can (`ask_each`). Where that is not known but measured, `verify` asks about one question of some joint calls once more,
alone: of the first, second, fourth, eighth, … one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Hashable, Iterator, Sequence
from typing import Generic, TypeVar

import numpy as np

from countarfactuals._parallel import few_threads
from countarfactuals.exceptions import ParameterError
from countarfactuals.explainers.questions import Answer, Asking, Result
from countarfactuals.prediction import Predictor

MOST_ROWS = 32_768  # in one call of the model: more than 256 searches ask about in a step by default

Key = TypeVar("Key", bound=Hashable)


class Dependent(Exception):
    """A model scored rows otherwise among others than alone."""


class Together(Generic[Key, Result]):
    """Searches that ask one model, in step. One thread may use it at a time.

    Parameters
    ----------
    predictor : the model that all of them ask.
    joint : whether questions of several searches may be asked in one call.
    most_rows : most rows in a joint call.
    verify : whether some questions are asked alone too; `step` raises `Dependent` if their scores differ.

    `model_calls` counts how often the model was asked. `quickest` is how many seconds the quickest call took, which is
    about what a call costs however few rows it has.
    """

    def __init__(
        self, predictor: Predictor, *, joint: bool = True, most_rows: int = MOST_ROWS, verify: bool = False
    ) -> None:
        self.predictor = predictor
        self.joint = joint
        self.most_rows = most_rows
        self.verify = verify
        self.model_calls = 0
        self.quickest = math.inf
        self._searches: dict[Key, Asking[Result]] = {}
        self._questions: dict[Key, np.ndarray] = {}  # of the searches that have begun

    def __len__(self) -> int:
        """How many searches have not ended."""
        return len(self._searches)

    def add(self, key: Key, search: Asking[Result]) -> None:
        """Take in a search, which begins with the next step; its key must be new."""
        if key in self._searches:
            raise ParameterError(f"There is a search with the key {key!r} already. Give each one a key of its own.")
        self._searches[key] = search

    def cancel(self, key: Key) -> bool:
        """Give up a search; whether there was one."""
        search = self._searches.pop(key, None)
        self._questions.pop(key, None)
        if search is not None:
            search.close()
        return search is not None

    def step(self) -> list[tuple[Key, Result | Exception]]:
        """Ask the model once for all searches and let each run on; those that have ended, with what came of them.

        That is what a search returned, or the exception that ended it.
        """
        ended: dict[Key, Result | Exception] = {}
        with few_threads():
            for key in [key for key in self._searches if key not in self._questions]:
                self._run(key, None, ended)
            for key, answer in list(self._answers()):
                self._run(key, answer, ended)
        return list(ended.items())

    def _run(self, key: Key, answer: Answer | Exception | None, ended: dict[Key, Result | Exception]) -> None:
        """Let a search run to its next question or to its end."""
        search = self._searches[key]
        try:
            if isinstance(answer, Exception):
                self._questions[key] = search.throw(answer)
            else:
                self._questions[key] = next(search) if answer is None else search.send(answer)
        except StopIteration as end:
            ended[key] = end.value
        except Exception as error:
            ended[key] = error
        if key in ended:
            del self._searches[key]
            self._questions.pop(key, None)

    def _answers(self) -> Iterator[tuple[Key, Answer | Exception]]:
        for keys in self._calls():
            questions = [self._questions[key] for key in keys]
            answers = self._jointly(questions) if self.joint and len(keys) > 1 else self._apart(questions)
            yield from zip(keys, answers, strict=True)

    def _calls(self) -> Iterator[list[Key]]:
        """Whose questions go in one call: those that stand in line, whole, up to the number of rows."""
        keys: list[Key] = []
        n_rows = 0
        for key, question in self._questions.items():
            if keys and n_rows + len(question) > self.most_rows:
                yield keys
                keys, n_rows = [], 0
            keys.append(key)
            n_rows += len(question)
        if keys:
            yield keys

    def _jointly(self, questions: Sequence[np.ndarray]) -> list[Answer | Exception]:
        """The answers to questions that are asked in one call; asked apart if it fails, to tell whose rows it is."""
        started = time.perf_counter()
        self.model_calls += 1
        try:
            scores = self.predictor.scores(np.concatenate(questions))
        except Exception:
            return self._apart(questions)
        seconds = time.perf_counter() - started
        self.quickest = min(self.quickest, seconds)
        ends = np.cumsum([len(question) for question in questions])
        parts = np.split(scores, ends[:-1])
        if self.verify and self.model_calls.bit_count() == 1:
            self._compare(questions, parts)
        return [Answer(part, seconds * len(part) / ends[-1]) for part in parts]

    def _apart(self, questions: Sequence[np.ndarray]) -> list[Answer | Exception]:
        """The answers to questions that are asked each on its own."""
        started = time.perf_counter()
        self.model_calls += len(questions)
        every = self.predictor.scores_of_each(questions)
        seconds = (time.perf_counter() - started) / len(questions)
        self.quickest = min(self.quickest, seconds)
        return [scores if isinstance(scores, Exception) else Answer(scores, seconds) for scores in every]

    def _compare(self, questions: Sequence[np.ndarray], parts: Sequence[np.ndarray]) -> None:
        """Ask about the rows of one search alone."""
        which = self.model_calls % len(questions)
        try:
            alone = self.predictor.scores(questions[which])
        except Exception as error:
            raise Dependent from error
        if not np.array_equal(alone, parts[which]):
            raise Dependent
