"""`memspan sample MODEL`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memspan.cli import options
from memspan.cli.output import CommandOutput
from memspan.cli.train_options import DeviceName, option
from memspan.errors import InputError, check_models

_SAMPLING = "Sampling"


def sample(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="The folder of a training on characters, words or binary, or hf:PATH, a causal Hugging Face model.",
        ),
    ],
    length: Annotated[int, option(_SAMPLING, "N", "Symbols to generate, in all texts together.", min=1)] = 2_000,
    streams: Annotated[
        int | None,
        option(
            _SAMPLING,
            "N",
            "Number of texts, generated in parallel, each from an empty context. Default up to 256 of at least 1,000"
            " symbols.",
            min=1,
        ),
    ] = None,
    temperature: options.Temperature = 1.0,
    top_k: Annotated[int | None, option(_SAMPLING, "N", "Sample from the N most probable symbols only.")] = None,
    top_p: Annotated[
        float | None, option(_SAMPLING, "P", "Sample from the smallest set of symbols with total probability P.")
    ] = None,
    context: Annotated[
        int | None, option(_SAMPLING, "N", "Context length in symbols. Default unlimited, or that of the model.", min=1)
    ] = None,
    device: Annotated[DeviceName, option(_SAMPLING, "auto|cpu|cuda|mps", "Device.")] = "auto",
    seed: options.Seed = 0,
    save: Annotated[Path | None, option("Output", "FILE", "File for the texts (UTF-8).")] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Generate many texts with a trained model, to read or to measure.

    Without --save, shows the first text. The same seed gives the same texts.
    """
    check_models("sampling")
    output = CommandOutput(command="sample", json=json, quiet=quiet)
    if save is not None and save.is_dir():
        raise InputError(f"--save {save} is a folder; expected a file to write, such as {save / 'sample.txt'}")
    with output.progress() as progress:
        from memspan.sampling import Choice
        from memspan.training.supervised.generation import sample_model

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
