"""Why was this applicant rejected, and what would have changed it? On generated loans; the same as `make demo`."""

from __future__ import annotations

import sys

from countarfactuals.cli import main

if __name__ == "__main__":
    raise SystemExit(main(["demo", *sys.argv[1:]]))
