"""Where runs go, and what an interrupt leaves of one."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from memspan.cli.running import InterruptedWorkError

RUNS = Path("runs")
"""Where runs go that were given no place."""


@contextlib.contextmanager
def kept(run: Path) -> Iterator[None]:
    """An interrupt that comes while nothing can be saved any more still leaves the checkpoints."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        if str(interrupt) or not any(run.glob("**/checkpoints/*.safetensors")):
            raise
        raise InterruptedWorkError(
            f"what was saved last is kept in {run}; go on by memspan resume {run}"
        ) from interrupt
