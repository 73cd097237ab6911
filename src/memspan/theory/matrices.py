"""The same networks with real weight matrices: tied (one draw for all steps) or untied (a fresh draw at every step)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from memspan.errors import InputError
from memspan.theory.elementwise import Array, Network, PreActivation
from memspan.theory.population import Weights

KINDS = ("gaussian", "orthogonal")
"""The recurrent matrix W: independent Gaussian entries, or sigma_w times a uniformly drawn orthogonal matrix.

Input weights V are Gaussian in either case.
"""


def check_kind(kind: str) -> None:
    """Refuse a kind of weights that does not exist."""
    if kind not in KINDS:
        raise InputError(f"weights is {kind!r}; expected {' or '.join(KINDS)}; choose one of them")


def random_matrix(width: int, kind: str, generator: np.random.Generator, out: Array | None = None) -> Array:
    """A (width, width) matrix whose rows have expected squared norm 1.

    >>> matrix = random_matrix(3, "orthogonal", np.random.default_rng(0))
    >>> np.allclose(matrix @ matrix.T, np.eye(3))
    True
    """
    matrix = np.empty((width, width)) if out is None else out
    generator.standard_normal(out=matrix)
    if kind == "gaussian":
        matrix /= math.sqrt(width)
        return matrix
    q, r = np.linalg.qr(matrix)
    # Without the signs of r's diagonal the factor q is not uniform over the orthogonal group.
    return q * np.sign(np.diagonal(r))


@final
@dataclass(frozen=True, eq=False)
class _Layer:
    """The weights of one sum; None where the sum has no such term."""

    W: Array | None
    V: Array | None
    b: Array

    def __call__(self, h: Array, x: Array, one: Array) -> Array:
        out = np.zeros_like(h)
        if self.W is not None:
            out += h @ self.W.T
        if self.V is not None:
            out += one[:, None, None] * (x @ self.V.T + self.b)
        return out


@final
class TiedMatrices(Weights):
    """One network whose W, V and b are drawn once: a recurrent network as it is used."""

    def __init__(self, network: Network, width: int, kind: str, generator: np.random.Generator) -> None:
        self._layers = [_draw(total, network, width, kind, generator) for total in network.cell.sums]

    def sums(self, h: Array, x: Array, one: Array) -> Array:
        return np.stack([layer(h, x, one) for layer in self._layers])


@final
class FreshMatrices(Weights):
    """One network whose W, V and b are drawn anew at every step: the plain form of `Population`, O(N^2) per step."""

    def __init__(self, network: Network, width: int, kind: str, generator: np.random.Generator) -> None:
        self._network, self._width, self._kind, self._generator = network, width, kind, generator
        self._buffers = np.empty((2, width, width))

    def sums(self, h: Array, x: Array, one: Array) -> Array:
        return np.stack([self._layer(total)(h, x, one) for total in self._network.cell.sums])

    def _layer(self, total: PreActivation) -> _Layer:
        return _draw(total, self._network, self._width, self._kind, self._generator, self._buffers)


def _draw(
    total: PreActivation,
    network: Network,
    width: int,
    kind: str,
    generator: np.random.Generator,
    buffers: Array | None = None,
) -> _Layer:
    first, second = (None, None) if buffers is None else buffers
    W = V = None
    b = np.zeros(width)
    if total.recurrent:
        W = random_matrix(width, kind, generator, first)
        W *= network.sigma_w
    if total.driven:
        V = random_matrix(width, "gaussian", generator, second)
        V *= network.sigma_v
        mean = network.bias_mean if total.remembers else 0.0
        b = mean + network.sigma_b * generator.standard_normal(width)
    return _Layer(W, V, b)
