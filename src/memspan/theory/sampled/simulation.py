"""`simulate`, the correlation of two copies of a random network over time; and `growth`, chi_1 from nearby copies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from memspan.errors import EvidenceError, InputError
from memspan.progress import SILENT, Progress
from memspan.statistics import standard_error
from memspan.theory.meanfield.parameters import check_correlation
from memspan.theory.sampled.cells import Array, RandomNetwork, State
from memspan.theory.sampled.ensemble import Chunk, Ensemble, at_least_one, gram, moments

# Both copies are states, not differences (see `NetworkWeights.sums`).
BOTH = np.ones(2)
# Size of a difference relative to the state: its square is negligible, and its own rounding error is 1e-10.
_SMALL = 1e-6


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Simulation:
    """Means over networks per step, arrays of shape (steps,), each with its standard error over networks.

    Entry t belongs to step t = 0, 1, ...: `q[t]` and `c[t]` to the sums computed in that step (at t = 0 from h_0 and the
    first input), `Q[t]` and `C[t]` to the hidden state that the step produces. Errors are NaN for a single network.
    """

    network: RandomNetwork
    width: int
    networks: int
    tied: bool
    c: Array
    """Correlation of the sums W h + V x + b of the two copies, without the bias mean."""
    c_error: Array
    C: Array
    """Correlation of their hidden states."""
    C_error: Array
    q: Array
    """Second moment of the sums, without the bias mean."""
    q_error: Array
    Q: Array
    """Second moment of the hidden states."""
    Q_error: Array


def simulate(
    network: RandomNetwork,
    *,
    width: int,
    steps: int,
    networks: int,
    input_correlation: float | Sequence[float] | Array = 1.0,
    tied: bool = False,
    matrices: bool = False,
    weights: str = "gaussian",
    initial_variance: float | None = None,
    initial_correlation: float = 1.0,
    seed: int | np.random.Generator = 0,
    workers: int | None = None,
    progress: Progress = SILENT,
) -> Simulation:
    """Simulate two copies of each random network with inputs of correlation Sigma(t), as in Chen 2018, Fig. 1.

    By default the weights are untied (fresh W, V, b at every step) and no matrix is built: the sums are drawn from their
    law, in O(width) per step. `matrices=True` draws the fresh matrices for comparison; `tied=True` uses the same weights
    in all steps, as real networks do. Inputs are Gaussian and independent in time. `initial_variance` is the second moment
    of h_0 (None: h_0 = 0), `initial_correlation` the correlation of the copies' h_0.

    >>> from memspan.theory.sampled.cells import MinimalCell
    >>> network = RandomNetwork(cell=MinimalCell(), sigma_w=6.88, sigma_v=1.39, input_variance=0.46, bias_mean=-4)
    >>> met = simulate(network, width=500, steps=30, networks=4, input_correlation=[0.0] * 10 + [1.0] * 20)
    >>> bool(met.c[9] < 0.1), bool(met.c[29] > 0.99)
    (True, True)
    """
    correlations = _per_step(input_correlation, steps)
    check_correlation(initial_correlation, "initial_correlation")
    if initial_variance is not None and not (math.isfinite(initial_variance) and initial_variance >= 0):
        raise InputError(f"initial_variance is {initial_variance}; expected a finite number, 0 or more, or None")
    ensemble = Ensemble(
        network=network, width=width, networks=networks, tied=tied, matrices=matrices, weights=weights, workers=workers
    )
    start = InitialPair(initial_variance or 0.0, initial_correlation)
    series = trajectories(ensemble, correlations, start, seed=seed, progress=progress)
    (c, q, C, Q), (dc, dq, dC, dQ) = series.mean(axis=0), standard_error(series)
    return Simulation(
        network=network,
        width=width,
        networks=networks,
        tied=tied,
        c=c,
        c_error=dc,
        C=C,
        C_error=dC,
        q=q,
        q_error=dq,
        Q=Q,
        Q_error=dQ,
    )


@final
@dataclass(frozen=True)
class InitialPair:
    """Initial hidden states of two copies: Gaussian, of this second moment and correlation."""

    variance: float = 0.0
    correlation: float = 1.0

    def states(self, network: RandomNetwork, chunk: Chunk) -> State:
        """The states of both copies of every network in the chunk."""
        h = chunk.pair(self.variance, self.correlation) if self.variance else np.zeros(1)
        return network.cell.start(np.broadcast_to(h, (2, chunk.networks, chunk.width)))


def trajectories(
    ensemble: Ensemble, correlations: Array, start: InitialPair, *, seed: int | np.random.Generator, progress: Progress
) -> Array:
    """c, q, C and Q (see `Simulation`) of every network separately: (networks, 4, steps)."""
    network = ensemble.network

    def run(chunk: Chunk) -> Array:
        state = start.states(network, chunk)
        seen = np.empty((len(correlations), 4, chunk.networks))
        for step, correlation in enumerate(correlations):
            x = chunk.pair(network.input_variance, float(correlation))
            h = network.cell.hidden(state)
            recurrent, driven = moments(network, h, x, BOTH)
            seen[step, :2] = _correlation(recurrent + driven)
            state = network.cell.step(chunk.weights.sums(h, x, BOTH), x, state)
            seen[step, 2:] = _correlation(gram(network.cell.hidden(state)))
        return seen.T

    return np.concatenate(ensemble.map(run, seed=seed, progress=progress))


def _correlation(covariance: Array) -> tuple[Array, Array]:
    """Correlation and mean variance of two copies from their (2, 2, networks) covariance; two zeros count as equal."""
    (first, both), (_, second) = covariance
    size = np.sqrt(first * second)
    return np.divide(both, size, out=np.ones_like(size), where=size > 0), (first + second) / 2


def _per_step(correlation: float | Sequence[float] | Array, steps: int) -> Array:
    at_least_one("steps", steps)
    values = np.asarray(correlation, np.float64)
    if values.ndim > 1 or (values.ndim == 1 and values.size != steps):
        raise InputError(
            f"input_correlation has shape {values.shape}; expected one number, or one for each of {steps} steps"
        )
    for value in values.ravel():
        check_correlation(float(value))
    return np.broadcast_to(values, steps)


@final
@dataclass(frozen=True)
class Growth:
    """Measured chi_1: factor per step of the mean squared distance of two states with the same inputs."""

    chi: float
    error: float
    """Standard error over networks; NaN for a single network."""

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
        """Standard error of the timescale, to first order; NaN if the timescale is infinite."""
        return math.nan if self.chaotic else self.error / self.chi * self.timescale**2


def growth(
    network: RandomNetwork,
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
    """chi_1 = lim |d_{t+1}|^2 / |d_t|^2 for the difference d between two nearby copies with the same inputs.

    Every network starts from h_0 = 0 with `directions` random differences, which are rescaled to 1e-6 of the state after
    every step (for the LSTM: in h and c together; the distance is that of c). The ratio is averaged over networks and
    directions, and geometrically over the second half of the steps. The first half lets states and differences become
    stationary, so it should be several timescales long.

    Limits: gates multiply each neuron's difference by its own random history. Where gates vary widely and the recurrent
    weights mix slowly, |d|^2 concentrates on few neurons. An ensemble that is too small misses them and underestimates
    chi; more neurons (width times networks) help, more steps do not.

    >>> from memspan.theory.sampled.cells import VanillaCell
    >>> linear = RandomNetwork(cell=VanillaCell(lambda e: e), sigma_w=0.9)
    >>> round(growth(linear, width=1000, steps=100, networks=8).chi, 2)   # sigma_w^2
    0.81
    """
    at_least_one("steps", steps)
    at_least_one("directions", directions)
    ensemble = Ensemble(
        network=network, width=width, networks=networks, tied=tied, matrices=matrices, weights=weights, workers=workers
    )
    parts = ensemble.map(lambda chunk: _growth_ratios(network, chunk, steps, directions), seed=seed, progress=progress)
    # Averaging before the logarithm: chi_1 is defined by the mean squared distance.
    late = np.concatenate(parts, axis=1)[steps // 2 :].T
    with np.errstate(divide="ignore", invalid="ignore"):
        chi = math.exp(float(np.log(late.mean(axis=0)).mean()))
    if not (math.isfinite(chi) and chi > 0):
        raise EvidenceError(
            "the difference between two copies was lost to rounding; use a smaller bias mean or larger weights"
        )
    return Growth(chi, chi * float(standard_error(np.log(late).mean(axis=1))))


def _growth_ratios(network: RandomNetwork, chunk: Chunk, steps: int, directions: int) -> Array:
    """|d_{t+1}|^2 / |d_t|^2, averaged over directions: (steps, networks)."""
    cell = network.cell
    base = cell.start(np.zeros((1, chunk.networks, chunk.width)))
    difference, _ = _normalize(network, tuple(chunk.normals(directions) for _ in base))
    seen = np.empty((steps, chunk.networks))
    for step in range(steps):
        x = chunk.pair(network.input_variance, 1.0)
        base, difference = _advance(network, chunk, x, base, difference)
        difference, squared = _normalize(network, difference)
        seen[step] = squared.mean(axis=0)
    return seen


def _advance(network: RandomNetwork, chunk: Chunk, x: Array, base: State, difference: State) -> tuple[State, State]:
    """One step of the state and of the differences, which are linear in the sums: W (h + s d) = W h + s W d."""
    cell = network.cell
    one = np.concatenate([[1.0], np.zeros(len(difference[0]))])
    h = np.concatenate([cell.hidden(base), cell.hidden(difference)])
    e = chunk.weights.sums(h, x, one)
    # The differences have unit size; they are scaled down to be linear and up again below.
    small = _SMALL * _root_mean_square(cell.memory(base))
    e[:, 1:] *= small
    e[:, 1:] += e[:, :1]
    both = cell.step(e, x, tuple(np.concatenate([b, b + small * d]) for b, d in zip(base, difference, strict=True)))
    return tuple(s[:1] for s in both), tuple((s[1:] - s[:1]) / small for s in both)


def _root_mean_square(memory: Array) -> Array:
    """Per network, (1, networks, 1); 1 if the state is zero."""
    size = np.sqrt(np.vecdot(memory, memory) / memory.shape[-1])[..., None]
    return np.where(size > 0, size, 1.0)


def _normalize(network: RandomNetwork, difference: State) -> tuple[State, Array]:
    """The differences scaled to a mean square of 1, and their mean squares before: (directions, networks)."""
    memory = network.cell.memory(difference)
    squared = np.vecdot(memory, memory) / memory.shape[-1]
    with np.errstate(divide="ignore", invalid="ignore"):  # `growth` reports a difference of exactly zero
        scale = 1 / np.sqrt(squared)[..., None]
        return tuple(scale * d for d in difference), squared
