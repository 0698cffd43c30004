"""The jobs of a study, in one process or several.

1. Per data set one job generates the data if that is asked, fits what all methods share (the forest and, where they
   are asked, other judges of plausibility), and stores it.
2. Per data set and method one job reads them, fits what the method needs besides, and explains the instances one by
   one. Each explanation is written when it is made. What is there already is not made again.
3. The widest data sets and the dearest methods come first, so that no process idles at the end.
4. An explanation depends on the seed, the row and the goal alone, and each job runs on one thread: neither the number
   of processes nor an interruption changes a number, apart from seconds.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, wait
from typing import Any

from joblib import effective_n_jobs
from joblib.externals.loky import get_reusable_executor
from threadpoolctl import threadpool_limits

from countarfactuals.exceptions import DensityWarning
from countarfactuals.explainers import ARFExplainer, Explainer
from countarfactuals.explainers.many import THREADS
from countarfactuals.study.candidates import explain, share_background
from countarfactuals.study.cases import Case, generate_case, load_case
from countarfactuals.study.design import Design
from countarfactuals.study.measures import KEYS, measure_name, measured
from countarfactuals.study.progress import Pair, Progress
from countarfactuals.study.store import Store, read_json, read_meta, write_json, write_parquet

_DEAREST = ("mocctree", "mocarf", "moc", "arf", "nice", "whatif")
_WARM_UP = 60  # evaluations of an explanation that is not counted: it loads the kernels
_LOOK = 0.5  # seconds between looks at what other processes have finished


def run_jobs(design: Design, store: Store, *, n_jobs: int = 1, quiet: bool = False) -> None:
    """Make every explanation that is not there yet."""
    progress = Progress(_open(design, store), _known(design, store), quiet=quiet)
    if not progress.left:
        return
    workers = min(effective_n_jobs(n_jobs), len(design.sets) * len(design.methods))
    (_in_processes if workers > 1 else _one_by_one)(design, store, progress, workers)
    progress.tell(last=True)


def case_of(design: Design, store: Store, name: str) -> Case:
    """A case of the study, from the user's folder or from what was generated."""
    return load_case(design.data or store.data, name, design.n_instances)


def every_explanation(design: Design) -> Iterator[tuple[str, str, int]]:
    """Data set, method and instance of each explanation, in the order of the tables."""
    for name in design.sets:
        for method in design.methods:
            for instance in range(1, design.n_instances + 1):
                yield name, method, instance


def _open(design: Design, store: Store) -> Iterator[Pair]:
    return ((key[0], key[1]) for key in every_explanation(design) if not store.explanation(*key).exists())


def _known(design: Design, store: Store) -> Iterator[tuple[Pair, float]]:
    for name, method, instance in every_explanation(design):
        path = store.explanation(name, method, instance)
        if path.exists():
            yield (name, method), read_meta(path)["seconds"]


# Jobs


def prepare(design: Design, store: Store, name: str) -> None:
    """Generate the data if need be, and fit the forest and the judges that all methods share."""
    if design.data is None:
        generate_case(store.data, name, seed=design.seed, n_rows=design.n_rows, n_instances=design.n_instances)
    if store.forest_record(name).exists():
        return
    case = case_of(design, store, name)
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


def explain_all(design: Design, store: Store, name: str, method: str) -> Iterator[float]:
    """Explain the instances that are not explained yet; seconds of each as it is written."""
    left = [i for i in range(1, design.n_instances + 1) if not store.explanation(name, method, i).exists()]
    if not left:
        return
    with threadpool_limits(1):
        case = case_of(design, store, name)
        explainer = _fitted(design, store, case, method)
        for instance in left:
            yield _explain_one(case, explainer, store, method, instance)


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


def _explain_one(case: Case, explainer: Explainer, store: Store, method: str, instance: int) -> float:
    x = case.instances.iloc[[instance - 1]]
    explanation = explain(explainer, x, case.target(x))
    frame = measured(case, explainer, explanation)
    for place, (key, value) in enumerate(zip(KEYS, (case.name, method, instance), strict=True)):
        frame.insert(place, key, value)
    meta = {
        "seconds": explanation.seconds,
        "n_evaluated": explanation.n_evaluated,
        "n_distinct": len(explanation.rows),
        "status": explanation.result.status,
    }
    write_parquet(store.explanation(case.name, method, instance), frame, meta)
    return explanation.seconds


# Order


def _in_order(design: Design) -> list[str]:
    width = {name: int(name.removeprefix("bn_")) if name.startswith("bn_") else 0 for name in design.sets}
    return sorted(design.sets, key=lambda name: -width[name])


def _methods_in_order(design: Design) -> list[str]:
    return sorted(design.methods, key=_DEAREST.index)


def _one_by_one(design: Design, store: Store, progress: Progress, workers: int) -> None:
    for name in _in_order(design):
        prepare(design, store, name)
        for method in _methods_in_order(design):
            for seconds in explain_all(design, store, name, method):
                progress.finished((name, method), seconds)
                progress.tell()


def _in_processes(design: Design, store: Store, progress: Progress, workers: int) -> None:
    executor = get_reusable_executor(workers, env=dict.fromkeys(THREADS, "1"))
    seen = {key for key in every_explanation(design) if store.explanation(*key).exists()}
    waiting: dict[Any, str | None] = {}  # jobs, and the data set that a job prepares
    try:
        for name in _in_order(design):
            waiting[executor.submit(prepare, design, store, name)] = name
        while waiting:
            done, _ = wait(waiting, timeout=_LOOK, return_when=FIRST_COMPLETED)
            for future in done:
                prepared = waiting.pop(future)
                future.result()
                if prepared is not None:
                    for method in _methods_in_order(design):
                        waiting[executor.submit(_explain_there, design, store, prepared, method)] = None
            for key in every_explanation(design):
                if key not in seen and store.explanation(*key).exists():
                    seen.add(key)
                    progress.finished((key[0], key[1]), read_meta(store.explanation(*key))["seconds"])
            progress.tell()
    except BaseException:  # an error, or Ctrl-C: nothing is to go on behind the user's back
        executor.shutdown(wait=False, kill_workers=True)
        raise


def _explain_there(design: Design, store: Store, name: str, method: str) -> None:
    for _ in explain_all(design, store, name, method):
        pass


def fit_seconds(design: Design, store: Store) -> list[dict[str, Any]]:
    """Seconds of every fit: the forest and the judges that all share, and what methods fit on their own."""
    rows: list[dict[str, Any]] = []
    for name in design.sets:
        record = read_json(store.forest_record(name))
        rows.append({"dataset": name, "method": "all", "fitted": "forest", "seconds": record["seconds"]})
        for method, what in (("mocctree", "conditional trees"), ("nice", "autoencoder")):
            if method in design.methods:
                seconds = read_json(store.fit_record(name, method))["seconds"]
                rows.append({"dataset": name, "method": method, "fitted": what, "seconds": seconds})
    return rows


def measure_names(design: Design, store: Store) -> dict[str, str]:
    """What the learned plausibility is on each data set; earlier versions did not record it."""
    records = {name: read_json(store.forest_record(name)) for name in design.sets}
    return {name: record["measure"] for name, record in records.items() if "measure" in record}
