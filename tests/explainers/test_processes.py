"""Ctrl-C and the time budget in a process of its own, whose workers get the signal too, as in a terminal."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time

import cloudpickle
import numpy as np
import pandas as pd
import pytest

from countarfactuals import AdversarialRandomForest, ARFExplainer, Constraints
from countarfactuals.explainers.many_rows import _explain_there
from countarfactuals.explainers.row_wishes import Wish, Wishes
from countarfactuals.explainers.rows_in_step import Request, Task

SCRIPT = """
import sys, time
import numpy as np, pandas as pd
from countarfactuals import AdversarialRandomForest, ARFExplainer

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))

def model(frame):
    time.sleep(0.05)
    return (frame["a"] > 0.5).to_numpy(float)

forest = AdversarialRandomForest(n_estimators=5, min_samples_leaf=10)
explainer = ARFExplainer(model, classes=[0, 1], density=forest, max_evaluations=100, random_state=1).fit(X)
print("fitted", flush=True)
batch = explainer.explain_many(X, n_jobs=2, time_budget=float(sys.argv[1]), together=eval(sys.argv[2]))
print(len(batch), len(batch.unfinished), flush=True)
"""


def run(seconds: float, interrupt_after: float | None, together: bool | None = None) -> tuple[int, int]:
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, str(seconds), str(together)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "fitted\n"
    if interrupt_after is not None:
        time.sleep(interrupt_after)
        os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to the whole group
    out, error = process.communicate(timeout=60)
    assert process.returncode == 0, error
    done, unfinished = map(int, out.split())
    return done, unfinished


@pytest.mark.skipif(os.name != "posix", reason="signals to process groups are of POSIX")
def test_an_interrupt_of_several_processes_returns_what_is_finished():
    done, unfinished = run(1e6, interrupt_after=4.0, together=False)
    assert done > 0
    assert unfinished > 0
    assert done + unfinished == 200


def test_a_row_is_not_begun_when_it_is_too_late(tmp_path):
    data = pd.DataFrame(np.random.default_rng(0).normal(size=(100, 2)), columns=list("ab"))
    forest = AdversarialRandomForest(n_estimators=2, min_samples_leaf=20)
    explainer = ARFExplainer(lambda frame: frame["a"], density=forest, max_evaluations=50, random_state=1).fit(data)
    path = tmp_path / "request"
    path.write_bytes(cloudpickle.dumps(Request(explainer, Wishes((Wish((1, 2), Constraints()),), (0,)), "raise")))
    task = Task(0, explainer.background_.matrix[0])
    assert _explain_there(str(path), [task], time.time() - 1) == []
    ((position, result),) = _explain_there(str(path), [task], math.inf)
    assert position == 0
    assert result.status in ("found", "already")


def test_the_time_budget_of_several_processes():
    done, unfinished = run(2.0, interrupt_after=None)
    assert done > 0
    assert unfinished > 0
    assert done + unfinished == 200
