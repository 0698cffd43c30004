"""`countarfactuals fit`: from a table and a model to a folder that `explain` takes.

1. Read the table; the outcome's column is no feature. Say which features name rows (see `identifiers`).
2. Train a model, or load the user's.
3. Fit the explainer to the features, with the order of levels that the user tells.
4. Write the folder, with the units that sentences shall have.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from countarfactuals.arf import AdversarialRandomForest
from countarfactuals.cli import folder, identifiers, models
from countarfactuals.cli.arguments import add_reading, check_jobs, dialect_of, note
from countarfactuals.cli.columns import ROWS, Orders, add_words, orders_of, stored, units_of
from countarfactuals.cli.tables import read_training, shown
from countarfactuals.cli.text import Dialect, counted
from countarfactuals.cli.wishes import assignment, names
from countarfactuals.exceptions import ModelError, ParameterError, listed
from countarfactuals.explainers import ARFExplainer, Explainer
from countarfactuals.parameters import check_int
from countarfactuals.plausibility.wording import judgement

AUTO = "auto"
_EPILOG = """\
examples:
  train a model and keep it with the explainer:
    countarfactuals fit --data train.csv --outcome quality --model auto --out explainer
  with a model of your own, whose file you trust:
    countarfactuals fit --data train.csv --outcome quality --drop id,name \\
        --model model.joblib --trust-model --out explainer
  with levels that have an order, and units for sentences:
    countarfactuals fit --data train.csv --outcome quality --model auto --out explainer \\
        --ordered education=primary,secondary,university --unit income=€ --unit duration=months --rows-are applicants
  from a program that writes CSV with semicolons and decimal commas:
    query | countarfactuals fit --data - --delimiter ';' --decimal , --outcome price --model auto --out prices

A .joblib or .pkl model runs code from its file when it is loaded, so it is refused without --trust-model.
Files of skops, xgboost (.json, .ubj), lightgbm (.txt) and catboost (.cbm) run none.
"""


class _Model(NamedTuple):
    """A model, and where it comes from."""

    model: Any
    file: str | None
    summary: str
    task: str | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of this subcommand."""
    parser.epilog = _EPILOG
    parser.add_argument(
        "--data", required=True, metavar="FILE", help="CSV or Parquet file, - for CSV from standard input"
    )
    parser.add_argument("--outcome", metavar="COLUMN", help="what the model predicts; needed to train one")
    parser.add_argument(
        "--model", required=True, metavar="auto|FILE", help="auto trains a random forest, or a model's file"
    )
    parser.add_argument("--out", required=True, metavar="FOLDER", help="folder to write")
    parser.add_argument("--drop", type=names, default=(), metavar="COLUMN,…", help="columns to leave out")
    parser.add_argument(
        "--task",
        choices=(models.CLASSIFICATION, models.REGRESSION),
        help="what the outcome is (default: told by its values, or by the model)",
    )
    parser.add_argument(
        "--classes", type=names, metavar="CLASS,…", help="names of the classes of a model that has none"
    )
    parser.add_argument(
        "--ordered",
        type=assignment,
        action="append",
        default=[],
        metavar="COLUMN=LEVEL,…",
        help="levels of a column that have an order, lowest first; may be repeated",
    )
    parser.add_argument("--trees", type=int, metavar="N", help="trees of the forest that judges plausibility")
    parser.add_argument("--model-trees", type=int, default=200, metavar="N", help="trees of a model trained here (200)")
    parser.add_argument("--seed", type=int, default=1, help="of everything random (default 1)")
    parser.add_argument("--jobs", type=int, metavar="N", help="threads, -1 for all cores")
    parser.add_argument("--trust-model", action="store_true", help="load a model's file that runs code")
    parser.add_argument("--force", action="store_true", help="replace an explainer's folder that exists")
    add_words(parser)
    add_reading(parser)


def run(options: argparse.Namespace) -> int:
    """Fit and write; always 0, as everything else is an error."""
    place = folder.check_place(options.out, force=options.force)
    _check(options)
    given = None if options.model == AUTO else models.load(options.model, trusted=options.trust_model)
    dialect = dialect_of(options)
    X, y = read_training(options.data, dialect, note, outcome=options.outcome, drop=options.drop)
    identifiers.tell(X, dialect, note)
    units = units_of(options.unit, [str(name) for name in X.columns], options.outcome)
    orders = orders_of(options.ordered, X)
    if given is None:
        made = _trained(X, y, options)
    else:
        X = models.in_order(given, _with_categories(X) if models.needs_categories(options.model) else X)
        made = _Model(given, options.model, "", _own_task(options))
    explainer = _explainer(made, X, orders, options)
    made = made._replace(summary=made.summary or _agreement(explainer, made, y))
    words = {"units": stored(units), "rows": options.rows_are or ROWS}
    folder.write(place, explainer, made.model, made.file, {**_facts(made, dialect, options), **words})
    _report(explainer, made, options)
    return 0


def _facts(made: _Model, dialect: Dialect, options: argparse.Namespace) -> dict[str, Any]:
    """What the folder shall tell of the model and the data."""
    return {
        "made": AUTO if made.file is None else "file",
        "model_from": None if made.file is None else Path(made.file).name,
        "model_summary": made.summary,
        "outcome": options.outcome,
        "dropped": list(options.drop),
        "data": Path(options.data).name,
        "dialect": {**dialect.__dict__, "missing": list(dialect.missing)},
    }


def _check(options: argparse.Namespace) -> None:
    check_int("--seed", options.seed, 0)
    check_int("--model-trees", options.model_trees, 1)
    if options.trees is not None:
        check_int("--trees", options.trees, 1)
    check_jobs(options.jobs)
    if options.model != AUTO:
        return
    models.check_skops()
    if options.outcome is None:
        raise ParameterError("--model auto needs --outcome, the column that the model shall predict.")
    if options.classes is not None:
        raise ParameterError("--classes names the classes of a model's file; with --model auto the outcome has them.")


def _trained(X: pd.DataFrame, y: pd.Series | None, options: argparse.Namespace) -> _Model:
    assert y is not None
    name = options.outcome
    if n_missing := int(y.isna().sum()):
        verb = "is" if n_missing == 1 else "are"
        note(f"{counted(n_missing, 'row')} without {name!r} {verb} left out when the model is trained.")
    task = options.task or models.task_of(y, name, note)
    trained = models.train(X, y, name, task, options.model_trees, options.seed)
    if not trained.is_useful:
        note(
            f"the model is no better than guessing: {trained.summary}. Explanations will tell what it does, which has "
            f"little to do with {name!r}. Add columns or rows that tell more, or pass a model of your own by --model."
        )
    return _Model(trained.model, None, f"random forest, {task}, {trained.summary}")


def _own_task(options: argparse.Namespace) -> str | None:
    """What is said to the explainer; that a model has classes it knows itself."""
    return models.REGRESSION if options.task == models.REGRESSION else None


def _check_task(explainer: Explainer, options: argparse.Namespace) -> None:
    if options.task == models.CLASSIFICATION and explainer.background_.predictor.task == models.REGRESSION:
        raise ModelError(
            f"The model {options.model!r} gives one number per row and names no classes. Name them: --classes bad,good."
        )


def _explainer(made: _Model, X: pd.DataFrame, orders: Orders, options: argparse.Namespace) -> Explainer:
    density = None if options.trees is None else AdversarialRandomForest(n_estimators=options.trees)
    explainer = ARFExplainer(
        made.model,
        density=density,
        task=made.task,
        classes=models.labels_of(options.classes),
        n_jobs=options.jobs,
        random_state=options.seed,
    )
    try:
        explainer.fit(X, ordered=orders)
    except ModelError as error:
        raise _not_of_this_table(error, made, X) from error
    if made.file is not None:
        _check_task(explainer, options)
    return explainer


def _not_of_this_table(error: ModelError, made: _Model, X: pd.DataFrame) -> ModelError:
    """The error of a model that failed; if its columns are others, that is the reason."""
    if differing := models.mismatch(made.model, X):
        return ModelError(f"The model {made.file!r} does not take the columns of the data. {differing}")
    return ModelError(str(error).replace(", or pass a callable that prepares them", ""))


def _with_categories(X: pd.DataFrame) -> pd.DataFrame:
    """Text as categories, which boosters take."""
    is_text = [name for name in X if X[name].dtype == object or isinstance(X[name].dtype, pd.StringDtype)]
    return X.astype(dict.fromkeys(is_text, "category"))


def _report(explainer: Explainer, made: _Model, options: argparse.Namespace) -> None:
    background = explainer.background_
    kinds = Counter(str(column.kind) for column in background.schema.columns)
    features = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    print(f"data       {len(background.matrix):,} rows of {shown(options.data)}, features: {features}")
    print(f"model      {made.summary}")
    forest = background.plausibility.forest
    print(f"explainer  {forest.n_estimators} trees with {forest.forest_.n_leaves:,} leaves, in {options.out!r}")
    print(f"judged     {judgement(background.plausibility.summary())[-1]}")
    want = f" --want {str(background.predictor.classes[-1])!r}" if background.predictor.classes else " --above …"
    print(f"next       countarfactuals explain --explainer {options.out} --data … --rows 0{want}")


def _agreement(explainer: Explainer, made: _Model, y: pd.Series | None) -> str:
    """What a user's model predicts here, beside what is known."""
    background = explainer.background_
    file = Path(made.file or "").name
    name = f"{background.predictor.model_name} of {file!r}, {background.predictor.task}"
    if y is None or background.predictor.task == models.REGRESSION:
        return name
    known = y.notna().to_numpy()
    labels = background.predictor.labels(background.scores)[known]
    agrees = [str(a) == str(b) for a, b in zip(labels.tolist(), y[known].tolist(), strict=True)]
    share = sum(agrees) / max(len(agrees), 1)
    if not any(agrees):
        classes = listed(background.predictor.classes)
        note(f"the model predicts no value of the outcome; its classes: {classes}. Name them by --classes, in order.")
    return f"{name}, right in {share:.0%} of these rows"
