"""`Job`: what is asked of every part of a table. Small and picklable; called with a part, it gives its lines."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from countarfactuals.exceptions import DataError
from countarfactuals.explainers.explained_frame import no_lines
from countarfactuals.scale.shipped import SavedExplainer


@dataclass(frozen=True)
class Job:
    """What `Explainer.explain_frame` is asked about every part, and the explainer that answers.

    Parameters
    ----------
    explainer : from `saved`.
    target, constraints, top : as `explain_frame` takes them; functions are sent to the workers.
    key : the column that tells rows apart. Only frames of Dask have labels of their own, which will do.
    """

    explainer: SavedExplainer
    target: Any = None
    constraints: Any = None
    top: int | None = 3
    key: Hashable | None = None

    def __call__(self, part: Any) -> Any:
        """The lines of one part, on the worker that has it."""
        return self.explainer.loaded().explain_frame(part, self.target, self.constraints, self.top, key=self.key)

    def no_lines(self, part: Any) -> Any:
        """An empty frame with the columns of the lines of such parts; the explainer is not read."""
        return no_lines(part, self.key)

    def needed_key(self, engine: str) -> str:
        """The key, for an engine whose rows have no labels."""
        if self.key is None:
            raise DataError(
                f"Rows of {engine} have no labels, so that lines could not be told apart. Name the column that tells "
                "rows apart: Job(…, key='id')."
            )
        return str(self.key)
