"""Letters: true to the result and to the model, safe, readable, and traceable."""

from __future__ import annotations

import datetime
import json
import pickle
import re
import subprocess
import sys
import warnings
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBClassifier

from countarfactuals import ARFExplainer, Constraints, Target
from countarfactuals.arf import AdversarialRandomForest
from countarfactuals.counterfactuals import Counterfactuals
from countarfactuals.exceptions import (
    ConstraintError,
    DataError,
    DataTypeError,
    LetterWarning,
    ParameterError,
    StorageError,
)
from countarfactuals.language.spelling import score_texts, width
from countarfactuals.letter import Letter, make_letter
from countarfactuals.letter.fingerprints import model_fingerprint
from countarfactuals.letter.layout import WIDTH, wrapped

from ..report.cases import HOSTILE, explained
from ..report.test_document import ALLOWED, VOID

MADE = datetime.datetime(2026, 3, 5, 7, 8, 9, tzinfo=datetime.UTC)


def table(n: int = 250) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "income": rng.gamma(4, 9000, n).round(2),
            "duration": rng.integers(6, 60, n),
            "age": rng.integers(18, 75, n),
            "town": rng.choice(["Ulm", "Bonn", "Kiel"], n),
            "noise": rng.normal(size=n).round(2),
        }
    )


def codes_of(rows: pd.DataFrame) -> np.ndarray:
    """What the models see: nothing of the noise, and of the age only whether it is below 25."""
    return np.c_[rows["income"] / 20000, rows["duration"] / 20, rows["age"] < 25, rows["town"] == "Ulm"].astype(float)


class Granting:
    """A classifier of two classes whose content can be hashed."""

    classes_ = np.array(["bad", "good"])

    def __init__(self) -> None:
        X = table()
        good = codes_of(X) @ [1.0, -1.0, -0.6, 0.5] + np.random.default_rng(1).normal(size=len(X)) / 3 > 0
        self.fitted = LogisticRegression().fit(codes_of(X), good)

    def predict_proba(self, rows: pd.DataFrame) -> np.ndarray:
        return self.fitted.predict_proba(codes_of(rows))

    def predict(self, rows: pd.DataFrame) -> np.ndarray:
        return self.classes_[self.predict_proba(rows).argmax(axis=1)]


@cache
def granting() -> ARFExplainer:
    settings: dict[str, Any] = {"density": AdversarialRandomForest(n_estimators=10), "max_evaluations": 200}
    return ARFExplainer(Granting(), random_state=1, **settings).fit(table())


@cache
def rejected(old: bool = True) -> pd.DataFrame:
    X = table()
    scores = granting().model.predict_proba(X)[:, 1]
    return X[(scores > 0.1) & (scores < 0.4) & ((X["age"] >= 25) == old)].head(1)


@cache
def refusal() -> Counterfactuals:
    return granting().explain(rejected(), "good", Constraints(fixed=["age"]))


def written(result: Counterfactuals | None = None, **options: Any) -> Letter:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LetterWarning)
        return make_letter(refusal() if result is None else result, granting(), made=MADE, **options)


# True to model and result


def curve(column: str, row: pd.DataFrame) -> np.ndarray:
    """P(good) where this column alone has values of the data, asked of the model itself."""
    values = np.unique(table()[column].to_numpy())
    values = values[values != row[column].iloc[0]]
    if len(values) > 20:
        values = values[[int((i + 0.5) * len(values) / 20) for i in range(20)]]
    rows = pd.concat([row] * len(values), ignore_index=True)
    rows[column] = values
    return granting().model.predict_proba(rows)[:, 1]


def test_every_reason_was_in_fact_scored():
    letter, row = written(), rejected()
    own = granting().model.predict_proba(row)[0, 1]
    gains = {name: max(curve(name, row).max() - own, 0.0) for name in row.columns}
    changes = dict(zip(row.columns, refusal().changed.sum(axis=0).tolist(), strict=True))
    assert 1 <= len(letter.reasons) <= 4
    for reason in letter.reasons:
        assert reason.gain == pytest.approx(gains[reason.column], abs=1e-12)
        assert reason.score == pytest.approx(own)
        assert reason.n_changed == changes[reason.column]
        assert gains[reason.column] > 0 or changes[reason.column] > 0
    order = sorted(row.columns, key=lambda name: (-gains[name], -changes[name]))
    assert [reason.column for reason in letter.reasons] == [
        name for name in order if gains[name] > 1e-9 or changes[name]
    ][:4]


def test_what_the_model_does_not_heed_is_no_reason():
    kept = granting().explain(rejected(), "good", Constraints(fixed=["noise", "age"]))
    letter = written(kept)
    assert {reason.column for reason in letter.reasons} == {"income", "duration", "town"}
    assert "noise" not in letter.to_text().split("What was not considered")[0]


def test_the_text_has_the_decision_the_reasons_and_the_ways():
    letter = written(codes={"income": "R12", "duration": "R07"}, units={"income": "EUR"}, rows="applicants")
    text = " ".join(letter.to_text().split())
    (own,) = score_texts([float(granting().model.predict_proba(rejected())[0, 1])])
    assert f"The prediction is bad (P(good) = {own})" in text
    assert "The decision is good where P(good) is above 0.50." in text
    assert f"R12 – income: €{rejected()['income'].iloc[0]:,.2f}." in text
    told = refusal().select(3)
    assert len(letter.result) == len(told) <= 3
    for sentence in told.describe(None, units={"income": "EUR"}).split("\n\n")[: len(told)]:
        assert sentence.split(". ")[0] in text
    for phrase in ("It is no promise.", "Held fixed when other ways were looked for: age.", "Seed: 1"):
        assert phrase in text


def test_at_most_four_reasons_and_three_ways():
    assert len(written().reasons) <= 4
    assert len(written().result) <= 3
    assert written().n_counterfactuals == len(refusal())


# What was not considered


def test_protected_columns_are_told_of_as_they_are():
    young = granting().explain(rejected(old=False), "good", Constraints(fixed=["age", "noise"]))
    with pytest.warns(LetterWarning, match="depends on 'age'"):
        letter = make_letter(young, granting(), protected=["age", "noise", "sex"], made=MADE)
    text = " ".join(letter.to_text().split())
    assert "Not known to the model: sex." in text
    assert "without effect on the score in your case: noise." in text
    assert "all the same, with an effect on the score in your case: age." in text
    held = {kept.column: kept for kept in letter.held_fixed}
    own = granting().model.predict_proba(rejected(old=False))[0, 1]
    assert held["age"].span == pytest.approx(np.abs(curve("age", rejected(old=False)) - own).max())
    assert held["noise"].span == held["sex"].span == 0


def test_protected_columns_that_change_are_refused():
    free = granting().explain(rejected(), "good", Constraints(fixed=["town"]))
    changing = [name for name in ("income", "duration") if free.changed[:, list(table()).index(name)].any()]
    with pytest.raises(ConstraintError, match=rf"change '{changing[0]}'.*fixed=\['{changing[0]}'\]"):
        make_letter(free, granting(), protected=[changing[0]])


def test_a_protected_name_that_is_mistyped_is_told():
    with pytest.warns(LetterWarning, match="'agee', as it is no feature. Did you mean 'age'"):
        make_letter(refusal(), granting(), protected=["agee"])


# Without counterfactuals


def test_a_row_that_has_the_outcome_gets_no_reasons():
    X = table()
    fine = X[granting().model.predict_proba(X)[:, 1] > 0.9].head(1)
    letter = written(granting().explain(fine, "good"))
    assert letter.reasons == ()
    assert "The decision is the wanted one." in letter.to_text()
    assert "What would have changed" not in letter.to_text()


def test_without_a_way_the_reasons_stay():
    nothing = granting().explain(rejected(), "good", Constraints(fixed=["income", "duration", "town", "age"]))
    assert nothing.status == "none"
    letter = written(nothing)
    assert {"income", "duration"} <= {reason.column for reason in letter.reasons}
    text = " ".join(letter.to_text().split())
    assert "No way to another decision was found" in text
    assert "It changes in" not in text


def test_without_any_reason_that_is_said():
    X = table()
    steady = ARFExplainer(
        lambda rows: np.full(len(rows), 0.2),
        classes=["bad", "good"],
        density=AdversarialRandomForest(n_estimators=5),
        max_evaluations=30,
        random_state=1,
    ).fit(X)
    letter = make_letter(steady.explain(X.head(1), "good"), steady)
    assert letter.reasons == ()
    assert "No single feature" in letter.to_text()


def test_a_row_that_failed_is_refused():
    with_gap = table().head(1).assign(income="much")
    failed = granting().explain_many(pd.concat([table().head(1).astype(object), with_gap.astype(object)]), "good")
    errors = [result for result in failed if result.status == "error"]
    for result in errors:
        with pytest.raises(DataError, match="could not be explained"):
            make_letter(result, granting())
    with pytest.raises(DataTypeError, match="one row, got a batch of 2"):
        make_letter(failed, granting())  # type: ignore[arg-type]


# Other models


def test_other_targets_have_their_own_rule_and_direction():
    X = table()
    fine = X[granting().model.predict_proba(X)[:, 1] > 0.7].head(1)
    letter = written(granting().explain(fine, "bad"))
    assert "The decision is bad where P(bad) is at least 0.50." in " ".join(letter.to_text().split())
    assert all(reason.best_score > reason.score for reason in letter.reasons if reason.best_value is not None)
    ranged = written(granting().explain(rejected(), Target("good", probability=(0.6, 0.8))))
    assert "Threshold: P(good) from 0.6 to 0.8" in ranged.to_text()


def test_a_regression_may_have_to_sink():
    X = table()
    model = LinearRegression().fit(codes_of(X), codes_of(X) @ [90.0, -30.0, -9.0, 20.0])
    settings: dict[str, Any] = {"density": AdversarialRandomForest(n_estimators=5), "max_evaluations": 80}
    explainer = ARFExplainer(lambda rows: model.predict(codes_of(rows)), random_state=1, **settings).fit(X)
    costly = X.iloc[[int(model.predict(codes_of(X)).argmax())]]
    letter = make_letter(explainer.explain(costly, Target(below=150)), explainer, outcome="price", units={"price": "€"})
    assert letter.reasons[0].column == "income"
    assert letter.reasons[0].best_score < letter.reasons[0].score
    assert "price at most €150" in letter.to_text()
    assert letter.fingerprints["model"].of == "description"
    assert "class and name only" in letter.to_text()


# Safe and readable


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attributes}
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def hostile_letter() -> Letter:
    explainer, one, _ = explained()
    texts = {name: "\n".join(HOSTILE) for name in ("contact", "sender", "applicant", "reference")}
    units = {"income": HOSTILE[3], "duration": HOSTILE[0]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LetterWarning)
        return make_letter(
            one,
            explainer,
            codes=dict.fromkeys(("income", "duration", "housing"), HOSTILE[1]),
            protected=HOSTILE,
            model=HOSTILE[5],
            units=units,
            rows=(HOSTILE[0], HOSTILE[3]),
            outcome=HOSTILE[4],
            made=MADE,
            **texts,
        )


def test_hostile_texts_are_escaped():
    html = hostile_letter().to_html()
    page = Page()
    page.feed(html)
    assert page.open == []
    assert page.tags <= {*ALLOWED, "dl", "dt", "dd"} - {"script", "img", "svg", "input", "button"}
    assert page.attributes <= {"lang", "charset", "http-equiv", "content", "name", "rel", "href", "class"}
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert "script-src" not in policy[1]


@pytest.mark.parametrize("language", ["en", "de"])
def test_lines_are_no_longer_than_78_columns(language: str):
    for letter in (hostile_letter(), written(codes={"income": "R1 " * 40}, contact="東京都千代田区" * 20)):
        lines = letter.to_text(language=language).splitlines()
        assert max(map(width, lines)) <= WIDTH
        assert all(line == line.rstrip() for line in lines)


def test_words_are_wrapped_and_none_is_lost():
    text = "a " * 50 + "東京" * 60 + " the end"
    lines = wrapped(text, 20)
    assert max(map(width, lines)) <= 20
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize("language", ["en", "de", "de-AT"])
def test_languages(language: str, tmp_path: Path):
    letter = written(units={"income": "EUR"}, contact="Tel. 1")
    html = letter.to_html(tmp_path / "letter.html", language=language)
    assert f'<html lang="{language}">' in html
    assert (tmp_path / "letter.html").read_text(encoding="utf-8") == html
    text = letter.to_text(tmp_path / "letter.txt", language=language)
    assert (tmp_path / "letter.txt").read_text(encoding="utf-8") == text
    assert ("5. März 2026" in text) == (language != "en")
    assert str(letter) == letter.to_text()


# Traceable


MODELS = {
    "linear": LogisticRegression(),
    "forest": RandomForestClassifier(5, random_state=1),
    "boosting": HistGradientBoostingClassifier(max_iter=5),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    "xgboost": XGBClassifier(n_estimators=3),
}


def test_hashes_are_the_same_in_another_process(tmp_path: Path):
    labels = np.arange(250) % 2
    fitted = {name: model.fit(codes_of(table()), labels) for name, model in MODELS.items()}
    (tmp_path / "models.pkl").write_bytes(pickle.dumps(list(fitted.values())))
    program = (
        "import pickle, sys; from countarfactuals.letter.fingerprints import model_fingerprint; "
        "print(*(model_fingerprint(model).digest for model in pickle.load(open(sys.argv[1], 'rb'))))"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "models.pkl")]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=120)
    prints = [model_fingerprint(model) for model in fitted.values()]
    assert {fingerprint.of for fingerprint in prints} == {"content"}
    assert done.stdout.split() == [fingerprint.digest for fingerprint in prints]
    other = LogisticRegression(C=2).fit(codes_of(table()), labels)
    assert len({fingerprint.digest for fingerprint in (*prints, model_fingerprint(other))}) == len(MODELS) + 1


def test_hashes_tell_model_data_and_explainer_apart():
    first = written().fingerprints
    assert first == written().fingerprints
    settings: dict[str, Any] = {"density": AdversarialRandomForest(n_estimators=10), "max_evaluations": 200}
    again = ARFExplainer(Granting(), random_state=1, n_jobs=2, **settings).fit(table())
    same = make_letter(again.explain(rejected(), "good"), again).fingerprints
    assert same == first
    less = ARFExplainer(Granting(), random_state=1, **settings).fit(table().iloc[:-1])
    other = make_letter(less.explain(rejected(), "good"), less).fingerprints
    assert other["model"] == first["model"]
    assert other["data"] != first["data"]
    assert other["explainer"] != first["explainer"]


def test_functions_are_known_by_name_only(tmp_path: Path):
    assert model_fingerprint(codes_of).of == "description"
    assert model_fingerprint(lambda rows: rows).of == "description"
    (tmp_path / "model.bin").write_bytes(b"abc")
    of_file = model_fingerprint(codes_of, tmp_path / "model.bin")
    assert of_file.of == "file"
    assert of_file.digest == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # as FIPS 180-2 has it
    with pytest.raises(StorageError, match="can not be read"):
        model_fingerprint(codes_of, tmp_path / "absent")


def test_a_letter_as_json():
    letter = written(codes={"income": "R12"}, protected=["sex"])
    stored = json.loads(json.dumps(letter.to_dict()))
    assert stored["format"] == "countarfactuals.Letter"
    assert stored["made"] == "2026-03-05T07:08:09+00:00"
    assert [reason["column"] for reason in stored["reasons"]] == [reason.column for reason in letter.reasons]
    assert stored["held_fixed"][0] == {"column": "sex", "is_protected": True, "is_feature": False, "span": 0.0}
    assert Counterfactuals.from_dict(stored["result"]) == letter.result


def test_a_result_makes_its_own_letter():
    ours, theirs = refusal().letter(granting(), made=MADE), written()
    assert ours.to_dict() == theirs.to_dict()


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"codes": {"incom": "R1"}}, "`codes` names 'incom'.*Did you mean 'income'"),
        ({"codes": {"income": 12}}, "`codes` must be a dict of texts"),
        ({"protected": "age"}, "`protected` must be a list"),
        ({"contact": 3}, "`contact` must be a text"),
        ({"dated": "today"}, "`dated` must be"),
        ({"made": datetime.datetime(2026, 1, 1)}, "with its time zone"),
        ({"units": {"nothing": "€"}}, "which is no column"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], match: str):
    with pytest.raises(ParameterError, match=match):
        make_letter(refusal(), granting(), **options)


def test_the_observed_outcome_is_no_decision():
    X = table().head(80)
    y = np.where(codes_of(X)[:, 0] > 1.5, "good", "bad")
    settings: dict[str, Any] = {"density": AdversarialRandomForest(n_estimators=5), "max_evaluations": 30}
    explainer = ARFExplainer(None, outcome="observed", random_state=1, **settings).fit(X, y)
    result = explainer.explain(X[y == "bad"].head(1), "good")
    with pytest.raises(ParameterError, match="not a model's decision"):
        make_letter(result, explainer)
