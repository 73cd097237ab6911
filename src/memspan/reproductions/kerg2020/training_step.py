"""Seconds and peak memory of training steps as JSON, and the plain MemLSTM loop that they are measured for.

`python -m memspan.reproductions.kerg2020.training_step NETWORK BATCH HIDDEN STEPS...` runs in its own process, because the
peak memory of a process includes everything that it has done before.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import final

import torch
from torch import Tensor, nn

from memspan.cells import CELLS
from memspan.diagnostics.costs import peak_memory, reset_peak_memory

FEATURES = 10
THREADS = 2
# Steps of a first run, more than a memory of ten and ten holds, so that every kernel is compiled before measuring.
WARM_UP = 30


def main() -> None:
    """Measure every length given on the command line.

    Peak memory excludes what the process held before the first step: libraries and weights. Lengths ascend, so the peak
    of the process is that of the last step.
    """
    name, (batch, hidden, *lengths) = sys.argv[1], map(int, sys.argv[2:])
    torch.set_num_threads(THREADS)
    network = NETWORKS[name](FEATURES, hidden)
    train(network, torch.randn(WARM_UP, batch, FEATURES))
    held, costs = reset_peak_memory(), []
    for steps in lengths:
        inputs = torch.randn(steps, batch, FEATURES)
        start = time.perf_counter()
        train(network, inputs)
        costs.append({"seconds": time.perf_counter() - start, "peak": max(peak_memory() - held, 0.0)})
    sys.stdout.write(json.dumps(costs))


def train(network: Callable[[Tensor], object], inputs: Tensor) -> None:
    """Forward and backward pass of the sum of squares."""
    result = network(inputs)
    output = result[0] if isinstance(result, tuple) else result
    assert isinstance(output, Tensor)
    output.square().sum().backward()


@final
class PlainMemLSTM(nn.Module):
    """An LSTM cell on (x_t, s_t), s_t = h_{t-1} + c_t, with c_t over all past states.  Kerg 2020, Eq. 2, section 5.

    The equations as written: past states are a list that is stacked at every step. Autograd stores for step t the t states
    that it attended to and as many hidden activations, so training memory grows with the square of time.
    """

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        self.cell = nn.LSTMCell(input_size, hidden_size)
        self.attention = AdditiveAttention(hidden_size)

    def forward(self, inputs: Tensor) -> Tensor:
        """(time, batch, features) -> (time, batch, hidden)"""
        h = c = s = inputs.new_zeros(inputs.shape[1], self.hidden_size)
        states: list[Tensor] = []
        for x in inputs:
            if states:
                s = h + self.attention(s, torch.stack(states))[0]
            h, c = self.cell(x, (s, c))
            states.append(h)
        return torch.stack(states)


@final
class AdditiveAttention(nn.Module):
    """c = sum_i alpha_i m_i, alpha = softmax_i v . tanh(W_a s + U_a m_i).  Bahdanau 2015."""

    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.W_a = nn.Linear(hidden_size, hidden_size, bias=False)
        self.U_a = nn.Linear(hidden_size, hidden_size, bias=False)
        self.v = nn.Linear(hidden_size, 1, bias=False)

    def forward(self, s: Tensor, memory: Tensor, missing: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """c (batch, hidden) and alpha (held, batch) from s (batch, hidden) and a memory (held, batch, hidden)."""
        e = self.v(torch.tanh(self.W_a(s) + self.U_a(memory))).squeeze(2)
        alpha = torch.softmax(e if missing is None else e.masked_fill(missing, float("-inf")), 0)
        return (alpha.unsqueeze(2) * memory).sum(0), alpha


# Networks by name, built from the number of input features and the hidden size.
NETWORKS: dict[str, Callable[[int, int], Callable[[Tensor], object]]] = {**CELLS, "plain-mem-lstm": PlainMemLSTM}

if __name__ == "__main__":
    main()
