"""`memspan diagnose RUN`"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Literal

import typer

from memspan.cli import options
from memspan.cli import train_options as asked
from memspan.cli.output import Output, check_place
from memspan.errors import check_models

_LOOKING = "Looking"


def diagnose(
    run: asked.Run,
    delay: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="The delay of the task, in steps (its length, where it has no delay). By default the trained one. Of a"
            " text: the symbols of a window, by default 300.",
            rich_help_panel=_LOOKING,
        ),
    ] = None,
    sequences: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="Test sequences that are looked at.", rich_help_panel=_LOOKING),
    ] = 20,
    loss: Annotated[
        Literal["recalled", "whole"],
        typer.Option(
            metavar="recalled|whole",
            help="Whose gradient: of the answers that take memory (the last 10 of copy and denoise, else the last one) or of"
            " all that the task scores.",
            rich_help_panel=_LOOKING,
        ),
    ] = "recalled",
    costs: Annotated[
        bool,
        typer.Option(
            "--costs/--no-costs",
            help="Measure memory and time of a training step at four lengths, in a process of its own (some seconds).",
            rich_help_panel=_LOOKING,
        ),
    ] = True,
    device: Annotated[
        asked.DeviceName,
        typer.Option(metavar="auto|cpu|cuda|mps", help="Where it runs.", rich_help_panel=_LOOKING),
    ] = "auto",
    seed: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="Which sequences.", rich_help_panel=_LOOKING),
    ] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write result.json, figures (.svg and .png) and report.html into this folder. By default RUN/diagnosis.",
            rich_help_panel="Output",
        ),
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """What a trained network does with its past: where gradients arrive, what it looks at, how much of it it needs.

    The weights are those that did best on validation so far; the run may still go on.
    """
    check_models("diagnosing")
    output = Output(command="diagnose", json=json, quiet=quiet)
    folder = out or run / "diagnosis"
    check_place(folder)
    with output.progress() as progress:
        from memspan.diagnostics import diagnose

        result = diagnose(
            run,
            delay=delay,
            sequences=sequences,
            loss=loss,
            costs=costs,
            device=device,
            seed=seed,
            progress=progress,
        )
    from memspan.cli.diagnosis_tables import show_diagnosis

    place = dataclasses.replace(output, out=folder)
    place.give(result, lambda console: show_diagnosis(console, result))
