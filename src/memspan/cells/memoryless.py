"""h_t = tanh(U x_t + b): what can be done without a past."""

from __future__ import annotations

import math
from typing import ClassVar, final

import torch
from torch import Tensor, nn

from memspan.cells.cell import Cell
from memspan.cells.layer import Device, Hidden, Layer, empty_weights


@final
class MemorylessLayer(Layer):
    """h_t = tanh(U x_t + b). The state is there, as every layer has one, and nobody reads it."""

    State: ClassVar[type[tuple]] = Hidden

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size)
        weights = empty_weights(device, dtype)
        self.U, self.b = weights(hidden_size, input_size), weights(hidden_size)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform within 1 / sqrt(hidden), as `torch.nn.RNN`."""
        bound = 1 / math.sqrt(self.hidden_size)
        for weights in (self.U, self.b):
            nn.init.uniform_(weights, -bound, bound)

    def scan(
        self, inputs: Tensor, state: tuple[Tensor, ...], resets: Tensor | None, probe: Tensor | None
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        del state, resets
        h = torch.tanh(nn.functional.linear(inputs, self.U, self.b))
        h = h if probe is None else h + probe
        return h, Hidden(h[-1])


@final
class Memoryless(Cell):
    """h_t = tanh(U x_t + b): a layer with a cell's signature that remembers nothing, to see whether memory was needed."""

    kind = MemorylessLayer
