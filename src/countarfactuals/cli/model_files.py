"""Models: trained here, or read from a user's file.

1. `train` makes a random forest behind one-hot codes (a missing cell is a level of its own, an unknown level none) and
   numbers as they are, missing ones included. It is judged on rows held out, then trained on all.
2. `store` writes such a model without pickle, by skops. Reading it back trusts the types that we put there, no others.
3. `load` reads files by their suffix:

   | suffix | read by | runs code from the file |
   |---|---|---|
   | .joblib, .pkl, .pickle | joblib | yes: refused unless the user trusts it |
   | .skops | skops | no; types that skops does not know are refused unless the user trusts them |
   | .json, .ubj | xgboost | no |
   | .txt | lightgbm | no |
   | .cbm | catboost | no |

   What their libraries print about a file that they can not read is kept from the user, who gets one line of ours.
4. `in_order` and `mismatch` compare the columns of a table with those that a model was trained on.
"""

from __future__ import annotations

import os
import re
import sys
import textwrap
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from countarfactuals._optional import optional
from countarfactuals.cli.arguments import CLASSIFICATION, REGRESSION, as_option
from countarfactuals.exceptions import DataError, MissingDependencyError, ModelError, listed
from countarfactuals.language import tr
from countarfactuals.schema import Kind, Schema

# all that our pipeline holds beyond what skops trusts
_OWN_TYPES = ("sklearn.tree._tree.Tree", "countarfactuals.cli.model_files.days_since_1970")
_RUN_CODE = (".joblib", ".pkl", ".pickle")
_SKOPS = ".skops"
_BOOSTERS = {  # their package, and the extra that installs it
    ".json": ("xgboost", "study"),
    ".ubj": ("xgboost", "study"),
    ".txt": ("lightgbm", None),
    ".cbm": ("catboost", None),
}
_HELD_OUT = 0.25
_FEW = 10  # different whole numbers up to which they are taken for classes
_FEWEST_ROWS = 8
_LONGEST_REASON = 200
_PLACE_IN_SOURCES = re.compile(r"(\[\d\d:\d\d:\d\d\] )?\S+\.(cc|cpp|cu|h|hpp):\d+: ")


class Trained(NamedTuple):
    """A model, and how good it is on rows that it was not trained on.

    Parameters
    ----------
    model : the pipeline, trained on all rows.
    task : "classification" or "regression".
    summary : what it is worth, in a sentence.
    is_useful : whether that is more than the simplest guess.
    """

    model: Any
    task: str
    summary: str
    is_useful: bool = True


def task_of(y: pd.Series, name: str, say: Callable[[str], None]) -> str:
    """What an outcome asks for; where it could be either, `say` is told how to choose the other."""
    if not pd.api.types.is_numeric_dtype(y.dtype) or pd.api.types.is_bool_dtype(y.dtype):
        return CLASSIFICATION
    known = y.dropna()
    n_values = known.nunique()
    if n_values > _FEW or (known.astype("float64") % 1 != 0).any():
        return REGRESSION
    say(
        tr(
            "the outcome {name!r} has {n} different whole numbers, taken for classes; else pass --task regression.",
            name=name,
            n=n_values,
        )
    )
    return CLASSIFICATION


def train(X: pd.DataFrame, y: pd.Series, name: str, task: str, n_trees: int, seed: int) -> Trained:
    """A model of the outcome `y`, named `name`."""
    is_known = y.notna().to_numpy()
    schema = Schema.infer(X)
    # as the explainer will hand rows in, so that a missing cell is the same marker then and now
    rows = schema.decode(schema.encode(X))[is_known]
    outcomes = _outcomes(y[is_known], name, task)
    if len(rows) < _FEWEST_ROWS:
        raise DataError(
            f"There are {len(rows)} rows with a known {name!r}; a model needs at least {_FEWEST_ROWS}. Add rows."
        )
    pipeline = _pipeline(schema, task, n_trees, seed)
    summary, is_useful = _judged(pipeline, rows, outcomes, task, seed)
    return Trained(pipeline.fit(rows, outcomes), task, summary, is_useful)


def _outcomes(y: pd.Series, name: str, task: str) -> np.ndarray:
    is_number = pd.api.types.is_numeric_dtype(y.dtype) and not pd.api.types.is_bool_dtype(y.dtype)
    if task == REGRESSION:
        if not is_number:
            raise DataError(
                f"The outcome {name!r} holds no numbers but values such as {y.iloc[0]!r}. Leave --task regression out."
            )
        return y.to_numpy("float64")
    labels = y.tolist()
    if is_number and all(float(label).is_integer() for label in labels):
        labels = [int(label) for label in labels]
    distinct = list(dict.fromkeys(labels))
    if len(distinct) < 2:
        raise DataError(f"The outcome {name!r} has one class only, {listed(distinct)}. Two or more are needed.")
    if len(distinct) > len(labels) / 2:
        raise DataError(
            f"The outcome {name!r} has {len(distinct)} classes in {len(labels)} rows, such as {listed(distinct, 3)}. "
            "Name another outcome, or pass --task regression for numbers."
        )
    return np.array(labels)


def _pipeline(schema: Schema, task: str, n_trees: int, seed: int) -> Pipeline:
    with_levels = [c.name for c in schema.columns if c.kind in (Kind.CATEGORY, Kind.ORDERED)]
    dates = [c.name for c in schema.columns if c.clock]
    others = [c.name for c in schema.columns if c.name not in (*with_levels, *dates)]
    columns = ColumnTransformer(
        [
            ("levels", OneHotEncoder(handle_unknown="ignore", sparse_output=False), with_levels),
            # trees do not care for the scale, but the scaler turns nullable integers and booleans into floats
            ("numbers", StandardScaler(), others),
            ("dates", FunctionTransformer(days_since_1970), dates),
        ]
    )
    forest = RandomForestRegressor if task == REGRESSION else RandomForestClassifier
    return Pipeline([("columns", columns), ("forest", forest(n_trees, random_state=seed))])


def days_since_1970(frame: pd.DataFrame) -> np.ndarray:
    """Dates and times as numbers, missing as NaN."""
    moments = frame.to_numpy("datetime64[us]")
    return np.where(np.isnat(moments), np.nan, moments.astype(np.int64) / 86_400e6)


def _judged(pipeline: Pipeline, rows: pd.DataFrame, outcomes: np.ndarray, task: str, seed: int) -> tuple[str, bool]:
    """How good the pipeline is on held-out rows, beside the simplest guess; and whether it is better."""
    _, counts = np.unique(outcomes, return_counts=True)
    n_out = int(np.ceil(_HELD_OUT * len(rows)))
    can_stratify = task == CLASSIFICATION and counts.min() >= 2 and n_out >= len(counts)
    train_rows, test_rows, train_y, test_y = train_test_split(
        rows, outcomes, test_size=n_out, random_state=seed, stratify=outcomes if can_stratify else None
    )
    score = pipeline.fit(train_rows, train_y).score(test_rows, test_y)
    if task == REGRESSION:
        return tr("R² {score:.2f} on {n} held-out rows (always the mean: 0)", score=score, n=n_out), score > 0
    labels, counts = np.unique(train_y, return_counts=True)
    most = labels[counts.argmax()]
    guess = (test_y == most).mean()
    phrase = "accuracy {score:.2f} on {n} held-out rows (always {label!r}: {guess:.2f})"
    return tr(phrase, score=score, n=n_out, label=str(most), guess=guess), bool(score > guess)


def check_skops() -> None:
    """Refuse to train a model that could not be stored."""
    _skops("Storing a model without pickle")


def _skops(purpose: str) -> Any:
    return optional("skops.io", f"{purpose} needs", "cli")


def store(model: Any, path: Path) -> None:
    """Write a model that `train` made."""
    _skops("Storing a model without pickle").dump(model, path)


def needs_categories(path: str) -> bool:
    """Whether the model of this file takes text as pandas categories."""
    return Path(path).suffix.lower() in (".json", ".ubj", ".txt")


def load(path: str | Path, *, trusted: bool, is_ours: bool = False) -> Any:
    """The model in a file.

    Parameters
    ----------
    path : of the file; its suffix tells the kind.
    trusted : whether the user said that the file may run code.
    is_ours : whether it should be what `store` wrote, of which no other type is accepted.
    """
    source = Path(path)
    suffix = source.suffix.lower()
    allowed = [*_RUN_CODE, _SKOPS, *_BOOSTERS]
    if suffix not in allowed:
        raise ModelError(
            f"The model {str(path)!r} has the suffix {suffix!r}; allowed are {listed(allowed, len(allowed))}, or "
            "`auto` to train one."
        )
    if not source.is_file():
        raise ModelError(f"There is no model file {str(path)!r}. Check its name, or pass --model auto to train one.")
    if suffix == _SKOPS:
        return _read_skops(source, trusted=trusted, is_ours=is_ours)
    if suffix in _RUN_CODE and not trusted:
        raise ModelError(
            f"Loading {str(path)!r} runs code that stands in the file, whoever wrote it. If you know where it comes "
            "from, pass --trust-model. Files of skops, xgboost, lightgbm and catboost run none."
        )
    if suffix in _RUN_CODE:
        return _read(source, joblib.load)
    with _muted():
        return _read(source, _booster)


@contextmanager
def _muted() -> Iterator[None]:
    """Without what libraries in C++ write to the standard error of the process, past Python."""
    sys.stderr.flush()
    try:
        kept = os.dup(2)
    except OSError:  # it is closed
        yield
        return
    try:
        with Path(os.devnull).open("wb") as nothing:
            os.dup2(nothing.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _read(path: Path, reader: Callable[[str], Any]) -> Any:
    try:
        return reader(str(path))
    except MissingDependencyError:
        raise
    except Exception as error:  # whatever the library, or the code in the file, raises
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> ModelError:
    return ModelError(
        f"The model {str(path)!r} can not be read ({type(error).__name__}: {_reason(error)}). It may be damaged, of "
        "another kind than its suffix says, or need a package or a version that is not installed."
    )


def _reason(error: Exception) -> str:
    """What an error says, without the places in a library's sources and the stack that some add."""
    text = _PLACE_IN_SOURCES.sub("", str(error).partition("Stack trace")[0])
    return textwrap.shorten(text, _LONGEST_REASON, placeholder=" …").rstrip(".")


def _read_skops(path: Path, *, trusted: bool, is_ours: bool) -> Any:
    skops = _skops(f"Reading {path.name!r}")
    try:
        unknown = [name for name in skops.get_untrusted_types(file=path) if name not in _OWN_TYPES]
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError) as error:
        raise _unreadable(path, error) from error
    if unknown and (is_ours or not trusted):
        advice = (
            "It is not the model that was stored. Fit the explainer again."
            if is_ours
            else "If you know where it comes from, pass --trust-model."
        )
        raise ModelError(
            f"The model {str(path)!r} holds types that are not known to be safe: {listed(unknown)}. {advice}"
        )
    return _read(path, lambda file: skops.load(file, trusted=[*_OWN_TYPES, *unknown]))


def _booster(path: str) -> Any:
    """The model that xgboost, lightgbm or catboost stored; the suffix tells whose it is."""
    package, extra = _BOOSTERS[Path(path).suffix.lower()]
    library = optional(package, f"The model {Path(path).name!r} needs", extra)
    return library.CatBoost().load_model(path) if package == "catboost" else library.Booster(model_file=path)


def labels_of(names: Sequence[str] | None) -> tuple[Any, ...] | None:
    """Classes as a user writes them; whole numbers become such if all of them are."""
    if names is None:
        return None
    return tuple(int(name) for name in names) if all(name.lstrip("-").isdigit() for name in names) else tuple(names)


def in_order(model: Any, X: pd.DataFrame) -> pd.DataFrame:
    """The table with its columns in the order that the model was trained on, where it has just these."""
    names = _columns_of(model)
    return X[names] if len(names) == X.shape[1] and set(names) == set(X.columns) else X


def mismatch(model: Any, X: pd.DataFrame) -> str:
    """What columns a model was trained on and the table lacks, or the other way round; empty if none is known of."""
    names, given = _columns_of(model), [str(name) for name in X.columns]
    known = set(names).intersection(given)
    if known:
        absent, extra = [name for name in names if name not in known], [name for name in given if name not in known]
        lacking = f"It was trained on {listed(absent)}, which the data lacks or --drop leaves out."
        them = "it" if len(extra) == 1 else "them"
        beyond = f"It was not trained on {listed(extra)}. Leave {them} out: --drop {as_option(extra)}"
        return " ".join([lacking] * bool(absent) + [beyond] * bool(extra))
    n_taken = len(names) or getattr(model, "n_features_in_", len(given))
    if n_taken == len(given):
        return ""
    advice = (
        "Leave out those that it was not trained on: --drop COLUMN,…" if n_taken < len(given) else "Add the others."
    )
    return f"It was trained on {n_taken} columns, the data has {len(given)}: {listed(given)}. {advice}"


def _columns_of(model: Any) -> list[str]:
    """Names of the columns that a model was trained on; none if it does not know them."""
    for attribute in ("feature_names_in_", "feature_names_", "feature_names", "feature_name"):
        names = getattr(model, attribute, None)
        names = names() if callable(names) else names
        if names is not None and not isinstance(names, str):
            return [str(name) for name in names]
    return []
