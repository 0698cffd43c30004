from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest

from countarfactuals import AdversarialRandomForest, ARFExplainer
from countarfactuals.cli import model_files
from countarfactuals.cli.folder import write
from countarfactuals.datasets import load_loan
from countarfactuals.serve import Access, Allowances, Served, in_background

TOKEN = "a-token-of-more-than-thirty-two-characters"
N_ROWS = 600


@pytest.fixture(scope="session")
def explainer() -> ARFExplainer:
    """An explainer of loans, with a small forest and a small model."""
    loan = load_loan()
    X, y = loan.X.iloc[:N_ROWS], loan.y.iloc[:N_ROWS]
    model = model_files.train(X, y, "loan", "classification", 20, 1).model
    density = AdversarialRandomForest(n_estimators=10, random_state=1)
    return ARFExplainer(model, density=density, max_evaluations=300, random_state=1).fit(X)


@pytest.fixture(scope="session")
def served(explainer) -> Served:
    units = {"income": "€", "savings": "€", "amount": "€", "duration": "months"}
    return Served("loan", explainer, outcome="loan", units=units, rows_are="applicants")


Serving = Callable[..., AbstractContextManager[str]]


@pytest.fixture
def serving(served, tmp_path) -> Serving:
    """What starts a server with other limits or access."""

    def start(
        *others: Served, access: Access | None = None, allowances: Allowances | None = None, hidden: bool = False
    ) -> AbstractContextManager[str]:
        shown = [served.hidden() if hidden else served, *others]
        return in_background(shown, access=access, allowances=allowances, jobs_folder=tmp_path / "jobs")

    return start


@pytest.fixture(scope="session")
def address(served, tmp_path_factory) -> Iterator[str]:
    """The address of a server that needs no token."""
    with in_background([served], jobs_folder=tmp_path_factory.mktemp("jobs")) as found:
        yield found


@pytest.fixture(scope="session")
def folder(explainer, tmp_path_factory) -> str:
    """A folder as `fit` writes it."""
    place = tmp_path_factory.mktemp("fitted") / "loan"
    write(place, explainer, explainer.model, None, {"made": "auto", "outcome": "loan", "rows": "applicants"})
    return str(place)
