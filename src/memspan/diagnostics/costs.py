"""Time and peak memory of one training step of a configuration against the length of the sequences."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from memspan.engines import available_cores
from memspan.errors import MemspanError
from memspan.progress import SILENT, Progress
from memspan.results import TrainingCosts
from memspan.training.config import Config
from memspan.training.config_json import to_json


def training_costs(
    config: Config,
    lengths: Sequence[int],
    *,
    answers: int | None = None,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> TrainingCosts:
    """Forward and backward of a batch of the configured size at each length, each in a process of its own.

    Kerg 2020, Fig. 2, centre. Costs do not depend on what is read: the inputs are random. The network answers at its last
    `answers` steps, or at all.
    """
    plain, count = to_json(config), threads or available_cores()
    costs = []
    with progress.stage("training steps", len(lengths)) as stage:
        for steps in lengths:
            costs.append(_one(plain, steps, answers, count))
            stage.advance()
    return TrainingCosts(
        batch=config.training.batch,
        threads=count,
        steps=np.array(lengths, dtype=np.int64),
        seconds=np.array([cost["seconds"] for cost in costs]),
        peak=np.array([cost["peak"] for cost in costs]),
    )


def _one(config: dict[str, Any], steps: int, answers: int | None, threads: int) -> dict[str, float]:
    asked = {"config": config, "steps": steps, "answers": answers, "threads": threads}
    done = subprocess.run(
        [sys.executable, "-m", "memspan.diagnostics.training_step"],
        input=json.dumps(asked),
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"status {done.returncode}, perhaps out of memory"])[-1]
        raise MemspanError(f"a training step over {steps:,} steps failed: {last}")
    return json.loads(done.stdout)
