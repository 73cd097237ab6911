"""`memspan diagnose RUN`"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Literal

import typer

from memspan.cli import options
from memspan.cli import train_options as asked
from memspan.cli.output import Output, check_place
from memspan.errors import InputError, check_models

_LOOKING = "Looking"
_FOREIGN = "hf:"


def diagnose(
    model: Annotated[
        str,
        typer.Argument(
            metavar="RUN",
            help="The folder of a training, as memspan train named it, or hf:PATH, a causal model of Hugging Face.",
        ),
    ],
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
    text: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Of hf:PATH: the text that it reads (UTF-8). A training has its own.",
            rich_help_panel=_LOOKING,
        ),
    ] = None,
    sequences: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="Test sequences that are looked at.", rich_help_panel=_LOOKING),
    ] = 20,
    loss: Annotated[
        Literal["recalled", "whole", "changed"],
        typer.Option(
            metavar="recalled|whole|changed",
            help="Whose gradient: of the answers that take memory (the last 10 of copy and denoise, else the last one), of"
            " all that the task scores, or changed: of the former if each ought to be another, so that all are wrong.",
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
            help="Write result.json, figures (.svg and .png) and report.html into this folder. By default RUN/diagnosis; of"
            " hf:PATH no files without it.",
            rich_help_panel="Output",
        ),
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """What a trained network does with its past: where gradients arrive, what it looks at, how much of it it needs.

    The weights are those that did best on validation so far; the run may still go on. Of a model of Hugging Face (hf:PATH
    --text FILE): gradients at the tokens that were read, and the loss against the context.
    """
    check_models("diagnosing")
    foreign = model.startswith(_FOREIGN)
    if foreign == (text is None):
        raise InputError(
            f"{model} comes with no text; give one by --text FILE"
            if foreign
            else f"--text {text}: a training is looked at on the test text that it has; leave it out, or give hf:PATH"
        )
    output = Output(command="diagnose", json=json, quiet=quiet)
    folder = out if foreign else out or Path(model) / "diagnosis"
    if folder is not None:
        check_place(folder)
    with output.progress() as progress:
        from memspan.diagnostics import diagnose, diagnose_foreign

        if text is not None:
            result = diagnose_foreign(
                model.removeprefix(_FOREIGN),
                text,
                window=delay,
                sequences=sequences,
                device=device,
                seed=seed,
                progress=progress,
            )
        else:
            result = diagnose(
                model,
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
