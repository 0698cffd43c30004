"""All attacks, and their figures as a table: `python -m tests.torture --share 0.1`, or `make torture` for all of it.

1. Each module has `attack(count, seed)`, which gives its figures; `ATTACKS` has the full count of each.
2. Nothing may be wrong: figures by these names must be 0, or below what is allowed.
3. The table is printed as Markdown. The exit code is 1 if anything was wrong.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple


class Attack(NamedTuple):
    module: str
    count: int
    told: str


ATTACKS = (
    Attack("constraints", 100_000, "random constraints, every method"),
    Attack("threads", 1_000, "eight threads on one explainer, every method"),
    Attack("memory", 10_000, "many explanations"),
    Attack("kills", 400, "kills during fit, save, explain_many, report, study"),
    Attack("disks", 80, "full, read-only and forbidden disks"),
    Attack("sameness", 5, "other processes, hash seeds, caches, frames, after storage"),
)
ALLOWED = {"violations": 0, "different": 0, "damaged": 0, "foreign errors": 0, "MB more": 20}


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.torture")
    parser.add_argument("--share", type=float, default=1.0, help="of the full counts")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="names of attacks, with commas between them")
    options = parser.parse_args(words)
    chosen = options.only.split(",") if options.only else [attack.module for attack in ATTACKS]
    print("| attack | figures | seconds | |\n|---|---|---|---|", flush=True)
    held = [run(attack, options.share, options.seed) for attack in ATTACKS if attack.module in chosen]
    return int(not all(held))


def run(attack: Attack, share: float, seed: int) -> bool:
    """One line of the table, and whether nothing was wrong."""
    started = time.perf_counter()
    count = max(1, round(attack.count * share))
    figures = import_module(f"tests.torture.{attack.module}").attack(count, seed)
    seconds = time.perf_counter() - started
    told = figures.items()
    said = ", ".join(f"{name} {value:,}" if isinstance(value, int) else f"{name} {value}" for name, value in told)
    is_well = not wrong(figures)
    print(f"| {attack.told} | {said} | {seconds:.0f} | {'held' if is_well else 'BROKEN'} |", flush=True)
    return is_well


def wrong(figures: Mapping[str, Any]) -> list[str]:
    """The figures that are larger than allowed."""
    return [name for name, most in ALLOWED.items() if figures.get(name, 0) > most]


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    code = main(sys.argv[1:])
    sys.exit(code)
