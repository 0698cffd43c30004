"""`countarfactuals demo`: why was this applicant rejected, and what would have changed it?

1. Generated loan applications are divided; a random forest learns from most of them who pays back.
2. The explainer learns which applicants exist.
3. One rejected applicant gets counterfactuals that a person could act on, as a table and in sentences.
4. The process that made the data is known, and with it how plausible the answers really are.
5. A report is written.
"""

from __future__ import annotations

import argparse
import textwrap
import time
from collections.abc import Hashable
from importlib.util import find_spec
from typing import Any

from countarfactuals.cli import models
from countarfactuals.cli.output import check_out, write_text
from countarfactuals.constraints import Constraints
from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.counterfactuals.sentences import describe
from countarfactuals.counterfactuals.vocabulary import Unit
from countarfactuals.counterfactuals.wording import share_text
from countarfactuals.datasets import Dataset, load_loan
from countarfactuals.explainers import ARFExplainer
from countarfactuals.parameters import check_int
from countarfactuals.prediction import Target

REPORT = "countarfactuals-demo.html"
_HELD_OUT = 500
_APPLICANT = 3  # among the held-out applicants that the model rejects
_MODEL_TREES = 200
_WIDTH = 100  # of the terminal
_UNITS: dict[Hashable, Unit] = {
    "age": "years",
    "employment_years": "years",
    "income": "€",
    "savings": "€",
    "amount": "€",
    "duration": "months",
}
_EPILOG = f"""\
examples:
  countarfactuals demo
  countarfactuals demo --out {REPORT} --seed 2
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of this subcommand."""
    parser.epilog = _EPILOG
    parser.add_argument("--out", default=REPORT, metavar="FILE", help=f"the report (default {REPORT})")
    parser.add_argument("--seed", type=int, default=1, help="of everything random (default 1)")


def run(options: argparse.Namespace) -> int:
    """Tell the story; always 0."""
    check_int("--seed", options.seed, 0)
    check_out(options.out)
    started = time.perf_counter()
    print("countarfactuals: plausible counterfactual explanations")
    print("The first run compiles the kernels, which takes about two minutes; later runs take seconds.", flush=True)
    loan = load_loan()
    test = loan.X.sample(_HELD_OUT, random_state=options.seed)
    train = loan.X.drop(index=test.index)

    _heading("1  A model and an explainer")
    trained = models.train(train, loan.y.loc[train.index], "loan", models.CLASSIFICATION, _MODEL_TREES, options.seed)
    print(f"A random forest learns from {len(train):,} generated loan applications who pays back:")
    print(f"{trained.summary}.")
    explainer = ARFExplainer(trained.model, random_state=options.seed).fit(train)
    forest = explainer.background_.plausibility.forest
    print(
        f"The explainer learns which applicants exist: {forest.n_estimators} trees, {forest.forest_.n_leaves:,} leaves."
    )

    _heading("2  What would have changed the decision?")
    rejected = test[trained.model.predict(test) == "bad"]
    constraints = Constraints(
        fixed=["age", "education", "purpose"],
        direction={"employment_years": "increase", "savings": "increase", "amount": "decrease"},
        max_changed=3,
    )
    result = explainer.explain(rejected.iloc[[_APPLICANT]], Target("good"), constraints)
    print(f"{result.provenance['evaluations']} evaluations of the model gave {len(result)} counterfactuals that keep")
    print("age, education and purpose and change at most three things. Three different ones:\n")
    chosen = result.select(3)
    print(chosen)
    print(f"\nIn words:\n\n{_in_words(chosen)}")

    _heading("3  How true is that?")
    _truth(loan, chosen)

    _heading("4  A report")
    _report(result, explainer, options.out)
    print(f"\nDone in {time.perf_counter() - started:.0f} s.")
    return 0


def _in_words(result: Counterfactuals) -> str:
    paragraphs = describe(result, 2, units=_UNITS, rows="applicants").split("\n\n")
    return "\n\n".join(textwrap.fill(one, _WIDTH) for one in paragraphs)


def _truth(loan: Dataset, result: Counterfactuals) -> None:
    """How typical the counterfactuals are as we tell it, and by the process that made the data."""
    real = loan.process.log_density(loan.X)
    if not len(result):
        return
    for number, log_density in enumerate(loan.process.log_density(result.to_frame())):
        told, truth = share_text(float(result.typicality[number])), share_text(float((real < log_density).mean()))
        print(
            f"counterfactual {number}: we say that {told} of real applicants are less typical, the true process says "
            f"{truth}"
        )


def _report(result: Counterfactuals, explainer: Any, out: str) -> None:
    from countarfactuals.report import to_html

    has_pictures = find_spec("matplotlib") is not None
    page = to_html(result, explainer, title="Why was this loan rejected?", units=_UNITS, rows="applicants")
    write_text(page, out)
    print(f"All {len(result)} counterfactuals{', with pictures,' * has_pictures} are in {out!r}: open it in a browser.")
    if not has_pictures:
        print("It has no pictures, as matplotlib is not installed: pip install 'countarfactuals[plot]'")


def _heading(text: str) -> None:
    print(f"\n{text}\n{'─' * len(text)}")
