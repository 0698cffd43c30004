"""Which kernels Python calls while everything is used once: `make kernels` writes them to `kernels.json`."""

from __future__ import annotations

import warnings

import numpy as np
from numba.core.dispatcher import _DispatcherBase

from countarfactuals._signatures import Entry, save, spelled


def heard() -> list[Entry]:
    """A list to which every kernel is added that is called with types that are new to it."""
    entries: list[Entry] = []
    make_ready = _DispatcherBase._compile_for_args

    def note(dispatcher, *arguments, **named):
        result = make_ready(dispatcher, *arguments, **named)
        function, types = dispatcher.py_func, list(dispatcher.overloads)[-1]
        if function.__module__.startswith("countarfactuals."):
            entries.append(Entry(function.__module__, function.__name__, [spelled(each) for each in types]))
        return result

    _DispatcherBase._compile_for_args = note
    return entries


def first_session() -> None:
    """What nearly everyone does: fit, explain, many rows, a file."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    from countarfactuals import ARFExplainer, Constraints
    from countarfactuals.datasets import load_loan

    loan = load_loan(n=400)
    one_hot = (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number"))
    model = make_pipeline(
        make_column_transformer(one_hot, remainder="passthrough"), LogisticRegression(max_iter=10)
    ).fit(loan.X, loan.y)
    X = loan.X
    explainer = ARFExplainer(model, random_state=1).fit(X)
    rejected = X[model.predict(X) == "bad"]
    constraints = Constraints(fixed=["age"], direction={"savings": "increase"}, max_changed=3)
    explainer.explain(rejected.iloc[[0]], "good", constraints)
    explainer.explain_many(rejected.iloc[1:3], "good", progress=False)


def density_session() -> None:
    """The density on its own, with conditions and missing values."""
    from countarfactuals import AdversarialRandomForest
    from countarfactuals.datasets import load_loan

    X = load_loan(n=400).X
    X.loc[X.index[:40], "income"] = np.nan
    arf = AdversarialRandomForest(n_estimators=4, random_state=1).fit(X)
    for given in (None, {"age": (25, 35), "housing": "own"}):
        arf.score_samples(X.head(3), given=given)
        arf.sample(3, given=given, random_state=1)
        arf.expect(given=given)
    arf.impute(X.head(3), random_state=1)


def _side_by_side(entries: list[Entry], one: str, other: str) -> list[Entry]:
    """One kernel moved behind another: the longest two share most of their code, so that one process takes both."""
    moved = next(entry for entry in entries if entry.name == one)
    rest = [entry for entry in entries if entry is not moved]
    place = next(k for k, entry in enumerate(rest) if entry.name == other)
    return [*rest[: place + 1], moved, *rest[place + 1 :]]


def main() -> None:
    """Write the list."""
    warnings.simplefilter("ignore")
    entries = heard()
    first_session()
    n = len(entries)
    density_session()
    # what few sessions need stands first: the second process of a first use comes from the end
    save([*entries[n:], *_side_by_side(entries[:n], "_walk", "_draw")])
    print(f"{len(entries)} kernels")


if __name__ == "__main__":
    main()
