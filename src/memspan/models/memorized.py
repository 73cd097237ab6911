"""A memorized string in a standard `torch.nn.RNN`: the linear orbit, where ReLU or tanh hardly bends it."""

from __future__ import annotations

from typing import final

import numpy as np
import torch
from torch import Tensor, nn

from memspan.errors import InputError
from memspan.models.orbit_embedding import Embedding, in_relu, in_tanh
from memspan.results import LinearNetwork

_STEPS = 4096
"""Steps of a replay that are run at a time."""


@final
class Memorized(nn.Module):
    """h_i = phi(W h_{i-1} + b), y_i = W_y h_i + b_y, phi = relu or tanh: `network` with as many hidden units, in float32.

    `network` is one of `memorize(…).network` that ignores what it reads (W_x = 0): turning planes, or a permutation. With
    ReLU a bias moves the orbit to where all coordinates are positive and ReLU changes nothing. With tanh the orbit is so
    small that tanh is almost straight, and a gain just above one makes up for the rest; what strays comes back.

        scores, state = Memorized(memorize("abracadabra").network)(torch.zeros(22, 1, 5))

    Inputs (time, batch, symbols) are not looked at; without a state the replay starts at the first symbol.
    """

    h_0: Tensor

    def __init__(self, network: LinearNetwork, activation: str = "relu") -> None:
        super().__init__()
        embedding = _embedded(network, activation)
        symbols, size = network.W_y.shape
        self.alphabet, self.separator, self.activation = network.alphabet, network.separator, activation
        self.rnn = nn.RNN(symbols, size, nonlinearity=activation)
        self.head = nn.Linear(size, symbols)
        W_x, W_h, b_x, b_h = self.rnn.all_weights[0]
        written = (
            (W_x, network.W_x),
            (W_h, embedding.W_h),
            (b_x, np.zeros(size)),
            (b_h, embedding.b_h),
            (self.head.weight, embedding.W_y),
            (self.head.bias, embedding.b_y),
        )
        with torch.no_grad():
            for parameter, values in written:
                parameter.copy_(torch.from_numpy(values))
        self.register_buffer("h_0", torch.from_numpy(embedding.h_0).to(self.head.weight.dtype))

    def forward(self, inputs: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Scores (time, batch, symbols) of the symbols, and the state (1, batch, hidden) that goes on from there."""
        symbols = len(self.alphabet)
        if inputs.dim() not in (2, 3) or inputs.shape[-1] != symbols:
            raise InputError(
                f"Memorized got an input of shape {tuple(inputs.shape)}; expected (time, batch, {symbols}) or "
                f"(time, {symbols}); zeros will do"
            )
        if state is None:
            state = self.h_0.expand(1, *inputs.shape[1:-1], -1).contiguous()
        hidden, last = self.rnn(inputs, state)
        return self.head(hidden), last

    @torch.no_grad()
    def replay(self, length: int) -> str:
        """The first `length` symbols that the network writes, as text."""
        if length < 0:
            raise InputError(f"a replay of {length} symbols; expected 0 or more")
        return self.separator.join(self.alphabet[symbol] for symbol in self._places(length))

    def _places(self, length: int) -> list[int]:
        state, places = None, []
        for begin in range(0, length, _STEPS):
            nothing = self.h_0.new_zeros(min(_STEPS, length - begin), 1, len(self.alphabet))
            scores, state = self(nothing, state)
            places += scores.squeeze(1).argmax(dim=1).tolist()
        return places


def _embedded(network: LinearNetwork, activation: str) -> Embedding:
    if network.W_x.any():
        raise InputError(
            "the network reads its own symbols (W_x is not zero), so its states do not stay on one orbit; "
            "use a network of another method than feedback"
        )
    if activation not in ("relu", "tanh"):
        raise InputError(f"there is no activation {activation!r} here; expected relu or tanh")
    return in_relu(network) if activation == "relu" else in_tanh(network)
