"""An LSTM that stops the gradient through h at random steps; c is never detached.  Kanuparthi 2019 (h-detach)."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, ClassVar, cast, final

import torch
from torch import Tensor, nn

from memspan.cells.base.autograd import Probe, Resets, Scan, States, clear, previous_states, weight_gradient
from memspan.cells.base.cell import Cell
from memspan.cells.base.layer import Device, Dtype, Layer, draw_uniform, empty_weights
from memspan.cells.gated.lstm import (
    LSTMState,
    lstm_backward,
    lstm_candidate,
    lstm_forward,
    lstm_gate_biases,
    lstm_slopes,
)
from memspan.errors import InputError
from memspan.init.gates import GateBiases


@final
class DetachLSTM(Cell):
    """An LSTM that in training detaches h_{t-1} before step t with probability p, one draw per step for the whole batch.

    Kanuparthi 2019 (h-detach). Outputs are those of an LSTM, and so are gradients if p is 0, after `.eval()` and after
    `set_detaching(False)`. The authors' program takes p = 0.5 for Copy and 0.25 for digits and detaches nothing in the last
    40 of 600 epochs (`training.full_gradient`). Each layer draws separately, from torch's random numbers.
    """

    label = "h-detach"
    description = "LSTM with stochastic stopping of the gradient through h"
    training_defaults: ClassVar = {"training": {"full_gradient": 1 / 15}}

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        batch_first: bool = False,
        dropout: float = 0.0,
        *,
        p: float = 0.5,
        device: Device = None,
        dtype: Dtype = None,
    ) -> None:
        if not 0 <= p <= 1:
            raise InputError(f"p is {p}; expected the probability of detaching h, from 0 to 1, such as 0.5")
        layer = partial(DetachLSTMLayer, p=p)
        super().__init__(
            input_size, hidden_size, num_layers, batch_first, dropout, device=device, dtype=dtype, layer=layer
        )

    def set_detaching(self, on: bool) -> None:
        for layer in self.stack:
            cast(DetachLSTMLayer, layer).detaching = on


@final
class DetachLSTMLayer(Layer):
    """i, f, o = sigmoid(U x_t + V h_{t-1} + b), g = tanh(…), c_t = f * c_{t-1} + i * g, h_t = o * tanh(c_t).

    The rows of U, V and b are those of i, f, g, o, as in `torch.nn.LSTM`.
    """

    State: ClassVar[type[tuple]] = LSTMState

    def __init__(
        self, input_size: int, hidden_size: int, p: float = 0.5, device: Device = None, dtype: Dtype = None
    ) -> None:
        super().__init__(input_size, hidden_size)
        self.p = p
        self.detaching = True
        weights = empty_weights(device, dtype)
        self.U, self.V = weights(4 * hidden_size, input_size), weights(4 * hidden_size, hidden_size)
        self.b = weights(4 * hidden_size)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform within 1 / sqrt(hidden), as `torch.nn.LSTM`."""
        draw_uniform(1 / math.sqrt(self.hidden_size), self.U, self.V, self.b)

    @property
    def detach_probability(self) -> float:
        """The probability of detaching h at a step: p, or 0 outside of training and while detaching is off."""
        return self.p if self.training and self.detaching else 0.0

    def gate_biases(self) -> GateBiases:
        return lstm_gate_biases(self.b)

    def candidate(self) -> Tensor:
        return lstm_candidate(self.V)

    def scan(self, inputs: Tensor, state: States, resets: Resets, probe: Probe) -> tuple[Tensor, States]:
        detached, p = None, self.detach_probability
        if p > 0:
            detached = torch.rand(len(inputs), device=inputs.device) < p
        a = nn.functional.linear(inputs, self.U, self.b).to(self.U.dtype)
        states, cells = DetachScan.apply(a, self.V, state[0], state[1], probe, resets, detached)
        return states, LSTMState(states[-1], cells[-1])


class DetachScan(Scan):
    """h and c of all steps, (time, batch, hidden) each, from a = U x + b, V, h_0 and c_0.

    Where `detached` (time, bool) is true, step t contributes nothing to dL/dh_{t-1}.
    """

    @staticmethod
    def forward(
        ctx: Any, a: Tensor, V: Tensor, h: Tensor, c: Tensor, probe: Probe, resets: Resets, detached: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        start = (h, c)
        gates = torch.empty_like(a)
        states, cells = h.new_empty(len(a), *h.shape), c.new_empty(len(a), *c.shape)
        for t in range(len(a)):
            if resets is not None:
                h, c = clear((h, c), resets[t])
            h, c = lstm_forward(torch.addmm(a[t], h, V.T, out=gates[t]), c)
            if probe is not None:
                h = h + probe[t]
            states[t], cells[t] = h, c
        ctx.save_for_backward(V, resets, detached, states, cells, gates, *start)
        ctx.probed = probe is not None
        return states, cells

    @staticmethod
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        V, resets, detached, states, cells, gates, h_0, c_0 = ctx.saved_tensors
        # Where dh is cut, (time, batch, 1): all sequences at a detached step, and single ones at a reset.
        cut = None if detached is None else detached.view(-1, 1, 1).expand(-1, len(h_0), 1)
        if resets is not None:
            cut = resets.unsqueeze(-1) if cut is None else cut | resets.unsqueeze(-1)
        slopes = lstm_slopes(gates, previous_states(c_0, cells, resets), cells)
        total, dz = torch.empty_like(states), torch.empty_like(gates)
        dh, dc = torch.zeros_like(h_0), torch.zeros_like(c_0)
        for t in range(len(states) - 1, -1, -1):
            torch.add(outer[0][t], dh, out=total[t])
            dc = lstm_backward(slopes, t, total[t], dc + outer[1][t], dz[t])
            dh = dz[t] @ V
            if cut is not None:
                dh = dh.masked_fill(cut[t], 0)
            if resets is not None:
                dc = dc.masked_fill(resets[t].unsqueeze(-1), 0)
        dV = weight_gradient(dz, previous_states(h_0, states, resets))
        return dz, dV, dh, dc, total if ctx.probed else None, None, None
