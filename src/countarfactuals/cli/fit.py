"""`countarfactuals fit`: from a table and a model to a folder that `explain` takes.

1. Read the table; the outcome's column is no feature. Say which features name rows (see `column_kinds`).
2. Train a model, or load the user's.
3. Fit the explainer to the features, with the order of levels that the user tells.
4. Write the folder, with the units that sentences shall have.
"""

from __future__ import annotations

import argparse
import shlex
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from countarfactuals.arf import AdversarialRandomForest
from countarfactuals.cli import folder, model_files
from countarfactuals.cli.arguments import (
    AUTO,
    CLASSIFICATION,
    DONE,
    OBSERVED,
    REGRESSION,
    Dialect,
    as_option,
    check_jobs,
    dialect_of,
    note,
)
from countarfactuals.cli.column_kinds import tell_identifiers
from countarfactuals.cli.data_files import read_training, shown
from countarfactuals.cli.formats import ROWS
from countarfactuals.cli.wishes import Orders, labels_of, orders_of, units_of
from countarfactuals.constraints import suggest_constraints
from countarfactuals.exceptions import ModelError, ParameterError, listed
from countarfactuals.explainers import ARFExplainer, Explainer
from countarfactuals.language import counted, tr
from countarfactuals.parameters import check_int
from countarfactuals.plausibility.judgement import judgement
from countarfactuals.schema import Labels


class _Model(NamedTuple):
    """A model, and where it comes from."""

    model: Any
    file: str | None
    summary: str
    task: str | None = None


def run(options: argparse.Namespace) -> int:
    """Fit and write; always 0, as everything else is an error."""
    place = folder.check_place(options.out, force=options.force)
    _check(options)
    is_file = options.model not in (AUTO, OBSERVED)
    given = model_files.load(options.model, trusted=options.trust_model) if is_file else None
    dialect = dialect_of(options)
    X, y = read_training(options.data, dialect, note, outcome=options.outcome, drop=options.drop)
    tell_identifiers(X, dialect, note)
    units = units_of(options.unit, list(X.columns), options.outcome)
    orders, labels = orders_of(options.ordered, X), labels_of(options.label, list(X.columns))
    if options.model == OBSERVED:
        made = _Model(None, None, tr("none: the observed {name!r} is explained", name=options.outcome), options.task)
        X, y = _with_outcome(X, y, options)
    elif given is None:
        made = _trained(X, y, options)
    else:
        X = model_files.in_order(given, _with_categories(X) if model_files.needs_categories(options.model) else X)
        made = _Model(given, options.model, "", _own_task(options))
    explainer = _explainer(made, X, y, orders, labels, options)
    made = made._replace(summary=made.summary or _agreement(explainer, made, y))
    words = {"units": units, "rows": options.rows_are or ROWS}
    folder.write(place, explainer, made.model, made.file, {**_facts(made, dialect, options), **words})
    _report(explainer, made, options)
    return DONE


def _facts(made: _Model, dialect: Dialect, options: argparse.Namespace) -> dict[str, Any]:
    """What the folder shall tell of the model and the data."""
    return {
        "made": "file" if made.file is not None else options.model,
        "model_from": None if made.file is None else Path(made.file).name,
        "model_summary": made.summary,
        "outcome": options.outcome,
        "dropped": list(options.drop),
        "data": Path(options.data).name,
        "dialect": asdict(dialect),
    }


def _check(options: argparse.Namespace) -> None:
    for name, least in (("seed", 0), ("model_trees", 1), ("trees", 1)):
        if getattr(options, name) is not None:
            check_int(name, getattr(options, name), least)
    check_jobs(options.jobs)
    if options.model == AUTO:
        model_files.check_skops()
    if options.model not in (AUTO, OBSERVED):
        return
    if options.outcome is None:
        what = "that the model shall predict" if options.model == AUTO else "whose values are explained"
        raise ParameterError(f"--model {options.model} needs --outcome, the column {what}.")
    if options.classes is not None:
        raise ParameterError(
            f"--classes names the classes of a model's file; with --model {options.model} the outcome has them."
        )


def _with_outcome(X: pd.DataFrame, y: pd.Series | None, options: argparse.Namespace) -> tuple[pd.DataFrame, pd.Series]:
    """The rows whose outcome is known."""
    assert y is not None
    if n_missing := int(y.isna().sum()):
        sentences = "{n} row without {name!r} is left out.", "{n} rows without {name!r} are left out."
        note(counted(n_missing, *sentences, name=options.outcome))
    return X[y.notna()], y[y.notna()]


def _trained(X: pd.DataFrame, y: pd.Series | None, options: argparse.Namespace) -> _Model:
    assert y is not None
    name = options.outcome
    if n_missing := int(y.isna().sum()):
        single = "{n} row without {name!r} is left out when the model is trained."
        several = "{n} rows without {name!r} are left out when the model is trained."
        note(counted(n_missing, single, several, name=name))
    task = options.task or model_files.task_of(y, name, note)
    trained = model_files.train(X, y, name, task, options.model_trees, options.seed)
    if not trained.is_useful:
        note(
            tr(
                "the model is no better than guessing: {summary}. Explanations will tell what it does, which has "
                "little to do with {name!r}. Add columns or rows that tell more, or pass a model of your own by "
                "--model.",
                summary=trained.summary,
                name=name,
            )
        )
    return _Model(trained.model, None, f"{tr('random forest')}, {tr(task)}, {trained.summary}")


def _own_task(options: argparse.Namespace) -> str | None:
    """What is said to the explainer; that a model has classes it knows itself."""
    return REGRESSION if options.task == REGRESSION else None


def _check_task(explainer: Explainer, options: argparse.Namespace) -> None:
    if options.task == CLASSIFICATION and explainer.background_.predictor.task == REGRESSION:
        raise ModelError(
            f"The model {options.model!r} gives one number per row and names no classes. Name them: --classes bad,good."
        )


def _explainer(
    made: _Model, X: pd.DataFrame, y: pd.Series | None, orders: Orders, labels: Labels, options: argparse.Namespace
) -> Explainer:
    is_observed = options.model == OBSERVED
    density = None if options.trees is None else AdversarialRandomForest(n_estimators=options.trees)
    explainer = ARFExplainer(
        made.model,
        outcome="observed" if is_observed else "predicted",
        density=density,
        task=made.task,
        classes=model_files.labels_of(options.classes),
        n_jobs=options.jobs,
        random_state=options.seed,
    )
    try:
        explainer.fit(X, y if is_observed else None, ordered=orders, labels=labels)
    except ModelError as error:
        raise _not_of_this_table(error, made, X) from error
    if made.file is not None:
        _check_task(explainer, options)
    return explainer


def _not_of_this_table(error: ModelError, made: _Model, X: pd.DataFrame) -> ModelError:
    """The error of a model that failed; if its columns are others, that is the reason."""
    if differing := model_files.mismatch(made.model, X):
        return ModelError(f"The model {made.file!r} does not take the columns of the data. {differing}")
    return error.having(otherwise="")  # no callable can be passed here


def _with_categories(X: pd.DataFrame) -> pd.DataFrame:
    """Text as categories, which boosters take."""
    return X.astype(dict.fromkeys(X.select_dtypes(["object", "string"]).columns, "category"))


def _report(explainer: Explainer, made: _Model, options: argparse.Namespace) -> None:
    background = explainer.background_
    kinds = Counter(str(column.kind) for column in background.schema.columns)
    forest = background.plausibility.forest
    want = f"--want {str(background.predictor.classes[-1])!r}" if background.predictor.classes else "--above …"
    lines = {
        "data": tr(
            "{n:,} rows of {file}, features: {features}",
            n=len(background.matrix),
            file=shown(options.data),
            features=", ".join(f"{count} {tr(kind)}" for kind, count in kinds.items()),
        ),
        "model": made.summary,
        "explainer": tr(
            "{n} trees with {n_leaves:,} leaves, in {folder!r}",
            n=forest.n_estimators,
            n_leaves=forest.forest_.n_leaves,
            folder=options.out,
        ),
        "judged": judgement(background.plausibility.summary())[-1],
        **_suggestions(explainer, options),
        "next": f"countarfactuals explain --explainer {options.out} --data … --rows 0 {want}",
    }
    for name, text in lines.items():
        print(f"{tr(name):<10} {text}")


def _suggestions(explainer: Explainer, options: argparse.Namespace) -> dict[str, str]:
    """What names of columns suggest, in one line; nothing is applied."""
    found = suggest_constraints(explainer)
    if not found:
        return {}
    fixed = [str(suggestion.column) for suggestion in found if suggestion.kind == "fixed"]
    ways = [f"{found_.column}={found_.value}" for found_ in found if found_.kind == "direction"]
    said = [f"--fix {as_option(fixed)}"] * bool(fixed) + [f"--direction {shlex.quote(way)}" for way in ways]
    why = f"countarfactuals suggest --explainer {options.out}"
    return {
        "suggested": tr(
            "{options} (by names of columns, not applied; why: {command})", options=" ".join(said), command=why
        )
    }


def _agreement(explainer: Explainer, made: _Model, y: pd.Series | None) -> str:
    """What a user's model predicts here, beside what is known."""
    background = explainer.background_
    file = Path(made.file or "").name
    name = f"{background.predictor.model_name} of {file!r}, {background.predictor.task}"
    if y is None or background.predictor.task == REGRESSION:
        return name
    is_known = y.notna().to_numpy()
    labels = background.predictor.labels(background.scores)[is_known]
    agrees = [str(label) == str(outcome) for label, outcome in zip(labels.tolist(), y[is_known].tolist(), strict=True)]
    share = sum(agrees) / max(len(agrees), 1)
    if not any(agrees):
        hint = "the model predicts no value of the outcome; its classes: {classes}. Name them by --classes, in order."
        note(tr(hint, classes=listed(background.predictor.classes)))
    return tr("{name}, right in {share:.0%} of these rows", name=name, share=share)
