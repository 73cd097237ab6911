"""i = o = sigmoid(b), f = sigmoid(-b): gates that let an LSTM begin as a network without them, h = tanh(tanh(V h + U x)).

With V orthogonal it then begins as an orthogonal RNN, which carries ten symbols a few steps far from its first update on;
with gates half open what it has read is halved at every step.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from memspan.errors import InputError
from memspan.init.chrono import GateBiases, set_biases


@runtime_checkable
class LongShortTerm(Protocol):
    """A layer with the three gates of an LSTM."""

    def gate_biases(self) -> GateBiases: ...

    def candidate(self) -> Tensor:
        """What multiplies the last state in g = tanh(V s + …), (hidden, hidden), as a view."""
        ...


@torch.no_grad()
def open_gates_(layer: LongShortTerm, bias: float = 2.0) -> None:
    """b_i = b_o = `bias`, b_f = -`bias` for every unit of an LSTM's layer."""
    biases = layer.gate_biases()
    if not biases.emit or not biases.admit:
        raise InputError(
            f"{type(layer).__name__} lacks a gate of the LSTM; expected input, forget and output gate"
        )
    open_ = torch.full_like(biases.remember[0], bias)
    set_biases(biases.admit, open_)
    set_biases(biases.emit, open_)
    set_biases(biases.remember, -open_)
