"""Every wrong input ends in one clear line on standard error and the right exit code."""

from __future__ import annotations

import pytest

from . import people

CASES = [
    # what, words of the message, code, arguments; {…} are filled in
    ("no command", "needs a command", 2, []),
    ("unknown command", "invalid choice: 'explian'", 2, ["explian"]),
    (
        "unknown option",
        "unrecognized arguments: --wnat good; see countarfactuals explain --help",
        2,
        ["explain", "{e}", "{d}", "--wnat", "good"],
    ),
    ("no data", "required: --data", 2, ["explain", "{e}"]),
    ("missing file", "no file 'nowhere.csv'", 1, ["explain", "{e}", "--data", "nowhere.csv"]),
    ("folder as data", "is a folder", 1, ["explain", "{e}", "--data", "{tmp}"]),
    ("missing explainer", "no folder 'nowhere'", 1, ["explain", "--explainer", "nowhere", "{d}"]),
    ("foreign folder", "no meta.json", 1, ["explain", "--explainer", "{tmp}", "{d}"]),
    ("wrong delimiter", "Pass --delimiter ';'", 1, ["explain", "{e}", "--data", "{semicolons}"]),
    ("wrong delimiter in fit", "Pass --delimiter ';'", 1, ["fit", "--data", "{semicolons}", "{auto}"]),
    ("long delimiter", "needs one sign", 2, ["explain", "{e}", "{d}", "--delimiter", "::"]),
    ("row beyond the end", "so there is no row 999", 1, ["explain", "{e}", "{d}", "--rows", "3,999"]),
    ("row after the last", "so there is no row 120", 1, ["explain", "{e}", "{d}", "--rows", "120"]),
    ("no row number", "counted from 0", 2, ["explain", "{e}", "{d}", "--rows", "three"]),
    ("unknown class", "no class 'god'", 1, ["explain", "{e}", "{d}", "--rows", "0", "--want", "god"]),
    ("probability alone", "needs --want", 1, ["explain", "{e}", "{d}", "--rows", "0", "--probability", ".7,1"]),
    (
        "probability of 70",
        "runs from 0 to 1",
        1,
        ["explain", "{e}", "{d}", "--want", "good", "--probability", "70,100"],
    ),
    ("one probability", "low and high", 2, ["explain", "{e}", "{d}", "--want", "good", "--probability", ".7"]),
    ("class of numbers", "--above or --below", 1, ["explain", "{p}", "{d}", "--rows", "0", "--want", "good"]),
    ("nothing wanted of numbers", "--above or --below", 1, ["explain", "{p}", "{d}", "--rows", "0"]),
    ("unknown column", "no column 'agee'", 1, ["explain", "{e}", "{d}", "--rows", "0", "--fix", "agee"]),
    ("range without colon", "needs column=low:high", 2, ["explain", "{e}", "{d}", "--range", "income=5"]),
    ("range without name", "needs column=low:high", 2, ["explain", "{e}", "{d}", "--range", "0:5"]),
    ("range of words", "holds numbers, got 'a'", 1, ["explain", "{e}", "{d}", "--rows", "0", "--range", "income=a:b"]),
    ("range upside down", "income", 1, ["explain", "{e}", "{d}", "--rows", "0", "--range", "income=5:1"]),
    ("direction", "increase", 1, ["explain", "{e}", "{d}", "--rows", "0", "--direction", "age=up"]),
    ("direction without value", "needs column=value", 2, ["explain", "{e}", "{d}", "--direction", "age"]),
    ("range of levels", "--allowed job=", 1, ["explain", "{e}", "{d}", "--rows", "0", "--range", "job=clerk:cook"]),
    ("direction of levels", "fit --ordered job=", 1, ["explain", "{e}", "{d}", "--direction", "job=increase"]),
    ("range to nowhere", "Leave an end out", 1, ["explain", "{e}", "{d}", "--range", "income=0:nan"]),
    ("no levels", "--allowed job needs levels", 1, ["explain", "{e}", "{d}", "--allowed", "job=,"]),
    (
        "all fixed",
        "--fix names every column",
        1,
        ["explain", "{e}", "{d}", "--fix", "age,income,savings,job,member,zip"],
    ),
    ("no processes", "--jobs must", 1, ["explain", "{e}", "{d}", "--jobs", "0"]),
    ("no threads", "--jobs must", 1, ["fit", "{d}", "{auto}", "--jobs", "0"]),
    ("no evaluations", "--max-evaluations must", 1, ["explain", "{e}", "{d}", "--max-evaluations", "0"]),
    ("unit of nothing", "--unit: there is no column 'incme'", 1, ["explain", "{e}", "{d}", "--unit", "incme=€"]),
    ("unit of three", "--unit income needs a word", 1, ["explain", "{e}", "{d}", "--unit", "income=a,b,c"]),
    ("rows of three", "--rows-are: needs a word", 2, ["explain", "{e}", "{d}", "--rows-are", "a,b,c"]),
    ("order of nothing", "--ordered: there is no column 'jobb'", 1, ["fit", "{d}", "{auto}", "--ordered", "jobb=a,b"]),
    ("order without levels", "--ordered job needs levels", 1, ["fit", "{d}", "{auto}", "--ordered", "job=,"]),
    (
        "suffix of no format",
        "known are .json, .csv, .html, .parquet",
        1,
        ["explain", "{e}", "{d}", "--out", "{tmp}/r.xlsx"],
    ),
    (
        "suffix of a report",
        "names no format",
        1,
        ["evaluate", "{e}", "{d}", "--counterfactuals", "{d1}", "--out", "r.html"],
    ),
    ("parquet to a screen", "name it by --out", 1, ["explain", "{e}", "{d}", "--format", "parquet"]),
    ("NUL bytes", "NUL bytes, first in line 3", 1, ["explain", "{e}", "--data", "{nul}"]),
    ("thousands", "plain numbers, here 36000.50", 1, ["fit", "--data", "{thousands}", "{auto}"]),
    ("unknown level", "no level 'pilot'", 1, ["explain", "{e}", "{d}", "--rows", "0", "--allowed", "job=pilot"]),
    ("no change allowed", "at least 1", 1, ["explain", "{e}", "{d}", "--rows", "0", "--max-changed", "0"]),
    (
        "implausible share",
        "--min-typicality must",
        1,
        ["explain", "{e}", "{d}", "--rows", "0", "--min-typicality", "2"],
    ),
    ("no counterfactuals wanted", "--top", 1, ["explain", "{e}", "{d}", "--rows", "0", "--top", "0"]),
    ("unknown method", "invalid choice: 'dice'", 2, ["explain", "{e}", "{d}", "--method", "dice"]),
    ("unknown format", "invalid choice: 'pdf'", 2, ["explain", "{e}", "{d}", "--format", "pdf"]),
    ("nowhere to write", "no folder", 1, ["explain", "{e}", "{d}", "--rows", "0", "--out", "no/where.json"]),
    ("folder to write", "is a folder", 1, ["explain", "{e}", "{d}", "--rows", "0", "--out", "{tmp}"]),
    ("lacking column", "lacks the column 'income'. Add it", 1, ["explain", "{e}", "--data", "{narrow}"]),
    ("no number", "got 'lots' in row 0", 1, ["explain", "{e}", "--data", "{words}", "--rows", "0"]),
    ("unseen level", "unknown level 'pilot'", 1, ["explain", "{e}", "--data", "{levels}", "--rows", "0"]),
    ("empty file", "is empty", 1, ["explain", "{e}", "--data", "{empty}"]),
    ("unknown outcome", "no column 'qualty'", 1, ["fit", "{d}", "--outcome", "qualty", "--model", "auto", "{o}"]),
    ("no outcome", "needs --outcome", 1, ["fit", "{d}", "--model", "auto", "{o}"]),
    ("unknown dropped", "no column 'ids'", 1, ["fit", "{d}", "{auto}", "--drop", "ids"]),
    ("existing folder", "pass --force", 1, ["fit", "{d}", "--outcome", "quality", "--model", "auto", "--out", "{tmp}"]),
    ("dates", "holds dates", 1, ["fit", "--data", "{dates}", "{auto}"]),
    ("text as number", "holds no numbers", 1, ["fit", "{d}", "{auto}", "--task", "regression"]),
    ("no trees", "--trees", 1, ["fit", "{d}", "{auto}", "--trees", "0"]),
    ("negative seed", "--seed", 1, ["fit", "{d}", "{auto}", "--seed", "-1"]),
    ("missing model", "no model file", 1, ["fit", "{d}", "--model", "nowhere.skops", "{o}"]),
    ("model of unknown kind", "allowed are", 1, ["fit", "{d}", "--model", "model.onnx", "{o}"]),
    ("model that runs code", "runs code", 1, ["fit", "{d}", "--model", "{broken}.joblib", "{o}"]),
    ("unreadable model", "can not be read", 1, ["fit", "{d}", "--model", "{broken}.joblib", "--trust-model", "{o}"]),
    ("unreadable skops", "can not be read", 1, ["fit", "{d}", "--model", "{broken}.skops", "{o}"]),
    ("unreadable booster", "can not be read", 1, ["fit", "{d}", "--model", "{broken}.json", "{o}"]),
    ("text for a booster", "can not be read", 1, ["fit", "{d}", "--model", "{broken}.txt", "{o}"]),
    ("row not said", "--row 0", 1, ["evaluate", "{e}", "{d}", "--counterfactuals", "{narrowed}"]),
    ("row not there", "no row 999", 1, ["evaluate", "{e}", "{d}", "--counterfactuals", "{d1}", "--row", "999"]),
    ("negative row", "counted from 0", 1, ["evaluate", "{e}", "{d}", "--counterfactuals", "{d1}", "--row", "-1"]),
    ("both from input", "can be read once", 1, ["evaluate", "{e}", "--data", "-", "--counterfactuals", "-"]),
    ("study without data", "", 2, ["study"]),
    ("study of no folder", "nosuch", 1, ["study", "--data", "nosuch", "--out", "{tmp}/study"]),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory, table, fitted, prices):
    place = tmp_path_factory.mktemp("wrong")
    lines = people.rows(30)
    (place / "empty.csv").write_text("")
    for suffix in ("joblib", "skops", "json", "txt"):
        (place / f"broken.{suffix}").write_bytes(b"{ this is nothing")
    (place / "nul.csv").write_bytes(b"age,job\n1,cook\n2,co\0ok\n")
    thousands = [[*line[:2], f"{36 + i},000.50", *line[3:]] for i, line in enumerate(lines)]
    dates = [[*line[:4], "31/01/2024", *line[5:]] for line in lines]
    narrow = [name for name in people.HEADER if name not in ("income", "id", "price")]
    return {
        "e": ["--explainer", fitted],
        "p": ["--explainer", prices],
        "d": ["--data", table],
        "o": ["--out", str(place / "out")],
        "auto": ["--outcome", "quality", "--model", "auto", "--out", str(place / "out")],
        "{tmp}": str(place),
        "{d1}": table,
        "{narrowed}": people.write(place / "narrowed.csv", lines, columns=people.HEADER[1:-2]),
        "{semicolons}": people.write(place / "semicolons.csv", lines, ";"),
        "{narrow}": people.write(place / "narrow.csv", lines, columns=narrow),
        "{words}": people.write(place / "words.csv", people.with_cell(lines, 0, "income", "lots")),
        "{levels}": people.write(place / "levels.csv", people.with_cell(lines, 0, "job", "pilot")),
        "{dates}": people.write(place / "dates.csv", dates),
        "{thousands}": people.write(place / "thousands.csv", [[f'"{cell}"' for cell in line] for line in thousands]),
        "{nul}": str(place / "nul.csv"),
        "{empty}": str(place / "empty.csv"),
        "{broken}": str(place / "broken"),
    }


@pytest.mark.parametrize(("words", "code", "arguments"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_wrong_input_gives_one_line_and_the_right_code(run, files, words, code, arguments):
    given: list[str] = []
    for argument in arguments:
        if argument.strip("{}") in files and argument.startswith("{"):
            given += files[argument.strip("{}")]
        else:
            for name, value in files.items():
                argument = argument.replace(name, value) if isinstance(value, str) else argument
            given.append(argument)
    done = run(*given)
    assert done.code == code, done.err
    assert done.out == ""
    errors = [line for line in done.lines if ": note: " not in line]
    assert len(errors) == 1, done.err
    assert errors[0].startswith("countarfactuals")
    assert ": error: " in errors[0]
    assert words in errors[0]
    for speech in ("Traceback", "Stack trace", "Error: `", "={", "or None", "fit(X", "(s)", "allowed="):
        assert speech not in done.err


def test_what_was_not_foreseen_is_one_line_too(run, monkeypatch, fitted, table):
    from countarfactuals.cli import explain

    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("in the\nmiddle")

    monkeypatch.setattr(explain, "read_like", fail)
    done = run("explain", "--explainer", fitted, "--data", table)
    assert (done.code, len(done.lines)) == (1, 1)
    assert "unexpected ZeroDivisionError: in the middle" in done.err
    assert "--debug" in done.err


def test_a_study_that_is_not_installed_says_so(run, monkeypatch):
    import countarfactuals.cli as dispatch

    def absent(name: str) -> None:
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(dispatch, "import_module", absent)
    done = run("study", "--preset", "paper")
    assert (done.code, len(done.lines)) == (1, 1)
    assert "countarfactuals[study]" in done.err


def test_a_warning_is_a_note_in_one_line(run, monkeypatch, fitted, table):
    import warnings

    from countarfactuals.cli import explain

    def warn(*_: object, **__: object) -> None:
        warnings.warn("the density\nmisses something", UserWarning, stacklevel=2)
        raise SystemExit(0)

    monkeypatch.setattr(explain, "read_like", warn)
    assert run("explain", "--explainer", fitted, "--data", table).err == (
        "countarfactuals: note: the density misses something\n"
    )


def test_a_warning_that_comes_again_is_said_once(run, monkeypatch, fitted, table):
    import warnings

    from countarfactuals.cli import explain

    def warn(*_: object, **__: object) -> None:
        for text in ("one", "one", "two"):
            with warnings.catch_warnings():  # which forgets what was said at this place
                warnings.warn(text, UserWarning, stacklevel=2)
        raise SystemExit(0)

    monkeypatch.setattr(explain, "read_like", warn)
    assert run("explain", "--explainer", fitted, "--data", table).lines == [
        "countarfactuals: note: one",
        "countarfactuals: note: two",
    ]


def test_no_filter_of_warnings_is_left_that_counts_for_nothing():
    # scikit-learn goes through all of them for every tree of a forest, each time that it is asked
    import warnings

    from countarfactuals.cli import _quieten

    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="what another program has set")
        _quieten(is_debugging=False)
        assert [category for _, _, category, _, _ in warnings.filters].index(Warning) == len(warnings.filters) - 1
        with pytest.warns(UserWarning, match="of a user"):
            warnings.warn("of a user", UserWarning, stacklevel=1)


@pytest.mark.parametrize(("name", "package"), [("m.json", "xgboost"), ("m.txt", "lightgbm"), ("m.cbm", "catboost")])
def test_libraries_print_nothing_of_files_that_they_can_not_read(tmp_path, capfd, table, name, package):
    from countarfactuals.cli import main

    pytest.importorskip(package)
    (tmp_path / name).write_bytes(b"{ this is nothing")
    assert main(["fit", "--data", table, "--model", str(tmp_path / name), "--out", str(tmp_path / "out")]) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1, err
    assert "can not be read" in err
    assert "Stack" not in err
    assert len(err) < 500


def test_help_of_every_command_tells_the_exit_codes(run):
    for command in ([], ["demo"], ["fit"], ["explain"], ["evaluate"], ["study"]):
        told = run(*command, "--help").out
        assert "exit codes: 0 done; 1 " in told
        assert "130 interrupted" in told
