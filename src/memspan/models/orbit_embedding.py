"""Where the orbit of a linear network fits into the range of ReLU or tanh.

Every embedding is a change of coordinates h = M g + s of each plane, sign or permutation by itself, and of what reads it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.results import LinearNetwork

Array = NDArray[np.float64]

AMPLITUDE = 0.01
"""Of the orbit under tanh: small enough that third powers (1e-6) bend no orbit, large beside rounding errors (1e-9)."""
ROOM = 1.5
"""How far a positive orbit's centre is from zero, in radii: what rounding does to the radius never reaches zero."""
_QUARTER = 1e-9
"""A cosine below it belongs to a quarter turn."""


@final
@dataclass(frozen=True, eq=False)
class Embedding:
    """g_i = phi(W_h g_{i-1} + b_h), y_i = W_y g_i + b_y, from g_0 = h_0."""

    W_h: Array
    b_h: Array
    W_y: Array
    b_y: Array
    h_0: Array


def in_relu(network: LinearNetwork) -> Embedding:
    """g = h + s with s so large that all coordinates stay positive: W_h as it is, b_h = s - W_h s, b_y less W_y s."""
    s = np.zeros(network.hidden_size)
    if not _is_permutation(network.W_h):
        for block in _blocks(network.W_h):
            s[block] = ROOM * np.linalg.norm(network.h_0[block])
    elif (network.h_0 < 0).any():
        s[:] = -network.h_0.min()
    return Embedding(
        network.W_h, s - network.W_h @ s, network.W_y, network.b_y - network.W_y @ s, network.h_0 + s
    )


def in_tanh(network: LinearNetwork) -> Embedding:
    """Orbits of amplitude a = 0.01, with a gain that makes them stable cycles of tanh.

    Over a turn the cubic term of tanh takes a^2 / 4 off the amplitude, so a plane has the gain 1 + a^2 / 4. A sign, ±a, has
    atanh(a) / a, exactly. A plane of quarter turns visits four places only, so its angle matters: on the diagonals all
    coordinates are ±b, b = a / sqrt 2, and the gain is atanh(b) / b. A permutation passes signs around.
    """
    if _is_permutation(network.W_h):
        return _signs(network)
    size = network.hidden_size
    # h = M g, one block after the other; each block of M commutes with that of W_h.
    M, gains = np.zeros((size, size)), np.ones(size)
    for block in _blocks(network.W_h):
        radius = np.linalg.norm(network.h_0[block])
        W = network.W_h[block, block]
        M[block, block] = np.eye(len(W)) * radius / AMPLITUDE
        gains[block] = 1 + AMPLITUDE**2 / 4
        if len(W) == 1:
            gains[block] = np.arctanh(AMPLITUDE) / AMPLITUDE
        elif abs(W[0, 0]) < _QUARTER:
            M[block, block] = _turned_from_diagonal(network.h_0[block]) / AMPLITUDE
            b = AMPLITUDE / np.sqrt(2)
            gains[block] = np.arctanh(b) / b
    return Embedding(
        gains[:, None] * network.W_h,
        np.zeros(size),
        network.W_y @ M,
        network.b_y,
        np.linalg.solve(M, network.h_0).astype(np.float64, copy=False),
    )


def _signs(network: LinearNetwork) -> Embedding:
    """h = low + (high - low) (g / a + 1) / 2: the coordinates, which a permutation of two values never leaves, as ±a."""
    low, high = network.h_0.min(), network.h_0.max()
    if not np.isin(network.h_0, (low, high)).all():
        raise InputError(
            "the permutation passes around more than two values; expected a state of zeros and ones, as Cyclic has"
        )
    half = (high - low) / 2
    return Embedding(
        np.arctanh(AMPLITUDE) / AMPLITUDE * network.W_h,
        np.zeros(network.hidden_size),
        network.W_y * half / AMPLITUDE,
        network.b_y + network.W_y.sum(axis=1) * (low + half),
        np.where(network.h_0 == high, AMPLITUDE, -AMPLITUDE),
    )


def _turned_from_diagonal(h: Array) -> Array:
    """The turn, times |h|, that takes the unit vector along the diagonal to h."""
    c, s = (h[0] + h[1]) / np.sqrt(2), (h[1] - h[0]) / np.sqrt(2)
    return np.array([[c, -s], [s, c]])


def _is_permutation(W_h: Array) -> bool:
    ones = W_h == 1
    return bool(((W_h == 0) | ones).all() and (ones.sum(0) == 1).all() and (ones.sum(1) == 1).all())


def _blocks(W_h: Array) -> list[slice]:
    """The signs and planes along the diagonal of W_h, each of which turns by itself; refuses other matrices."""
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
            "W_h is neither planes that turn nor a permutation; expected a network of rotation, spectral or cyclic"
        )
    return blocks
