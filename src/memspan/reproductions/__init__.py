"""Figures, tables, theorems and errata of the literature as recipes that run an experiment and check its claims.

One folder per paper; its `__init__` is the table of its recipes. A claim states what the paper prints, what we derive
where that is wrong, and what is measured.

>>> from memspan.reproductions import RECIPES, reproduce
>>> [name for name in RECIPES if name.startswith("memorization")]
['memorization-fig1', 'memorization-fig2', 'memorization-order8', 'memorization-size']
>>> reproduce("errata-04", scale="smoke").holds
True
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memspan.errors import InputError, suggestion
from memspan.progress import SILENT, Progress
from memspan.reproductions import cao2020, chen2018, kerg2020, memorization2023, shen2019
from memspan.reproductions.recipe import Outcome as Outcome
from memspan.reproductions.recipe import Recipe as Recipe
from memspan.results import Claim, Reproduction

# Every recipe by its id. The table is data: the module of a recipe is imported when the recipe runs.
RECIPES: dict[str, Recipe] = {
    recipe.id: recipe for paper in (shen2019, chen2018, kerg2020, cao2020, memorization2023) for recipe in paper.RECIPES
}


def reproduce(
    id: str,
    *,
    scale: str = "laptop",
    seed: int = 0,
    runs: Path | None = None,
    progress: Progress = SILENT,
    sizes: Mapping[str, Any] | None = None,
) -> Reproduction:
    """Run recipe `id` and compare each of its claims with what is measured. The same seed gives the same numbers.

    A recipe that trains networks saves them in the folder `runs`, if given, and resumes there after an interruption.
    `sizes` replaces some of the sizes of the scale, which is noted in the result.

    >>> result = reproduce("errata-02", scale="smoke")
    >>> result.source, result.holds
    ('Shen 2019, appendix B, Eq. 46 and 47', True)
    """
    if id not in RECIPES:
        raise InputError(f"there is no recipe {id!r}; {suggestion(id, RECIPES)}")
    recipe = RECIPES[id]
    if scale not in recipe.scales:
        raise InputError(f"{id} has no scale {scale!r}; {suggestion(scale, recipe.scales)}")
    changed: tuple[str, ...] = ()
    if sizes:
        recipe = recipe.with_sizes(scale, sizes)
        changed = (f"Sizes other than those of the scale: {', '.join(f'{name} = {sizes[name]!r}' for name in sizes)}.",)
    start = time.perf_counter()
    outcome = recipe.outcome(scale, seed, progress, runs)
    return Reproduction(
        id=recipe.id,
        title=recipe.title,
        source=recipe.source,
        scale=scale,
        seed=seed,
        claims=tuple(_marked(claim, recipe, scale) for claim in outcome.claims),
        figures=outcome.figures,
        notes=(*changed, *outcome.notes),
        seconds=time.perf_counter() - start,
        orbits=outcome.orbits,
        maps=outcome.maps,
        tables=outcome.tables,
    )


def _marked(claim: Claim, recipe: Recipe, scale: str) -> Claim:
    """A claim with what its recipe says of all of them."""
    ours = claim.ours or recipe.ours
    untestable = claim.untestable or recipe.sizes[scale].untestable
    return dataclasses.replace(claim, ours=ours, untestable="" if ours else untestable)
