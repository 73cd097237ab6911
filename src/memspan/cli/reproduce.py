"""`memspan reproduce ID` and `memspan reproduce list`"""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from memspan.cli import options
from memspan.cli.output import Output, encoded
from memspan.cli.run_kept import kept_trainings
from memspan.cli.running import CheckFailedError


def reproduce(
    id: Annotated[
        str,
        typer.Argument(
            metavar="ID|list", help="Which figure, table, theorem or erratum; list shows all there are."
        ),
    ],
    scale: Annotated[
        options.ScaleName,
        typer.Option(
            metavar="smoke|laptop|paper",
            help="smoke takes seconds and settles nothing, laptop at most 1 hour on two cores, paper is the source's"
            " own size.",
        ),
    ] = "laptop",
    expect: Annotated[
        Literal["holds"] | None,
        typer.Option(metavar="holds", help="Make it a check: exit with status 1 unless every claim holds."),
    ] = None,
    seed: options.Seed = 0,
    out: options.Out = None,
    style: options.Style = "report",
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Run a figure, table, theorem or erratum of the sources again and check what it claims."""
    output = Output(command="reproduce", json=json, out=out, quiet=quiet, style=style, force=force)
    if id == "list":
        _list(output)
        return
    output.claim(id)
    with output.progress() as progress:
        from memspan.reproductions import RECIPES
        from memspan.reproductions import reproduce as run
        from memspan.reproductions.recipe import Trained

        if id in RECIPES:
            progress.say(f"{id}, {scale} scale: {RECIPES[id].scales.get(scale, 'time unknown')}")
        runs = None if out is None else out / "runs"
        with kept_trainings(runs, trains=isinstance(RECIPES.get(id), Trained)):
            result = run(id, scale=scale, seed=seed, runs=runs, progress=progress)
    from memspan.cli.tables import show_reproduction

    output.give(result, lambda console: show_reproduction(console, result))
    failed = [claim.claim for claim in result.claims if not claim.holds]
    if expect and failed:
        raise CheckFailedError("; ".join(failed))


def _list(output: Output) -> None:
    from memspan.cli.tables import show_recipes
    from memspan.reproductions import RECIPES

    recipes = [
        {"id": recipe.id, "title": recipe.title, "source": recipe.source, "scales": dict(recipe.scales)}
        for recipe in RECIPES.values()
    ]
    output.show(
        encoded("reproduce", {"recipes": recipes}),
        f"{len(recipes)} recipes; run one with memspan reproduce ID --scale smoke|laptop|paper",
        lambda console: show_recipes(console, list(RECIPES.values())),
    )
