"""h_t = phi(U x_t + V s_t + b), s_t = f (h_{t-1} + c_t): a vanilla network that looks back at what was relevant."""

from __future__ import annotations

import math
from functools import partial
from typing import ClassVar, NamedTuple, final

import torch
from torch import Tensor, nn

from memspan.cells.activations import Activation, Identity, ModRelu, Relu, Tanh, activation
from memspan.cells.cell import Cell
from memspan.cells.layer import Device, empty_weights
from memspan.cells.relevance_layer import RelevanceLayer, check_screening
from memspan.cells.relevance_memory import Screening
from memspan.cells.relevance_trace import Core, CoreKind, Trace
from memspan.init.orthogonal import henaff_


class RelRNNState(NamedTuple):
    """What a RelRNN carries; a score of -inf marks an empty place."""

    h: Tensor
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


KINDS: dict[type[Activation], CoreKind] = {
    Tanh: CoreKind.TANH,
    Relu: CoreKind.RELU,
    Identity: CoreKind.IDENTITY,
    ModRelu: CoreKind.MODRELU,
}


@final
class PlainCore(Core):
    """h = phi(z), or phi(z, m) for a phi with a bias m of its own."""

    def __init__(self, phi: Activation) -> None:
        self.phi, self.kind = phi, KINDS[type(phi)]

    def room(self, steps: int, like: Tensor, extra: Tensor | None) -> Tensor:  # noqa: ARG002
        return like.new_empty(0)

    def end(self, room: Tensor) -> None:  # noqa: ARG002
        return None

    def step(self, t: int, z: Tensor, h: Tensor, trace: Trace) -> None:  # noqa: ARG002
        h.copy_(self.phi(z, trace.extra))

    def back(self, t: int, dh: Tensor, dz: Tensor, trace: Trace, dextra: Tensor | None) -> Tensor | None:
        h = trace.value(t)
        slope = self.phi.slope(h)
        dz.copy_(dh if slope is None else dh * slope)
        return None if dextra is None else dextra + (dz * torch.sign(h)).sum(0)


@final
class RelRNNLayer(RelevanceLayer):
    """h_t = phi(U x_t + V s_t + b)"""

    State: ClassVar[type[tuple]] = RelRNNState
    options: ClassVar = {**RelevanceLayer.options, "nonlinearity": "tanh"}

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        screening: Screening,
        combine: str,
        nonlinearity: str,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, 1, screening, combine, device, dtype)
        self.nonlinearity, self.phi = nonlinearity, activation(nonlinearity)
        self.m = empty_weights(device, dtype)(hidden_size) if self.phi.biased else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """V orthogonal by Henaff's rotations, U Kaiming normal, b within 1 / sqrt(features), m within 0.01, as published."""
        bound = 1 / math.sqrt(self.input_size)
        henaff_(self.V, -math.pi, 0.0)
        nn.init.kaiming_normal_(self.U)
        nn.init.uniform_(self.b, -bound, bound)
        self.reset_attention()
        if self.m is not None:
            nn.init.uniform_(self.m, -0.01, 0.01)

    def start(self, batch: int) -> RelRNNState:
        return RelRNNState(self.zeros(batch, self.hidden_size), *self.nothing(batch))

    def core(self) -> PlainCore:
        return PlainCore(self.phi)

    def extra(self, state: tuple[Tensor, ...]) -> Tensor | None:  # noqa: ARG002
        return self.m


@final
class RelRNN(Cell):
    """h_t = phi(U x_t + V s_t + b), s_t = f (h_{t-1} + c_t), c_t = sum_i alpha_i m_i over the memory m.

    alpha = softmax_i v . tanh(W_a s_{t-1} + U_a m_i). The memory holds the last nu = `short_term` states and, of those
    before, the rho = `relevant` that received most attention while they were among the last nu.  Kerg 2020, section 4.
    `combine="mean"` (f = 1/2) is the published program, `"sum"` (f = 1) the text (errata 13). At the first step of a
    sequence there is nothing to look at, and s_1 = h_0.
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
        nonlinearity: str = "tanh",
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
            layer=partial(RelRNNLayer, screening=screening, combine=combine, nonlinearity=nonlinearity),
        )
