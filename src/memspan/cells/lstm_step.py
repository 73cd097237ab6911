"""i, f, o = sigmoid(z), g = tanh(z); c_t = f * c_{t-1} + i * g; h_t = o * tanh(c_t): one step, forward and backward.

Hochreiter and Schmidhuber 1997, with the forget gate of Gers 2000. The gates lie side by side in z (batch, 4 hidden) in the
order i, f, g, o of `torch.nn.LSTM`. Scans that write their own backward keep the gates and c of all steps; what does not
depend on later steps (`lstm_slopes`) is computed for all of them at once.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from memspan.init.chrono import GateBiases


def lstm_gate_biases(*biases: Tensor) -> GateBiases:
    """Of input, forget and output gate: the first, second and last quarter of each of the biases, which add up."""
    admit, remember, _, emit = zip(*(b.chunk(4) for b in biases), strict=True)
    return GateBiases(remember=remember, admit=admit, emit=emit)


def lstm_candidate(recurrent: Tensor) -> Tensor:
    """What multiplies the last state in g: the third quarter of the rows."""
    return recurrent.chunk(4)[2]


def lstm_forward(z: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    """(h_t, c_t) from z (batch, 4 hidden), which becomes i, f, g, o in place, and c_{t-1} (batch, hidden)."""
    i, f, g, o = z.chunk(4, dim=-1)
    z[..., : 2 * c.shape[-1]].sigmoid_()
    g.tanh_()
    o.sigmoid_()
    c = torch.addcmul(f * c, i, g)
    return o * torch.tanh(c), c


class LstmSlopes(NamedTuple):
    """The derivatives of one step or, with time in front, of all steps."""

    cell: Tensor
    """dh_t/dc_t = o * (1 - tanh(c_t)^2), (…, batch, hidden)"""
    gates: Tensor
    """dc_t/dz of i, f, g, then dh_t/dz of o, (…, batch, 4, hidden)"""
    forget: Tensor
    """dc_t/dc_{t-1} = f, (…, batch, hidden)"""


def lstm_slopes(gates: Tensor, before: Tensor, after: Tensor) -> LstmSlopes:
    """From the gates (…, batch, 4 hidden), c_{t-1} and c_t (…, batch, hidden) of one step or of all."""
    i, f, g, o = gates.chunk(4, dim=-1)
    squashed = torch.tanh(after)
    slopes = gates.new_empty(*after.shape[:-1], 4, after.shape[-1])
    torch.mul(g, i * (1 - i), out=slopes[..., 0, :])
    torch.mul(before, f * (1 - f), out=slopes[..., 1, :])
    torch.mul(i, 1 - g * g, out=slopes[..., 2, :])
    torch.mul(squashed, o * (1 - o), out=slopes[..., 3, :])
    return LstmSlopes(o * (1 - squashed * squashed), slopes, f)


def lstm_backward(slopes: LstmSlopes, t: int, dh: Tensor, dc: Tensor, out: Tensor) -> Tensor:
    """dL/dc_{t-1} from dL/dh_t and the part of dL/dc_t that came by later steps; dL/dz goes to `out` (batch, 4 hidden)."""
    dc = torch.addcmul(dc, dh, slopes.cell[t])
    dz, of_gates = out.view(len(dh), 4, -1), slopes.gates[t]
    torch.mul(of_gates[:, :3], dc.unsqueeze(1), out=dz[:, :3])
    torch.mul(of_gates[:, 3], dh, out=dz[:, 3])
    return dc * slopes.forget[t]
