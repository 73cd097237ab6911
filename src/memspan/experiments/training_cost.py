"""Time and peak memory of one training step, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
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


def training_cost(network: str, *, steps: int, batch: int, hidden: int) -> TrainingCost:
    """`network` is one of those in `one_step.NETWORKS`; two threads."""
    command = [sys.executable, "-m", "memspan.experiments.one_step", network]
    command += [str(number) for number in (steps, batch, hidden)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"status {done.returncode}, perhaps out of memory"])[-1]
        raise MemspanError(f"training {network} over {steps:,} steps failed: {last}")
    return TrainingCost(**json.loads(done.stdout))
