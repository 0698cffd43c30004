"""Progress and the estimate of the time left."""

from __future__ import annotations

import io

import pytest

from countarfactuals.study.progress import Progress

SLOW, QUICK, OTHER = ("bn_20", "moc"), ("bn_20", "arf"), ("cassini", "moc")


def test_estimate_weighs_what_is_open() -> None:
    progress = Progress([SLOW] * 4 + [QUICK] * 4 + [OTHER] * 2)
    progress.first_began = 0.0
    for pair, seconds in [(SLOW, 10.0), (SLOW, 20.0), (QUICK, 1.0), (QUICK, 1.0)]:
        progress.finished(pair, seconds)
    assert progress.seconds_left(16.0) is None  # too few to tell
    progress.finished(QUICK, 1.0)
    progress.first_began = 0.0
    # open: two slow ones (15 each), a quick one (1), two of the slow method on another set (15 each): 61 seconds of
    # work, of which two processes do 33 in 16.5
    assert progress.seconds_left(16.5) == pytest.approx(30.5)


def test_a_method_without_any_is_expected_to_be_like_all() -> None:
    progress = Progress([SLOW] * 5 + [("cassini", "nice")] * 3)
    for _ in range(5):
        progress.finished(SLOW, 2.0)
    progress.first_began = 0.0
    assert progress.seconds_left(10.0) == pytest.approx(6.0)


def test_earlier_runs_are_known_but_not_counted_as_speed() -> None:
    progress = Progress([QUICK] * 10, [(QUICK, 100.0)] * 5, out=io.StringIO())
    assert (progress.n_before, progress.n_all) == (5, 15)
    for _ in range(5):
        progress.finished(QUICK, 1.0)
    progress.first_began = 0.0
    # five open ones, 50.5 seconds each as far as known, at the speed of this run
    assert progress.seconds_left(5.0) == pytest.approx(5 * 50.5)


def test_lines() -> None:
    out = io.StringIO()
    progress = Progress([QUICK] * 6, out=out)
    progress.tell()
    progress.tell()  # too soon for another line
    for _ in range(6):
        progress.finished(QUICK, 0.5)
    progress.tell(last=True)
    lines = out.getvalue().splitlines()
    assert lines[0] == "0 of 6 explanations, 0 s gone, time left not yet known"
    assert lines[1].startswith("6 of 6 explanations, ")
    assert "left" not in lines[1]
    assert len(lines) == 2
    silent = io.StringIO()
    Progress([QUICK], out=silent, quiet=True).tell(last=True)
    assert silent.getvalue() == ""
