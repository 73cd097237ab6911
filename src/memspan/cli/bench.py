"""`memspan bench [NAME]`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memspan.bench import benchmarks_help
from memspan.cli import options
from memspan.cli.output import CommandOutput
from memspan.errors import InputError

_CALIBRATION = "Calibration"


def bench(
    name: Annotated[str, typer.Argument(metavar="NAME", help=benchmarks_help())] = "measure",
    full: Annotated[
        bool,
        typer.Option(
            "--full",
            metavar="",
            help="All sources and sizes, 30 samples each; several hours.",
            rich_help_panel=_CALIBRATION,
        ),
    ] = False,
    seeds: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Samples per source. Default 10; 30 with --full.", rich_help_panel=_CALIBRATION
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Only sources whose name contains NAME, such as sticky; peers is the comparison with peers.",
            rich_help_panel=_CALIBRATION,
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="Calibrate on the bigram chain of this file: its 1,000 most frequent symbols, its length.",
            rich_help_panel=_CALIBRATION,
        ),
    ] = None,
    symbols: options.As = None,
    seed: options.Seed = 0,
    out: options.Out = None,
    style: options.Style = "report",
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Speed, memory and calibration next to peers, within one run on this machine."""
    given = {
        "--full": full,
        "--seeds": seeds is not None,
        "--source": source is not None,
        "--file": file is not None,
        "--as": symbols is not None,
        "--seed": seed != 0,
    }
    _check_options(name, [option for option, used in given.items() if used])
    output = CommandOutput(command="bench", json=json, out=out, quiet=quiet, style=style, force=force)
    output.claim()
    with output.progress() as progress:
        from memspan.bench import CalibrationPlan, run

        plan = CalibrationPlan(full=full, seeds=seeds, seed=seed, source=source, file=file, symbols=symbols)
        result = run(name, progress, plan if name == "calibration" else None)
    output.give(result)


def _check_options(name: str, given: list[str]) -> None:
    """Refuse options that would have no effect."""
    if given and name != "calibration":
        raise InputError(f"{given[0]} is for memspan bench calibration; omit it for memspan bench {name}")
    if "--file" in given and "--source" in given:
        raise InputError("--file and --source exclude each other: --file calibrates on that file alone; omit --source")
    if "--as" in given and "--file" not in given:
        raise InputError("--as applies to the file of --file; add --file PATH")
