"""Time and peak memory of one training step of a configuration against the length of the sequences."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence

import numpy as np

from memspan.diagnostics.peak_memory import ALLOCATOR
from memspan.engines import available_cores
from memspan.errors import MemspanError
from memspan.progress import SILENT, Progress
from memspan.results import TrainingCosts
from memspan.training.supervised.config import Config, to_json


def training_costs(
    config: Config,
    lengths: Sequence[int],
    *,
    answers: int | None = None,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> TrainingCosts:
    """Forward and backward of a batch of the configured size at each length, ascending, in a process of their own.

    Kerg 2020, Fig. 2, centre. Costs do not depend on what is read: the inputs are random. The network answers at its last
    `answers` steps, or at all.
    """
    count = threads or available_cores()
    asked = {"config": to_json(config), "lengths": list(lengths), "answers": answers, "threads": count}
    costs = []
    with (
        progress.stage("training steps", len(lengths)) as stage,
        subprocess.Popen(
            [sys.executable, "-m", "memspan.diagnostics.training_step"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | ALLOCATOR,
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(json.dumps(asked))
        process.stdin.close()
        for told in process.stdout:
            costs.append(json.loads(told))
            stage.advance()
        trouble = process.stderr.read()
    if process.returncode:
        last = (trouble.strip().splitlines() or [f"status {process.returncode}, perhaps out of memory"])[-1]
        raise MemspanError(f"a training step over {lengths[len(costs)]:,} steps failed: {last}")
    return TrainingCosts(
        batch=config.training.batch,
        threads=count,
        steps=np.array(lengths, dtype=np.int64),
        seconds=np.array([cost["seconds"] for cost in costs]),
        peak=np.array([cost["peak"] for cost in costs]),
    )
