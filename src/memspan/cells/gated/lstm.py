"""c_t = f * c_{t-1} + i * g, h_t = o * tanh(c_t): torch's LSTM with resets and probes.

Also one LSTM step, forward and backward, for scans that write their own backward pass. They hold the gates side by side in
z (batch, 4 hidden), in torch's order i, f, g, o, and save gates and c of all steps. What does not depend on later steps
(`lstm_slopes`) is computed for all steps at once.
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar, NamedTuple, final

import torch
from torch import Tensor, nn

from memspan.cells.base.autograd import States
from memspan.cells.base.cell import Cell
from memspan.cells.base.layer import Device, Dtype, TorchLayer
from memspan.init.gates import GateBiases


@final
class LSTM(Cell):
    """c_t = f * c_{t-1} + i * g, h_t = o * tanh(c_t): `torch.nn.LSTM`, its kernels and initialization, as a cell.

    Hochreiter and Schmidhuber 1997, with the forget gate of Gers 2000. With a `probe`, a plain loop over the steps runs
    instead. torch gives every gate two biases that are added; with `one_bias` only one of them is trained.
    """

    label = "LSTM"
    description = "LSTM of torch"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        batch_first: bool = False,
        dropout: float = 0.0,
        *,
        one_bias: bool = False,
        device: Device = None,
        dtype: Dtype = None,
    ) -> None:
        layer = partial(LSTMLayer, one_bias=one_bias)
        super().__init__(
            input_size, hidden_size, num_layers, batch_first, dropout, device=device, dtype=dtype, layer=layer
        )


class LSTMState(NamedTuple):
    """The state of an LSTM."""

    h: Tensor
    """(layers, batch, hidden)"""
    c: Tensor
    """(layers, batch, hidden)"""


class TorchLSTMLayer(TorchLayer):
    """i, f, o = sigmoid(W x_t + U h_{t-1} + b), g = tanh(…), with the weights of the `torch.nn.LSTM` that is `network`."""

    State: ClassVar[type[tuple]] = LSTMState
    Network = nn.LSTM

    def input_part(self, inputs: Tensor) -> Tensor:
        W, _, b_input, b_recurrent = self.network.all_weights[0]
        return nn.functional.linear(inputs, W, b_input + b_recurrent)

    def step(self, a: Tensor, U: Tensor, state: States) -> States:
        h, c = state
        i, f, g, o = torch.addmm(a, h, U.T).chunk(4, dim=1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c


@final
class LSTMLayer(TorchLSTMLayer):
    """c_t = f * c_{t-1} + i * g, h_t = o * tanh(c_t)"""

    def __init__(
        self, input_size: int, hidden_size: int, one_bias: bool = False, device: Device = None, dtype: Dtype = None
    ) -> None:
        super().__init__(input_size, hidden_size, device, dtype)
        self.one_bias = one_bias
        if one_bias:
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform within 1 / sqrt(hidden), as torch; with `one_bias` the second bias is zero and not trained."""
        super().reset_parameters()
        if self.one_bias:
            second = self.network.all_weights[0][3]
            nn.init.zeros_(second).requires_grad_(False)

    def gate_biases(self) -> GateBiases:
        """Both biases of each gate; they are added."""
        return lstm_gate_biases(*self.network.all_weights[0][2:])

    def candidate(self) -> Tensor:
        return lstm_candidate(self.recurrent_matrix)


def lstm_gate_biases(*biases: Tensor) -> GateBiases:
    """Input, forget and output gate: the first, second and last quarter of each of the biases, which are added."""
    admit, remember, _, emit = zip(*(b.chunk(4) for b in biases), strict=True)
    return GateBiases(remember=remember, admit=admit, emit=emit)


def lstm_candidate(recurrent: Tensor) -> Tensor:
    """The rows of the recurrent matrix that belong to g: the third quarter."""
    return recurrent.chunk(4)[2]


def lstm_forward(z: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    """(h_t, c_t) from z (batch, 4 hidden), overwritten by i, f, g, o, and c_{t-1} (batch, hidden)."""
    i, f, g, o = z.chunk(4, dim=-1)
    z[..., : 2 * c.shape[-1]].sigmoid_()
    g.tanh_()
    o.sigmoid_()
    c = torch.addcmul(f * c, i, g)
    return o * torch.tanh(c), c


class LSTMSlopes(NamedTuple):
    """The derivatives of one step or, with a time dimension first, of all steps."""

    cell: Tensor
    """dh_t/dc_t = o * (1 - tanh(c_t)^2), (…, batch, hidden)"""
    gates: Tensor
    """dc_t/dz of i, f, g, then dh_t/dz of o, (…, batch, 4, hidden)"""
    forget: Tensor
    """dc_t/dc_{t-1} = f, (…, batch, hidden)"""


def lstm_slopes(gates: Tensor, before: Tensor, after: Tensor) -> LSTMSlopes:
    """From the gates (…, batch, 4 hidden), c_{t-1} and c_t (…, batch, hidden) of one step or of all."""
    i, f, g, o = gates.chunk(4, dim=-1)
    squashed = torch.tanh(after)
    slopes = gates.new_empty(*after.shape[:-1], 4, after.shape[-1])
    torch.mul(g, i * (1 - i), out=slopes[..., 0, :])
    torch.mul(before, f * (1 - f), out=slopes[..., 1, :])
    torch.mul(i, 1 - g * g, out=slopes[..., 2, :])
    torch.mul(squashed, o * (1 - o), out=slopes[..., 3, :])
    return LSTMSlopes(o * (1 - squashed * squashed), slopes, f)


def lstm_backward(slopes: LSTMSlopes, t: int, dh: Tensor, dc: Tensor, out: Tensor) -> Tensor:
    """dL/dc_{t-1} from dL/dh_t and the part of dL/dc_t from later steps; writes dL/dz to `out` (batch, 4 hidden)."""
    dc = torch.addcmul(dc, dh, slopes.cell[t])
    dz, of_gates = out.view(len(dh), 4, -1), slopes.gates[t]
    torch.mul(of_gates[:, :3], dc.unsqueeze(1), out=dz[:, :3])
    torch.mul(of_gates[:, 3], dh, out=dz[:, 3])
    return dc * slopes.forget[t]
