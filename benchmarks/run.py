"""All tables: `make bench`, or `make bench PAPER=<folder>` to add the published sets; `make bench SHORT=1` for a look.

`--short` leaves out most of the long ones: three real tables instead of all, and of each few rows.
"""

from __future__ import annotations

import argparse

import bench_claims
import bench_explain
import bench_first
import bench_judges
import bench_many
import bench_quality
import bench_realism
import bench_speed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--paper", help="folder with the published sets")
    parser.add_argument("--peers", help="Python of the peers' environment")
    parser.add_argument("--short", action="store_true", help="few real tables and rows")
    options = parser.parse_args()
    peers = ["--peers", options.peers] if options.peers else []
    paper = ["--paper", options.paper] if options.paper else []
    few = ["--tables", "wine", "Boston", "--seeds", "1"] if options.short else []
    some = ["--tables", "penguins", "HMDA", "CPS1985", "--rows", "8"] if options.short else []
    bench_speed.main(["--rows", "5000", *peers] if options.short else peers)
    bench_quality.main(["--generated", *paper, *(["--seeds", "1"] if options.short else [])])
    bench_quality.main(["--real", *few, *peers])
    bench_explain.main(["--generated", *paper, *peers, *(["--seeds", "1"] if options.short else [])])
    bench_many.main(["--rows", "40", "--looped", "8", "--only", "boosting"] if options.short else [])
    bench_judges.main(["--instances", "5"] if options.short else [])
    bench_realism.main([*some, *peers])
    bench_claims.main(paper)
    bench_first.main(["--tables", "wine", "loan", "--rows", "4"] if options.short else [])


if __name__ == "__main__":
    main()
