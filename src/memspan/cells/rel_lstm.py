"""c_t = f * c_{t-1} + i * g, h_t = o * tanh(c_t), gates from x_t and s_t: an LSTM that looks back at what was relevant."""

from __future__ import annotations

import math
from functools import partial
from typing import ClassVar, NamedTuple, final

import torch
from torch import Tensor, nn

from memspan.cells.cell import Cell
from memspan.cells.layer import Device
from memspan.cells.lstm_step import lstm_candidate, lstm_gate_biases
from memspan.cells.relevance_layer import RelevanceLayer, check_screening
from memspan.cells.relevance_memory import Screening
from memspan.cells.relevance_trace import Core, CoreKind, Trace
from memspan.init.chrono import GateBiases


class RelLSTMState(NamedTuple):
    """What a RelLSTM carries; a score of -inf marks an empty place."""

    h: Tensor
    """(layers, batch, hidden)"""
    c: Tensor
    """(layers, batch, hidden)"""
    s: Tensor
    """(layers, batch, hidden): the last mixture of state and memory."""
    recent: Tensor
    """(layers, batch, nu, hidden): the last states, oldest first."""
    recent_scores: Tensor
    """(layers, batch, nu): the attention they have received."""
    relevant: Tensor
    """(layers, batch, rho, hidden)"""
    relevant_scores: Tensor
    """(layers, batch, rho)"""


@final
class GatedCore(Core):
    """i, f, o = sigmoid(z), g = tanh(z), each its quarter; c = f * c + i * g; h = o * tanh(c).

    Its room (1 + time, 5, batch, hidden) holds i, f, g, o and c of every step, and c_0.
    """

    kind = CoreKind.GATED

    def room(self, steps: int, like: Tensor, extra: Tensor | None) -> Tensor:
        assert extra is not None
        room = like.new_empty(steps + 1, 5, *like.shape)
        room[0, 4] = extra
        return room

    def end(self, room: Tensor) -> Tensor:
        return room[-1, 4]

    def step(self, t: int, z: Tensor, h: Tensor, trace: Trace) -> None:
        gates, now = trace.room[t + 1, :4], trace.room[t + 1, 4]
        quarters = z.view(len(z), 4, -1).transpose(0, 1)
        torch.sigmoid(quarters[:2], out=gates[:2])
        torch.tanh(quarters[2], out=gates[2])
        torch.sigmoid(quarters[3], out=gates[3])
        i, f, g, o = gates
        torch.mul(f, _before(t, trace), out=now)
        now.addcmul_(i, g)
        torch.tanh(now, out=h).mul_(o)

    def back(self, t: int, dh: Tensor, dz: Tensor, trace: Trace, dextra: Tensor | None) -> Tensor:
        assert dextra is not None
        i, f, g, o = trace.room[t + 1, :4]
        squashed, reset = torch.tanh(trace.room[t + 1, 4]), trace.reset(t)
        dc = torch.addcmul(dextra, dh * o, 1 - squashed * squashed)
        di, df, dg, do = dz.view(len(dz), 4, -1).unbind(1)
        torch.mul(dc * g, i - i * i, out=di)
        torch.mul(dc * _before(t, trace), f - f * f, out=df)
        torch.mul(dh * squashed, o - o * o, out=do)
        torch.mul(dc * i, 1 - g * g, out=dg)
        dc *= f
        return dc if reset is None else dc.masked_fill_(reset, 0.0)


def _before(t: int, trace: Trace) -> Tensor:
    """c_{t-1}, or 0 where a sequence begins anew."""
    c, reset = trace.room[t, 4], trace.reset(t)
    return c if reset is None else c.masked_fill(reset, 0.0)


@final
class RelLSTMLayer(RelevanceLayer):
    """(i, f, g, o) from U x_t + V s_t + b, c_t = f * c_{t-1} + i * g, h_t = o * tanh(c_t)

    The rows of U, V and b are those of i, f, g, o, as in `torch.nn.LSTM`.
    """

    State: ClassVar[type[tuple]] = RelLSTMState

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        screening: Screening,
        combine: str,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, 4, screening, combine, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """U Kaiming normal, V Xavier normal, as of (s, x), b within 1 / sqrt(hidden + features).

        The published program draws U like V. One-hot inputs then hardly move a gate, and copying takes several times as
        many updates.
        """
        inputs = self.hidden_size + self.input_size
        bound = 1 / math.sqrt(inputs)
        nn.init.kaiming_normal_(self.U)
        nn.init.normal_(self.V, std=math.sqrt(2 / (inputs + self.hidden_size)))
        nn.init.uniform_(self.b, -bound, bound)
        self.reset_attention()

    def start(self, batch: int) -> RelLSTMState:
        zeros = self.zeros(2, batch, self.hidden_size)
        return RelLSTMState(*zeros, *self.nothing(batch))

    def core(self) -> GatedCore:
        return GatedCore()

    def extra(self, state: tuple[Tensor, ...]) -> Tensor:
        return state[1]

    def gate_biases(self) -> GateBiases:
        return lstm_gate_biases(self.b)

    def candidate(self) -> Tensor:
        return lstm_candidate(self.V)


@final
class RelLSTM(Cell):
    """c_t = f * c_{t-1} + i * g, h_t = o * tanh(c_t), gates from U x_t + V s_t + b, s_t a mixture of h_{t-1} and the memory.

    s_t and the memory are those of `RelRNN`: the last nu = `short_term` states and the rho = `relevant` most relevant ones
    before them. Only h is remembered, c is carried on as in any LSTM.  Kerg 2020, section 4.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        batch_first: bool = False,
        dropout: float = 0.0,
        *,
        short_term: int = 10,
        relevant: int = 10,
        combine: str = "mean",
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        check_screening(short_term, relevant, combine)
        screening = Screening(short_term, relevant)
        super().__init__(
            input_size,
            hidden_size,
            num_layers,
            batch_first,
            dropout,
            device=device,
            dtype=dtype,
            layer=partial(RelLSTMLayer, screening=screening, combine=combine),
        )
