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
from memspan.cli.output import CommandOutput, encoded
from memspan.cli.sources import Sampling, SourceOptions, chosen_lags, is_model, joined_note, load_counts, paths_of
from memspan.errors import InputError
from memspan.information.estimators import ESTIMATORS, Grassberger, as_estimator

if TYPE_CHECKING:
    from memspan.information import PairCounts
    from memspan.progress import Progress
    from memspan.results import Measurement
    from memspan.sequences import Sequence

Estimator = Annotated[
    str,
    options.option(
        options.MEASURING,
        "NAME",
        f"Entropy estimator: {', '.join(ESTIMATORS)}.",
        callback=lambda name: as_estimator(name).name,  # an unknown name is an error before the source is read
    ),
]


def measure(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE",
            help="A path, several paths or a folder (documents of one sequence), - for standard input, a URL,"
            " data:NAME (see memspan data list), a generative model (run:DIR of memspan train, hf:PATH of Hugging Face),"
            " or .counts files, which are merged.",
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
    estimator: Estimator = Grassberger.name,
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
            help="Stop after counting and save the pair counts in DIR/counts (needs --out DIR). Counts of several parts of"
            " the data are merged by giving them as sources.",
            rich_help_panel="Measuring",
        ),
    ] = False,
    keep_counts: Annotated[
        bool,
        typer.Option(
            "--keep-counts",
            metavar="",
            help="Save the pair counts in DIR/counts after the measurement (needs --out DIR), hundreds of megabytes for"
            " large alphabets. Default: removed.",
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
    """Mutual information of one sequence at every lag: its span, reach and law of decay.

    With --out DIR, finished pair counts are saved in DIR/counts while it runs: the same command resumes from them.
    """
    if out is None and (counts_only or keep_counts):
        option = "--counts-only" if counts_only else "--keep-counts"
        raise InputError(f"{option} needs a folder for the counts; add --out DIR")
    reading = SourceOptions(
        symbols=symbols,
        documents=documents,
        column=column,
        key=key,
        transform=transform,
        levels=levels,
        missing=missing,
        sampling=Sampling.of(sources, sample, temperature, seed),
    )
    job = _Measuring(sources, reading, lags, max_lag, estimator, null, fit_above, level, workers, seed, out)
    if counts_only:
        job.check_counting_options(bits=bits, style=style, keep_counts=keep_counts)
    output = CommandOutput(command="measure", json=json, out=out, quiet=quiet, bits=bits, style=style, force=force)
    counts = load_counts(sources)
    output.claim(*(paths_of(sources) if counts is None else counts.paths))
    if counts_only:
        _count(job, output, counts)
        return
    if counts is not None and keep_counts:
        raise InputError("--keep-counts has no effect: these pairs are already counted; omit it")
    folder = None if counts is not None else job.counts_folder
    with _saved_counts(folder, keep=keep_counts), counts_saved(job.counts_folder):
        with output.progress() as progress:
            presenter = output.present(job.measure(counts, progress))
        output.write(presenter)
    output.print(presenter)


# A file next to counts that were not requested. Counts without it (--keep-counts, --counts-only) are never removed.
_MARKER = ".temporary"


@contextlib.contextmanager
def _saved_counts(folder: Path | None, *, keep: bool) -> Iterator[None]:
    """Keep the counts of an interrupted measurement in `folder`, and remove those of a finished one."""
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
            _remove_counts(folder)


def _remove_counts(folder: Path) -> None:
    from memspan.information.counting import PART_NAME

    for path in folder.glob("*.counts"):
        if PART_NAME.fullmatch(path.name):
            path.unlink()
    (folder / _MARKER).unlink()
    if not any(folder.iterdir()):
        folder.rmdir()


@final
@dataclass(frozen=True)
class _Measuring:
    sources: list[str]
    reading: SourceOptions
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
    def counts_folder(self) -> Path | None:
        return None if self.out is None else self.out / "counts"

    def measure(self, counts: PairCounts | None, progress: Progress) -> Measurement:
        """Measure the counts, or read the sources and measure them."""
        if counts is not None:
            return self._measure_counts(counts, progress)
        from memspan.decay import measure

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
            keep=self.counts_folder,
            progress=progress,
        )
        excerpt = sequence.beginning() if any(map(is_model, self.sources)) else ""
        return replace(result, seconds=time.perf_counter() - begun, excerpt=excerpt)  # reading included

    def _read(self, progress: Progress) -> Sequence:
        sequence = self.reading.read(self.sources, progress)
        self.reading.check_effect(self.sources, [sequence])
        return sequence

    def _measure_counts(self, counts: PairCounts, progress: Progress) -> Measurement:
        from memspan.decay import measure

        self._check_counts_options()
        return measure(
            counts,
            estimator=ESTIMATORS[self.estimator],
            level=self.level,
            above=self.fit_above,
            seed=self.seed,
            progress=progress,
        )

    def _check_counts_options(self) -> None:
        """Refuse options of reading and counting for pairs that are already counted."""
        other = replace(self.reading, sampling=Sampling()) != SourceOptions()
        given = {
            "--lags": self.lags,
            "--max-lag": self.max_lag,
            "--null": None if self.null == "auto" else self.null,
            "--workers": self.workers,
            "--as, --documents, --column, --key, --transform, --levels or --missing": other or None,
        }
        option = next((name for name, value in given.items() if value is not None), None)
        if option is not None:
            raise InputError(f"{option} has no effect: these pairs are already counted; omit it")

    def check_counting_options(self, *, bits: bool, style: str, keep_counts: bool) -> None:
        """Refuse options of measuring and drawing where pairs are only counted."""
        given = {
            "--estimator": self.estimator != Grassberger.name,
            "--fit-above": self.fit_above is not None,
            "--level": self.level != 1e-3,
            "--bits": bits,
            "--style": style != "report",
            "--keep-counts": keep_counts,
        }
        option = next((name for name, is_given in given.items() if is_given), None)
        if option is not None:
            raise InputError(f"{option} has no effect with --counts-only, which only counts pairs; omit one of them")

    def count(self, progress: Progress) -> PairCounts:
        """Save every part in its own file and return the last group of lags."""
        from memspan.information.counting import Counter

        sequence = self._read(progress)
        counter = Counter.of(
            sequence,
            chosen_lags(self.lags, self.max_lag, sequence.longest),
            null=self.null,
            seed=self.seed,
            workers=self.workers,
            keep=self.counts_folder,
            progress=progress,
            replace=False,
        )
        *_, last = (counts for counts in counter.groups() if counts.blocks)
        return last


def _count(job: _Measuring, output: CommandOutput, given: PairCounts | None) -> None:
    folder = job.counts_folder
    assert folder is not None, "--counts-only was checked to have --out"
    if given is not None:
        raise InputError("these are already counts; omit --counts-only to measure them")
    with _saved_counts(folder, keep=True), output.progress() as progress, counts_saved(folder):
        counts = job.count(progress)
    parts = len(list(folder.glob("*.counts")))
    plain = {
        "paths": list(counts.paths),
        "symbols": counts.symbols,
        "documents": counts.documents,
        "length": counts.length,
        "alphabet": len(counts.alphabet),
        "counts": str(folder),
        "parts": parts,
    }
    sentence = f"{folder}: {counts.length:,} symbols counted in {parts} parts; not measured yet"
    merge = f"memspan measure {folder}/*.counts"
    output.show(
        encoded("measure", plain),
        sentence,
        lambda console: console.print(
            f"to measure them: {merge}\nto merge others: {merge} OTHER/counts/*.counts", soft_wrap=True
        ),
    )
