"""Whether an installed package works, outside the repository: fit, explain, tell, keep, and the command line.

`python smoke.py` in an empty folder; the first wrong thing ends it.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

import countarfactuals
from countarfactuals import AdversarialRandomForest, ARFExplainer, Constraints, Counterfactuals, Explainer, report


def table() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"age": rng.integers(18, 70, 300), "income": rng.gamma(4, 9000, 300).round(2)})
    frame["home"] = pd.Categorical(rng.choice(["own", "rent"], 300))
    return frame.assign(quality=np.where(frame["income"] > 400 * frame["age"] + 15_000, "good", "bad"))


def of_python(frame: pd.DataFrame) -> None:
    """What a library's user does first."""
    X = frame.drop(columns=["quality", "home"])
    model = RandomForestClassifier(20, random_state=1).fit(X, frame["quality"])
    forest = AdversarialRandomForest(n_estimators=10)
    explainer = ARFExplainer(model, density=forest, max_evaluations=200, random_state=1).fit(X)
    x = X[model.predict(X) == "bad"].iloc[[0]]
    result = explainer.explain(x, "good", Constraints(fixed=["age"]))
    assert result.status == "found"
    assert (model.predict(result.to_frame()) == "good").all()
    assert (result.to_frame()["age"] == x["age"].iloc[0]).all()
    assert result.describe() != result.describe(language="de")
    assert Counterfactuals.from_json(result.to_json()).to_json() == result.to_json()
    explainer.save("explainer.npz")
    again = Explainer.load("explainer.npz", model).explain(x, "good", Constraints(fixed=["age"]))
    assert again.to_frame().equals(result.to_frame())
    report.write(result, "report.html", explainer)
    assert "<img" in Path("report.html").read_text(encoding="utf-8")  # pictures


def of_the_shell(frame: pd.DataFrame) -> None:
    """The command that is installed with the package."""
    frame.to_csv("train.csv", index=False)
    frame[frame["quality"] == "bad"].drop(columns="quality").head(3).to_csv("new.csv", index=False)
    command = Path(sys.executable).parent / "countarfactuals"
    fit = "fit --data train.csv --outcome quality --model auto --out explainer --trees 10 --model-trees 20"
    explain = "explain --explainer explainer --data new.csv --want good --letter letter.html --rows 0 --out out.html"
    for words in (fit, explain):
        subprocess.run([command, *words.split()], check=True, capture_output=True)
    assert all(Path(name).stat().st_size for name in ("letter.html", "out.html"))


if __name__ == "__main__":
    place = Path(countarfactuals.__file__).parent
    assert "site-packages" in place.parts, place
    assert (files("countarfactuals") / "py.typed").is_file()
    of_python(table())
    of_the_shell(table())
    print(f"countarfactuals {countarfactuals.__version__} works in {place}")
