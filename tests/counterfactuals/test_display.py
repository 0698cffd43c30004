from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import pytest

from countarfactuals.constraints import Constraints
from countarfactuals.counterfactuals.outcomes import wanted_score
from countarfactuals.language.spelling import arrow, cell_texts, names_text, one_line, share_text, width
from countarfactuals.prediction import Target
from countarfactuals.schema import Column, Kind

from .examples import REGRESSION, loans, margins, probabilities, result, wide

EXPECTED = """\
Counterfactuals: 4 found · target: class 'good' · method: arf
     age    amount     rate        job          grade     owner    savings    prediction  P(good)  typicality  real row
x    30     5000.50    3.141593    clerk        middle    False    (missing)  bad         0.310    45 %
0         ↓ 3200.25                           ↑ high                          good        0.600    20 %
1  ↑ 31                          ↔ nurse                ↑ True   ↔ 120        good        0.700    40 %        yes
2         ↑ 7000.75              ↔ (missing)  ↓ low                           good        0.800    60 %
3                    ↑ 3.141594                                               good        0.900    80 %
unchanged (1): town"""


def test_the_table_in_a_terminal() -> None:
    assert repr(result()) == EXPECTED


def test_notes_and_constraints_follow() -> None:
    lines = repr(result(notes=("Mind this. " * 20,), constraints=Constraints(fixed=list(loans())[:7]))).splitlines()
    assert lines[8].startswith("note: Mind this.")
    assert lines[9].startswith("  ")
    assert lines[-2:] == ["constraint: 'grade' does not change.", "… 2 more constraints"]


def test_many_features_and_rows_stay_readable() -> None:
    text = repr(wide())
    lines = text.splitlines()
    assert max(map(len, lines)) <= 120
    assert len(lines) < 50
    assert "… 12 more" in lines
    heads = [part for line in lines if line.startswith("     ") for part in line.split() if part.startswith("a_rather")]
    assert len(set(heads)) == len(heads) > 8
    counted = sum(int(line.split("(")[1].split(")")[0]) for line in lines if "changed (" in line)
    assert counted + len(heads) == 60


def test_features_that_only_later_rows_change_are_named() -> None:
    values = np.full((13, 2), 1.5)
    values[1:12, 0], values[12, 1] = 2.5, 3.5
    text = repr(result(pd.DataFrame(values, columns=["first", "later"])))
    assert text.splitlines()[-2:] == ["… 2 more", "also changed (1): later"]


def test_eleven_rows_show_ten() -> None:
    frame = pd.DataFrame({"a": np.arange(12) + 0.5})
    assert repr(result(frame)).splitlines()[-2].startswith("9  ↑ 10.5")
    assert "more" not in repr(result(frame[:11]))


@pytest.mark.parametrize("n_classes", [3, 4])
def test_scores_of_several_classes(n_classes: int) -> None:
    labels = "abcd"[:n_classes]
    scores = np.tile(np.linspace(0.1, 0.7, n_classes), (4, 1))
    lines = repr(result(score_columns=probabilities(*labels), x_scores=scores[0], scores=scores)).splitlines()
    assert all((f"P({name})" in lines[1]) == (n_classes == 3) for name in labels)
    assert ("its score" in lines[1]) == (n_classes == 4)
    assert "0.700" in lines[3]


def test_of_many_classes_the_wanted_ones_score_is_shown() -> None:
    scores = np.tile([0.1, 0.2, 0.3, 0.4], (4, 1))
    made = result(score_columns=probabilities(*"abcd"), x_scores=scores[0], scores=scores, target=Target("b"))
    lines = repr(made).splitlines()
    assert "P(b)" in lines[1]
    assert "its score" not in lines[1]
    assert "0.200" in lines[3]


@pytest.mark.parametrize("target", [Target("bad"), Target("bad", probability=(0.7, 1)), Target("bad", above=0.7)])
def test_the_score_of_the_wanted_class_is_shown_with_its_name(target: Target) -> None:
    scores = {"x_scores": [0.85], "scores": [[0.3], [0.2], [0.1], [0.05]], "labels": ["bad"] * 4, "x_label": "good"}
    made = result(target=target, **scores)
    for shown in (repr(made), made._repr_html_()):
        assert "P(bad)" in shown
        assert "P(good)" not in shown
        assert all(number in shown for number in ("0.150", "0.700", "0.800", "0.900", "0.950"))
    own = result(target=Target("good", above=0.5), **scores | {"score_columns": margins("good")})
    assert "score(good)" in repr(own).splitlines()[1]
    assert "0.850" in repr(own)


@pytest.mark.parametrize("label", ["good", True, 1, ("a", 1), "P(good) at least 1"])
def test_classes_of_every_type_are_recognised(label: Any) -> None:
    own = probabilities(label)[0]
    assert wanted_score(result(target=Target(label), score_columns=(own,))) == own
    mirrored = wanted_score(result(target=Target(label), score_columns=probabilities("x")))
    assert mirrored == replace(own, is_mirrored=True)
    assert wanted_score(result(target=Target(label), score_columns=margins("x"))) is None


def test_selections_say_of_how_many_they_are() -> None:
    assert repr(result().select(3)).startswith("Counterfactuals: 3 of 4 shown · target")
    assert repr(result().filter(max_changed=0)).startswith("Counterfactuals: none of 4 shown · target")
    assert repr(result().select(4)).startswith("Counterfactuals: 4 found · target")
    assert "3 of 4 shown" in result().select(3)._repr_html_()


def test_numbers_of_a_target_have_separators() -> None:
    made = result(target=Target(between=(200000, 300000.5)), score_columns=REGRESSION)
    assert "target: prediction from 200,000 to 300,000.5 ·" in repr(made)


def test_what_users_call_things_can_not_break_lines() -> None:
    frame = pd.DataFrame({"a\nb": ["x\ty", "\x1b[31mred", "語" * 30]})
    made = result(frame, target=Target("a\nb"))
    lines = repr(made).splitlines()
    assert len(lines) == 5
    assert "\x1b" not in repr(made) + made._repr_html_()
    assert len({width(line[: line.index("good")]) for line in lines[3:]}) == 1


def test_arrows() -> None:
    assert [arrow(Column("a", kind, ("u", "v")), 0.0, 1.0) for kind in (Kind.ORDERED, Kind.BOOLEAN, Kind.CATEGORY)] == [
        "↑",
        "↑",
        "↔",
    ]
    assert arrow(Column("a", Kind.REAL), 1.0, 0.5) == "↓"
    assert arrow(Column("a", Kind.REAL), 1.0, np.nan) == arrow(Column("a", Kind.REAL), np.nan, 1.0) == "↔"


@pytest.mark.parametrize(
    ("column", "values", "texts"),
    [
        (Column("a", Kind.INTEGER, decimals=0), [3.0, -0.0, np.nan], ["3", "0", "(missing)"]),
        (Column("a", Kind.REAL, decimals=2), [3.1, 2.0], ["3.10", "2.00"]),
        (Column("a", Kind.REAL, decimals=1), [3.1, 3.12], ["3.10", "3.12"]),
        (Column("a", Kind.REAL), [12.3456, 1.5], ["12.35", "1.50"]),
        (Column("a", Kind.REAL), [123456.7, 1.0], ["123457", "1"]),
        (Column("a", Kind.REAL), [1.5e12, 2.5e-9], ["1.5e+12", "2.5e-09"]),
        (Column("a", Kind.REAL), [1.0, 1.0 + 2**-52], ["1.0000000000000000", "1.0000000000000002"]),
        (Column("a", Kind.BOOLEAN, (False, True)), [1.0, np.nan], ["True", "(missing)"]),
    ],
)
def test_cells(column: Column, values: list[float], texts: list[str]) -> None:
    assert cell_texts(column, values) == texts


def test_pieces() -> None:
    assert share_text(float("nan")) == "–"
    assert share_text(0.0) == "0 %"
    assert names_text(["a", "bb", "ccc"], 6) == "a, …"
    assert names_text(["a", "bb", "ccc"], 10) == "a, bb, ccc"
    assert width(one_line("語" * 40, 11)) <= 11


class Table(HTMLParser):
    """Rows of cells, and whether every tag is closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.scopes: list[str | None] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs) -> None:
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            if tag == "th":
                self.scopes.append(dict(attrs).get("scope"))

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data) -> None:
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data


def test_the_html_holds_the_same_table() -> None:
    table = Table(result()._repr_html_())
    assert table.open == []
    text = EXPECTED.splitlines()[1:7]
    assert [" ".join(" ".join(row).split()) for row in table.rows] == [" ".join(line.split()) for line in text]
    assert {len(row) for row in table.rows} == {12}
    assert table.scopes == ["col"] * 11 + ["row"] * 5


def test_html_says_arrows_and_values_before() -> None:
    html = result()._repr_html_()
    assert '<span role="img" aria-label="decreased to">↓</span> 3200.25' in html
    assert 'title="5000.50 → 3200.25"' in html
    assert "color:" not in html.replace("border-collapse:", "").replace("background:rgba", "")


def test_html_of_many_features_shows_all_that_change() -> None:
    made = wide()
    table = Table(made._repr_html_())
    assert len(table.rows) == 12
    assert len(table.rows[0]) == 1 + made.changed[:10].any(axis=0).sum() + 4
    assert "… 12 more" in made._repr_html_()


def test_everything_in_html_is_escaped() -> None:
    evil = "<script>\"&'"
    frame = pd.DataFrame({evil: [evil, f"{evil}2"], f"{evil}same": [evil, evil]})
    made = result(
        frame,
        target=Target(evil),
        method=evil,
        score_columns=probabilities(evil),
        labels=[evil],
        x_label=evil,
        notes=(evil,),
        constraints=Constraints(fixed=[evil]),
    )
    for shown in (made, made.filter(max_changed=0), replace(made.filter(max_changed=0), status="error", error=evil)):
        html = shown._repr_html_()
        assert "<script" not in html
        assert "&lt;script&gt;&quot;&amp;&#x27;" in html
        assert Table(html).open == []
