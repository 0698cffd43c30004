"""Damaged files: each is refused by name, or gives finite numbers. Nothing crashes, hangs or takes much memory.

1. Files of forests and explainers are damaged in the ways of `damage`.
2. Another process loads each and asks what it has loaded: densities, draws, expectations, claims, an explanation. It
   tells after each file what came of it, so that one that kills the process, or stops it, is known.
3. Memory is the largest amount that Python and NumPy have at a time while the file is loaded, as a multiple of the
   undamaged file, or of 0.3 MB; what a load of that one needs is allowed for.

Run it: `python -m tests.torture.damaged_files 10000`
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
import time
import tracemalloc
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from countarfactuals import AdversarialRandomForest, Explainer
from countarfactuals.exceptions import (
    CountarfactualsError,
    DataError,
    DataTypeError,
    ModelError,
    StorageError,
    TargetError,
)
from tests.torture import damage, small

_AT_ONCE = 250
_SECONDS, _WARM_UP = 90.0, 400.0  # without a word, after which a process counts as hanging; kernels may be compiled
_PYTHON = 300_000  # bytes that count as nothing: what Python itself takes to read any file
REFUSED, FINITE, IMPOSSIBLE = "refused by name", "finite numbers", "density of 0, said so"
OTHER_TABLE = (
    "of a table with other columns, said so"  # names, levels and classes are as good as any, and the digest fits
)
HARMLESS = (REFUSED, FINITE, IMPOSSIBLE, OTHER_TABLE)


def attack(count: int, seed: int) -> dict[str, Any]:
    """How often what came of `count` damaged files, and the largest multiple of memory."""
    outcomes: Counter[str] = Counter()
    most = 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "whole").mkdir()
        whole = small.files(folder / "whole")
        rng = np.random.default_rng(seed)
        for start in range(0, count, _AT_ONCE):
            paths = _damaged(whole, folder, min(_AT_ONCE, count - start), rng)
            for told in _tried(paths, folder):
                outcomes[told["outcome"]] += 1
                most = max(most, told.get("memory", 0.0))
    harmless = {outcome: outcomes.pop(outcome, 0) for outcome in HARMLESS}
    told = [outcome for outcome, n in outcomes.items() for _ in range(n)]
    return {"files": count, **harmless, "harmful": len(told), "told": told, "times the memory": round(most, 1)}


def _damaged(whole: dict[str, Path], folder: Path, count: int, rng: np.random.Generator) -> list[Path]:
    """So many damaged files."""
    contents = {stem: path.read_bytes() for stem, path in whole.items()}
    paths = []
    for k in range(count):
        stem = list(contents)[int(rng.choice(len(contents)))]
        way = damage.WAYS[int(rng.integers(len(damage.WAYS)))]
        path = folder / f"{k}-{way.__name__}-{stem}{whole[stem].suffix}"
        path.write_bytes(way(contents[stem], rng))
        paths.append(path)
    return paths


def _tried(paths: list[Path], folder: Path) -> list[dict[str, Any]]:
    """What came of each file, in other processes; the files are removed."""
    told: list[dict[str, Any]] = []
    while len(told) < len(paths):
        log = folder / "log"
        log.write_text("")
        command = [sys.executable, "-m", __spec__.name, "--try", str(folder / "whole"), *map(str, paths[len(told) :])]
        with subprocess.Popen(command, stdout=log.open("w"), stderr=subprocess.DEVNULL) as process:
            is_hanging = _wait(process, log)
        told += [json.loads(line) for line in log.read_text().splitlines()[1:]]
        if len(told) < len(paths):
            ended = "hangs" if is_hanging else f"crash ({process.returncode})"
            told.append({"outcome": f"{ended}: {paths[len(told)].name}"})
    for path in paths:
        path.unlink()
    return told


def _wait(process: subprocess.Popen[bytes], log: Path) -> bool:
    """Wait for the end of a process; one that says nothing for long is ended. Whether it was."""
    size, since = 0, time.monotonic()
    while process.poll() is None:
        time.sleep(0.05)
        if log.stat().st_size != size:
            size, since = log.stat().st_size, time.monotonic()
        if time.monotonic() - since > (_SECONDS if size else _WARM_UP):
            process.kill()
            process.wait()
            return True
    return False


def _try_all(whole: Path, paths: list[Path]) -> None:
    """Try each file, and tell of it."""
    warnings.simplefilter("ignore")
    allowed = {}
    for path in sorted(whole.iterdir()):  # twice: the first one imports and compiles
        assert [_try(path, 1.0)["outcome"] for _ in range(2)] == [FINITE] * 2
        allowed[path.stem] = _try(path, 1.0)["bytes"] / path.stat().st_size
    print("ready", flush=True)
    for path in paths:
        stem = path.stem.split("-")[-1]
        size = (whole / f"{stem}{path.suffix}").stat().st_size
        told = _try(path, size)
        told["memory"] = told["bytes"] / max(size, _PYTHON) / max(1.0, allowed[stem] / 3.0)
        print(json.dumps(told), flush=True)


def _try(path: Path, size: float) -> dict[str, Any]:
    """What comes of one file."""
    tracemalloc.start()
    try:
        loaded = _load(path)
    except (StorageError, ModelError) as error:  # damaged scores are those of another model
        return {"outcome": REFUSED if path.name in str(error) else "refused without its name"} | _memory()
    except Exception as error:
        return {"outcome": f"foreign {type(error).__name__} on load: {path.name}: {error}"} | _memory()
    finally:
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return {"outcome": _asked(loaded, path), "bytes": used}


def _memory() -> dict[str, int]:
    return {"bytes": tracemalloc.get_traced_memory()[1]}


def _load(path: Path) -> Any:
    if path.suffix == ".arf":
        return AdversarialRandomForest.load(path)
    return Explainer.load(path, small.model)


def _asked(loaded: Any, path: Path) -> str:
    """What the loaded object says when it is asked."""
    try:
        numbers = _of_forest(loaded) if path.suffix == ".arf" else _of_explainer(loaded)
    except (DataError, DataTypeError, TargetError):
        return OTHER_TABLE
    except CountarfactualsError as error:
        return IMPOSSIBLE if "probability 0" in str(error) else f"{type(error).__name__} later: {path.name}: {error}"
    except Exception as error:
        return f"foreign {type(error).__name__}: {path.name}: {error}"
    if np.isnan(numbers).any() or (numbers == math.inf).any():
        return f"numbers that are none: {path.name}"
    return FINITE if np.isfinite(numbers).all() else IMPOSSIBLE


def _of_forest(forest: AdversarialRandomForest) -> np.ndarray:
    rows = small.table().iloc[:20]
    known = rows.drop(columns=["income", "home"])
    forest.sample(5, random_state=1)
    forest.sample(2, given=rows[["town"]].head(2), random_state=1)
    expected = forest.expect(["age", "member"]).to_numpy(np.float64)
    return np.concatenate([forest.score_samples(rows), forest.score_samples(known), expected.ravel()])


def _of_explainer(explainer: Explainer) -> np.ndarray:
    rows = small.table().iloc[:10]
    background = explainer.background_
    matrix = background.schema.encode(rows)
    claims = background.plausibility.claims(matrix)
    explainer.set_params(max_evaluations=60)
    found = explainer.explain(rows.iloc[[0]], "yes")
    return np.concatenate([claims.typicality, background.plausibility(matrix), found.x_typicality * np.ones(1)])


if __name__ == "__main__":
    if sys.argv[1] == "--try":
        _try_all(Path(sys.argv[2]), [Path(path) for path in sys.argv[3:]])
    else:
        print(json.dumps(attack(int(sys.argv[1]), seed=int(sys.argv[2]) if len(sys.argv) > 2 else 1), indent=1))
