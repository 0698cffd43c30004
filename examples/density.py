"""What a density of tabular data is good for, on generated loan applications."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from countarfactuals import AdversarialRandomForest
from countarfactuals.datasets import Dataset, load_loan

SEED = 1
HELD_OUT = 500
PROCESS_DRAWS = 200_000
QUESTION = {"age": (25, 35), "purpose": "car", "housing": "own"}
ASKED = ["income", "amount", "duration"]
HEADERS = {"employment_years": "employed"}


class Plausibility:
    """Share of held-out rows that have a lower log density than a row."""

    def __init__(self, arf: AdversarialRandomForest, test: pd.DataFrame) -> None:
        self.arf = arf
        self.reference = np.sort(arf.score_samples(test))

    def of(self, rows: pd.DataFrame) -> np.ndarray:
        return np.searchsorted(self.reference, self.arf.score_samples(rows)) / len(self.reference)


def main() -> None:
    started = time.perf_counter()
    print("countarfactuals: a density of mixed tabular data")
    print(
        "The first run compiles the kernels, which takes half a minute to a minute; later runs take seconds.",
        flush=True,
    )
    loan = load_loan()
    train, test = split(loan.X)
    show_data(loan.X)
    arf = fit(train)
    show_fit(arf, loan, test)
    plausibility = Plausibility(arf, test)
    show_question(arf, loan, train, plausibility)
    show_plausibility(arf, loan, test, plausibility)
    heading("What it is for")
    print("A density like this one tells plausible from implausible rows: the ground for plausible counterfactuals.")
    print(f"\nDone in {time.perf_counter() - started:.0f} s.")


def split(X: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Training rows and held-out rows."""
    test = X.sample(HELD_OUT, random_state=SEED)
    return X.drop(index=test.index), test


def show_data(X: pd.DataFrame) -> None:
    heading("1  The data")
    print(f"{len(X):,} generated loan applications: whole numbers, decimals, unordered and ordered categories.")
    print("The process that made them is known, and with it the exact density of every row.")
    print("Ages and employment in years, money in euros (income per year), duration in months.\n")
    table(X.head(5))


def fit(train: pd.DataFrame) -> AdversarialRandomForest:
    """The forest of the training rows, told round by round."""
    heading("2  Training")
    print(
        f"Forests tell {len(train):,} real rows from synthetic ones, until they can not (accuracy 0.5 is guessing).\n"
    )
    arf = AdversarialRandomForest(random_state=SEED).fit(train)
    for number, accuracy in enumerate(arf.accuracies_):
        made = "every column shuffled on its own" if number == 0 else "made by the forest before"
        print(f"  round {number}   accuracy {accuracy:.3f}   against rows {made}")
    print(
        f"\nKept: {arf.n_estimators} trees with {arf.forest_.n_leaves:,} leaves, "
        f"grown on at least {arf.min_samples_leaf_} real rows each (chosen by held-out likelihood)."
    )
    return arf


def show_fit(arf: AdversarialRandomForest, loan: Dataset, test: pd.DataFrame) -> None:
    heading("3  How close it comes to the truth")
    estimated, exact = arf.score_samples(test), loan.process.log_density(test)
    print(f"{len(test)} rows that the forest has not seen:\n")
    print(f"  mean log density, exact            {exact.mean():8.2f}")
    print(f"  mean log density, estimated        {estimated.mean():8.2f}")
    print(f"  rank correlation of the two        {spearmanr(exact, estimated).statistic:8.2f}   (1 is the same order)")


def show_question(arf: AdversarialRandomForest, loan: Dataset, train: pd.DataFrame, plausibility: Plausibility) -> None:
    heading("4  A question")
    print("Applicants aged 25 to 35 who own their home and want a car loan:\n")
    print(f"  given = {QUESTION}\n")
    drawn = loan.process.sample(PROCESS_DRAWS, random_state=SEED)
    alike, truth = matching(train), matching(drawn)
    summary = pd.DataFrame(
        {
            "share": [
                float(np.exp(arf.log_probability(QUESTION))),
                len(alike) / len(train),
                len(truth) / len(drawn),
            ],
            **{
                name: [arf.expect([name], given=QUESTION)[name].iloc[0], alike[name].mean(), truth[name].mean()]
                for name in ASKED
            },
        },
        index=["by the forest", f"mean of {len(alike)} training rows", f"truth ({PROCESS_DRAWS:,} draws)"],
    )
    formats = {"share": "{:.1%}".format, "duration": "{:.1f}".format}
    table(summary, index=True, formats={**dict.fromkeys(ASKED, "{:,.0f}".format), **formats})
    print("\nFive such applicants drawn by the forest, then five real ones. The last column is the share of held-out")
    print("rows that are less plausible.")
    for rows in (arf.sample(5, given=QUESTION, random_state=SEED), alike.head(5)):
        print()
        table(rows.assign(beats=plausibility.of(rows)), formats={"beats": "{:.0%}".format})


def matching(X: pd.DataFrame) -> pd.DataFrame:
    """The rows that meet the question."""
    low, high = QUESTION["age"]
    return X[
        X["age"].between(low, high) & (X["purpose"] == QUESTION["purpose"]) & (X["housing"] == QUESTION["housing"])
    ]


def show_plausibility(
    arf: AdversarialRandomForest, loan: Dataset, test: pd.DataFrame, plausibility: Plausibility
) -> None:
    heading("5  How plausible is a row?")
    print("The first held-out row, and the same row made odd: 22 years old with 30 years of employment.\n")
    rows = pd.concat([test.head(1), test.head(1).assign(age=22, employment_years=30.0)])
    table(rows)
    print()
    values = zip(arf.score_samples(rows), plausibility.of(rows), loan.process.log_density(rows), strict=True)
    for name, (log_density, share, exact) in zip(("as recorded", "made odd"), values, strict=True):
        truth = "impossible" if np.isneginf(exact) else f"{exact:.1f}"
        print(
            f"  {name:<12} log density {log_density:.1f}   more plausible than {share:3.0%} of real rows   "
            f"(exact: {truth})"
        )
    years = pd.DataFrame({"employment_years": [30.0, 30.0]})
    at_22, at_55 = arf.score_samples(years, given=[{"age": 22}, {"age": 55}])
    print(f"\nBy the forest, 30 years of employment are {np.exp(at_55 - at_22):,.0f} times as likely at 55 as at 22.")


def heading(text: str) -> None:
    print(f"\n{text}\n{'─' * len(text)}")


def table(frame: pd.DataFrame, index: bool = False, formats: dict | None = None) -> None:
    """Rows with aligned columns, two blanks from the left."""
    columns = {"income": "{:,.2f}".format, "savings": "{:,.2f}".format, "amount": "{:,}".format, **(formats or {})}
    used = {HEADERS.get(name, name): how for name, how in columns.items() if name in frame}
    text = frame.rename(columns=HEADERS).to_string(index=index, formatters=used)
    print("\n".join(f"  {line}" for line in text.splitlines()))


if __name__ == "__main__":
    main()
