"""A small table with text, booleans, codes with leading zeros and missing cells, as a CSV file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

HEADER = ["id", "age", "income", "savings", "job", "member", "zip", "quality", "price"]
JOBS = ("clerk", "cook", "nurse", "driver")
N = 120


def rows(n: int = N, seed: int = 3) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    made = []
    for i in range(n):
        age, savings = int(rng.integers(20, 65)), int(rng.integers(0, 9000))
        income = round(float(rng.normal(30_000 + 300 * age, 6000)), 2)
        job, member = JOBS[rng.integers(4)], bool(rng.random() < 0.5)
        worth = income / 1000 + savings / 400 + 5 * member + 3 * (job == "nurse") + rng.normal(0, 3)
        is_missing = rng.random(3) < (0.05, 0.1, 0.1)
        made.append(
            [
                f"p{i:03d}",
                "" if is_missing[0] else str(age),
                f"{income:.2f}",
                "NA" if is_missing[1] else str(savings),
                "" if is_missing[2] else job,
                "true" if member else "false",
                f"0{rng.integers(1, 4)}",
                "good" if worth > 58 else "bad",
                f"{worth * 10:.1f}",
            ]
        )
    return made


def write(path: Path, lines: list[list[str]], delimiter: str = ",", columns: list[str] | None = None) -> str:
    at = [HEADER.index(name) for name in columns or HEADER]
    text = "\n".join(delimiter.join(line[j] for j in at) for line in [HEADER, *lines])
    path.write_text(text + "\n", encoding="utf-8")
    return str(path)


def with_cell(lines: list[list[str]], row: int, column: str, cell: str) -> list[list[str]]:
    changed = [list(line) for line in lines]
    changed[row][HEADER.index(column)] = cell
    return changed
