"""Kerg 2020, Fig. 2, centre: training memory and time against the length of the sequence."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import final

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.kerg2020.training_cost import TrainingCost, training_costs
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, line

DOUBLING = 2.2
"""How much RelLSTM's memory may grow when the length doubles: in proportion, and a tenth for what the allocator keeps."""
SQUARE = (3.0, 4.5)
"""Growth of a plain loop when the length doubles: fourfold in the limit, less while what grows in proportion counts."""
SMALLER = 8.0
"""RelLSTM's memory next to a plain MemLSTM's of the same length, the longest at which that is run."""


@final
@dataclass(frozen=True)
class _Size:
    batch: int
    hidden: int
    lengths: dict[str, tuple[int, ...]]
    """Of each network, in doublings."""


_SIZES = {
    "smoke": _Size(4, 64, {"plain-mem-lstm": (100, 200), "rel-lstm": (200, 400)}),
    "laptop": _Size(
        10,
        128,
        {
            "plain-mem-lstm": (125, 250, 500),
            "mem-lstm": (250, 500, 1000),
            "rel-lstm": (500, 1000, 2000, 4000),
            "lstm": (500, 1000, 2000, 4000),
        },
    ),
    "paper": _Size(
        10,
        128,
        {
            "plain-mem-lstm": (125, 250, 500, 1000),
            "mem-lstm": (250, 500, 1000, 2000),
            "rel-lstm": (500, 1000, 2000, 4000, 8000),
            "lstm": (500, 1000, 2000, 4000, 8000),
        },
    ),
}
_LABELS = {
    "plain-mem-lstm": "MemLSTM, a plain loop",
    "mem-lstm": "MemLSTM",
    "rel-lstm": "RelLSTM",
    "lstm": "LSTM",
}

Costs = dict[str, dict[int, TrainingCost]]


def run(scale: str, seed: int, progress: Progress) -> Outcome:  # noqa: ARG001 - costs do not depend on the weights
    check_models("relevance-fig2-memory")
    size = _SIZES[scale]
    costs: Costs = {}
    with progress.stage("training steps", len(size.lengths)) as stage:
        for network, lengths in size.lengths.items():
            costs[network] = training_costs(network, lengths=lengths, batch=size.batch, hidden=size.hidden)
            stage.advance()
    claims = (_linear(costs["rel-lstm"]), _quadratic(costs["plain-mem-lstm"]), _smaller(costs))
    return Outcome(claims, (_memory_chart(costs, size), _time_chart(costs, size)), (_NOTE,))


def _growth(costs: dict[int, TrainingCost]) -> list[float]:
    """Of the peak, at each doubling of the length."""
    peaks = [cost.peak for cost in costs.values()]
    return [after / before for before, after in pairwise(peaks)]


def _linear(costs: dict[int, TrainingCost]) -> Claim:
    largest = max(_growth(costs))
    return Claim(
        f"Training memory of RelLSTM grows at most {DOUBLING}-fold when T doubles, from {min(costs):,} to {max(costs):,} "
        "steps. (Measured: the largest growth.)",
        2.0,
        None,
        largest,
        None,
        largest <= DOUBLING,
    )


def _quadratic(costs: dict[int, TrainingCost]) -> Claim:
    last, (low, high) = _growth(costs)[-1], SQUARE
    return Claim(
        f"Training memory of a MemLSTM written as a plain loop grows about fourfold when T doubles, here to {max(costs):,} "
        f"steps. (Measured: the growth, which may lie between {low:g} and {high:g}.)",
        4.0,
        None,
        last,
        None,
        low <= last <= high,
    )


def _smaller(costs: Costs) -> Claim:
    steps = max(set(costs["plain-mem-lstm"]) & set(costs["rel-lstm"]))
    ratio = costs["plain-mem-lstm"][steps].peak / costs["rel-lstm"][steps].peak
    return Claim(
        f"A MemLSTM written as a plain loop takes at least {SMALLER:g} times the training memory of RelLSTM at T = "
        f"{steps:,}. (Measured: how many times.)",
        None,
        None,
        ratio,
        None,
        ratio >= SMALLER,
    )


def _memory_chart(costs: Costs, size: _Size) -> Chart:
    return Chart(
        name="memory",
        title="Training memory of RelLSTM grows in proportion to the length",
        x_label="length T of the sequence (steps)",
        y_label="peak memory of a training step (MB)",
        x_scale="log",
        y_scale="log",
        lines=tuple(
            line(_LABELS[network], list(of), [cost.peak / 1e6 for cost in of.values()])
            for network, of in costs.items()
        ),
        caption=f"Forward and backward of one batch of {size.batch} sequences, {size.hidden} units, nu = rho = 10, each "
        "network in a process of its own; what the process held before the steps is taken off. The paper measures a "
        "graphics card, this is main memory. A MemLSTM as a plain loop remembers every pair of steps; the one of memspan "
        "computes the pairs again in the backward pass, so its memory is in proportion to the length, too, while its time "
        "is not.",
    )


def _time_chart(costs: Costs, size: _Size) -> Chart:
    return Chart(
        name="time",
        title="Looking at a few relevant states costs the same at every step",
        x_label="length T of the sequence (steps)",
        y_label="seconds of a training step",
        x_scale="log",
        y_scale="log",
        lines=tuple(
            line(_LABELS[network], list(of), [cost.seconds for cost in of.values()])
            for network, of in costs.items()
        ),
        caption=f"The same runs: two threads, batch {size.batch}, {size.hidden} units, one step each after a short one "
        "to warm up. What else the machine does shows in these times; no claim rests on them.",
    )


_NOTE = "Memory and time are measured, so that they differ a little from run to run, whatever the seed."
