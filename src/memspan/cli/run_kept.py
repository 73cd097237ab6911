"""Where runs go, and what an interrupt leaves of them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from memspan.cli.running import InterruptedWorkError
from memspan.errors import interrupts_raised

RUNS = Path("runs")
"""Where runs go that were given no place."""


@contextlib.contextmanager
def kept(run: Path) -> Iterator[None]:
    """An interrupt that comes while nothing can be saved any more still leaves the checkpoints."""
    try:
        with interrupts_raised():
            yield
    except KeyboardInterrupt as interrupt:
        if str(interrupt) or not any(run.glob("**/checkpoints/*.safetensors")):
            raise
        raise InterruptedWorkError(
            f"what was saved last is kept in {run}; go on by memspan resume {run}"
        ) from interrupt


@contextlib.contextmanager
def nothing_kept(of: str) -> Iterator[None]:
    """An interrupt of work that keeps no parts says so."""
    try:
        with interrupts_raised():
            yield
    except KeyboardInterrupt as interrupt:
        raise InterruptedWorkError(
            f"nothing was kept of {of}; run the same command to begin again"
        ) from interrupt


@contextlib.contextmanager
def kept_trainings(runs: Path | None, *, trains: bool) -> Iterator[None]:
    """An interrupt of a recipe that trains networks says what `runs` keeps of them (None: there is no such folder)."""
    try:
        with interrupts_raised():
            yield
    except KeyboardInterrupt as interrupt:
        if not trains:
            raise
        raise InterruptedWorkError(_of_recipe(runs)) from interrupt


def _of_recipe(runs: Path | None) -> str:
    if runs is None:
        return "nothing was kept; with --out DIR trainings are kept, and the same command goes on with them"
    if not any(runs.glob("**/checkpoints/*.safetensors")):
        return f"no training was saved yet in {runs}; run the same command to begin again"
    return f"the trainings so far are kept in {runs}; run the same command to go on"
