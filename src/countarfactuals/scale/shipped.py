"""`saved`: an explainer in its file, as workers get it.

1. What is sent is a path with a checksum, not the explainer: a few hundred bytes with every task.
2. A process reads the file when its first part arrives, and keeps the explainer for the parts that follow.
3. A file that is not the one that was there when the work was handed out is refused: its rows would have other answers.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

import cloudpickle

from countarfactuals.exceptions import StorageError
from countarfactuals.explainers import Explainer, explainer_like

_KEPT: dict[tuple[str, str], Explainer] = {}
_LOADING = Lock()  # workers may have several threads


@dataclass(frozen=True)
class SavedExplainer:
    """Where workers find an explainer, and which one it is; made by `saved`."""

    path: str
    checksum: str
    model: str | Callable[[], Any] | None = None
    trust_model: bool = False
    method: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def loaded(self) -> Explainer:
        """The explainer, read once by each process."""
        with _LOADING:
            if (self.path, self.checksum) not in _KEPT:
                if _checksum(self) != self.checksum:
                    raise StorageError(
                        f"The explainer {self.path!r} is not the one that this work was handed out with. Begin anew, "
                        "or put that one back on every machine."
                    )
                _KEPT.clear()
                _KEPT[self.path, self.checksum] = _read(self)
            return _KEPT[self.path, self.checksum]


def saved(
    path: str | os.PathLike[str],
    model: str | os.PathLike[str] | Callable[[], Any] | None = None,
    *,
    trust_model: bool = False,
    method: str | None = None,
    **settings: Any,
) -> SavedExplainer:
    """An explainer in its file or folder, for workers that all reach it by the same path.

    Parameters
    ----------
    path : the folder of `countarfactuals fit`, which holds the model, or a file of `explainer.save`.
    model : for a file: the model's own file, of any kind that `countarfactuals fit --model` takes, or a function
        without arguments that gives the model on the worker; None where the observed outcome is explained.
    trust_model : load a .joblib or .pkl model, which runs code from its file.
    method : another method on what was learned.
    settings : parameters of the explainer that shall differ, such as `max_evaluations=200`.
    """
    place = os.path.abspath(path)
    if not Path(place).exists():
        raise StorageError(
            f"There is no explainer {os.fspath(path)!r}. Give the folder of `countarfactuals fit`, or the file of "
            "`explainer.save`."
        )
    where = os.path.abspath(model) if isinstance(model, str | os.PathLike) else model
    given = SavedExplainer(place, "", where, trust_model, method, settings)
    return SavedExplainer(place, _checksum(given), where, trust_model, method, settings)


def _checksum(given: SavedExplainer) -> str:
    """Of all that decides what the explainer answers, wherever it lies."""
    place, digest = Path(given.path), hashlib.sha256()
    files = sorted(place.iterdir()) if place.is_dir() else [place]
    if isinstance(given.model, str):
        files.append(Path(given.model))
    elif given.model is not None:
        digest.update(cloudpickle.dumps(given.model))
    try:
        for file in files:
            with file.open("rb") as content:
                digest.update(hashlib.file_digest(content, "sha256").digest())
    except OSError as error:
        raise StorageError(f"{error.filename!r} can not be read: {error.strerror}. Mend it, or fit again.") from error
    digest.update(repr((given.method, sorted(given.settings.items()))).encode())
    return digest.hexdigest()


def _read(given: SavedExplainer) -> Explainer:
    """The explainer, by the method and with the settings that are asked for."""
    from countarfactuals.cli import folder, model_files

    if Path(given.path).is_dir():
        explainer = folder.read(given.path, trusted=given.trust_model).explainer
    else:
        model: Any = given.model
        if isinstance(model, str):
            model = model_files.load(Path(model), trusted=given.trust_model, is_ours=False)
        elif model is not None:
            model = model()
        explainer = Explainer.load(given.path, model)
    if given.method is None and not given.settings:
        return explainer
    return explainer_like(explainer, given.method, **given.settings)
