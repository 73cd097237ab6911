"""`python -m memspan.experiments.one_step NETWORK BATCH HIDDEN STEPS…`: seconds and peak bytes of training steps, as JSON.

Run in a process of its own, because the peak of a process is that of everything it has done.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from memspan.cells.names import CELLS
from memspan.experiments.plain_mem_lstm import PlainMemLSTM

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


def begin() -> float:
    """Bytes held now; from here on the peak counts anew where the system can do that."""
    status = Path("/proc/self/status")
    if not status.exists():
        return peak()
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _of_status(status, "VmRSS")


def peak() -> float:
    """The most bytes this process has held. The kernel's own count of it on Linux: `ru_maxrss` has the parent's in it."""
    status = Path("/proc/self/status")
    if status.exists():
        return _of_status(status, "VmHWM")
    import resource  # not on every system

    unit = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * unit


def _of_status(status: Path, field: str) -> float:
    lines = status.read_text(encoding="utf-8").splitlines()
    return 1024.0 * int(next(line for line in lines if line.startswith(field)).split()[1])


if __name__ == "__main__":
    main()
