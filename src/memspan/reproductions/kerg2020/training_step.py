"""Seconds and peak bytes of training steps, as JSON.

`python -m memspan.reproductions.kerg2020.training_step NETWORK BATCH HIDDEN STEPS…`
Run in a process of its own, because the peak of a process is that of everything it has done.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

import torch
from torch import Tensor

from memspan.cells.names import CELLS
from memspan.diagnostics.peak_memory import begin, peak
from memspan.reproductions.kerg2020.plain_mem_lstm import PlainMemLSTM

FEATURES = 10
THREADS = 2
WARM = 30
"""Steps of a run before the one that counts: more than a memory of ten and ten holds, so that everything is compiled."""

NETWORKS: dict[str, Callable[[int, int], Callable[[Tensor], object]]] = {
    **CELLS,
    "plain-mem-lstm": PlainMemLSTM,
}
"""What may be measured, made from the numbers of input features and units."""


def main() -> None:
    """Peak memory is above what the process held before the first step: the library and the weights do not count.

    Lengths ascend, so that the most that was ever held is what the last step held.
    """
    name, (batch, hidden, *lengths) = sys.argv[1], map(int, sys.argv[2:])
    torch.set_num_threads(THREADS)
    network = NETWORKS[name](FEATURES, hidden)
    train(network, torch.randn(WARM, batch, FEATURES))
    held, costs = begin(), []
    for steps in lengths:
        inputs = torch.randn(steps, batch, FEATURES)
        start = time.perf_counter()
        train(network, inputs)
        costs.append({"seconds": time.perf_counter() - start, "peak": max(peak() - held, 0.0)})
    sys.stdout.write(json.dumps(costs))


def train(network: Callable[[Tensor], object], inputs: Tensor) -> None:
    """Forward and backward of the sum of squares."""
    given = network(inputs)
    output = given[0] if isinstance(given, tuple) else given
    assert isinstance(output, Tensor)
    output.square().sum().backward()


if __name__ == "__main__":
    main()
