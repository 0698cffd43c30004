"""`countarfactuals demo`: why was this applicant rejected, and what would have changed it?

1. Generated loan applications are divided; a random forest learns from most of them who pays back.
2. The explainer learns which applicants exist.
3. One rejected applicant gets counterfactuals that a person could act on, as a table and in sentences.
4. The process that made the data is known, and with it how plausible the answers really are.
5. A report is written.

With `--serve` the page on the same data is opened instead.
"""

from __future__ import annotations

import argparse
import textwrap
import time
from collections.abc import Hashable
from importlib.util import find_spec
from typing import Any

from countarfactuals.cli import model_files, serve
from countarfactuals.cli.arguments import CLASSIFICATION, DONE, USAGE
from countarfactuals.cli.data_files import check_out, write_text
from countarfactuals.constraints import Constraints
from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.datasets import Dataset, load_loan
from countarfactuals.explainers import ARFExplainer
from countarfactuals.language import tr
from countarfactuals.language.spelling import share_text
from countarfactuals.language.vocabulary import Unit
from countarfactuals.parameters import check_int
from countarfactuals.prediction import Target

_HELD_OUT = 500
_APPLICANT = 3  # among the held-out applicants that the model rejects
_MODEL_TREES = 200
_WIDTH = 100  # of the terminal


def run(options: argparse.Namespace) -> int:
    """Tell the story; always 0."""
    check_int("seed", options.seed, 0)
    if options.serve:
        return _serve(options)
    check_out(options.out)
    started = time.perf_counter()
    print(f"countarfactuals: {tr('plausible counterfactual explanations')}")
    compiling = tr("The first run compiles the kernels, which takes up to half a minute; later runs take seconds.")
    print(compiling, flush=True)
    loan = load_loan()
    test = loan.X.sample(_HELD_OUT, random_state=options.seed)
    train = loan.X.drop(index=test.index)

    _heading(1, tr("A model and an explainer"))
    trained = model_files.train(train, loan.y.loc[train.index], "loan", CLASSIFICATION, _MODEL_TREES, options.seed)
    print(tr("A random forest learns from {n:,} generated loan applications who pays back:", n=len(train)))
    print(f"{trained.summary}.")
    explainer = ARFExplainer(trained.model, random_state=options.seed).fit(train)
    forest = explainer.background_.plausibility.forest
    learns = "The explainer learns which applicants exist: {n_trees} trees, {n_leaves:,} leaves."
    print(tr(learns, n_trees=forest.n_estimators, n_leaves=forest.forest_.n_leaves))

    _heading(2, tr("What would have changed the decision?"))
    rejected = test[trained.model.predict(test) == "bad"]
    constraints = Constraints(
        fixed=["age", "education", "purpose"],
        direction={"employment_years": "increase", "savings": "increase", "amount": "decrease"},
        max_changed=3,
    )
    result = explainer.explain(rejected.iloc[[_APPLICANT]], Target("good"), constraints)
    gave = (
        "{n_asked} evaluations of the model gave {n} counterfactuals that keep age, education and purpose and change "
    )
    gave += "at most three things. Three different ones:"
    print(textwrap.fill(tr(gave, n_asked=result.provenance["evaluations"], n=len(result)), _WIDTH))
    chosen = result.select(3)
    print(f"\n{chosen}\n\n{tr('In words:')}\n\n{_in_words(chosen)}")

    _heading(3, tr("How true is that?"))
    _truth(loan, chosen)

    _heading(4, tr("A report"))
    _report(result, explainer, options.out)
    print(tr("\nDone in {seconds:.0f} s.", seconds=time.perf_counter() - started))
    return DONE


def _serve(options: argparse.Namespace) -> int:
    """The page on the loan data."""
    checked = serve.checked(options)
    if checked is None:
        return USAGE
    from countarfactuals.serve import Served

    loan = load_loan()
    trained = model_files.train(loan.X, loan.y, "loan", CLASSIFICATION, _MODEL_TREES, options.seed)
    print(tr("The explainer learns which applicants exist; the first run compiles for up to half a minute."))
    explainer = ARFExplainer(trained.model, random_state=options.seed).fit(loan.X)
    served = Served(name="loan", explainer=explainer, outcome="loan", units=_units(), rows_are=tr("applicants"))
    return serve.start([served], options, checked)


def _units() -> dict[Hashable, Unit]:
    """What the columns are measured in."""
    years = tr("years")
    return {
        "age": years,
        "employment_years": years,
        "income": "€",
        "savings": "€",
        "amount": "€",
        "duration": tr("months"),
    }


def _in_words(result: Counterfactuals) -> str:
    paragraphs = result.describe(2, units=_units(), rows=tr("applicants")).split("\n\n")
    return "\n\n".join(textwrap.fill(text, _WIDTH) for text in paragraphs)


def _truth(loan: Dataset, result: Counterfactuals) -> None:
    """How typical the counterfactuals are as we tell it, and by the process that made the data."""
    real = loan.process.log_density(loan.X)
    if not len(result):
        return
    for number, log_density in enumerate(loan.process.log_density(result.to_frame())):
        told, truth = share_text(float(result.typicality[number])), share_text(float((real < log_density).mean()))
        claim = (
            "counterfactual {number}: we say that {told} of real applicants are less typical, the true process says "
        )
        print(tr(claim + "{truth}", number=number, told=told, truth=truth))


def _report(result: Counterfactuals, explainer: Any, out: str) -> None:
    has_pictures = find_spec("matplotlib") is not None
    title = tr("Why was this loan rejected?")
    write_text(result.to_html(explainer, title=title, units=_units(), rows=tr("applicants")), out)
    if has_pictures:
        print(
            tr(
                "All {n} counterfactuals, with pictures, are in {file!r}: open it in a browser.",
                n=len(result),
                file=out,
            )
        )
        return
    print(tr("All {n} counterfactuals are in {file!r}: open it in a browser.", n=len(result), file=out))
    print(tr("It has no pictures, as matplotlib is not installed: pip install 'countarfactuals[plot]'"))


def _heading(number: int, text: str) -> None:
    heading = f"{number}  {text}"
    print(f"\n{heading}\n{'─' * len(heading)}")
