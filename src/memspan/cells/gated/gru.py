"""h_t = z * h_{t-1} + (1 - z) * n: torch's GRU with resets and probes."""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor, nn

from memspan.cells.base.autograd import States
from memspan.cells.base.cell import Cell
from memspan.cells.base.layer import TorchLayer
from memspan.init.gates import GateBiases


@final
class GRULayer(TorchLayer):
    """h_t = z * h_{t-1} + (1 - z) * n, n = tanh(W_n x_t + b_n + r * (U_n h_{t-1} + c_n)), r and z sigmoid gates.

    The weights are those of the `torch.nn.GRU` that is `network`.
    """

    Network = nn.GRU

    def gate_biases(self) -> GateBiases:
        """Both biases of the update gate z, which keeps the state and shuts out the candidate; they are added."""
        _, _, *biases = self.network.all_weights[0]
        return GateBiases(remember=tuple(b.chunk(3)[1] for b in biases))

    def input_part(self, inputs: Tensor) -> Tensor:
        W, _, b, _ = self.network.all_weights[0]
        return nn.functional.linear(inputs, W, b)

    def step(self, a: Tensor, U: Tensor, state: States) -> States:
        (h,), c = state, self.network.all_weights[0][3]
        r, z, n = a.chunk(3, dim=1)
        r_state, z_state, n_state = torch.addmm(c, h, U.T).chunk(3, dim=1)
        z = (z + z_state).sigmoid()
        n = (n + (r + r_state).sigmoid() * n_state).tanh()
        return (z * h + (1 - z) * n,)


@final
class GRU(Cell):
    """h_t = z * h_{t-1} + (1 - z) * n: `torch.nn.GRU`, its kernels and initialization, as a cell.

    Cho 2014, with the reset gate applied after the product, as in cuDNN. With a `probe`, a plain loop over the steps runs
    instead.
    """

    kind = GRULayer
    label = "GRU"
    description = "GRU of torch"
