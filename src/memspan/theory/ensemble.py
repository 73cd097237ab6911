"""Many random networks at once: drawn in chunks, each with its own stream of random numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar, final

import numpy as np

from memspan.engines import Threads, available_cores
from memspan.errors import InputError
from memspan.progress import Progress
from memspan.theory.elementwise import Array, Network
from memspan.theory.matrices import FreshMatrices, TiedMatrices, check_kind
from memspan.theory.population import Population, Weights

Result = TypeVar("Result")
_CHUNK = 16_384
"""Neurons per copy that are simulated together: an eighth of a megabyte an array, so that a step stays in the cache."""


@final
@dataclass(frozen=True, eq=False)
class Chunk:
    """Some networks of an ensemble, which are simulated together."""

    networks: int
    width: int
    weights: Weights
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

    network: Network
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

    def _weights(self, generator: np.random.Generator) -> Weights:
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
