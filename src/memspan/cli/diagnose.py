"""`memspan diagnose RUN`"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Literal

import typer

from memspan.cli import options
from memspan.cli import train_options as asked
from memspan.cli.output import CommandOutput, check_place
from memspan.errors import InputError, check_models

_PANEL = "Diagnosis"
_HUGGING_FACE = "hf:"


def diagnose(
    model: Annotated[
        str,
        typer.Argument(
            metavar="RUN", help="Folder of a training run, or hf:PATH, a causal model of Hugging Face."
        ),
    ],
    delay: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Delay of the task (its length, if it has no delay), in steps. Default: the trained one. For texts: symbols"
            " of a window. Default 300.",
            rich_help_panel=_PANEL,
        ),
    ] = None,
    text: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Text for hf:PATH to read (UTF-8). A training run has its own.",
            rich_help_panel=_PANEL,
        ),
    ] = None,
    sequences: Annotated[
        int, typer.Option(min=1, metavar="N", help="Number of test sequences.", rich_help_panel=_PANEL)
    ] = 20,
    loss: Annotated[
        Literal["recalled", "whole", "changed"],
        typer.Option(
            metavar="recalled|whole|changed",
            help="Loss to differentiate: recalled, of the answers that need memory (the last 10 of copy and denoise, else"
            " the last one); whole, of all answers; changed, as recalled, with other targets, so that all are wrong.",
            rich_help_panel=_PANEL,
        ),
    ] = "recalled",
    costs: Annotated[
        bool,
        typer.Option(
            "--costs/--no-costs",
            help="Measure memory and time of a training step at four lengths, in a separate process (seconds).",
            rich_help_panel=_PANEL,
        ),
    ] = True,
    device: Annotated[
        asked.DeviceName, typer.Option(metavar="auto|cpu|cuda|mps", help="Device.", rich_help_panel=_PANEL)
    ] = "auto",
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Random seed of the sequences.", rich_help_panel=_PANEL)
    ] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder for result.json, figures (.svg and .png) and report.html. Default RUN/diagnosis; none for hf:PATH.",
            rich_help_panel="Output",
        ),
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """How a trained network uses its past: gradients, attention, Jacobians and the context it needs.

    The weights are those with the lowest validation loss so far; the run may be unfinished. For a model of Hugging Face
    (hf:PATH --text FILE): gradients at the tokens, and the loss against the context length.
    """
    check_models("diagnosing")
    foreign = model.startswith(_HUGGING_FACE)
    if foreign == (text is None):
        raise InputError(
            f"{model} comes without a text; add --text FILE"
            if foreign
            else f"--text {text}: a training run has its own test text; omit it, or give hf:PATH"
        )
    output = CommandOutput(command="diagnose", json=json, quiet=quiet)
    folder = out if foreign else out or Path(model) / "diagnosis"
    if folder is not None:
        check_place(folder)
    with output.progress() as progress:
        from memspan.diagnostics import diagnose, diagnose_foreign

        if text is not None:
            result = diagnose_foreign(
                model.removeprefix(_HUGGING_FACE),
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
    dataclasses.replace(output, out=folder).give(result)
