"""Why was this applicant rejected, and what would have changed it? On generated loans: run it with `make demo`."""

from __future__ import annotations

import time

import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder

from countarfactuals import ARFExplainer, Constraints, Counterfactuals, Target
from countarfactuals.datasets import Dataset, load_loan

SEED = 1
HELD_OUT = 500
APPLICANT = 3  # among the held-out applicants that the model rejects


def main() -> None:
    started = time.perf_counter()
    print("countarfactuals: plausible counterfactual explanations")
    print("The first run compiles the kernels, which takes about a minute; later runs take seconds.", flush=True)
    loan = load_loan()
    test = loan.X.sample(HELD_OUT, random_state=SEED)
    train = loan.X.drop(index=test.index)
    model = train_model(train, loan)
    rejected = test[model.predict(test) == "bad"]

    heading("1  A model and an explainer")
    print(f"A random forest learns from {len(train):,} generated loan applications who pays back.")
    explainer = ARFExplainer(model, random_state=SEED).fit(train)
    forest = explainer.background_.plausibility.forest
    print(
        f"The explainer learns which applicants exist: {forest.n_estimators} trees, {forest.forest_.n_leaves:,} leaves."
    )

    heading("2  What would have changed the decision?")
    x = rejected.iloc[[APPLICANT]]
    result = explainer.explain(x, Target("good"))
    print(f"{result.provenance['evaluations']} evaluations of the model gave {len(result)} counterfactuals. None is")
    print("beaten by another in distance, number of changes and plausibility together. Three different ones:\n")
    print(result.select(3))

    heading("3  The same, as far as the applicant can act")
    constraints = Constraints(
        fixed=["age", "education", "purpose"],
        direction={"employment_years": "increase", "savings": "increase", "amount": "decrease"},
        max_changed=3,
    )
    possible = explainer.explain(x, Target("good"), constraints)
    print(possible.select(3))

    heading("4  How true is the plausibility?")
    show_truth(loan, possible if len(possible) else result)

    heading("5  Many applicants")
    batch = explainer.explain_many(rejected.head(20), Target("good"), constraints, progress=False)
    n_found = sum(len(one) > 0 for one in batch)
    print(f"{n_found} of {len(batch)} rejected applicants have a counterfactual within these constraints.")
    for label, one in zip(batch.index, batch, strict=True):
        if one.diagnosis is not None:
            print(f"\nFor applicant {label} there is none:\n{one}")
            break
    print(f"\nDone in {time.perf_counter() - started:.0f} s.")


def train_model(train, loan: Dataset) -> Pipeline:
    one_hot = (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number"))
    model = make_pipeline(
        make_column_transformer(one_hot, remainder="passthrough"), RandomForestClassifier(200, random_state=SEED)
    )
    return model.fit(train, loan.y.loc[train.index])


def show_truth(loan: Dataset, result: Counterfactuals) -> None:
    """The process that made the data is known, and with it how plausible a row really is."""
    exact = loan.process.log_density(result.to_frame())
    real = loan.process.log_density(loan.X)
    chosen = result.select(3)
    for number, log_density in enumerate(loan.process.log_density(chosen.to_frame())):
        share = (real < log_density).mean()
        print(
            f"  counterfactual {number}: by the forest more plausible than {chosen.typicality[number]:.0%} of real "
            f"applicants, by the true process than {share:.0%}"
        )
    typical = (real < np.median(exact)).mean()
    print(f"  median over all {len(result)}: {typical:.0%} by the true process")


def heading(text: str) -> None:
    print(f"\n{text}\n{'─' * len(text)}")


if __name__ == "__main__":
    main()
