"""Many random networks at once, in chunks with independent random streams, with or without weight matrices."""

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
# The recurrent matrix W: independent Gaussian entries, or sigma_w times a Haar-random orthogonal matrix.
#
# Input weights V are Gaussian in both cases.
KINDS = ("gaussian", "orthogonal")
# Neurons per copy that are simulated together: arrays of 128 kB, so that a step stays in the cache.
_CHUNK = 16_384
# Longest inner product computed at once: BLAS sums longer ones in an order that depends on the number of
# threads.
_DOT = 4096


@final
@dataclass(frozen=True, kw_only=True)
class Ensemble:
    """A set of random networks: how many, how wide, and how their sums W h + V x + b are generated."""

    network: RandomNetwork
    width: int
    networks: int
    tied: bool = False
    matrices: bool = False
    weights: str = "gaussian"
    workers: int | None = None

    def __post_init__(self) -> None:
        at_least_one("width", self.width)
        at_least_one("networks", self.networks)
        check_kind(self.weights)
        if self.weights == "orthogonal" and not (self.tied or self.matrices):
            raise InputError(
                "orthogonal weights were requested of the sampler without matrices, whose law is Gaussian; "
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
        """`function` of every chunk, in order; the results do not depend on the number of workers."""
        # Matrices belong to one network each; without them many narrow networks share the arrays of a step.
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
        # SFC64 draws normal numbers fastest of numpy's generators, and they are most of the work.
        generator = np.random.Generator(np.random.SFC64(stream))
        if self.tied:
            weights = TiedMatrices(self.network, self.width, self.weights, generator)
        elif self.matrices:
            weights = FreshMatrices(self.network, self.width, self.weights, generator)
        else:
            weights = Population(self.network, generator)
        return Chunk(networks, self.width, weights, generator)


@final
@dataclass(frozen=True, eq=False)
class Chunk:
    """Networks of an ensemble that are simulated together."""

    networks: int
    width: int
    weights: NetworkWeights
    generator: np.random.Generator

    def normals(self, copies: int) -> Array:
        """Independent standard normal numbers: (copies, networks, width)."""
        return self.generator.standard_normal((copies, self.networks, self.width))

    def pair(self, variance: float, correlation: float) -> Array:
        """Two Gaussian vectors per network of this correlation: (2, networks, width), or (1, ...) if they are equal."""
        if correlation == 1:
            z = self.normals(1)
        else:
            z = self.normals(2)
            z[1] *= math.sqrt(1 - correlation**2)
            z[1] += correlation * z[0]
        z *= math.sqrt(variance)
        return z


class NetworkWeights(ABC):
    """The linear half of a network: maps states and inputs to the sums of its cell."""

    @abstractmethod
    def sums(self, h: Array, x: Array, one: Array) -> Array:
        """W h + (V x + b) * one for every sum of the cell: (sums, copies, networks, width).

        `h` is (copies, networks, width); so is `x`, or it has a single copy if all copies have the same input. `one`
        (copies,) is 1 for a state and 0 for a difference of two states, which does not depend on inputs and biases.
        """


@final
class Population(NetworkWeights):
    """Sums drawn from their conditional law, without matrices, in O(N) per step.

    With fresh W, V and b the sums are Gaussian given h and x. Over the copies, independently for every neuron and every
    sum, their mean is the bias mean and their covariance sigma_w^2 h_a . h_b / N + sigma_v^2 x_a . x_b / N + sigma_b^2.
    This is exact at every width. (Chen 2018, Eq. 6, with sigma_b^2 in all four entries: errata 6.)
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
            # Only the gate that retains the state has a bias mean.
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
    """The lower triangular L with L L^T = covariance over the first two axes; the covariance may be singular.

    >>> square_root(np.ones((2, 2, 1)))[:, :, 0]
    array([[1., 0.],
           [1., 0.]])
    """
    root = np.zeros_like(covariance)
    for j in range(len(covariance)):
        # Cholesky by hand, because numpy's rejects singular covariances (equal copies).
        pivot = covariance[j, j] - np.sum(root[j, :j] ** 2, axis=0)
        root[j, j] = np.sqrt(np.maximum(pivot, 0.0))
        scale = np.divide(1.0, root[j, j], out=np.zeros_like(pivot), where=root[j, j] > 0)
        for i in range(j + 1, len(covariance)):
            root[i, j] = (covariance[i, j] - np.sum(root[i, :j] * root[j, :j], axis=0)) * scale
    return root


def _correlate(normals: Array, root: Array) -> None:
    """Replace independent `normals` (copies, networks, width) by L normals, in place."""
    # From the last copy up: copy i depends only on copies before it, which are not replaced yet.
    for i in reversed(range(len(normals))):
        normals[i] *= root[i, i][:, None]
        for j in range(i):
            normals[i] += root[i, j][:, None] * normals[j]


@final
class TiedMatrices(NetworkWeights):
    """One network with fixed W, V and b, as networks are used in practice."""

    def __init__(self, network: RandomNetwork, width: int, kind: str, generator: np.random.Generator) -> None:
        self._layers = [_draw_layer(total, network, width, kind, generator) for total in network.cell.sums]

    def sums(self, h: Array, x: Array, one: Array) -> Array:
        return np.stack([layer(h, x, one) for layer in self._layers])


@final
class FreshMatrices(NetworkWeights):
    """One network whose W, V and b are redrawn at every step: `Population` with real matrices, in O(N^2) per step."""

    def __init__(self, network: RandomNetwork, width: int, kind: str, generator: np.random.Generator) -> None:
        self._network, self._width, self._kind, self._generator = network, width, kind, generator
        self._buffers = np.empty((2, width, width))

    def sums(self, h: Array, x: Array, one: Array) -> Array:
        # Each layer is used before the next one overwrites the buffers.
        return np.stack([self._layer(total)(h, x, one) for total in self._network.cell.sums])

    def _layer(self, total: PreActivation) -> _LayerWeights:
        return _draw_layer(total, self._network, self._width, self._kind, self._generator, self._buffers)


@final
@dataclass(frozen=True, eq=False)
class _LayerWeights:
    """The weights of one sum; None if the sum has no such term."""

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


def _draw_layer(
    total: PreActivation,
    network: RandomNetwork,
    width: int,
    kind: str,
    generator: np.random.Generator,
    buffers: Array | None = None,
) -> _LayerWeights:
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
    return _LayerWeights(W, V, b)


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


def check_kind(kind: str) -> None:
    """Raise InputError for an unknown kind of weights."""
    if kind not in KINDS:
        raise InputError(f"weights is {kind!r}; expected {' or '.join(KINDS)}")


def at_least_one(name: str, value: int) -> None:
    """Raise InputError for a count below one."""
    if value < 1:
        raise InputError(f"{name} is {value}; expected 1 or more; pass a larger {name}")


def seed_number(seed: int | np.random.Generator) -> int:
    """The integer that all streams derive from; drawn from a generator if one is given."""
    number = int(seed.integers(2**63)) if isinstance(seed, np.random.Generator) else seed
    if number < 0:
        raise InputError(f"seed is {number}; expected 0 or more")
    return number
