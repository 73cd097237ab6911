"""Benchmarks: speed, memory and calibration next to what a user would pick instead, as ratios within one run.

Both sides do the same job on the same data, in turns, several times; the best time of each counts, so that a busy moment
of the machine does not decide. A ratio above 1 means that memspan is better. `calibration` compares estimates with exact
answers instead of times.

The table names the modules without importing them, so that the command line can print its help without loading numpy or
torch. Adding a benchmark takes one file with a function of its name and one entry here.

>>> list(BENCHMARKS)  # doctest: +NORMALIZE_WHITESPACE
['measure', 'calibration', 'theory', 'cells', 'cell-sizes', 'train', 'settings', 'objective',
 'gridworld', 'sample', 'mixture', 'large']
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, final

from memspan.errors import InputError, check_models, check_rl, suggestion
from memspan.progress import SILENT, Progress

if TYPE_CHECKING:
    from memspan.bench.calibration import CalibrationFindings
    from memspan.bench.calibration import CalibrationPlan as CalibrationPlan
    from memspan.results import Benchmark, BenchReport


@final
@dataclass(frozen=True)
class BenchmarkSuite:
    """A named group of benchmarks; calling it runs them."""

    name: str
    summary: str
    duration: str
    """Approximate time on two cores, with other needs."""
    module: str
    """Module of `memspan.bench` that defines a function of this name."""
    extra: Literal["models", "rl"] | None = None
    """The extra without which it cannot run."""

    def function(self) -> Callable[..., tuple[Benchmark, ...] | CalibrationFindings]:
        """Import the function that runs the benchmarks."""
        return getattr(importlib.import_module(f"memspan.bench.{self.module}"), self.name.replace("-", "_"))

    def __call__(self, progress: Progress) -> tuple[Benchmark, ...] | CalibrationFindings:
        if self.extra is not None:
            {"models": check_models, "rl": check_rl}[self.extra]("this benchmark")
        return self.function()(progress)


# Every benchmark suite, by name.
BENCHMARKS: dict[str, BenchmarkSuite] = {
    suite.name: suite
    for suite in (
        BenchmarkSuite("measure", "counting and whole curves", "2 minutes", "measure"),
        BenchmarkSuite("calibration", "estimates next to exact answers", "8 minutes", "calibration"),
        BenchmarkSuite("theory", "phase diagrams and simulations", "1 minute", "theory"),
        BenchmarkSuite("cells", "training steps of every layer", "1 minute", "cells", "models"),
        BenchmarkSuite("cell-sizes", "layers at other sizes", "several minutes", "cells", "models"),
        BenchmarkSuite("train", "the training loop next to bare updates", "4 minutes", "train", "models"),
        BenchmarkSuite("settings", "every task trained with every cell", "30 minutes", "settings", "models"),
        BenchmarkSuite("objective", "updates with --bmi next to plain ones", "30 seconds", "objective", "models"),
        BenchmarkSuite("gridworld", "agents next to sb3-contrib's own", "1 minute", "gridworld", "rl"),
        BenchmarkSuite("sample", "generation of text", "2 minutes", "sample", "models"),
        BenchmarkSuite("mixture", "the loss of a mixture of softmaxes", "30 seconds", "mixture", "models"),
        BenchmarkSuite("large", "a 2 GB file", "several minutes, 5 GB of disk", "large"),
    )
}

DEFAULT = "measure"


def benchmarks_help() -> str:
    """The help text of the argument of `memspan bench`.

    >>> benchmarks_help()[:61]
    'Benchmark: measure (counting and whole curves; 2 minutes), ca'
    """
    entries = (f"{suite.name} ({suite.summary}; {suite.duration})" for suite in BENCHMARKS.values())
    return f"Benchmark: {', '.join(entries)}. Durations are approximate, on two cores."


def run(name: str | None = None, progress: Progress = SILENT, plan: CalibrationPlan | None = None) -> BenchReport:
    """Run one benchmark suite, by default `measure`. `plan` is for `calibration` only."""
    chosen = DEFAULT if name is None else name
    if chosen not in BENCHMARKS:
        raise InputError(f"there is no benchmark {chosen!r}; {suggestion(chosen, BENCHMARKS)}")
    if plan is not None and chosen != "calibration":
        raise InputError(f"a calibration plan for the benchmark {chosen}; expected it for calibration only")
    # numpy is loaded only now; the help of the command line needs the table alone.
    from memspan.bench.timing import machine
    from memspan.results import BenchReport

    start = time.perf_counter()
    suite = BENCHMARKS[chosen]
    found = suite(progress) if plan is None else suite.function()(progress, plan)
    seconds = time.perf_counter() - start
    # Only calibration returns more than rows.
    if isinstance(found, tuple):
        return BenchReport(machine(), found, seconds)
    return BenchReport(machine(), found.benchmarks, seconds, found.calibration, found.estimates, found.notes)


def __getattr__(name: str) -> Any:
    if name == "CalibrationPlan":
        return getattr(importlib.import_module("memspan.bench.calibration"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
