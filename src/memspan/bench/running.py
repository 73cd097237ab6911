"""`run`: one benchmark of the table below, timed, with the machine it ran on."""

from __future__ import annotations

import time
from collections.abc import Callable

from memspan.bench.calibration import CalibrationFindings, CalibrationPlan, calibration
from memspan.bench.cell_sizes import cell_sizes
from memspan.bench.cells import cells
from memspan.bench.gridworld import gridworld
from memspan.bench.large import large
from memspan.bench.machine import machine
from memspan.bench.measure import measure
from memspan.bench.mixture import mixture
from memspan.bench.objective import objective
from memspan.bench.sample import sample
from memspan.bench.settings import settings
from memspan.bench.theory import theory
from memspan.bench.train import train
from memspan.errors import InputError, suggestion
from memspan.progress import SILENT, Progress
from memspan.results import Benchmark, BenchReport

BENCHMARKS: dict[str, Callable[[Progress], tuple[Benchmark, ...] | CalibrationFindings]] = {
    "measure": measure,
    "calibration": calibration,
    "theory": theory,
    "cells": cells,
    "cell-sizes": cell_sizes,
    "train": train,
    "settings": settings,
    "objective": objective,
    "gridworld": gridworld,
    "sample": sample,
    "mixture": mixture,
    "large": large,
}
"""Every benchmark there is, by name: speed (two minutes), calibration (three), theory (one), cells (one), cells at other
sizes (some minutes), train (four), the settings of every task and cell (half an hour), a second goal of training (half a
minute), agents in grid worlds (a minute), sampling (two), a mixture of softmaxes (half a minute), a 2 GB file (some minutes
and 5 GB of disk)."""

DEFAULT = "measure"


def run(
    name: str | None = None, progress: Progress = SILENT, plan: CalibrationPlan | None = None
) -> BenchReport:
    """The figures of one benchmark; without a name, of `measure`. `plan` belongs to `calibration`."""
    chosen = DEFAULT if name is None else name
    if chosen not in BENCHMARKS:
        raise InputError(f"there is no benchmark {chosen!r}; {suggestion(chosen, BENCHMARKS)}")
    start = time.perf_counter()
    if plan is None:
        found = BENCHMARKS[chosen](progress)
    elif chosen == "calibration":
        found = calibration(progress, plan)
    else:
        raise InputError(f"a calibration plan for the benchmark {chosen}; expected it for calibration only")
    seconds = time.perf_counter() - start
    if isinstance(found, CalibrationFindings):
        return BenchReport(
            machine(), found.benchmarks, seconds, found.calibration, found.estimates, found.notes
        )
    return BenchReport(machine(), found, seconds)
