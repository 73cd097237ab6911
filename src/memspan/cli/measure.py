"""`memspan measure SOURCE...`"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, final

import typer

from memspan.cli import options
from memspan.cli.interrupts import counts_saved
from memspan.cli.output import Output, encoded
from memspan.cli.sources import Reading, Sampling, chosen_lags, is_model, joined_note, load_counts, paths_of
from memspan.errors import InputError

if TYPE_CHECKING:
    from memspan.information import PairCounts
    from memspan.progress import Progress
    from memspan.results import Measurement
    from memspan.sequences import Sequence


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
    keep_counts: Annotated[
        bool,
        typer.Option(
            "--keep-counts",
            metavar="",
            help="Leave the pair counts in DIR/counts when the measurement is done (needs --out DIR). They are hundreds of"
            " megabytes for large alphabets. By default they are removed then.",
            rich_help_panel="Output",
        ),
    ] = False,
    bits: options.Bits = False,
    out: options.Out = None,
    style: options.Style = "report",
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """How far back one sequence remembers: its information at every distance, its span, reach and law.

    With --out DIR finished counts are in DIR/counts while it runs: stopped, the same command resumes from them.
    """
    if out is None and (counts_only or keep_counts):
        option = "--counts-only" if counts_only else "--keep-counts"
        raise InputError(f"{option} keeps nothing without a place to keep it; add --out DIR")
    reading = Reading(
        symbols=symbols,
        documents=documents,
        column=column,
        key=key,
        transform=transform,
        levels=levels,
        missing=missing,
        sampling=Sampling.of(sources, sample, temperature, seed),
    )
    job = _Job(sources, reading, lags, max_lag, estimator, null, fit_above, level, workers, seed, out)
    if counts_only:
        job.refuse_what_comes_later(bits=bits, style=style, keep_counts=keep_counts)
    output = Output(command="measure", json=json, out=out, quiet=quiet, bits=bits, style=style, force=force)
    counts = load_counts(sources)
    output.claim(*(paths_of(sources) if counts is None else counts.paths))
    if counts_only:
        _count(job, output, counts)
        return
    if counts is not None and keep_counts:
        raise InputError("--keep-counts has nothing to keep: these pairs are counted already; leave it out")
    from memspan.cli.tables import show_measurement

    folder = None if counts is not None else job.keep
    with _parts(folder, keep=keep_counts), counts_saved(job.keep):
        with output.progress() as progress:
            result = job.measured(counts, progress)
        output.write(result)
    output.print(result, lambda console: show_measurement(console, result, bits=bits))


_MARKER = ".temporary"
"""A file next to counts that nobody asked for. Counts without it (--keep-counts, --counts-only) are never removed."""


@contextlib.contextmanager
def _parts(folder: Path | None, *, keep: bool) -> Iterator[None]:
    """The counts of a measurement in `folder`: left there by one that is stopped, removed by one that is done."""
    if folder is None:
        yield
        return
    marker = folder / _MARKER
    if keep:
        marker.unlink(missing_ok=True)
    elif not any(folder.glob("*.counts")):
        folder.mkdir(parents=True, exist_ok=True)
        marker.touch()
    done = False
    try:
        yield
        done = True
    finally:
        if marker.exists() and (done or not any(folder.glob("*.counts"))):
            _remove_parts(folder)


def _remove_parts(folder: Path) -> None:
    from memspan.information.counting import PART_NAME

    for path in folder.glob("*.counts"):
        if PART_NAME.fullmatch(path.name):
            path.unlink()
    (folder / _MARKER).unlink()
    if not any(folder.iterdir()):
        folder.rmdir()


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

    def measured(self, counts: PairCounts | None, progress: Progress) -> Measurement:
        if counts is not None:
            return self._measured_counts(counts, progress)
        from memspan.decay import measure
        from memspan.information import ESTIMATORS

        begun = time.perf_counter()
        sequence = self._read(progress)
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

    def _read(self, progress: Progress) -> Sequence:
        sequence = self.reading.read(self.sources, progress)
        self.reading.check_effect(self.sources, [sequence])
        return sequence

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
            "--workers": self.workers,
            "--as, --documents, --column, --key, --transform, --levels or --missing": other or None,
        }
        option = next((name for name, value in given.items() if value is not None), None)
        if option is not None:
            raise InputError(
                f"{option} cannot be chosen any more: these pairs are counted already; leave it out"
            )

    def refuse_what_comes_later(self, *, bits: bool, style: str, keep_counts: bool) -> None:
        """Options of measuring and drawing mean nothing where only pairs are counted."""
        given = {
            "--estimator": self.estimator != "grassberger",
            "--fit-above": self.fit_above is not None,
            "--level": self.level != 1e-3,
            "--bits": bits,
            "--style": style != "report",
            "--keep-counts": keep_counts,
        }
        option = next((name for name, is_given in given.items() if is_given), None)
        if option is not None:
            raise InputError(
                f"{option} does nothing with --counts-only, which counts pairs and keeps them; leave one of them out"
            )

    def counted(self, progress: Progress) -> PairCounts:
        """Every part in its own file; the last group of lags stands for all of them."""
        from memspan.information.counting import Counter

        sequence = self._read(progress)
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
        *_, last = (counts for counts in counter.groups() if counts.blocks)
        return last


def _count(job: _Job, output: Output, given: PairCounts | None) -> None:
    keep = job.keep
    assert keep is not None, "--counts-only was checked to have --out"
    if given is not None:
        raise InputError("these are counts already; leave --counts-only out to measure them")
    with _parts(keep, keep=True), output.progress() as progress, counts_saved(keep):
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
