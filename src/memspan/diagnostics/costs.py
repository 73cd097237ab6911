"""Time and peak memory of a training step as functions of the sequence length, measured in a separate process."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from memspan.engines import available_cores
from memspan.errors import MemspanError
from memspan.models.model import CellModel
from memspan.progress import SILENT, Progress
from memspan.results import TrainingCosts
from memspan.training.supervised.build import build
from memspan.training.supervised.config import Config, from_json, to_json

# Sequence length of the warm-up: longer than a memory of ten and ten states, so that every kernel is compiled.
WARMUP_STEPS = 30
# Repetitions of a step; the shortest time is reported because it is least affected by other processes.
REPEATS = 3
# Environment of a process whose memory is measured.
#
# With it glibc maps every tensor above 64 kB separately and returns it to the system when it is freed, by whichever
# thread. By default it adapts the threshold to earlier allocations and retains memory, which the kernel counts: the same
# step then measured between 46.6 and 51.9 MB, with these settings between 45.1 and 45.3. Other allocators ignore them.
ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_ARENA_MAX": "1"}
_STATUS = Path("/proc/self/status")


def training_costs(
    config: Config,
    lengths: Sequence[int],
    *,
    answers: int | None = None,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> TrainingCosts:
    """Cost of a forward and backward pass of one batch of the configured size at each length, in ascending order.

    Kerg 2020, Fig. 2, center. Inputs are random, which does not affect the cost. The network answers at its last
    `answers` steps, or at all steps.
    """
    count = threads or available_cores()
    request = {"config": to_json(config), "lengths": list(lengths), "answers": answers, "threads": count}
    costs = []
    with (
        progress.stage("training steps", len(lengths)) as stage,
        subprocess.Popen(
            [sys.executable, "-c", "from memspan.diagnostics.costs import measure; measure()"],
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
        process.stdin.write(json.dumps(request))
        process.stdin.close()  # the process starts when its input ends
        for line in process.stdout:
            costs.append(json.loads(line))
            stage.advance()
        errors = process.stderr.read()
    if process.returncode:
        last = (errors.strip().splitlines() or [f"status {process.returncode}, possibly out of memory"])[-1]
        raise MemspanError(f"a training step over {lengths[len(costs)]:,} steps failed: {last}")
    return TrainingCosts(
        batch=config.training.batch,
        threads=count,
        steps=np.array(lengths, dtype=np.int64),
        seconds=np.array([cost["seconds"] for cost in costs]),
        peak=np.array([cost["peak"] for cost in costs]),
    )


def measure() -> None:
    """Measure the request on standard input; write seconds and peak bytes of each length, one line each.

    Runs in its own process because the peak of a process covers its whole life. The peak is relative to the memory
    held before the first step, so libraries and weights do not count. Lengths ascend, so each peak is that of the
    latest length.
    """
    request = json.load(sys.stdin)
    config, answers = from_json(request["config"]), request["answers"]
    torch.set_num_threads(request["threads"])
    network = build(config)
    _time_step(network, min(WARMUP_STEPS, *request["lengths"]), config.training.batch, answers, repeats=1)
    held = reset_peak_memory()
    for steps in request["lengths"]:
        seconds = _time_step(network, steps, config.training.batch, answers, repeats=REPEATS)
        sys.stdout.write(json.dumps({"seconds": seconds, "peak": max(peak_memory() - held, 0.0)}) + "\n")
        sys.stdout.flush()


def _time_step(network: CellModel, steps: int, batch: int, answers: int | None, *, repeats: int) -> float:
    """The shortest time, in seconds, of a forward and backward pass of the mean square of the answers."""
    inputs, seconds = _random_inputs(network, steps, batch), []
    for _ in range(repeats):
        network.zero_grad()  # gradients of an earlier step would add to the peak
        start = time.perf_counter()
        scored = None if answers is None else min(answers, steps)
        network(inputs, scored=scored).logits.square().mean().backward()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def _random_inputs(network: CellModel, steps: int, batch: int) -> Tensor:
    if network.symbols is not None:
        return torch.randint(network.symbols, (steps, batch))
    return torch.randn(steps, batch, network.cell.input_size)


def reset_peak_memory() -> float:
    """Reset the peak of this process where the system allows it, and return the bytes held now."""
    if not _STATUS.exists():
        return peak_memory()
    with contextlib.suppress(OSError):
        # Writing 5 resets the peak resident set size (proc(5)).
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _status_bytes("VmRSS")


def peak_memory() -> float:
    """Peak memory of this process in bytes. On Linux from /proc, because `ru_maxrss` includes the parent's."""
    if _STATUS.exists():
        return _status_bytes("VmHWM")
    import resource  # not available on every system

    unit = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * unit


def _status_bytes(field: str) -> float:
    lines = _STATUS.read_text(encoding="utf-8").splitlines()
    return 1024.0 * int(next(line for line in lines if line.startswith(field)).split()[1])
