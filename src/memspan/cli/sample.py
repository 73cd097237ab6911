"""`memspan sample MODEL`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memspan.cli import options
from memspan.cli import train_options as asked
from memspan.cli.output import Output, encoded
from memspan.errors import InputError, check_models

if TYPE_CHECKING:
    from rich.console import Console

    from memspan.results import Sample

_SAMPLING = "Sampling"


def sample(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="The folder of a training on characters, words or binary, or hf:PATH, a causal model of Hugging Face.",
        ),
    ],
    length: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="Symbols that are written, of all texts.", rich_help_panel=_SAMPLING
        ),
    ] = 2_000,
    streams: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Texts, written side by side, each from an empty context. By default up to 256 of at least 1,000 symbols.",
            rich_help_panel=_SAMPLING,
        ),
    ] = None,
    temperature: options.Temperature = 1.0,
    top_k: Annotated[
        int | None,
        typer.Option(metavar="N", help="Draw among the N likeliest symbols only.", rich_help_panel=_SAMPLING),
    ] = None,
    top_p: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            help="Draw among the fewest likeliest symbols whose probability together is P.",
            rich_help_panel=_SAMPLING,
        ),
    ] = None,
    context: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Symbols that the model looks back at, at most; by default all of them, or as many as it was made for.",
            rich_help_panel=_SAMPLING,
        ),
    ] = None,
    device: Annotated[
        asked.DeviceName,
        typer.Option(metavar="auto|cpu|cuda|mps", help="Where it runs.", rich_help_panel=_SAMPLING),
    ] = "auto",
    seed: options.Seed = 0,
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the texts into this file (UTF-8).", rich_help_panel="Output"
        ),
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """What a trained model writes: many texts at once, to be read or measured.

    Without --save the first text is shown. The same seed gives the same texts.
    """
    check_models("sampling")
    output = Output(command="sample", json=json, quiet=quiet)
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
    output.show(
        encoded("sample", result.to_json()), _sentence(result), lambda console: _show(console, result)
    )


def _sentence(result: Sample) -> str:
    texts = "1 text" if result.streams == 1 else f"{result.streams:,} texts"
    return f"{result.source}: {result.characters:,} characters in {texts}, by {result.model}"


def _show(console: Console, result: Sample) -> None:
    """How the first text begins; then where it is, and what to type to measure it."""
    from memspan.cli.tables import print_table, show_notes
    from memspan.report.numbers import duration

    if result.path is None:
        console.print(result.excerpt, soft_wrap=True)
        rows = [("next", f"memspan measure {result.source}")]
    else:
        documents = "" if result.documents == "file" else f" --documents '{result.documents}'"
        rows = [("saved", result.path), ("next", f"memspan measure {result.path}{documents}")]
    print_table(console, (), [("time", duration(result.seconds)), *rows])
    show_notes(console, result.notes)
