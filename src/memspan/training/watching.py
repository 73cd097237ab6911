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
def watching(folders: list[RunFolder], stage: Stage) -> Iterator[None]:
    """Inside, a thread looks at the metrics of all runs and tells the stage, which counts the updates of all."""
    over = threading.Event()

    def look() -> None:
        told = 0
        while not over.wait(PERIOD):
            told = _tell(folders, stage, told)
        _tell(folders, stage, told)

    watcher = threading.Thread(target=look, daemon=True)
    with stage:
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()


def _tell(folders: list[RunFolder], stage: Stage, told: int) -> int:
    """Advance by the updates that are new; returns all of them."""
    lines = [[line for line in folder.metrics() if "loss" in line] for folder in folders]
    reached = sum(of_run[-1]["update"] for of_run in lines if of_run)
    stage.advance(max(reached - told, 0))
    losses = [f"{of_run[-1]['loss']:.4f}" if of_run else "-" for of_run in lines]
    stage.tell(f"loss {' '.join(losses)}")
    return max(reached, told)
