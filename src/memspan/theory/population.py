"""Untied weights without matrices: the sums W h + V x + b are drawn from the law they have, in O(N) per step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import final

import numpy as np

from memspan.theory.elementwise import Array, Network

_DOT = 4096
"""Longest inner product taken at once: the linear algebra library adds longer ones in an order that depends on threads."""


class Weights(ABC):
    """The linear half of a network: what turns states and inputs into the sums of its cell."""

    @abstractmethod
    def sums(self, h: Array, x: Array, one: Array) -> Array:
        """W h + (V x + b) * one for every sum of the cell: (sums, copies, networks, width).

        `h` is (copies, networks, width); `x` too, or with a single copy where all copies have the same input. `one`
        (copies,) is 1 for a state and 0 for a difference of two states, which inputs and biases do not move.
        """


@final
class Population(Weights):
    """With W, V and b drawn afresh, the sums are Gaussian given h and x: no matrix is needed.

    Over the copies, independently for every neuron and every sum, their mean is the bias mean and their covariance
    sigma_w^2 h_a . h_b / N + sigma_v^2 x_a . x_b / N + sigma_b^2. This is exact at every width, not only for wide
    networks. (Chen 2018, Eq. 6, with sigma_b^2 in all four entries: errata 6.)
    """

    def __init__(self, network: Network, generator: np.random.Generator) -> None:
        self._network = network
        self._generator = generator

    def sums(self, h: Array, x: Array, one: Array) -> Array:
        network = self._network
        recurrent, driven = moments(network, h, x, one)
        e = self._generator.standard_normal((len(network.cell.sums), *h.shape))
        for total, out in zip(network.cell.sums, e, strict=True):
            _correlate(out, square_root(total.recurrent * recurrent + total.driven * driven))
            if total.remembers and network.bias_mean:
                out += network.bias_mean * one[:, None, None]
        return e


def moments(network: Network, h: Array, x: Array, one: Array) -> tuple[Array, Array]:
    """Covariance between copies of W h, and of V x + b, without the bias mean; each (copies, copies, networks)."""
    recurrent = network.sigma_w**2 * gram(h)
    driven = network.sigma_v**2 * gram(x) + network.sigma_b**2
    return recurrent, driven * np.multiply.outer(one, one)[:, :, None]


def gram(vectors: Array) -> Array:
    """v_a . v_b / N of (copies, networks, width) vectors: (copies, copies, networks)."""
    width = vectors.shape[-1]
    total = np.zeros((len(vectors), *vectors.shape[:2]))
    for begin in range(0, width, _DOT):
        part = vectors[..., begin : begin + _DOT]
        total += np.vecdot(part[:, None], part[None])
    return total / width


def square_root(covariance: Array) -> Array:
    """The lower triangular L with L L^T = covariance, over the first two axes; singular covariances are allowed.

    >>> square_root(np.ones((2, 2, 1)))[:, :, 0]
    array([[1., 0.],
           [1., 0.]])
    """
    root = np.zeros_like(covariance)
    for j in range(len(covariance)):
        pivot = covariance[j, j] - np.sum(root[j, :j] ** 2, axis=0)
        root[j, j] = np.sqrt(np.maximum(pivot, 0.0))
        scale = np.divide(1.0, root[j, j], out=np.zeros_like(pivot), where=root[j, j] > 0)
        for i in range(j + 1, len(covariance)):
            root[i, j] = (covariance[i, j] - np.sum(root[i, :j] * root[j, :j], axis=0)) * scale
    return root


def _correlate(normals: Array, root: Array) -> None:
    """Replace independent `normals` (copies, networks, width) by L normals, in place and from the last copy up."""
    for i in reversed(range(len(normals))):
        normals[i] *= root[i, i][:, None]
        for j in range(i):
            normals[i] += root[i, j][:, None] * normals[j]
