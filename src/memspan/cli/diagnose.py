"""`memspan diagnose RUN`"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Literal

import typer

from memspan.cli import options
from memspan.cli.output import CommandOutput, check_place
from memspan.cli.train_options import DeviceName, option
from memspan.errors import InputError, check_models

_DIAGNOSIS = "Diagnosis"
_HUGGING_FACE = "hf:"


def diagnose(
    model: Annotated[
        str,
        typer.Argument(
            metavar="RUN",
            help="The folder of a training, as printed by memspan train, or hf:PATH, a causal Hugging Face model.",
        ),
    ],
    delay: Annotated[
        int | None,
        option(
            _DIAGNOSIS,
            "N",
            "Delay of the task in steps (its length if it has no delay), by default the trained one. For texts the window in"
            " symbols, default 300.",
            min=1,
        ),
    ] = None,
    text: Annotated[
        Path | None, option(_DIAGNOSIS, "FILE", "Text (UTF-8) for hf:PATH. A training has its own.")
    ] = None,
    sequences: Annotated[int, option(_DIAGNOSIS, "N", "Number of test sequences.", min=1)] = 20,
    loss: Annotated[
        Literal["recalled", "whole", "changed"],
        option(
            _DIAGNOSIS,
            "recalled|whole|changed",
            "Loss whose gradient is measured: recalled, on the targets that need memory (the last 10 of copy and denoise,"
            " otherwise the last one); whole, on all targets of the task; changed, as recalled with every target replaced"
            " by a wrong one.",
        ),
    ] = "recalled",
    costs: Annotated[
        bool,
        typer.Option(
            "--costs/--no-costs",
            help="Measure memory and time of a training step at four lengths, in a separate process (some seconds).",
            rich_help_panel=_DIAGNOSIS,
        ),
    ] = True,
    device: Annotated[DeviceName, option(_DIAGNOSIS, "auto|cpu|cuda|mps", "Device.")] = "auto",
    seed: Annotated[int, option(_DIAGNOSIS, "N", "Seed of the test sequences.", min=0)] = 0,
    out: Annotated[
        Path | None,
        option(
            "Output",
            "DIR",
            "Folder for result.json, figures (.svg and .png) and report.html. Default RUN/diagnosis; none for hf:PATH.",
        ),
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Diagnose how a trained network uses its past: gradient flow, attention, and the context that it needs.

    Uses the weights with the best validation so far; the run may still be training. For a Hugging Face model (hf:PATH
    --text FILE): gradients at the input tokens, and the loss as a function of the context length.
    """
    check_models("diagnosing")
    foreign = model.startswith(_HUGGING_FACE)
    if foreign == (text is None):
        raise InputError(
            f"{model} has no text; give one with --text FILE"
            if foreign
            else f"--text {text}: a training is diagnosed on its own test text; omit --text, or give hf:PATH"
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
