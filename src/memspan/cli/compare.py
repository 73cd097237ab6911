"""`memspan compare NAME=SOURCE...`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from memspan.cli import options
from memspan.cli.interrupts import CheckFailedError
from memspan.cli.measure import Estimator
from memspan.cli.output import CommandOutput
from memspan.cli.sources import Sampling, SourceOptions, chosen_lags, is_model, paths_of
from memspan.errors import InputError
from memspan.information.estimators import ESTIMATORS, Grassberger

if TYPE_CHECKING:
    from memspan.results import Comparison


def compare(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=SOURCE",
            help="Two or more named sources: a path, a folder, - for standard input, a URL, data:NAME, or a generative model"
            " (run:DIR, hf:PATH), as in text=data:ptb model=run:runs/characters-lstm-1.",
        ),
    ],
    expect: Annotated[
        Literal["alike", "different"] | None,
        typer.Option(
            metavar="alike|different",
            help="Exit with status 1 unless every pair has this verdict.",
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
    estimator: Estimator = Grassberger.name,
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
            help="Accept sources of different symbols, and overwrite the result of another command or source in --out DIR.",
        ),
    ] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare several sequences at the size of the smallest, with a verdict for each pair."""
    named = _named(sources)
    output = CommandOutput(
        command="compare", json=json, out=out, quiet=quiet, bits=bits, style=style, force=force and out is not None
    )
    output.claim(*(f"{name}={path}" for name, source in named.items() for path in paths_of([source])))
    reading = SourceOptions(
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

        sequences = {name: reading.read([source], progress) for name, source in named.items()}
        reading.check_effect(list(named.values()), list(sequences.values()))
        if force and out is None and len({sequence.symbols for sequence in sequences.values()}) == 1:
            raise InputError(
                "--force has no effect: all sources have the same symbols and there is no --out DIR; omit it"
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
    output.give(result)
    _check(result, expect)


def _named(sources: list[str]) -> dict[str, str]:
    named: dict[str, str] = {}
    for word in sources:
        name, equals, source = word.partition("=")
        if not (name and equals and source):
            raise InputError(f"{word!r} has no name; expected NAME=SOURCE, as in train=a.txt valid=b.txt")
        if name in named:
            raise InputError(f"the name {name!r} is used twice; give each source a different name")
        if source.endswith(".counts"):
            raise InputError(
                f"{source} holds counts; compare truncates sources to equal size, so give it the data themselves"
            )
        named[name] = source
    if len(named) < 2:
        raise InputError("got one source; expected two or more; add a source or use memspan measure")
    if list(named.values()).count("-") > 1:
        raise InputError("standard input can be used for one source only; save the other to a file")
    return named


def _check(result: Comparison, expect: str | None) -> None:
    if expect is None:
        return
    other = [f"{pair.a} and {pair.b}: {pair.verdict}" for pair in result.pairs if pair.verdict != expect]
    if other:
        raise CheckFailedError(f"expected {expect}, found {'; '.join(other)}")
