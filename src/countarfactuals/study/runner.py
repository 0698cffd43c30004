"""The jobs of a study, in one process or several, with a bar that tells how far they are.

1. Per data set one job writes the data if that is asked, fits what all methods share (the forest and, where they
   are asked, other judges of plausibility), and stores it.
2. Per data set and method one job reads them, fits what the method needs besides, and explains the instances one by
   one. Each explanation is written when it is made. What is there already is not made again.
3. The widest data sets and the dearest methods come first, so that no process idles at the end.
4. An explanation depends on the seed, the row and the goal alone, and each job runs on one thread: neither the number
   of processes nor an interruption changes a number, apart from seconds.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import as_completed
from functools import partial
from typing import Any, TypeVar

from joblib import effective_n_jobs
from threadpoolctl import threadpool_limits

from countarfactuals._parallel import processes
from countarfactuals._progress import tqdm
from countarfactuals.exceptions import DensityWarning
from countarfactuals.explainers import ARFExplainer, Explainer
from countarfactuals.language import tr
from countarfactuals.study.design import Design, dearest_first, own_fits
from countarfactuals.study.measures import KEYS, explain, measure_name, measured, share_background
from countarfactuals.study.mending import mend
from countarfactuals.study.sets import SETS, Case
from countarfactuals.study.store import Store, read_json, write_json, write_parquet

Task = TypeVar("Task")
Result = TypeVar("Result")
_WARM_UP = 60  # evaluations of an explanation that is not counted: it loads the kernels


def run_jobs(design: Design, store: Store, *, n_jobs: int = 1, quiet: bool = False) -> None:
    """Make every explanation that is not there yet."""
    keys = list(every_explanation(design))
    for path in mend(store, design.sets, keys):
        print(tr("warning: {path} was damaged and is made anew.", path=path), file=sys.stderr)
    n_made = sum(store.explanation(*key).exists() for key in keys)
    if n_made == len(keys):
        return
    workers = min(effective_n_jobs(n_jobs), len(design.sets) * len(design.methods))
    widths = dict(_finished(partial(prepare, design, store), design.sets, workers))
    sets = sorted(design.sets, key=lambda name: -widths[name])
    pairs = [(name, method) for name in sets for method in dearest_first(design.methods)]
    with tqdm(total=len(keys), initial=n_made, disable=quiet, desc=tr("explanations")) as bar:
        for n_explained in _explained(design, store, pairs, workers):
            bar.update(n_explained)


def case_of(design: Design, store: Store, name: str) -> Case:
    """A case of the study."""
    return SETS[name].case(design, store.data)


def every_explanation(design: Design) -> Iterator[tuple[str, str, int]]:
    """Data set, method and instance of each explanation, in the order of the tables."""
    for name in design.sets:
        for method in design.methods:
            for instance in range(1, design.n_instances + 1):
                yield name, method, instance


# Jobs


def prepare(design: Design, store: Store, name: str) -> tuple[str, int]:
    """Write the data if need be, and fit the forest and the judges that all methods share; the name and the width."""
    design.load_plugins()
    SETS[name].write(design, store.data)
    case = case_of(design, store, name)
    if store.forest_record(name).exists():
        return name, case.n_features
    explainer = design.explainer("arf", case.model, case.n_features)
    store.forest(name).parent.mkdir(parents=True, exist_ok=True)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", DensityWarning)  # what it says is recorded below
        started = time.perf_counter()
        explainer.fit(case.X)
        seconds = time.perf_counter() - started
    explainer.save(store.forest(name))
    plausibility = explainer.background_.plausibility
    forest = plausibility.forest
    record = {
        "seconds": seconds,
        "trees": forest.forest_.n_trees,
        "min_samples_leaf": int(forest.min_samples_leaf_),
        "accuracies": list(forest.accuracies_),
        "measure": measure_name(plausibility),
    }
    write_json(store.forest_record(name), record)
    return name, case.n_features


def explain_all(design: Design, store: Store, name: str, method: str) -> Iterator[int]:
    """Explain the instances that are not explained yet; 1 as each is written."""
    design.load_plugins()
    left = [i for i in range(1, design.n_instances + 1) if not store.explanation(name, method, i).exists()]
    if not left:
        return
    with threadpool_limits(1):
        case = case_of(design, store, name)
        explainer = _fitted(design, store, case, method)
        for instance in left:
            _explain_one(case, explainer, store, method, instance)
            yield 1


def _fitted(design: Design, store: Store, case: Case, method: str) -> Explainer:
    shared = ARFExplainer.load(store.forest(case.name), case.model)
    explainer = design.explainer(method, case.model, case.n_features)
    seconds = share_background(explainer, shared)
    record = store.fit_record(case.name, method)
    if not record.exists():  # a study that is resumed keeps the seconds it began with
        write_json(record, {"seconds": seconds})
    x = case.instances.iloc[[0]]
    explainer.set_params(max_evaluations=min(_WARM_UP, design.max_evaluations))
    explain(explainer, x, case.target(x))
    explainer.set_params(max_evaluations=design.max_evaluations)
    return explainer


def _explain_one(case: Case, explainer: Explainer, store: Store, method: str, instance: int) -> None:
    x = case.instances.iloc[[instance - 1]]
    explanation = explain(explainer, x, case.target(x))
    frame = measured(case, explainer, explanation)
    for place, (key, value) in enumerate(zip(KEYS, (case.name, method, instance), strict=True)):
        frame.insert(place, key, value)
    meta = {
        **dict(zip(KEYS, (case.name, method, instance), strict=True)),
        "seconds": explanation.seconds,
        "n_evaluated": explanation.n_evaluated,
        "n_distinct": len(explanation.rows),
        "status": explanation.result.status,
    }
    write_parquet(store.explanation(case.name, method, instance), frame, meta)


# Processes


def _explained(design: Design, store: Store, pairs: list[tuple[str, str]], workers: int) -> Iterator[int]:
    """Numbers of explanations as they are made: in this process one by one, else those of a job together."""
    if workers == 1:
        for pair in pairs:
            yield from explain_all(design, store, *pair)
    else:
        yield from _finished(partial(_explain_there, design, store), pairs, workers)


def _explain_there(design: Design, store: Store, pair: tuple[str, str]) -> int:
    return sum(explain_all(design, store, *pair))


def _finished(job: Callable[[Task], Result], tasks: Iterable[Task], workers: int) -> Iterator[Result]:
    """What a job returns, as it comes."""
    if workers == 1:
        yield from map(job, tasks)
        return
    with processes(workers) as executor:
        for future in as_completed([executor.submit(job, task) for task in tasks]):
            yield future.result()


# Records


def fit_seconds(design: Design, store: Store) -> list[dict[str, Any]]:
    """Seconds of every fit: the forest and the judges that all share, and what methods fit on their own."""
    rows: list[dict[str, Any]] = []
    for name in design.sets:
        places = {"all": ("forest", store.forest_record(name))}
        places |= {m: (what, store.fit_record(name, m)) for m, what in own_fits().items() if m in design.methods}
        for method, (what, path) in places.items():
            rows.append({"dataset": name, "method": method, "fitted": what, "seconds": read_json(path)["seconds"]})
    return rows


def measure_names(design: Design, store: Store) -> dict[str, str]:
    """What the learned plausibility is on each data set; earlier versions did not record it."""
    records = {name: read_json(store.forest_record(name)) for name in design.sets}
    return {name: record["measure"] for name, record in records.items() if "measure" in record}
