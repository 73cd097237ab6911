"""`growth`: by which factor per step a small difference between two copies of a network changes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from memspan.errors import EvidenceError
from memspan.progress import SILENT, Progress
from memspan.theory.elementwise import Array, Network, State
from memspan.theory.ensemble import Chunk, Ensemble, at_least_one, standard_error

_SMALL = 1e-6
"""Size of the difference relative to the state: its square is lost beside 1, and its own rounding error is 1e-10."""


@final
@dataclass(frozen=True)
class Growth:
    """chi_1 as measured: the factor per step of the mean squared distance of two states under the same inputs."""

    chi: float
    error: float
    """Standard error over networks; nan from a single network."""

    @property
    def chaotic(self) -> bool:
        """Whether differences grow."""
        return self.chi >= 1

    @property
    def timescale(self) -> float:
        """-1 / log chi, in steps; infinite in the chaotic phase.

        >>> round(Growth(0.9928, 0.0001).timescale)
        138
        """
        return math.inf if self.chaotic else -1 / math.log(self.chi)

    @property
    def timescale_error(self) -> float:
        """Standard error of the timescale, to first order; nan where that is infinite."""
        return math.nan if self.chaotic else self.error / self.chi * self.timescale**2


def growth(
    network: Network,
    *,
    width: int,
    steps: int,
    networks: int,
    directions: int = 1,
    tied: bool = False,
    matrices: bool = False,
    weights: str = "gaussian",
    seed: int | np.random.Generator = 0,
    workers: int | None = None,
    progress: Progress = SILENT,
) -> Growth:
    """chi_1 = lim |d_{t+1}|^2 / |d_t|^2 for the difference d between two nearby copies under the same inputs.

    Every network starts from h_0 = 0 with `directions` random differences, which are scaled back to 1e-6 of the
    state after every step (for the LSTM: in h and c together; the distance is that of c). The ratio is averaged over
    networks and directions, and geometrically over the later half of the steps; the first half lets states and
    differences become stationary, so it should be several timescales long.

    What limits it: gates multiply each neuron's difference by its own random history, so |d|^2 comes to be carried
    by few neurons where gates spread widely and the recurrent weights mix slowly. Then an ensemble that is too small
    misses the rare neurons and chi comes out too low: more neurons (width times networks), not more steps, mend that.

    >>> from memspan.theory.elementwise import VanillaCell
    >>> linear = Network(cell=VanillaCell(lambda e: e), sigma_w=0.9)
    >>> round(growth(linear, width=1000, steps=100, networks=8).chi, 2)   # sigma_w^2
    0.81
    """
    at_least_one("steps", steps)
    at_least_one("directions", directions)
    ensemble = Ensemble(
        network=network,
        width=width,
        networks=networks,
        tied=tied,
        matrices=matrices,
        weights=weights,
        workers=workers,
    )
    parts = ensemble.map(
        lambda chunk: _ratios(network, chunk, steps, directions), seed=seed, progress=progress
    )
    late = np.concatenate(parts, axis=1)[steps // 2 :].T
    with np.errstate(divide="ignore", invalid="ignore"):
        chi = math.exp(float(np.log(late.mean(axis=0)).mean()))
    if not (math.isfinite(chi) and chi > 0):
        raise EvidenceError(
            "the difference between two copies was lost to rounding; expected one that can be followed; use a smaller bias "
            "mean or larger weights"
        )
    return Growth(chi, chi * float(standard_error(np.log(late).mean(axis=1))))


def _ratios(network: Network, chunk: Chunk, steps: int, directions: int) -> Array:
    """|d_{t+1}|^2 / |d_t|^2, averaged over directions: (steps, networks)."""
    cell = network.cell
    base = cell.start(np.zeros((1, chunk.networks, chunk.width)))
    difference, _ = _unit(network, tuple(chunk.normals(directions) for _ in base))
    seen = np.empty((steps, chunk.networks))
    for step in range(steps):
        x = chunk.pair(network.input_variance, 1.0)
        base, difference = _advance(network, chunk, x, base, difference)
        difference, squared = _unit(network, difference)
        seen[step] = squared.mean(axis=0)
    return seen


def _advance(network: Network, chunk: Chunk, x: Array, base: State, difference: State) -> tuple[State, State]:
    """One step of the state and of the differences, which are linear in the sums: W (h + s d) = W h + s W d."""
    cell = network.cell
    one = np.concatenate([[1.0], np.zeros(len(difference[0]))])
    h = np.concatenate([cell.hidden(base), cell.hidden(difference)])
    e = chunk.weights.sums(h, x, one)
    small = _SMALL * _size(cell.memory(base))
    e[:, 1:] *= small
    e[:, 1:] += e[:, :1]
    both = cell.step(
        e, x, tuple(np.concatenate([b, b + small * d]) for b, d in zip(base, difference, strict=True))
    )
    return tuple(s[:1] for s in both), tuple((s[1:] - s[:1]) / small for s in both)


def _size(memory: Array) -> Array:
    """Root mean square per network, (1, networks, 1); 1 where the state is zero."""
    size = np.sqrt(np.vecdot(memory, memory) / memory.shape[-1])[..., None]
    return np.where(size > 0, size, 1.0)


def _unit(network: Network, difference: State) -> tuple[State, Array]:
    """The differences with a memory of mean square 1, and the mean squares they had: (directions, networks)."""
    memory = network.cell.memory(difference)
    squared = np.vecdot(memory, memory) / memory.shape[-1]
    with np.errstate(divide="ignore", invalid="ignore"):  # a difference of exactly zero is told by `growth`
        scale = 1 / np.sqrt(squared)[..., None]
        return tuple(scale * d for d in difference), squared
