"""h_t = z * h_{t-1} + (1 - z) * n: torch's own GRU with resets and probes."""

from __future__ import annotations

from typing import ClassVar, final

import torch
from torch import Tensor, nn

from memspan.cells.cell import Cell
from memspan.cells.layer import Hidden
from memspan.cells.torch_layer import TorchLayer
from memspan.init.chrono import GateBiases


@final
class GRULayer(TorchLayer):
    """h_t = z * h_{t-1} + (1 - z) * n, n = tanh(W_n x_t + b_n + r * (U_n h_{t-1} + c_n)), r and z sigmoid gates.

    The weights are those of the `torch.nn.GRU` that is `network`.
    """

    State: ClassVar[type[tuple]] = Hidden
    Network = nn.GRU

    def gate_biases(self) -> GateBiases:
        """The biases of the update gate z, which keeps what is there and shuts out what is new; the two add up."""
        _, _, *biases = self.network.all_weights[0]
        return GateBiases(remember=tuple(b.chunk(3)[1] for b in biases))

    def driven(self, inputs: Tensor) -> Tensor:
        W, _, b, _ = self.network.all_weights[0]
        return nn.functional.linear(inputs, W, b)

    def step(self, driven: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        (h,), (_, U, _, c) = state, self.network.all_weights[0]
        r, z, n = driven.chunk(3, dim=1)
        of_r, of_z, of_n = torch.addmm(c, h, U.T).chunk(3, dim=1)
        z = (z + of_z).sigmoid()
        n = (n + (r + of_r).sigmoid() * of_n).tanh()
        return (z * h + (1 - z) * n,)


@final
class GRU(Cell):
    """h_t = z * h_{t-1} + (1 - z) * n: `torch.nn.GRU`, its kernels and its start, as a cell.

    Cho 2014, with the reset gate after the product, as cuDNN has it. A `probe` costs a plain loop over the steps.
    """

    kind = GRULayer
