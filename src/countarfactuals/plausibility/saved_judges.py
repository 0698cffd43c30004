"""The judges of a table as JSON types and arrays, and back; the forest is stored by others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from countarfactuals.plausibility.cells import Cells
from countarfactuals.plausibility.conditionals import Conditionals
from countarfactuals.plausibility.forest_judge import ForestJudge, ForestParts
from countarfactuals.plausibility.mixture import Mixtures
from countarfactuals.plausibility.panel import CONDITIONALS, FOREST, MIXTURE, PARTS, Plausibility
from countarfactuals.plausibility.seats import Skill
from countarfactuals.schema import Schema, check_rows
from countarfactuals.stored_arrays import taken


def pack(panel: Plausibility) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What JSON holds of the judges, and the arrays."""
    arrays = {f"held.{voice}": held for voice, held in panel.held.items()}
    metas: list[dict[str, Any]] = []
    if panel.forest_parts is not None:
        metas, parts = panel.forest_parts.packed()
        arrays |= {f"parts.{name}": array for name, array in parts.items()}
    arrays |= {"held_cells": panel.held_cells, "part_of": panel.part_of, "matrix": panel.matrix}
    for name, judge in (("mixtures", panel.mixtures), ("conditionals", panel.conditionals)):
        if judge is not None:
            arrays |= {f"{name}.{key}": array for key, array in judge.arrays().items()}
    skills = {name: list(skill) for name, skill in panel.skills.items()}
    return {"leader": panel.leader, "seats": list(panel.seats), "skills": skills, "parts": metas}, arrays


def unpack(
    meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray], forest: ForestJudge, schema: Schema
) -> Plausibility:
    """The inverse of `pack`; KeyError or ValueError for what can not be."""
    matrix = check_rows(schema.columns, arrays["matrix"])
    cells, n = Cells.of(schema, matrix), len(matrix)

    def under(name: str) -> dict[str, np.ndarray]:
        return {key.removeprefix(f"{name}."): array for key, array in arrays.items() if key.startswith(f"{name}.")}

    mixtures, conditionals = under("mixtures"), under("conditionals")
    part_of = taken(arrays, "part_of", np.int64, (n,), 0, PARTS - 1)
    held = {voice: taken(under("held"), voice, np.float64, (n,), gaps=True, unbounded=True) for voice in under("held")}
    n_cells = len(arrays["held_cells"])
    panel = Plausibility(
        forest_judge=forest,
        forest_parts=(
            ForestParts.unpacked(meta["parts"], under("parts"), forest, matrix, part_of) if meta["parts"] else None
        ),
        mixtures=Mixtures.restored(cells, mixtures) if mixtures else None,
        conditionals=Conditionals.restored(cells, conditionals) if conditionals else None,
        leader=meta["leader"],
        seats=tuple(meta["seats"]),
        held=held,
        held_cells=taken(arrays, "held_cells", np.float64, (n_cells, matrix.shape[1]), gaps=True, unbounded=True),
        part_of=part_of,
        skills={name: Skill(*map(float, figures)) for name, figures in meta["skills"].items()},
        matrix=matrix,
    )
    _check_panel(panel)
    return panel


def _check_panel(panel: Plausibility) -> None:
    """Refuse judges who are seated and not there, or of whom is not known what held-out rows got."""
    there = {FOREST: True, MIXTURE: panel.mixtures is not None, CONDITIONALS: panel.conditionals is not None}
    if panel.leader not in (FOREST, MIXTURE) or panel.leader not in panel.seats:
        raise ValueError(f"it is led by {panel.leader!r}")
    if absent := [seat for seat in panel.seats if not there.get(seat)]:
        raise ValueError(f"the judge {absent[0]!r} is seated and not there")
    if unskilled := [seat for seat in panel.seats if len(panel.seats) > 1 and seat not in panel.skills]:
        raise ValueError(f"it does not say how good the judge {unskilled[0]!r} is")
    if unheard := [voice for voice in {*panel.voices, panel.leader} if voice not in panel.held]:
        raise ValueError(f"what held-out rows got from {unheard[0]!r} is not there")
    if CONDITIONALS in panel.seats and len(panel.held_cells) != len(panel.matrix):
        raise ValueError("what held-out cells got is not there")
    n_parts = [len(judge.parts) for judge in (panel.mixtures, panel.conditionals) if judge is not None]
    n_parts += [] if panel.forest_parts is None else [len(panel.forest_parts.judges)]
    if any(n != PARTS for n in n_parts):
        raise ValueError(f"a judge has not {PARTS} parts")


def of_version_1(real: np.ndarray, forest: ForestJudge) -> Plausibility:
    """The forest alone, as files of version 0.1 have it: only what held-out rows got is known, not which they were."""
    nothing = np.empty((0, forest.n_features))
    return Plausibility(
        forest, None, None, None, FOREST, (FOREST,), {FOREST: real}, nothing, np.zeros(len(real), np.int64), {}, nothing
    )
