"""Time and peak memory of training steps, in a process of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from memspan.errors import MemspanError


@final
@dataclass(frozen=True)
class TrainingCost:
    """Of one forward and backward pass."""

    seconds: float
    peak: float
    """Bytes above what the process held before."""


def training_costs(
    network: str, *, lengths: Sequence[int], batch: int, hidden: int
) -> dict[int, TrainingCost]:
    """By length, ascending; `network` is one of those in `one_step.NETWORKS`; two threads."""
    from memspan.diagnostics.peak_memory import ALLOCATOR  # loaded here: it comes with torch

    command = [sys.executable, "-m", "memspan.reproductions.kerg2020.training_step", network]
    command += [str(number) for number in (batch, hidden, *lengths)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=os.environ | ALLOCATOR)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"status {done.returncode}, perhaps out of memory"])[-1]
        raise MemspanError(f"training {network} over {max(lengths):,} steps failed: {last}")
    costs = (TrainingCost(**cost) for cost in json.loads(done.stdout))
    return dict(zip(lengths, costs, strict=True))
