"""The judges of a table as JSON types and arrays, and back; the forest is stored by others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from countarfactuals.plausibility.cells import Cells
from countarfactuals.plausibility.conditionals import Conditionals
from countarfactuals.plausibility.forest import ForestJudge, ForestParts
from countarfactuals.plausibility.mixture import Mixtures
from countarfactuals.plausibility.panel import FOREST, Plausibility
from countarfactuals.plausibility.seats import Skill
from countarfactuals.schema import Schema


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
    """The inverse of `pack`; KeyError or ValueError for what does not fit together."""
    matrix = arrays["matrix"]
    cells = Cells.of(schema, matrix)

    def under(name: str) -> dict[str, np.ndarray]:
        return {key.removeprefix(f"{name}."): array for key, array in arrays.items() if key.startswith(f"{name}.")}

    mixtures, conditionals = under("mixtures"), under("conditionals")
    return Plausibility(
        forest_judge=forest,
        forest_parts=(
            ForestParts.unpacked(meta["parts"], under("parts"), forest, matrix, arrays["part_of"])
            if meta["parts"]
            else None
        ),
        mixtures=Mixtures.restored(cells, mixtures) if mixtures else None,
        conditionals=Conditionals.restored(cells, conditionals) if conditionals else None,
        leader=meta["leader"],
        seats=tuple(meta["seats"]),
        held=under("held"),
        held_cells=arrays["held_cells"],
        part_of=arrays["part_of"],
        skills={name: Skill(*figures) for name, figures in meta["skills"].items()},
        matrix=matrix,
    )


def of_version_1(real: np.ndarray, forest: ForestJudge) -> Plausibility:
    """The forest alone, as files of version 0.1 have it: only what held-out rows got is known, not which they were."""
    nothing = np.empty((0, forest.n_features))
    return Plausibility(
        forest, None, None, None, FOREST, (FOREST,), {FOREST: real}, nothing, np.zeros(len(real), np.int64), {}, nothing
    )
