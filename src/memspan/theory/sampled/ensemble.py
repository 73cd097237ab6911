"""Many random networks at once: drawn in chunks, each with its own stream of random numbers."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar, final

import numpy as np

from memspan.engines import Threads, available_cores
from memspan.errors import InputError
from memspan.progress import Progress
from memspan.theory.sampled.cells import Array, PreActivation, RandomNetwork

Result = TypeVar("Result")
_CHUNK = 16_384
"""Neurons per copy that are simulated together: an eighth of a megabyte an array, so that a step stays in the cache."""


@final
@dataclass(frozen=True, eq=False)
class Chunk:
    """Some networks of an ensemble, which are simulated together."""

    networks: int
    width: int
    weights: NetworkWeights
    generator: np.random.Generator

    def normals(self, copies: int) -> Array:
        """Independent standard normal numbers: (copies, networks, width)."""
        return self.generator.standard_normal((copies, self.networks, self.width))

    def pair(self, variance: float, correlation: float) -> Array:
        """Two vectors per network, element-wise Gaussian: (2, networks, width), or (1, ...) where they are equal."""
        if correlation == 1:
            z = self.normals(1)
        else:
            z = self.normals(2)
            z[1] *= math.sqrt(1 - correlation**2)
            z[1] += correlation * z[0]
        z *= math.sqrt(variance)
        return z


@final
@dataclass(frozen=True, kw_only=True)
class Ensemble:
    """Which random networks: how many, how wide, and where their sums W h + V x + b come from."""

    network: RandomNetwork
    width: int
    networks: int
    tied: bool
    matrices: bool
    weights: str
    workers: int | None

    def __post_init__(self) -> None:
        at_least_one("width", self.width)
        at_least_one("networks", self.networks)
        check_kind(self.weights)
        if self.weights == "orthogonal" and not (self.tied or self.matrices):
            raise InputError(
                "orthogonal weights were asked of the sampler without matrices, whose law is Gaussian; "
                "expected real matrices; pass matrices=True or tied=True"
            )

    def map(
        self,
        function: Callable[[Chunk], Result],
        *,
        seed: int | np.random.Generator,
        progress: Progress,
        words: str = "simulating networks",
    ) -> list[Result]:
        """`function` of every chunk, in order; the same numbers for every count of workers."""
        most = 1 if self.tied or self.matrices else max(1, _CHUNK // self.width)
        sizes = [min(most, self.networks - begin) for begin in range(0, self.networks, most)]
        streams = np.random.SeedSequence(seed_number(seed)).spawn(len(sizes))
        workers = available_cores() if self.workers is None else self.workers
        with progress.stage(words, self.networks) as stage:

            def run(job: tuple[int, np.random.SeedSequence]) -> Result:
                result = function(self._chunk(*job))
                stage.advance(job[0])
                return result

            return Threads(workers).map(run, zip(sizes, streams, strict=True))

    def _chunk(self, networks: int, stream: np.random.SeedSequence) -> Chunk:
        # Of numpy's generators this one draws normal numbers fastest, and they are most of the work.
        generator = np.random.Generator(np.random.SFC64(stream))
        return Chunk(networks, self.width, self._weights(generator), generator)

    def _weights(self, generator: np.random.Generator) -> NetworkWeights:
        if self.tied:
            return TiedMatrices(self.network, self.width, self.weights, generator)
        if self.matrices:
            return FreshMatrices(self.network, self.width, self.weights, generator)
        return Population(self.network, generator)


def at_least_one(name: str, value: int) -> None:
    """Refuse a count below one."""
    if value < 1:
        raise InputError(f"{name} is {value}; expected 1 or more; pass a larger {name}")


def correlation_within_one(name: str, value: float) -> None:
    """Refuse what is no correlation."""
    if not -1 <= value <= 1:
        raise InputError(f"{name} is {value}; expected a correlation between -1 and 1; pass such a number")


def seed_number(seed: int | np.random.Generator) -> int:
    """The number that all streams derive from; a generator is asked for one."""
    number = int(seed.integers(2**63)) if isinstance(seed, np.random.Generator) else seed
    if number < 0:
        raise InputError(f"seed is {number}; expected 0 or more; pass such a number")
    return number


def standard_error(values: Array) -> Array:
    """Standard error of the mean over the first axis; nan where there is a single value."""
    if len(values) < 2:
        return np.full(values.shape[1:], np.nan)
    return values.std(axis=0, ddof=1) / math.sqrt(len(values))


_DOT = 4096
"""Longest inner product taken at once: the linear algebra library adds longer ones in an order that depends on threads."""


class NetworkWeights(ABC):
    """The linear half of a network: what turns states and inputs into the sums of its cell."""

    @abstractmethod
    def sums(self, h: Array, x: Array, one: Array) -> Array:
        """W h + (V x + b) * one for every sum of the cell: (sums, copies, networks, width).

        `h` is (copies, networks, width); `x` too, or with a single copy where all copies have the same input. `one`
        (copies,) is 1 for a state and 0 for a difference of two states, which inputs and biases do not move.
        """


@final
class Population(NetworkWeights):
    """With W, V and b drawn afresh, the sums are Gaussian given h and x: no matrix is needed.

    Over the copies, independently for every neuron and every sum, their mean is the bias mean and their covariance
    sigma_w^2 h_a . h_b / N + sigma_v^2 x_a . x_b / N + sigma_b^2. This is exact at every width, not only for wide
    networks. (Chen 2018, Eq. 6, with sigma_b^2 in all four entries: errata 6.)
    """

    def __init__(self, network: RandomNetwork, generator: np.random.Generator) -> None:
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


def moments(network: RandomNetwork, h: Array, x: Array, one: Array) -> tuple[Array, Array]:
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
class TiedMatrices(NetworkWeights):
    """One network whose W, V and b are drawn once: a recurrent network as it is used."""

    def __init__(self, network: RandomNetwork, width: int, kind: str, generator: np.random.Generator) -> None:
        self._layers = [_draw(total, network, width, kind, generator) for total in network.cell.sums]

    def sums(self, h: Array, x: Array, one: Array) -> Array:
        return np.stack([layer(h, x, one) for layer in self._layers])


@final
class FreshMatrices(NetworkWeights):
    """One network whose W, V and b are drawn anew at every step: the plain form of `Population`, O(N^2) per step."""

    def __init__(self, network: RandomNetwork, width: int, kind: str, generator: np.random.Generator) -> None:
        self._network, self._width, self._kind, self._generator = network, width, kind, generator
        self._buffers = np.empty((2, width, width))

    def sums(self, h: Array, x: Array, one: Array) -> Array:
        return np.stack([self._layer(total)(h, x, one) for total in self._network.cell.sums])

    def _layer(self, total: PreActivation) -> _Layer:
        return _draw(total, self._network, self._width, self._kind, self._generator, self._buffers)


def _draw(
    total: PreActivation,
    network: RandomNetwork,
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
