"""A gallery of every picture, on generated loans: `python examples/pictures.py [folder]` writes PNG files."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from countarfactuals import ARFExplainer, MOCExplainer, plotting
from countarfactuals.datasets import load_loan

SEED = 1
HELD_OUT, N_TREES = 500, 100
APPLICANT = 3  # among the held-out applicants that the model rejects


def main(folder: str = "pictures", n_rows: int | None = None, n_explained: int = 30) -> list[Path]:
    """Write the gallery; `n_rows` trains on fewer applicants, `n_explained` is the size of the batch."""
    loan = load_loan()
    test = loan.X.sample(HELD_OUT, random_state=SEED)
    train = loan.X.drop(index=test.index).head(n_rows)
    one_hot = (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number"))
    model = make_pipeline(
        make_column_transformer(one_hot, remainder="passthrough"), RandomForestClassifier(N_TREES, random_state=SEED)
    ).fit(train, loan.y.loc[train.index])
    rejected = test[model.predict(test) == "bad"]
    explainer = ARFExplainer(model, random_state=SEED).fit(train)
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    written = []
    for name, ax in pictures(explainer, rejected, n_explained):
        path = target / f"{name}.png"
        figure = ax.figure
        assert isinstance(figure, Figure)
        figure.savefig(path, dpi=150)
        pyplot.close(figure)
        print(path)
        written.append(path)
    return written


def pictures(explainer: ARFExplainer, rejected, n_explained: int) -> Iterator[tuple[str, Axes]]:
    x = rejected.iloc[[APPLICANT]]
    result = explainer.explain(x, "good")
    yield "change_table", plotting.plot_change_table(result.select(5))
    yield "parallel", plotting.plot_parallel(result.select(10), explainer)
    yield "surface", plotting.plot_surface(result, explainer)
    yield "surface_of_levels", plotting.plot_surface(result, explainer, features=("purpose", "income"))
    yield "pareto", plotting.plot_pareto(result)
    yield "density_strip", plotting.plot_density_strip(result, explainer)
    yield "frequency", plotting.plot_frequency(result)
    batch = explainer.explain_many(rejected.head(n_explained), "good", progress=False)
    yield "frequency_of_many", plotting.plot_frequency(batch)
    yield "change_importance", plotting.plot_change_importance(batch, k=3)
    yield "common_ways", plotting.plot_common_ways(explainer.common_ways(batch, k=3))
    yield "recourse", plotting.plot_recourse(batch.recourse("age", bins=2))
    yield "ice", plotting.plot_ice(result, explainer)
    yield "importance", plotting.plot_importance(result, explainer)
    searched = MOCExplainer(explainer.model, random_state=SEED).fit_like(explainer).explain(x, "good")
    yield "history", plotting.plot_history(searched)


if __name__ == "__main__":
    main(*sys.argv[1:2])
