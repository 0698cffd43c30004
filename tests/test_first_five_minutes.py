"""The demo by the installed command, and its report in a browser; `examples/newcomer.sh` goes on from there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from .report.test_browser import _check_quiet, _forget_logs

COMMAND = Path(sys.executable).parent / "countarfactuals"


def test_the_demo_writes_a_report_that_opens(tmp_path, browser):
    done = subprocess.run(
        [COMMAND, "demo"], cwd=tmp_path, capture_output=True, encoding="utf-8", timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr
    (report,) = tmp_path.glob("*.html")
    assert report.name in done.stdout
    _forget_logs(browser)
    browser.get(report.as_uri())
    assert "Why was this loan rejected?" in browser.find_element("tag name", "body").text
    _check_quiet(browser)
