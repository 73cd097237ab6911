"""`memspan bench [NAME]`"""

from __future__ import annotations

from typing import Annotated

import typer

from memspan.cli import options
from memspan.cli.output import Output


def bench(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="Which benchmarks: measure (speed, about 2 minutes), theory (about 1 minute), cells (layers, about"
            " 1 minute), cell-sizes (layers at other sizes, some minutes), train (the loop next to bare updates, minutes),"
            " settings (every task learnt by every cell, about half an hour), objective (updates with --bmi next to those"
            " without, half a minute), gridworld (agents next to sb3-contrib's own, about a minute),"
            " sample (what models write, about 2 minutes), mixture (a loss by several softmaxes, half a minute) or large"
            " (a 2 GB file: some minutes and 5 GB of disk).",
        ),
    ] = "measure",
    out: options.Out = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Speed and memory next to what a user would pick instead, as ratios within one run on this machine."""
    output = Output(command="bench", json=json, out=out, quiet=quiet)
    with output.progress() as progress:
        from memspan.bench import run

        result = run(name, progress)
    from memspan.cli.tables import show_bench

    output.give(result, lambda console: show_bench(console, result))
