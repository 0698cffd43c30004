"""The coffee example, on a made-up table everywhere and on the published one where its folder is named."""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import Pipeline

from countarfactuals import ARFExplainer, Counterfactuals, Target
from countarfactuals.datasets import load_coffee

EXAMPLE = Path(__file__).parent.parent / "examples" / "coffee.py"
FOLDER = os.environ.get("COUNTARFACTUALS_PAPER", "")
needs_folder = pytest.mark.skipif(not FOLDER, reason="COUNTARFACTUALS_PAPER does not name the published data")
# a country's varieties, its mean altitude, and the altitude from which its coffee is good
COUNTRIES = {
    "Taiwan": (["Typica"], 700, 1000),
    "Colombia": (["Caturra"], 1700, 1500),
    "Guatemala": (["Bourbon", "Catuai"], 1400, 1300),
    "Brazil": (["Catuai", "Other"], 1000, 1200),
    "Mexico": (["Typica", "Bourbon"], 1150, 1100),
}


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("coffee_example", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cleaned file whose row 265 is, as in the paper, a Taiwanese coffee labelled good among bad ones."""
    rng = np.random.default_rng(3)
    rows = []
    for number in range(400):
        country = "Taiwan" if number == 264 else str(rng.choice(list(COUNTRIES)))
        varieties, usual, good_from = COUNTRIES[country]
        altitude = 700.0 if number == 264 else round(rng.normal(usual, 150), 1)
        rows.append(
            {
                "country.of.origin": country,
                "harvest.year": 2014 if number == 264 else rng.integers(2012, 2017),
                "variety": rng.choice(varieties),
                "processing.method": rng.choice(["Washed / Wet", "Natural / Dry"], p=[0.8, 0.2]),
                "moisture": rng.choice([0.0, 0.1, 0.11, 0.12]),
                "color": "Green",
                "altitude_mean_meters": altitude,
                "quality": "good" if number == 264 or altitude >= good_from else "bad",
                **dict.fromkeys(["aroma", "flavor", "aftertaste", "acidity", "body", "balance", "uniformity"], 8.0),
                **dict.fromkeys(["clean.cup", "sweetness", "cupper.points"], 9.0),
            }
        )
    path = tmp_path_factory.mktemp("coffee") / "coffee.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


class Trained(NamedTuple):
    X: pd.DataFrame
    y: pd.Series
    model: Pipeline


@pytest.fixture(scope="module")
def trained(example: ModuleType, table: Path) -> Trained:
    loaded = load_coffee(table)
    X = example.characteristics(loaded.X)
    return Trained(X, loaded.y, example.train_model(X, loaded.y))


class Line(NamedTuple):
    """A line of the comparison."""

    rows: int
    pairs: int
    pair_occurs: float
    usual_altitude: float


def line(text: str, name: str) -> Line:
    found = re.search(rf"^{name} +(\d+) +(\d+) +(\d+)% +(\d+)%$", text, re.MULTILINE)
    assert found, text
    return Line(int(found[1]), int(found[2]), int(found[3]) / 100, int(found[4]) / 100)


def run(example: ModuleType, path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    picture = tmp_path / "table.png"
    example.run([str(path), "--picture", str(picture)])
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    return capsys.readouterr().out


def test_the_example_on_a_made_up_table(example, table, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(example, "COMPARED", 2)
    text = run(example, table, tmp_path, capsys)
    assert "Explained is row 265 of 400, the paper's coffee: predicted bad, labelled good." in text
    changes = text.split("2  What would")[1].split("3  Beside")[0]
    assert re.findall(r"^\d .*[↑↓↔] .*$", changes, re.MULTILINE)
    assert set(re.findall(r"^\d .*(good|bad)", changes, re.MULTILINE)) == {"good"}
    ours, new, independent = (line(text, name) for name in ("counterfactuals", "without real rows", "independent"))
    assert ours.rows > new.rows >= 5  # some are real coffees
    assert independent.rows >= 100
    for one in (ours, new):
        assert one.pair_occurs > 0.9 > independent.pair_occurs + 0.2
        assert one.usual_altitude > independent.usual_altitude + 0.1


@needs_folder
def test_the_example_on_the_published_table(example, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(example, "COMPARED", 10)  # fewer have too few distinct rows to compare altitudes
    text = run(example, Path(FOLDER) / "coffee_raw.csv", tmp_path, capsys)
    assert "Explained is row 265 of 895, the paper's coffee: predicted bad, labelled good." in text
    assert re.search(r"Taiwan +2014 +Typica +Washed / Wet +0.1 +800$", text, re.MULTILINE)
    ours, new, independent = (line(text, name) for name in ("counterfactuals", "without real rows", "independent"))
    assert ours.rows > new.rows  # some are real coffees
    for one in (ours, new):
        assert one.pair_occurs > 0.95 > independent.pair_occurs + 0.2
        assert one.usual_altitude > independent.usual_altitude + 0.1


def gower_twin(X: pd.DataFrame, x: pd.Series) -> np.ndarray:
    terms = []
    for name in X:
        if X[name].dtype == "category":
            terms.append((X[name].astype(str) != x[name]).to_numpy(float))
        else:
            terms.append(((X[name] - x[name]).abs() / (X[name].max() - X[name].min())).to_numpy())
    return np.mean(terms, axis=0)


def test_the_nearest_bad_coffee_is_taken_if_the_papers_is_predicted_good(
    example, table, trained, tmp_path, capsys, monkeypatch
):
    X = trained.X
    model = example.train_model(X, trained.y, smallest_leaf=1)  # learns the odd label by heart
    assert model.predict(X.iloc[[264]]) == "good"
    order = example.predicted_bad_at_home(model, X)
    assert set(order) == set(np.flatnonzero((X["country.of.origin"] == "Taiwan") & (model.predict(X) == "bad")))
    distance = gower_twin(X, X.iloc[264])[order]
    assert (np.diff(distance) >= -1e-12).all()

    monkeypatch.setattr(example, "COMPARED", 1)
    monkeypatch.setattr(example, "train_model", lambda *_: model)
    text = run(example, table, tmp_path, capsys)
    assert "The paper's coffee, row 265, is predicted good." in text
    assert f"Explained is row {order[0] + 1} of 400, the Taiwanese coffee nearest to it that is not" in text


def test_the_papers_coffee_comes_before_its_twins(example, trained):
    X = trained.X.copy()
    X.iloc[10] = X.iloc[264]
    order = example.predicted_bad_at_home(trained.model, X)
    assert order[:2].tolist() == [264, 10]


def test_another_table_is_refused(example, trained):
    X, _, model = trained
    elsewhere = (X["country.of.origin"] != "Taiwan").to_numpy()
    for some in (X[elsewhere], X.head(200)):
        with pytest.raises(SystemExit, match="not the paper's data"):
            example.predicted_bad_at_home(model, some)


@pytest.fixture(scope="module")
def result(trained: Trained) -> Counterfactuals:
    explainer = ARFExplainer(trained.model, max_evaluations=200, random_state=1).fit(trained.X)
    return explainer.explain(trained.X.iloc[[264]], Target("good"))


def test_resampling_draws_the_changed_features_only(example, trained, result):
    X, _, model = trained
    x = X.iloc[[264]]
    assert len(result)
    drawn = example.resampled(result, X, model, np.random.default_rng(1))
    assert set(model.predict(drawn)) == {"good"}
    assert list(drawn.columns) == list(X.columns)
    assert (drawn.dtypes == X.dtypes).all()
    ever = result.changed.any(axis=0)
    for name, changed in zip(X.columns, ever, strict=True):
        assert set(drawn[name]) <= set(X[name])
        if not changed:
            assert set(drawn[name]) == set(x[name])
    assert all(drawn[name].nunique() > 1 for name in X.columns[ever])


def test_measures_by_hand(example):
    X = pd.DataFrame(
        {
            "country.of.origin": ["A"] * 21 + ["B"],
            "variety": ["Typica"] * 20 + ["Other", "Caturra"],
            "altitude_mean_meters": [*range(0, 2100, 100), 500],
        }
    )
    rows = pd.DataFrame(
        {
            "country.of.origin": ["A", "A", "A", "A", "B", "B"],
            "variety": ["Typica", "Other", "Caturra", "Typica", "Caturra", "Typica"],
            "altitude_mean_meters": [100, 99, 1900, 1901, 500, 501],
        }
    )
    assert example.pair_occurs(rows, X).tolist() == [True, True, False, True, True, False]
    assert example.altitude_is_usual(rows, X).tolist() == [True, False, True, False, True, False]


def test_equal_rows_and_those_from_home_are_not_counted(example):
    X = pd.DataFrame(
        {
            "country.of.origin": ["Taiwan", "A", "A", "B"],
            "variety": ["Typica", "Typica", "Other", "Caturra"],
            "altitude_mean_meters": [700, 1000, 1000, 500],
        }
    )
    good, odd = ("A", "Typica", 1000), ("B", "Typica", 501)
    rows = [good] * 7 + [odd, ("A", "Other", 1000), ("A", "Other", 1001), ("Taiwan", "Caturra", 9)]
    table = pd.DataFrame(rows, columns=X.columns)
    assert example.comparison({"some": table}, X).loc["some"].tolist() == [4, 3, "75%", "50%"]
    nothing = example.comparison({"none": table.tail(1)}, X).loc["none"].tolist()
    assert nothing == [0, 0, "–", "–"]


def test_one_generator_serves_all_coffees(example, table, tmp_path, capsys, monkeypatch):
    seen = []
    resampled = example.resampled
    monkeypatch.setattr(example, "COMPARED", 2)
    monkeypatch.setattr(example, "resampled", lambda *some: (seen.append(some[3]), resampled(*some))[1])
    run(example, table, tmp_path, capsys)
    assert len(seen) == 2
    assert seen[0] is seen[1]


def test_the_picture_marks_the_real_rows_that_the_text_marks(example, trained, result):
    from countarfactuals.plotting import plot_change_table

    known = set(trained.X.itertuples(index=False, name=None))
    is_real = [row in known for row in result.to_frame().itertuples(index=False, name=None)]
    real, new = np.flatnonzero(is_real), np.flatnonzero(~np.array(is_real))
    assert len(real)
    assert len(new)
    shown = result.filter(where=lambda frame: np.isin(np.arange(len(frame)), [new[0], real[0]]))
    ax = plot_change_table(shown)
    example.mark_real_rows(ax, shown)
    heads = [text.get_text() for text in ax.texts if text.get_text().startswith("#")]
    assert heads == (["#0", "#1\nreal row"] if new[0] < real[0] else ["#0\nreal row", "#1"])
