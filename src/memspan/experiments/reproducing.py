"""`reproduce`: one recipe of the table below, run at one scale and timed."""

from __future__ import annotations

import time
from pathlib import Path

from memspan.errors import InputError, suggestion
from memspan.experiments.bmi_fig2 import BMI_FIG2
from memspan.experiments.bmi_fig3 import BMI_FIG3
from memspan.experiments.bmi_table1 import BMI_TABLE1
from memspan.experiments.bmi_table2 import BMI_TABLE2
from memspan.experiments.errata_01 import ERRATA_01
from memspan.experiments.errata_02 import ERRATA_02
from memspan.experiments.errata_03 import ERRATA_03
from memspan.experiments.errata_04 import ERRATA_04
from memspan.experiments.errata_06 import ERRATA_06
from memspan.experiments.errata_07 import ERRATA_07
from memspan.experiments.errata_08 import ERRATA_08
from memspan.experiments.errata_09 import ERRATA_09
from memspan.experiments.errata_10 import ERRATA_10
from memspan.experiments.errata_11 import ERRATA_11
from memspan.experiments.errata_12 import ERRATA_12
from memspan.experiments.errata_13 import ERRATA_13
from memspan.experiments.errata_16 import ERRATA_16
from memspan.experiments.errata_18 import ERRATA_18
from memspan.experiments.errata_19 import ERRATA_19
from memspan.experiments.meanfield_fig1 import MEANFIELD_FIG1
from memspan.experiments.meanfield_fig2 import MEANFIELD_FIG2
from memspan.experiments.meanfield_fig3 import MEANFIELD_FIG3
from memspan.experiments.meanfield_gated import MEANFIELD_GATED
from memspan.experiments.meanfield_table1 import MEANFIELD_TABLE1
from memspan.experiments.memorization_fig1 import MEMORIZATION_FIG1
from memspan.experiments.memorization_fig2 import MEMORIZATION_FIG2
from memspan.experiments.memorization_order8 import MEMORIZATION_ORDER8
from memspan.experiments.memorization_size import MEMORIZATION_SIZE
from memspan.experiments.recipe import Recipe
from memspan.experiments.relevance_fig1 import RELEVANCE_FIG1
from memspan.experiments.relevance_fig2 import RELEVANCE_FIG2
from memspan.experiments.relevance_fig2_memory import RELEVANCE_FIG2_MEMORY
from memspan.experiments.relevance_fig3 import RELEVANCE_FIG3
from memspan.experiments.relevance_proposition1 import RELEVANCE_PROPOSITION1
from memspan.experiments.relevance_table1 import RELEVANCE_TABLE1
from memspan.experiments.relevance_table2 import RELEVANCE_TABLE2, RELEVANCE_TABLE5
from memspan.experiments.relevance_table3 import RELEVANCE_TABLE3
from memspan.experiments.relevance_table3_ptb import RELEVANCE_TABLE3_PTB
from memspan.experiments.relevance_table4 import RELEVANCE_TABLE4
from memspan.experiments.relevance_theorem1 import RELEVANCE_THEOREM1
from memspan.experiments.relevance_theorem2 import RELEVANCE_THEOREM2
from memspan.experiments.shen_fig1 import SHEN_FIG1
from memspan.experiments.shen_fig2 import SHEN_FIG2, SHEN_FIG8
from memspan.experiments.shen_fig3a import SHEN_FIG3A, SHEN_FIG9
from memspan.experiments.shen_fig3bc import SHEN_FIG3BC, SHEN_FIG10
from memspan.experiments.shen_fig3d import SHEN_FIG3D
from memspan.experiments.shen_fig4 import SHEN_FIG4
from memspan.experiments.shen_fig5 import SHEN_FIG5
from memspan.experiments.shen_fig6 import SHEN_FIG6
from memspan.experiments.shen_fig7 import SHEN_FIG7
from memspan.experiments.shen_linear import SHEN_LINEAR
from memspan.progress import SILENT, Progress
from memspan.results import Reproduction

RECIPES: dict[str, Recipe] = {
    recipe.id: recipe
    for recipe in (
        *(SHEN_LINEAR, SHEN_FIG4, SHEN_FIG5, SHEN_FIG6),
        *(MEANFIELD_FIG1, MEANFIELD_FIG2, MEANFIELD_FIG3, MEANFIELD_TABLE1, MEANFIELD_GATED),
        *(RELEVANCE_PROPOSITION1, RELEVANCE_THEOREM1, RELEVANCE_THEOREM2),
        *(MEMORIZATION_FIG1, MEMORIZATION_FIG2, MEMORIZATION_ORDER8, MEMORIZATION_SIZE),
        *(ERRATA_01, ERRATA_02, ERRATA_03, ERRATA_04, ERRATA_06),
        *(ERRATA_07, ERRATA_08, ERRATA_09, ERRATA_10, ERRATA_11),
        *(ERRATA_12, ERRATA_13, ERRATA_16, ERRATA_18, ERRATA_19),
        *(RELEVANCE_FIG1, RELEVANCE_FIG2, RELEVANCE_FIG2_MEMORY, RELEVANCE_FIG3),
        *(RELEVANCE_TABLE1, RELEVANCE_TABLE2, RELEVANCE_TABLE3, RELEVANCE_TABLE5),
        *(RELEVANCE_TABLE3_PTB, RELEVANCE_TABLE4),
        *(SHEN_FIG1, SHEN_FIG2, SHEN_FIG3A, SHEN_FIG3BC, SHEN_FIG3D),
        *(SHEN_FIG7, SHEN_FIG8, SHEN_FIG9, SHEN_FIG10),
        *(BMI_TABLE1, BMI_TABLE2, BMI_FIG2, BMI_FIG3),
    )
}
"""Every recipe by its id; docs/results keeps what they gave."""


def reproduce(
    id: str,
    *,
    scale: str = "laptop",
    seed: int = 0,
    runs: Path | None = None,
    progress: Progress = SILENT,
) -> Reproduction:
    """The claims of recipe `id`, each next to what was measured; the same seed gives the same numbers.

    A recipe that trains networks keeps them in the folder `runs`, if it is told one, and goes on there when it was stopped.

    >>> result = reproduce("errata-02", scale="smoke")
    >>> result.source, result.holds
    ('Shen 2019, appendix B, Eq. 46 and 47', True)
    """
    if id not in RECIPES:
        raise InputError(f"there is no recipe {id!r}; {suggestion(id, RECIPES)}")
    recipe = RECIPES[id]
    if scale not in recipe.scales:
        raise InputError(f"{id} has no scale {scale!r}; {suggestion(scale, recipe.scales)}")
    start = time.perf_counter()
    outcome = recipe.outcome(scale, seed, progress, runs)
    return Reproduction(
        id=recipe.id,
        title=recipe.title,
        source=recipe.source,
        scale=scale,
        seed=seed,
        claims=outcome.claims,
        figures=outcome.figures,
        notes=outcome.notes,
        seconds=time.perf_counter() - start,
        orbits=outcome.orbits,
        maps=outcome.maps,
        tables=outcome.tables,
    )
