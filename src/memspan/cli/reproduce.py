"""`memspan reproduce ID` and `memspan reproduce list`"""

from __future__ import annotations

import json as json_text
from typing import Annotated, Any, Literal

import typer

from memspan.cli import options
from memspan.cli.interrupts import CheckFailedError, trainings_saved
from memspan.cli.output import CommandOutput, encoded
from memspan.errors import InputError


def reproduce(
    id: Annotated[str, typer.Argument(metavar="ID|list", help="Figure, table, theorem or erratum; list shows all.")],
    scale: Annotated[
        options.ScaleName,
        typer.Option(
            metavar="smoke|laptop|paper",
            help="smoke: seconds, a test only; laptop: at most 1 hour on two cores; paper: the source's own size.",
        ),
    ] = "laptop",
    expect: Annotated[
        Literal["holds"] | None, typer.Option(metavar="holds", help="Exit with status 1 unless every claim holds.")
    ] = None,
    sizes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Replace one size of the scale, such as workers=1 or delays=[100]; values are JSON; repeatable.",
        ),
    ] = None,
    seed: options.Seed = 0,
    out: options.Out = None,
    style: options.Style = "report",
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Reproduce a figure, table, theorem or erratum of the sources and check its claims."""
    output = CommandOutput(command="reproduce", json=json, out=out, quiet=quiet, style=style, force=force)
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
        with trainings_saved(runs, trains=isinstance(RECIPES.get(id), Trained)):
            result = run(id, scale=scale, seed=seed, runs=runs, progress=progress, sizes=_sizes(sizes or []))
    output.give(result)
    failed = [claim.claim for claim in result.claims if not (claim.holds or claim.untestable)]
    if expect and failed:
        raise CheckFailedError("; ".join(failed))


def _sizes(settings: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals or not name:
            raise InputError(f"--set {setting}: expected NAME=VALUE, such as workers=1")
        try:
            found[name] = json_text.loads(text)
        except ValueError:
            found[name] = text
    return found


def _list(output: CommandOutput) -> None:
    from memspan.presentation.page.section import TextTable
    from memspan.presentation.terminal import print_table
    from memspan.reproductions import RECIPES

    recipes = [
        {"id": recipe.id, "title": recipe.title, "source": recipe.source, "scales": dict(recipe.scales)}
        for recipe in RECIPES.values()
    ]
    rows = tuple(
        (recipe.id, recipe.title, recipe.source, "\n".join(f"{scale}: {time}" for scale, time in recipe.scales.items()))
        for recipe in RECIPES.values()
    )
    output.show(
        encoded("reproduce", {"recipes": recipes}),
        f"{len(recipes)} recipes; run one with memspan reproduce ID --scale smoke|laptop|paper",
        lambda console: print_table(console, TextTable("", ("id", "title", "source", "time"), rows)),
    )
