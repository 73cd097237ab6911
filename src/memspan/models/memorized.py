"""A memorized string in a standard `torch.nn.RNN`: the orbit of a linear network, embedded where ReLU or tanh is linear.

Every embedding is a change of coordinates h = M g + s, separately for each plane, sign or permutation, and of the readout.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from memspan.errors import InputError
from memspan.results import LinearNetwork

Array = NDArray[np.float64]

# Amplitude of the orbit under tanh: its third power (1e-6) is negligible, and it is large against rounding (1e-9).
AMPLITUDE = 0.01
# Distance of a positive orbit's center from zero, in radii: no rounding error of the radius reaches zero.
MARGIN = 1.5
# Cosines below this belong to a quarter turn.
_QUARTER = 1e-9
# Steps of a replay that run in one call.
_CHUNK = 4096


@final
class Memorized(nn.Module):
    """h_i = phi(W h_{i-1} + b), y_i = W_y h_i + b_y, phi = relu or tanh: `network` in float32, with the same hidden size.

    `network` is a `memorize(…).network` that ignores its inputs (W_x = 0): plane rotations, or a permutation. With ReLU, a
    bias shifts the orbit to where all coordinates are positive and ReLU is the identity. With tanh, the orbit is so small
    that tanh is almost linear; a gain just above one compensates the rest and makes the orbit stable.

        scores, state = Memorized(memorize("abracadabra").network)(torch.zeros(22, 1, 5))

    Inputs (time, batch, symbols) have no effect; without a state, the replay starts at the first symbol.
    """

    h_0: Tensor

    def __init__(self, network: LinearNetwork, activation: str = "relu") -> None:
        super().__init__()
        embedding = _embed_orbit(network, activation)
        symbols, size = network.W_y.shape
        self.alphabet, self.separator, self.activation = network.alphabet, network.separator, activation
        self.rnn = nn.RNN(symbols, size, nonlinearity=activation)
        self.head = nn.Linear(size, symbols)
        W_x, W_h, b_x, b_h = self.rnn.all_weights[0]
        values = (
            (W_x, network.W_x),
            (W_h, embedding.W_h),
            (b_x, np.zeros(size)),
            (b_h, embedding.b_h),
            (self.head.weight, embedding.W_y),
            (self.head.bias, embedding.b_y),
        )
        with torch.no_grad():
            for parameter, value in values:
                parameter.copy_(torch.from_numpy(value))
        self.register_buffer("h_0", torch.from_numpy(embedding.h_0).to(self.head.weight.dtype))

    def forward(self, inputs: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Scores (time, batch, symbols) of the symbols, and the next state (1, batch, hidden)."""
        symbols = len(self.alphabet)
        if inputs.dim() not in (2, 3) or inputs.shape[-1] != symbols:
            raise InputError(
                f"Memorized got an input of shape {tuple(inputs.shape)}; expected (time, batch, {symbols}) or "
                f"(time, {symbols}), such as zeros"
            )
        if state is None:
            state = self.h_0.expand(1, *inputs.shape[1:-1], -1).contiguous()
        hidden, last = self.rnn(inputs, state)
        return self.head(hidden), last

    @torch.no_grad()
    def replay(self, length: int) -> str:
        """The first `length` symbols that the network generates, as text."""
        if length < 0:
            raise InputError(f"length is {length}; expected 0 or more")
        state, symbols = None, []
        for begin in range(0, length, _CHUNK):
            inputs = self.h_0.new_zeros(min(_CHUNK, length - begin), 1, len(self.alphabet))
            scores, state = self(inputs, state)
            symbols += scores.squeeze(1).argmax(dim=1).tolist()
        return self.separator.join(self.alphabet[symbol] for symbol in symbols)


def _embed_orbit(network: LinearNetwork, activation: str) -> OrbitEmbedding:
    if network.W_x.any():
        raise InputError(
            "the network reads its own symbols (W_x is not zero), so its states do not stay on one orbit; "
            "use a network of a method other than feedback"
        )
    if activation not in ("relu", "tanh"):
        raise InputError(f"activation is {activation!r}; expected relu or tanh")
    return embed_relu(network) if activation == "relu" else embed_tanh(network)


@final
@dataclass(frozen=True, eq=False)
class OrbitEmbedding:
    """g_i = phi(W_h g_{i-1} + b_h), y_i = W_y g_i + b_y, from g_0 = h_0."""

    W_h: Array
    b_h: Array
    W_y: Array
    b_y: Array
    h_0: Array


def embed_relu(network: LinearNetwork) -> OrbitEmbedding:
    """g = h + s with s so large that all coordinates stay positive: W_h unchanged, b_h = s - W_h s, b_y less W_y s."""
    s = np.zeros(network.hidden_size)
    if not _is_permutation(network.W_h):
        for block in _blocks(network.W_h):
            s[block] = MARGIN * np.linalg.norm(network.h_0[block])
    elif (network.h_0 < 0).any():
        s[:] = -network.h_0.min()
    return OrbitEmbedding(network.W_h, s - network.W_h @ s, network.W_y, network.b_y - network.W_y @ s, network.h_0 + s)


def embed_tanh(network: LinearNetwork) -> OrbitEmbedding:
    """Orbits of amplitude a = 0.01, with a gain that makes them stable cycles of tanh.

    Over one turn the cubic term of tanh reduces the amplitude by a^2 / 4, so a plane has the gain 1 + a^2 / 4. A sign, ±a,
    has exactly atanh(a) / a. A plane of quarter turns visits only four points, so its phase matters: on the diagonals all
    coordinates are ±b, b = a / sqrt 2, and the gain is atanh(b) / b. A permutation moves signs.
    """
    if _is_permutation(network.W_h):
        return _signs(network)
    size = network.hidden_size
    # h = M g, block by block; each block of M commutes with that of W_h.
    M, gains = np.zeros((size, size)), np.ones(size)
    for block in _blocks(network.W_h):
        radius = np.linalg.norm(network.h_0[block])
        W = network.W_h[block, block]
        M[block, block] = np.eye(len(W)) * radius / AMPLITUDE
        gains[block] = 1 + AMPLITUDE**2 / 4
        if len(W) == 1:
            gains[block] = np.arctanh(AMPLITUDE) / AMPLITUDE
        elif abs(W[0, 0]) < _QUARTER:
            M[block, block] = _rotation_from_diagonal(network.h_0[block]) / AMPLITUDE
            b = AMPLITUDE / np.sqrt(2)
            gains[block] = np.arctanh(b) / b
    return OrbitEmbedding(
        gains[:, None] * network.W_h,
        np.zeros(size),
        network.W_y @ M,
        network.b_y,
        np.linalg.solve(M, network.h_0).astype(np.float64, copy=False),
    )


def _signs(network: LinearNetwork) -> OrbitEmbedding:
    """h = low + (high - low) (g / a + 1) / 2: the two values that a permutation moves, as ±a."""
    low, high = network.h_0.min(), network.h_0.max()
    if not np.isin(network.h_0, (low, high)).all():
        raise InputError("h_0 of the permutation has more than two values; expected zeros and ones, as Cyclic gives")
    half = (high - low) / 2
    return OrbitEmbedding(
        np.arctanh(AMPLITUDE) / AMPLITUDE * network.W_h,
        np.zeros(network.hidden_size),
        network.W_y * half / AMPLITUDE,
        network.b_y + network.W_y.sum(axis=1) * (low + half),
        np.where(network.h_0 == high, AMPLITUDE, -AMPLITUDE),
    )


def _rotation_from_diagonal(h: Array) -> Array:
    """The rotation, times |h|, that maps the unit vector along the diagonal to h."""
    c, s = (h[0] + h[1]) / np.sqrt(2), (h[1] - h[0]) / np.sqrt(2)
    return np.array([[c, -s], [s, c]])


def _is_permutation(W_h: Array) -> bool:
    ones = W_h == 1
    return bool(((W_h == 0) | ones).all() and (ones.sum(0) == 1).all() and (ones.sum(1) == 1).all())


def _blocks(W_h: Array) -> list[slice]:
    """The signs and planes along the diagonal of W_h; raises for other matrices."""
    blocks, place, size = [], 0, len(W_h)
    rest = W_h.copy()
    while place < size:
        width = 2 if place + 1 < size and W_h[place + 1, place] != 0 else 1
        blocks.append(slice(place, place + width))
        block = W_h[blocks[-1], blocks[-1]]
        # Rotations have determinant 1 and equal diagonal entries; a sign is 1 or -1.
        if not np.allclose(block @ block.T, np.eye(width)) or (width == 2 and np.linalg.det(block) < 0):
            break
        rest[blocks[-1], blocks[-1]] = 0
        place += width
    if place < size or rest.any():
        raise InputError(
            "W_h consists neither of plane rotations nor of a permutation; use a network of rotation, spectral or cyclic"
        )
    return blocks
