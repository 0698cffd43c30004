"""A method joins by one file of its own, and is then known to command line, study, pictures and contracts."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from sklearn.base import clone

from countarfactuals import Explainer, _optional, make_explainer
from countarfactuals.cli import main
from countarfactuals.exceptions import ParameterError
from countarfactuals.explainers import EXPLAINERS, methods
from countarfactuals.plotting.style import method_colour
from countarfactuals.study.design import Design

from ..contracts import normal_table as normal
from ..contracts.checks import check_result, same
from ..contracts.methods import every_entry

FILE = """
from dataclasses import dataclass
from typing import ClassVar

from countarfactuals.explainers import Explainer, Method, register
from countarfactuals.parameters import check_int


@dataclass(kw_only=True, eq=False, repr=False)
class FirstRowsExplainer(Explainer):
    method: ClassVar[str] = "first"
    n: int = 30

    def _check_parameters(self):
        super()._check_parameters()
        check_int("n", self.n, 1)

    def _search(self, problem):
        rows = problem.background.matrix[: self.n]
        yield from problem.ask(rows[problem.is_candidate(rows)])


register(Method(FirstRowsExplainer, "First", "the first rows of the data", "#123456", is_compared=True))
"""


def load(folder: Path) -> None:
    path = folder / "first_rows.py"
    path.write_text(FILE)
    spec = importlib.util.spec_from_file_location("first_rows", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["first_rows"] = module
    spec.loader.exec_module(module)


@pytest.fixture
def forgotten() -> Iterator[None]:
    yield
    sys.modules.pop("first_rows", None)


def is_chosen(name: str, capsys: pytest.CaptureFixture[str]) -> bool:
    """Whether the command line takes a method; there is no such explainer, which it would say next."""
    with suppress(SystemExit):
        main(["explain", "--explainer", "nowhere", "--data", "nothing.csv", "--method", name])
    told = capsys.readouterr().err
    assert ("nowhere" in told) != ("invalid choice" in told), told
    return "nowhere" in told


KNOWN = dict(methods())


@pytest.mark.usefixtures("forgotten")
def test_one_file_adds_a_method_to_everything(tmp_path, capsys):
    assert all(is_chosen(name, capsys) for name in KNOWN)
    assert not is_chosen("first", capsys), list(methods())
    load(tmp_path)
    assert is_chosen("first", capsys)
    assert tuple(EXPLAINERS) == (*KNOWN, "first")
    Design(methods=("first", "arf")).check()
    assert method_colour("first") == "#123456"
    entry = next(entry for entry in every_entry() if entry.name == "first")
    explainer = entry.make(normal.logistic, classes=("bad", "good"), max_evaluations=100).fit(normal.X)
    result = explainer.explain(normal.X.iloc[[40]])
    check_result(result, entry, normal.X, normal.X.iloc[[40]])
    explainer.save(tmp_path / "explainer")
    again = Explainer.load(tmp_path / "explainer", normal.logistic)
    assert type(again) is EXPLAINERS["first"]
    again.density = explainer.density  # a file holds the forest that was fitted, not its settings
    assert same(again.explain(normal.X.iloc[[40]]), result)
    with pytest.raises(ParameterError, match="n must be an integer from 1"):
        make_explainer("first", normal.logistic, n=0).fit(normal.X)


@pytest.mark.usefixtures("forgotten")
def test_installed_plug_ins_are_found(tmp_path, monkeypatch, capsys):
    entries = [SimpleNamespace(load=lambda: load(tmp_path))]
    monkeypatch.setattr(_optional, "entry_points", lambda group: entries if group == "countarfactuals.methods" else [])
    _optional.load_plug_ins.cache_clear()
    assert is_chosen("first", capsys)
    assert make_explainer("first", len, n=3).get_params()["n"] == 3


def test_the_base_can_not_be_made():
    with pytest.raises(TypeError, match=r"abstract class Explainer .*_search"):
        Explainer(normal.logistic)  # type: ignore[abstract]


@pytest.mark.parametrize("name", list(KNOWN))
def test_parameters_are_those_of_scikit_learn(name):
    explainer = make_explainer(name, normal.logistic, max_evaluations=7, random_state=1)
    again = clone(explainer)
    assert type(again) is type(explainer)
    assert again.get_params() == explainer.get_params()
    assert clone(explainer.set_params(max_evaluations=9)).max_evaluations == 9
    with pytest.raises(TypeError, match="positional"):
        type(explainer)(normal.logistic, 7)


def test_every_entry_says_what_it_is():
    for method in KNOWN.values():
        assert method.name == method.explainer.method
        assert method.hands_out in ("real rows", "real cells", "any rows")
        assert method.summary
        assert method.label
    assert {name for name, method in KNOWN.items() if method.hands_out != "any rows"} == {"nice", "whatif"}
    assert {name for name, method in KNOWN.items() if method.own_cost} == {"moc", "mocctree", "nice"}
