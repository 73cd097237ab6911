"""How far trainings in other processes are, by what they have written."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from memspan.progress import Stage
from memspan.training.run_folder import RunFolder

PERIOD = 1.0
"""Seconds between two looks."""


@contextlib.contextmanager
def watching(folders: list[RunFolder], stage: Stage, measure: str = "loss") -> Iterator[None]:
    """Inside, a thread looks at the metrics of all runs and tells the stage, which counts the updates of all."""
    over = threading.Event()

    def look() -> None:
        told = 0
        while not over.wait(PERIOD):
            told = _tell(folders, stage, told, measure)
        _tell(folders, stage, told, measure)

    watcher = threading.Thread(target=look, daemon=True)
    with stage:
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()


def _tell(folders: list[RunFolder], stage: Stage, told: int, measure: str) -> int:
    """Advance by the updates that are new; returns all of them."""
    lines = [folder.metrics() for folder in folders]
    reached = sum(of_run[-1]["update"] for of_run in lines if of_run)
    stage.advance(max(reached - told, 0))
    found = [[line[measure] for line in of_run if line.get(measure) is not None] for of_run in lines]
    values = [f"{of_run[-1]:.4f}" if of_run else "-" for of_run in found]
    stage.tell(f"{measure} {' '.join(values)}")
    return max(reached, told)
