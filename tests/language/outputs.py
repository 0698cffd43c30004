"""Everything that is said to readers, of results whose own words are no English."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from countarfactuals import ARFExplainer, Constraints, Counterfactuals, CounterfactualsBatch, plotting, report
from countarfactuals.arf import AdversarialRandomForest
from countarfactuals.language import Catalogue
from countarfactuals.letter import make_letter
from tests.counterfactuals.test_languages import RESULTS, empty, made
from tests.plotting.cases import with_history
from tests.plotting.checks import shown

# of packages, and of settings and constraints as Python knows them, which are the same in every language
REAL_NAMES = {"countarfactuals", "numpy", "pandas", "scikit", "learn", "matplotlib", "Python", "arf", "moc", "class"}
REAL_NAMES |= {"CounterfactualsBatch", "errors", "max", "changed", "None", "True", "False", "Explainer", "good"}
REAL_NAMES |= {"range", "fixed", "evaluations"}
# cells of the table of settings, which have the names that Python knows
SETTINGS = re.compile(r'(?<=<th scope="row">)allow_<wbr>real_<wbr>rows.*?(?=</table>)', re.DOTALL)


class Recorded(Catalogue):
    """English that notes what it is asked for."""

    def __init__(self) -> None:
        super().__init__("en")
        self.keys: set[str] = set()

    def phrase(self, english: str) -> str:
        self.keys.add(english)
        return english


def words_in(text: str) -> set[str]:
    """Words of a text, without places, tags and entities."""
    return set(
        re.findall(r"[^\W\d_]{2,}", re.sub(r"<(style|script)\b.*?</\1>|<[^>]*>|&\w+;|\{[^}]*\}", " ", text, flags=re.S))
    )


@cache
def explained() -> tuple[ARFExplainer, dict[str, Counterfactuals]]:
    """A small explainer of columns whose names are no English, and results of every kind."""
    rng = np.random.default_rng(2)
    n = 200
    frame = pd.DataFrame(
        {
            "Ä1": rng.gamma(4, 900, n).round(2),
            "Ä2": rng.integers(6, 60, n),
            "Ä3": rng.choice(["öö", "üü"], n),
            "Ä4": rng.random(n) < 0.5,
        }
    )
    explainer = ARFExplainer(
        Margin(),
        classes=["ßß", "ŷŷ"],
        density=AdversarialRandomForest(n_estimators=5),
        max_evaluations=80,
        random_state=1,
    ).fit(frame)
    scores = Margin()(frame)
    low, high = frame.iloc[[int(scores.argmin())]], frame.iloc[[int(scores.argmax())]]
    nothing = Constraints(fixed=["Ä1", "Ä2", "Ä3"])
    return explainer, {
        "found": explainer.explain(low, "ŷŷ", Constraints(fixed=["Ä3"])),
        "already": explainer.explain(high, "ŷŷ"),
        "none": explainer.explain(low, "ŷŷ", nothing),
    }


class Margin:
    """A model that does not heed Ä4."""

    def __call__(self, rows: pd.DataFrame) -> np.ndarray:
        return 1 / (1 + np.exp(-(rows["Ä1"] / 1000 - rows["Ä2"] / 20 + (rows["Ä3"] == "öö") - 1).to_numpy(np.float64)))


def letters() -> list[str]:
    explainer, results = explained()
    options: dict[str, Any] = {"codes": {"Ä1": "Č1"}, "contact": "Ö\nÜ", "units": {"Ä1": "€"}, "rows": ("Ä", "ÄÄ")}
    written = []
    for name, result in results.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            protected = ["Ä3", "ŶŶ"] if name != "already" else ["Ä4"]
            letter = make_letter(result, explainer, protected=protected, applicant="ÄÖ", sender="Ü", **options)
        written += [letter.to_text(), letter.to_html(), make_letter(result, explainer).to_text()]
    return written


def tables() -> list[str]:
    batch = CounterfactualsBatch((made(), empty("already"), empty("error", error="Ö")), (1, 2, 3), (4,))
    results = [RESULTS[name]() for name in RESULTS]
    return [repr(batch), batch._repr_html_(), *map(repr, results), *(result._repr_html_() for result in results)]


def sentences() -> list[str]:
    results = [RESULTS[name]() for name in RESULTS]
    return [result.describe(None, rows=("Ä", "ÄÄ")) for result in results]


def reports() -> list[str]:
    explainer, results = explained()
    batch = CounterfactualsBatch(
        (made(), empty("already"), empty("error", error="Ö"), empty("none")), (1, 2, 3, 4), (5,)
    )
    pages = [report.to_html(result, explainer, rows=("Ä", "ÄÄ")) for result in results.values()]
    pages.append(report.to_html(batch, rows=("Ä", "ÄÄ")))
    return [SETTINGS.sub("", page) for page in pages]


def pictures() -> list[str]:
    explainer, results = explained()
    found = results["found"]
    drawn = [plotting.plot_change_table(found), plotting.plot_parallel(found), plotting.plot_frequency(found)]
    drawn += [plotting.plot_pareto(found), plotting.plot_history(with_history()), plotting.plot_pareto(results["none"])]
    drawn += [draw(found, explainer) for draw in (plotting.plot_surface, plotting.plot_ice, plotting.plot_importance)]
    drawn.append(plotting.plot_density_strip(found, explainer))
    return [text for ax in drawn for text in shown(ax)]


OUTPUTS: dict[str, Callable[[], list[str]]] = {
    "letters": letters,
    "tables": tables,
    "sentences": sentences,
    "reports": reports,
    "pictures": pictures,
}
