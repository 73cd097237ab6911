"""`memspan sample MODEL`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memspan.cli import options
from memspan.cli import train_options as asked
from memspan.cli.output import CommandOutput
from memspan.errors import InputError, check_models

_SAMPLING = "Sampling"


def sample(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="Folder of a training run on characters, words or binary, or hf:PATH, a causal model of Hugging Face.",
        ),
    ],
    length: Annotated[
        int, typer.Option(min=1, metavar="N", help="Total number of symbols.", rich_help_panel=_SAMPLING)
    ] = 2_000,
    streams: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Number of texts, each from an empty context. Default: up to 256, of at least 1,000 symbols.",
            rich_help_panel=_SAMPLING,
        ),
    ] = None,
    temperature: options.Temperature = 1.0,
    top_k: Annotated[
        int | None,
        typer.Option(metavar="N", help="Sample among the N most likely symbols.", rich_help_panel=_SAMPLING),
    ] = None,
    top_p: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            help="Sample among the fewest most likely symbols whose total probability is P.",
            rich_help_panel=_SAMPLING,
        ),
    ] = None,
    context: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Context length, in symbols. Default: unlimited, or the length the model was made for.",
            rich_help_panel=_SAMPLING,
        ),
    ] = None,
    device: Annotated[
        asked.DeviceName, typer.Option(metavar="auto|cpu|cuda|mps", help="Device.", rich_help_panel=_SAMPLING)
    ] = "auto",
    seed: options.Seed = 0,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File for the texts (UTF-8).", rich_help_panel="Output"),
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Generate text with a trained model, many texts at once, to read or to measure.

    Without --save the first text is shown. The same seed gives the same texts.
    """
    check_models("sampling")
    output = CommandOutput(command="sample", json=json, quiet=quiet)
    if save is not None and save.is_dir():
        raise InputError(
            f"--save {save} is a folder; expected a file to write, such as {save / 'sample.txt'}"
        )
    with output.progress() as progress:
        from memspan.sampling import Choice
        from memspan.training.sampled import sample_model

        result = sample_model(
            model,
            length,
            streams=streams,
            choice=Choice(temperature=temperature, top_k=top_k, top_p=top_p),
            context=context,
            seed=seed,
            save=save,
            device=device,
            progress=progress,
        )
    output.print(output.present(result))
