"""Kerg 2020, Fig. 2, center: training memory and time against the sequence length."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import final

from memspan.errors import MemspanError, check_models
from memspan.progress import Progress
from memspan.reproductions.charts import chart
from memspan.reproductions.claims import claim
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, line

# Largest growth of RelLSTM's memory when the length doubles: proportional, plus a tenth for the allocator.
DOUBLING = 2.2
# Growth of a plain loop when the length doubles: fourfold in the limit, less while proportional terms matter.
SQUARE = (3.0, 4.5)
# Memory of a plain MemLSTM relative to RelLSTM, at the longest common length.
SMALLER = 8.0
LABELS = {"plain-mem-lstm": "MemLSTM, a plain loop", "mem-lstm": "MemLSTM", "rel-lstm": "RelLSTM", "lstm": "LSTM"}


@final
@dataclass(frozen=True)
class TrainingCost:
    """Cost of one forward and backward pass."""

    seconds: float
    peak: float
    """Bytes above what the process held before."""


# By network and length.
Costs = dict[str, dict[int, TrainingCost]]


def run(
    *,
    seed: int,  # noqa: ARG001 - costs do not depend on the weights
    progress: Progress,
    batch: int,
    hidden: int,
    lengths: dict[str, tuple[int, ...]],
) -> Outcome:
    """Measure every network at its `lengths`, which double from one to the next."""
    check_models("relevance-fig2-memory")
    costs: Costs = {}
    with progress.stage("training steps", len(lengths)) as stage:
        for network, own in lengths.items():
            costs[network] = training_costs(network, lengths=own, batch=batch, hidden=hidden)
            stage.advance()
    claims = (_linear_claim(costs["rel-lstm"]), _quadratic_claim(costs["plain-mem-lstm"]), _smaller_claim(costs))
    charts = (
        _chart(
            "memory",
            "Training memory of RelLSTM grows in proportion to the length",
            "peak memory of a training step (MB)",
            costs,
            lambda cost: cost.peak / 1e6,
            f"Forward and backward pass of one batch of {batch} sequences, {hidden} units, nu = rho = 10, each "
            "network in its own process, without the memory held before the steps. The paper measures GPU memory, "
            "this is main memory. A MemLSTM as a plain loop stores every pair of steps. That of memspan recomputes "
            "the pairs in the backward pass, so its memory is proportional to the length as well, but its time is "
            "not.",
        ),
        _chart(
            "time",
            "Attention to a few relevant states costs the same at every step",
            "seconds per training step",
            costs,
            lambda cost: cost.seconds,
            f"The same runs: two threads, batch size {batch}, {hidden} units, one step each after a short one to warm "
            "up. Times depend on the load of the machine; no claim uses them.",
        ),
    )
    return Outcome(claims, charts, (_NOTE,))


def training_costs(network: str, *, lengths: Sequence[int], batch: int, hidden: int) -> dict[int, TrainingCost]:
    """Measure training steps of a network of `training_step.NETWORKS` in a new process with two threads.

    `lengths` must ascend.
    """
    from memspan.diagnostics.costs import ALLOCATOR  # imports torch

    command = [sys.executable, "-m", "memspan.reproductions.kerg2020.training_step", network]
    command += [str(number) for number in (batch, hidden, *lengths)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=os.environ | ALLOCATOR)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"status {done.returncode}, perhaps out of memory"])[-1]
        raise MemspanError(f"training {network} over {max(lengths):,} steps failed: {last}")
    costs = (TrainingCost(**cost) for cost in json.loads(done.stdout))
    return dict(zip(lengths, costs, strict=True))


def _growth(costs: dict[int, TrainingCost]) -> list[float]:
    """Growth of the peak at each doubling of the length."""
    return [after.peak / before.peak for before, after in pairwise(costs.values())]


def _linear_claim(costs: dict[int, TrainingCost]) -> Claim:
    largest = max(_growth(costs))
    return claim(
        f"Training memory of RelLSTM grows at most {DOUBLING}-fold when T doubles, from {min(costs):,} to "
        f"{max(costs):,} steps.",
        measure="the largest growth",
    ).holds_if(largest, largest <= DOUBLING, paper=2.0)


def _quadratic_claim(costs: dict[int, TrainingCost]) -> Claim:
    last, (low, high) = _growth(costs)[-1], SQUARE
    return claim(
        "Training memory of a MemLSTM written as a plain loop grows about fourfold when T doubles, here to "
        f"{max(costs):,} steps.",
        measure=f"the growth, which may be between {low:g} and {high:g}",
    ).holds_if(last, low <= last <= high, paper=4.0)


def _smaller_claim(costs: Costs) -> Claim:
    steps = max(set(costs["plain-mem-lstm"]) & set(costs["rel-lstm"]))
    ratio = costs["plain-mem-lstm"][steps].peak / costs["rel-lstm"][steps].peak
    return claim(
        f"A MemLSTM written as a plain loop takes at least {SMALLER:g} times the training memory of RelLSTM at T = "
        f"{steps:,}.",
        measure="the ratio",
    ).holds_if(ratio, ratio >= SMALLER)


def _chart(
    name: str, title: str, y_label: str, costs: Costs, value: Callable[[TrainingCost], float], caption: str
) -> Chart:
    return chart(
        name,
        title,
        "sequence length T (steps)",
        y_label,
        [line(LABELS[network], list(own), [value(cost) for cost in own.values()]) for network, own in costs.items()],
        caption,
        log="xy",
    )


_NOTE = "Memory and time are measured, so they vary a little from run to run, whatever the seed."
