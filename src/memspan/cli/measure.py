"""`memspan measure SOURCE...`"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, final

import typer

from memspan.cli import options
from memspan.cli.output import Output, encoded
from memspan.cli.running import keeping
from memspan.cli.sources import Reading, Sampling, chosen_lags, is_model, joined_note, load_counts
from memspan.errors import InputError

if TYPE_CHECKING:
    from memspan.information import PairCounts
    from memspan.progress import Progress
    from memspan.results import Measurement


def measure(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE",
            help="A path, several paths or a folder (documents of one sequence), - for standard input, a URL,"
            " data:NAME (see memspan data list), a model that writes (run:DIR of memspan train, hf:PATH of Hugging Face),"
            " or .counts files, which are added together.",
        ),
    ],
    symbols: options.As = None,
    documents: options.Documents = None,
    column: options.Column = None,
    key: options.Key = None,
    transform: options.Transform = "none",
    levels: options.Levels = 4,
    missing: options.Missing = "error",
    sample: options.SampleSize = 2_000_000,
    temperature: options.Temperature = 1.0,
    lags: options.Lags = None,
    max_lag: options.MaxLag = None,
    estimator: options.Estimator = "grassberger",
    null: options.Null = "auto",
    fit_above: options.FitAbove = None,
    level: options.Level = 1e-3,
    workers: options.Workers = None,
    seed: options.Seed = 0,
    counts_only: Annotated[
        bool,
        typer.Option(
            "--counts-only",
            metavar="",
            help="Stop after counting; the counts are kept in DIR/counts (needs --out DIR). Counts of parts of the"
            " data, made anywhere, are added together by giving them as sources.",
            rich_help_panel="Measuring",
        ),
    ] = False,
    bits: options.Bits = False,
    out: options.Out = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """How far back one sequence remembers: its information at every distance, its span, reach and law.

    With --out DIR finished counts are kept in DIR/counts, and the same command goes on where it was stopped.
    """
    if counts_only and out is None:
        raise InputError("--counts-only keeps nothing without a place to keep it; add --out DIR")
    reading = Reading(
        symbols=symbols,
        documents=documents,
        column=column,
        key=key,
        transform=transform,
        levels=levels,
        missing=missing,
        sampling=Sampling(sample=sample, temperature=temperature, seed=seed),
    )
    job = _Job(sources, reading, lags, max_lag, estimator, null, fit_above, level, workers, seed, out)
    output = Output(command="measure", json=json, out=out, quiet=quiet, bits=bits)
    if counts_only:
        _count(job, output)
        return
    from memspan.cli.tables import show_measurement

    with keeping(job.keep):
        with output.progress() as progress:
            result = job.measured(progress)
        output.give(result, lambda console: show_measurement(console, result, bits=bits))


@final
@dataclass(frozen=True)
class _Job:
    sources: list[str]
    reading: Reading
    lags: str | None
    max_lag: int | None
    estimator: str
    null: str
    fit_above: float | None
    level: float
    workers: int | None
    seed: int
    out: Path | None

    @property
    def keep(self) -> Path | None:
        return None if self.out is None else self.out / "counts"

    def measured(self, progress: Progress) -> Measurement:
        counts = load_counts(self.sources)
        if counts is not None:
            return self._measured_counts(counts, progress)
        from memspan.decay import measure
        from memspan.information import ESTIMATORS

        begun = time.perf_counter()
        sequence = self.reading.read(self.sources, progress)
        sequence = replace(sequence, notes=(*sequence.notes, *joined_note(self.sources)))
        result = measure(
            sequence,
            chosen_lags(self.lags, self.max_lag, sequence.longest),
            estimator=ESTIMATORS[self.estimator],
            null=self.null,
            level=self.level,
            above=self.fit_above,
            seed=self.seed,
            workers=self.workers,
            keep=self.keep,
            progress=progress,
        )
        excerpt = sequence.beginning() if any(map(is_model, self.sources)) else ""
        return replace(result, seconds=time.perf_counter() - begun, excerpt=excerpt)  # reading included

    def _measured_counts(self, counts: PairCounts, progress: Progress) -> Measurement:
        from memspan.decay import measure
        from memspan.information import ESTIMATORS

        self._refuse_what_was_decided()
        return measure(
            counts,
            estimator=ESTIMATORS[self.estimator],
            level=self.level,
            above=self.fit_above,
            seed=self.seed,
            progress=progress,
        )

    def _refuse_what_was_decided(self) -> None:
        """Options of reading and counting mean nothing for pairs that are counted already."""
        other = replace(self.reading, sampling=Sampling()) != Reading()
        given = {
            "--lags": self.lags,
            "--max-lag": self.max_lag,
            "--null": None if self.null == "auto" else self.null,
            "--as, --documents, --column, --key, --transform, --levels or --missing": other or None,
        }
        option = next((name for name, value in given.items() if value is not None), None)
        if option is not None:
            raise InputError(
                f"{option} cannot be chosen any more: these pairs are counted already; leave it out"
            )

    def counted(self, progress: Progress) -> PairCounts:
        """Every part in its own file; the last group of lags stands for all of them."""
        from memspan.information.counting import Counter

        sequence = self.reading.read(self.sources, progress)
        counter = Counter.of(
            sequence,
            chosen_lags(self.lags, self.max_lag, sequence.longest),
            null=self.null,
            seed=self.seed,
            workers=self.workers,
            keep=self.keep,
            progress=progress,
            replace=False,
        )
        *_, last = counter.groups()
        return last


def _count(job: _Job, output: Output) -> None:
    keep = job.keep
    assert keep is not None, "--counts-only was checked to have --out"
    if load_counts(job.sources) is not None:
        raise InputError("these are counts already; leave --counts-only out to measure them")
    with output.progress() as progress, keeping(keep):
        counts = job.counted(progress)
    parts = len(list(keep.glob("*.counts")))
    plain = {
        "paths": list(counts.paths),
        "symbols": counts.symbols,
        "documents": counts.documents,
        "length": counts.length,
        "alphabet": len(counts.alphabet),
        "counts": str(keep),
        "parts": parts,
    }
    sentence = f"{keep}: {counts.length:,} symbols counted in {parts} parts; nothing was measured yet"
    merge = f"memspan measure {keep}/*.counts"
    output.show(
        encoded("measure", plain),
        sentence,
        lambda console: console.print(
            f"to measure them: {merge}\nto add others: {merge} OTHER/counts/*.counts", soft_wrap=True
        ),
    )
