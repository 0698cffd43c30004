"""`--by`: groups in the report on several rows, of columns that the model knows and of others."""

from __future__ import annotations

from pathlib import Path

from . import people


def test_the_report_compares_groups(run, fitted, tmp_path):
    lines = people.rows(12, seed=4)
    data = people.write(tmp_path / "new.csv", lines)
    out = tmp_path / "audit.html"
    done = run("explain", "--explainer", fitted, "--data", data, "--want", "good", "--by", "job,price", "--out", out,
               "--max-evaluations", 60)  # fmt: skip
    assert done.code == 0, done.err
    html = Path(out).read_text(encoding="utf-8")
    assert "Cost of recourse by job" in html
    assert "Cost of recourse by price" in html  # a column that the model does not know
    assert "or more</th>" in html  # and which holds numbers
    assert "(missing)" in html


def test_what_there_is_no_place_for_is_refused(run, fitted, tmp_path):
    data = people.write(tmp_path / "new.csv", people.rows(4, seed=4))
    asked = ["explain", "--explainer", fitted, "--data", data, "--want", "good"]
    for wrong, says in (
        (["--by", "job"], "--by compares groups of rows in an HTML report, got the format 'table' and 4 rows"),
        (["--by", "job", "--rows", "1", "--out", tmp_path / "a.html"], "got the format 'html' and 1 row"),
        (["--by", "nothing", "--out", tmp_path / "a.html"], "--by names 'nothing'"),
    ):
        done = run(*asked, *wrong)
        assert done.code == 1
        assert says in done.err
        assert not (tmp_path / "a.html").exists()
