"""All attacks, and their figures as a table: `python -m tests.torture --share 0.1`, or `make torture` for all of it.

1. Each module has `attack(count, seed)`, which gives its figures; `ATTACKS` has the full count of each.
2. Each runs in a process of its own, two at a time; one that crashes or does not end is told of in its line.
3. Nothing may be wrong: figures by these names must be 0, or below what is allowed.
4. The table is printed as Markdown. The exit code is 1 if anything was wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any, NamedTuple


class Attack(NamedTuple):
    module: str
    count: int
    told: str


# the longest first, so that both processes end at about the same time
ATTACKS = (
    Attack("constraints", 100_000, "random constraints, every method"),
    Attack("fuzz", 20_000, "odd calls of the public interface"),
    Attack("damaged_files", 10_000, "damaged files"),
    Attack("fuzz_commands", 5_000, "odd commands"),
    Attack("memory", 10_000, "many explanations"),
    Attack("threads", 1_000, "eight threads on one explainer, every method"),
    Attack("kills", 400, "kills during fit, save, explain_many, report, study"),
    Attack("sameness", 5, "other processes, hash seeds, caches, frames, after storage"),
    Attack("disks", 80, "full, read-only and forbidden disks"),
    Attack("concurrent_files", 20, "seconds of writers and readers of one file"),
)
ALLOWED = {
    **dict.fromkeys(
        ("violations", "different", "damaged", "foreign errors", "harmful", "foreign", "changed", "slow"), 0
    ),
    "MB more": 20,
    "times the memory": 3.0,
}
_AT_ONCE, _MINUTES = 2, 60


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.torture")
    parser.add_argument("--share", type=float, default=1.0, help="of the full counts")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="names of attacks, with commas between them")
    parser.add_argument("--here", nargs=2, metavar=("ATTACK", "COUNT"), help="one attack in this process, as JSON")
    options = parser.parse_args(words)
    if options.here:
        module, count = options.here
        print(json.dumps(import_module(f"tests.torture.{module}").attack(int(count), options.seed)))
        return 0
    chosen = options.only.split(",") if options.only else [attack.module for attack in ATTACKS]
    print("| attack | figures | seconds | |\n|---|---|---|---|", flush=True)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        tried = [pool.submit(run, attack, options.share, options.seed) for attack in ATTACKS if attack.module in chosen]
    return int(not all(one.result() for one in tried))


def run(attack: Attack, share: float, seed: int) -> bool:
    """One line of the table, and whether nothing was wrong."""
    started = time.perf_counter()
    figures = _figures(attack.module, max(1, round(attack.count * share)), seed)
    seconds = time.perf_counter() - started
    told = [(name, value) for name, value in figures.items() if value != []]
    said = ", ".join(f"{name} {value:,}" if isinstance(value, int) else f"{name} {value}" for name, value in told)
    is_well = not wrong(figures)
    print(f"| {attack.told} | {said} | {seconds:.0f} | {'held' if is_well else 'BROKEN'} |", flush=True)
    return is_well


def _figures(module: str, count: int, seed: int) -> dict[str, Any]:
    """What an attack finds in a process of its own."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.torture", "--seed", str(seed), "--here", module, str(count)]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60 * _MINUTES, check=True)
    except subprocess.SubprocessError as error:
        return {"harmful": 1, "because": f"{error} {(error.stderr or '')[-300:]!r}"}  # type: ignore[attr-defined]
    figures: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return figures


def wrong(figures: Mapping[str, Any]) -> list[str]:
    """The figures that are larger than allowed."""
    return [name for name, most in ALLOWED.items() if figures.get(name, 0) > most]


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    code = main(sys.argv[1:])
    sys.exit(code)
