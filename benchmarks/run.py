"""All tables: `make bench`, or `make bench PAPER=<folder>` to add the published sets."""

from __future__ import annotations

import argparse

import bench_claims
import bench_explain
import bench_quality
import bench_speed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--paper", help="folder with the published sets")
    parser.add_argument("--peers", help="Python of the peers' environment")
    options = parser.parse_args()
    bench_speed.main(["--peers", options.peers] if options.peers else [])
    print()
    paper = ["--paper", options.paper] if options.paper else []
    bench_quality.main(["--generated", *paper])
    bench_explain.main(["--generated", *paper, *(["--peers", options.peers] if options.peers else [])])
    bench_claims.main(paper)


if __name__ == "__main__":
    main()
