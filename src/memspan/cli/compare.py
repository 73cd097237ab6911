"""`memspan compare NAME=SOURCE...`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from memspan.cli import options
from memspan.cli.interrupts import CheckFailedError
from memspan.cli.output import Output
from memspan.cli.sources import Reading, Sampling, chosen_lags, is_model, paths_of
from memspan.errors import InputError

if TYPE_CHECKING:
    from memspan.results import Comparison


def compare(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=SOURCE",
            help="Two or more sources, each with a name for it: a path, a folder, - for standard input, a URL,"
            " data:NAME, or a model that writes (run:DIR, hf:PATH), as in text=data:ptb model=run:runs/characters-lstm-1.",
        ),
    ],
    expect: Annotated[
        Literal["alike", "different"] | None,
        typer.Option(
            metavar="alike|different",
            help="Make it a check: exit with status 1 unless every pair is so.",
            rich_help_panel="Output",
        ),
    ] = None,
    symbols: options.As = None,
    documents: options.Documents = None,
    column: options.Column = None,
    key: options.Key = None,
    transform: options.Transform = "none",
    levels: options.Levels = None,
    missing: options.Missing = "error",
    sample: options.SampleSize = None,
    temperature: options.ModelTemperature = None,
    lags: options.Lags = None,
    max_lag: options.MaxLag = None,
    estimator: options.Estimator = "grassberger",
    null: options.Null = "auto",
    fit_above: options.FitAbove = None,
    level: options.Level = 1e-3,
    workers: options.Workers = None,
    seed: options.Seed = 0,
    bits: options.Bits = False,
    out: options.Out = None,
    style: options.Style = "report",
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            metavar="",
            help="Accept sources of different symbols, and let --out overwrite the result of another command or source.",
        ),
    ] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Whether several sequences remember alike: all measured at the size of the smallest, a verdict per pair."""
    named = _named(sources)
    output = Output(
        command="compare",
        json=json,
        out=out,
        quiet=quiet,
        bits=bits,
        style=style,
        force=force and out is not None,
    )
    output.claim(*(f"{name}={path}" for name, source in named.items() for path in paths_of([source])))
    reading = Reading(
        symbols=symbols,
        documents=documents,
        column=column,
        key=key,
        transform=transform,
        levels=levels,
        missing=missing,
        sampling=Sampling.of(list(named.values()), sample, temperature, seed),
    )
    with output.progress() as progress:
        from memspan.decay import compare as compare_sequences
        from memspan.information import ESTIMATORS

        sequences = {name: reading.read([source], progress) for name, source in named.items()}
        reading.check_effect(list(named.values()), list(sequences.values()))
        if force and out is None and len({sequence.symbols for sequence in sequences.values()}) == 1:
            raise InputError(
                "--force has nothing to do: all sources have the same symbols and there is no --out DIR"
            )
        longest = min(sequence.longest for sequence in sequences.values())
        chosen = None if lags is None else chosen_lags(lags, max_lag, longest)
        result = compare_sequences(
            sequences,
            chosen,
            max_lag=max_lag,
            estimator=ESTIMATORS[estimator],
            null=null,
            level=level,
            above=fit_above,
            seed=seed,
            workers=workers,
            force=force,
            progress=progress,
        )
        if any(map(is_model, named.values())):
            result = result.with_excerpts({name: text.beginning() for name, text in sequences.items()})
    from memspan.cli.tables import show_comparison

    output.give(result, lambda console: show_comparison(console, result, bits=bits))
    _check(result, expect)


def _named(sources: list[str]) -> dict[str, str]:
    named: dict[str, str] = {}
    for word in sources:
        name, equals, source = word.partition("=")
        if not (name and equals and source):
            raise InputError(f"{word!r} has no name; expected NAME=SOURCE, as in train=a.txt valid=b.txt")
        if name in named:
            raise InputError(f"the name {name!r} is given twice; give each source a name of its own")
        if source.endswith(".counts"):
            raise InputError(
                f"{source} holds counts; compare cuts sources to equal size, so give it what was counted"
            )
        named[name] = source
    if len(named) < 2:
        raise InputError(
            "one source has nothing to be compared with; give two or more, or use memspan measure"
        )
    if list(named.values()).count("-") > 1:
        raise InputError("standard input can be one source only; save the other to a file")
    return named


def _check(result: Comparison, expect: str | None) -> None:
    if expect is None:
        return
    other = [f"{pair.a} and {pair.b}: {pair.verdict}" for pair in result.pairs if pair.verdict != expect]
    if other:
        raise CheckFailedError(f"expected {expect}, found {'; '.join(other)}")
