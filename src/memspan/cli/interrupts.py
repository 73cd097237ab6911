"""What an interrupted or failed command reports: for each kind of work, what is saved and how to continue."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from memspan.errors import interrupts_raised

# Folder of the runs without `--out`.
RUNS = Path("runs")


class InterruptedWorkError(Exception):
    """The user interrupted the command; the message says what was saved."""


class CheckFailedError(Exception):
    """A requested check does not hold; the message says which."""


@contextlib.contextmanager
def _explained(explain: Callable[[str], str | None]) -> Iterator[None]:
    """Turn an interrupt into an `InterruptedWorkError`; `explain` gets its own message, and None passes it on."""
    try:
        with interrupts_raised():
            yield
    except KeyboardInterrupt as interrupt:
        message = explain(str(interrupt))
        if message is None:
            raise
        raise InterruptedWorkError(message) from interrupt


def counts_saved(folder: Path | None) -> contextlib.AbstractContextManager[None]:
    """Work that saves the counts of finished parts in `folder`; None saves nothing."""

    def explain(_: str) -> str:
        if folder is None:
            return "nothing was saved; with --out DIR finished parts are saved"
        parts = len(list(folder.glob("*.counts")))
        if not parts:
            return f"no part was finished, so that nothing is saved in {folder}; run the same command to start over"
        subject = "1 finished part is" if parts == 1 else f"{parts} finished parts are"
        return f"{subject} saved in {folder}; run the same command to continue"

    return _explained(explain)


def run_saved(run: Path) -> contextlib.AbstractContextManager[None]:
    """A training in `run`. Its own interrupts say what was saved; later ones still leave the checkpoints."""

    def explain(message: str) -> str | None:
        if message or not _has_checkpoint(run):
            return None
        return f"the last checkpoint is saved in {run}; continue with memspan resume {run}"

    return _explained(explain)


def nothing_saved(what: str) -> contextlib.AbstractContextManager[None]:
    """Work without partial results."""
    return _explained(lambda _: f"nothing was saved of {what}; run the same command to start over")


def trainings_saved(runs: Path | None, *, trains: bool) -> contextlib.AbstractContextManager[None]:
    """A recipe whose trainings are saved in `runs` (None: nowhere), if it trains networks."""

    def explain(_: str) -> str | None:
        if not trains:
            return None
        if runs is None:
            return "nothing was saved; with --out DIR trainings are saved, and the same command continues them"
        if not _has_checkpoint(runs):
            return f"no training was saved in {runs} yet; run the same command to start over"
        return f"the trainings so far are saved in {runs}; run the same command to continue"

    return _explained(explain)


def _has_checkpoint(folder: Path) -> bool:
    return any(folder.glob("**/checkpoints/*.safetensors"))
