"""`simulate`: how the states of two copies of a random network come together or part, step by step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from memspan.errors import InputError
from memspan.progress import SILENT, Progress
from memspan.theory.elementwise import Array, Network, State
from memspan.theory.ensemble import Chunk, Ensemble, at_least_one, correlation_within_one, standard_error
from memspan.theory.population import gram, moments

_BOTH = np.ones(2)


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Simulation:
    """Means over networks, per step: arrays of shape (steps,), each with its standard error over networks.

    Entry t belongs to step t = 0, 1, ...: `q[t]` and `c[t]` to the sums computed in that step (so at t = 0 they see
    h_0 and the first input), `Q[t]` and `C[t]` to the hidden state that the step produces. Errors are nan if there is
    only one network.
    """

    network: Network
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
    network: Network,
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
    """Two copies of each random network, fed inputs of correlation Sigma(t), as in Chen 2018, Fig. 1.

    By default the weights are untied (fresh W, V, b at every step) and no matrix is ever made: the sums are drawn
    from the law they then have, in O(width) per step. `matrices=True` draws the fresh matrices for comparison;
    `tied=True` keeps one draw for all steps, as networks in use do. Inputs are Gaussian, independent in time.
    `initial_variance` is the second moment of h_0 (None: h_0 = 0), `initial_correlation` that of the copies' h_0.

    >>> from memspan.theory.elementwise import MinimalCell
    >>> network = Network(cell=MinimalCell(), sigma_w=6.88, sigma_v=1.39, input_variance=0.46, bias_mean=-4)
    >>> met = simulate(network, width=500, steps=30, networks=4, input_correlation=[0.0] * 10 + [1.0] * 20)
    >>> bool(met.c[9] < 0.1), bool(met.c[29] > 0.99)
    (True, True)
    """
    correlations = _per_step(input_correlation, steps)
    correlation_within_one("initial_correlation", initial_correlation)
    ensemble = Ensemble(
        network=network,
        width=width,
        networks=networks,
        tied=tied,
        matrices=matrices,
        weights=weights,
        workers=workers,
    )
    start = StartingPair(_not_negative(initial_variance), initial_correlation)
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
class StartingPair:
    """The hidden states that two copies begin with: element-wise Gaussian, of this second moment and correlation."""

    variance: float = 0.0
    correlation: float = 1.0

    def states(self, network: Network, chunk: Chunk) -> State:
        """The states of both copies of every network in the chunk."""
        h = chunk.pair(self.variance, self.correlation) if self.variance else np.zeros(1)
        return network.cell.start(np.broadcast_to(h, (2, chunk.networks, chunk.width)))


def trajectories(
    ensemble: Ensemble,
    correlations: Array,
    start: StartingPair,
    *,
    seed: int | np.random.Generator,
    progress: Progress,
) -> Array:
    """c, q, C and Q (see `Simulation`) of every network by itself: (networks, 4, steps)."""
    network = ensemble.network

    def run(chunk: Chunk) -> Array:
        state = start.states(network, chunk)
        seen = np.empty((len(correlations), 4, chunk.networks))
        for step, correlation in enumerate(correlations):
            x = chunk.pair(network.input_variance, float(correlation))
            h = network.cell.hidden(state)
            recurrent, driven = moments(network, h, x, _BOTH)
            seen[step, :2] = _cosine(recurrent + driven)
            state = network.cell.step(chunk.weights.sums(h, x, _BOTH), x, state)
            seen[step, 2:] = _cosine(gram(network.cell.hidden(state)))
        return seen.T

    return np.concatenate(ensemble.map(run, seed=seed, progress=progress))


def _cosine(covariance: Array) -> tuple[Array, Array]:
    """Correlation and mean variance of two copies from their (2, 2, networks) covariance; two zeros count as equal."""
    (first, both), (_, second) = covariance
    size = np.sqrt(first * second)
    return np.divide(both, size, out=np.ones_like(size), where=size > 0), (first + second) / 2


def _per_step(correlation: float | Sequence[float] | Array, steps: int) -> Array:
    at_least_one("steps", steps)
    values = np.asarray(correlation, np.float64)
    if values.ndim > 1 or (values.ndim == 1 and values.size != steps):
        raise InputError(
            f"input_correlation has shape {values.shape}; expected one number, or one for each of {steps} steps; "
            "pass a list of that length"
        )
    for value in values.ravel():
        correlation_within_one("input_correlation", float(value))
    return np.broadcast_to(values, steps)


def _not_negative(variance: float | None) -> float:
    if variance is not None and not (math.isfinite(variance) and variance >= 0):
        raise InputError(
            f"initial_variance is {variance}; expected a finite number, 0 or more, or None; pass such a number"
        )
    return variance or 0.0
