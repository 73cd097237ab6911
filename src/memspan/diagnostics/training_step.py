"""`python -m memspan.diagnostics.training_step < ASKED`: seconds and peak bytes of training steps, a line each.

ASKED is an object with `config`, `lengths`, `answers` and `threads`. A process of its own, because the peak of a process
is that of everything it has done.
"""

from __future__ import annotations

import json
import sys
import time

import torch
from torch import Tensor

from memspan.diagnostics.peak_memory import begin, peak
from memspan.models.cell_model import CellModel
from memspan.training.supervised.build import build
from memspan.training.supervised.config import from_json

WARM = 30
"""Steps of a run before the one that counts: more than a memory of ten and ten holds, so that everything is compiled."""
TIMES = 3
"""That a step is done; the shortest time counts, which other work on the machine delayed least."""


def main() -> None:
    """Peak memory is above what the process held before the first step: the library and the weights do not count.

    Lengths ascend, so that the most that was ever held is what the last step held.
    """
    asked = json.load(sys.stdin)
    config, answers = from_json(asked["config"]), asked["answers"]
    torch.set_num_threads(asked["threads"])
    network = build(config)
    timed(network, inputs_of(network, min(WARM, *asked["lengths"]), config.training.batch), answers)
    held = begin()
    for steps in asked["lengths"]:
        inputs = inputs_of(network, steps, config.training.batch)
        seconds = min(timed(network, inputs, answers) for _ in range(TIMES))
        sys.stdout.write(json.dumps({"seconds": seconds, "peak": max(peak() - held, 0.0)}) + "\n")
        sys.stdout.flush()


def inputs_of(network: CellModel, steps: int, batch: int) -> Tensor:
    """What the network reads, at random: symbols or features."""
    if network.symbols is not None:
        return torch.randint(network.symbols, (steps, batch))
    return torch.randn(steps, batch, network.cell.input_size)


def timed(network: CellModel, inputs: Tensor, answers: int | None) -> float:
    """Seconds of one training step, without gradients of an earlier one."""
    network.zero_grad()
    start = time.perf_counter()
    train(network, inputs, answers)
    return time.perf_counter() - start


def train(network: CellModel, inputs: Tensor, answers: int | None) -> None:
    """Forward and backward of the mean square of the answers."""
    scored = None if answers is None else min(answers, len(inputs))
    network(inputs, scored=scored).logits.square().mean().backward()


if __name__ == "__main__":
    main()
