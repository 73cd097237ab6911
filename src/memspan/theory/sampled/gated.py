"""`gated_point`: fixed point and timescale of an LSTM, a GRU or any other cell, by sampling.

Chen 2018 solves the vanilla and the minimal cell, and expects the theory to extend further (section 1). With several gates
the state of a neuron has no closed law. The sums are still Gaussian given the states, so a population of neurons, each with
its own history, answers the same questions by sampling.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from memspan.errors import EvidenceError, InputError
from memspan.progress import SILENT, Progress
from memspan.statistics import jackknife_error, standard_error
from memspan.theory.meanfield.parameters import check_correlation
from memspan.theory.sampled.cells import Array, RandomNetwork, State
from memspan.theory.sampled.ensemble import Chunk, Ensemble, at_least_one, seed_number
from memspan.theory.sampled.simulation import BOTH, Growth, InitialPair, growth, trajectories

# A quantity that still changes by 2 % (a correlation by 0.02) and by four standard errors has not
# converged.
_DRIFT, _DRIFT_ERRORS = 0.02, 4.0
# Copies that start uncorrelated find the stable correlation even where 1 is a fixed point.
_UNLIKE = InitialPair(variance=0.01, correlation=0.0)
# Share of the neurons whose second copy is set to the first: small enough for a linear response.
_MERGED_SHARE = 0.1
# Perturbations per network.
_FORKS = 8
# A difference must exceed zero by this many standard errors to be used.
_TRUSTED = 5.0


@final
@dataclass(frozen=True, kw_only=True)
class GatedPoint:
    """Sampled fixed point of an untied random network; each number with its standard error over networks."""

    q: float
    """Second moment of the sums W h + V x + b, without the bias mean."""
    q_error: float
    Q: float
    """Second moment of the hidden state."""
    Q_error: float
    c: float
    """Correlation of the sums of two copies whose inputs have the given correlation."""
    c_error: float
    chi: float
    """Factor per step of a small deviation from c."""
    chi_error: float
    chi1: float
    """Factor per step of a small squared distance with the same inputs; chaotic if 1 or more."""
    chi1_error: float

    @property
    def timescale(self) -> float:
        """-1 / log chi, in steps; infinite if chi is 1 or more."""
        return Growth(self.chi, self.chi_error).timescale

    @property
    def timescale_error(self) -> float:
        """Standard error of the timescale; NaN if that is infinite."""
        return Growth(self.chi, self.chi_error).timescale_error


def gated_point(
    network: RandomNetwork,
    *,
    input_correlation: float = 1.0,
    width: int = 4096,
    steps: int | None = None,
    networks: int = 8,
    seed: int | np.random.Generator = 0,
    workers: int | None = None,
    progress: Progress = SILENT,
) -> GatedPoint:
    """q, Q, c, chi and chi_1 of a random network with any element-wise cell, by sampling untied networks.

    q, Q and c are means over the second half of `steps`, for two copies that start uncorrelated. chi_1 is `growth`, of the
    cell state for the LSTM and of h for the others. chi equals chi_1 if equal inputs make the copies equal, and is
    measured by `relaxation` otherwise. By default `steps` grows with the bias mean like the retention time of the gate,
    1 + exp(bias mean). The timescale is then accurate to 1 % for equal inputs (standard errors miss the rarest neurons,
    see `growth`) and to about 5 % for others. Raises EvidenceError if the states have not converged.

    >>> from memspan.theory.sampled.cells import GRUCell
    >>> point = gated_point(RandomNetwork(cell=GRUCell(), bias_mean=2.0))
    >>> round(point.timescale, 1)
    3.3
    """
    check_correlation(input_correlation)
    if networks < 2 or (steps is not None and steps < 8):
        raise InputError(
            f"got {networks} networks and {steps} steps; expected at least 2 networks and 8 steps, "
            "because errors are estimated from the spread over networks"
        )
    steps = _default_steps(network) if steps is None else steps
    ensemble = Ensemble(network=network, width=width, networks=networks, workers=workers)
    # Independent streams, so that each part is reproducible by itself.
    streams = np.random.default_rng(seed_number(seed)).spawn(3)
    correlations = np.full(steps, input_correlation)
    series = trajectories(ensemble, correlations, _UNLIKE, seed=streams[0], progress=progress)
    late = _time_means(series[:, :, steps // 2 :], steps)
    (c, q, _, Q), (c_error, q_error, _, Q_error) = late.mean(axis=0).tolist(), standard_error(late).tolist()
    near = growth(
        network, width=width, steps=steps, networks=networks, seed=streams[1], workers=workers, progress=progress
    )
    if input_correlation == 1 and not near.chaotic:
        slope, c, c_error = near, 1.0, 0.0
    else:
        slope = relaxation(
            network,
            input_correlation=input_correlation,
            width=width,
            steps=steps,
            networks=networks,
            seed=streams[2],
            workers=workers,
            progress=progress,
        )
    return GatedPoint(
        q=q,
        q_error=q_error,
        Q=Q,
        Q_error=Q_error,
        c=c,
        c_error=c_error,
        chi=slope.chi,
        chi_error=slope.error,
        chi1=near.chi,
        chi1_error=near.error,
    )


def _default_steps(network: RandomNetwork) -> int:
    retention = 1 + math.exp(min(network.bias_mean, 7.0))
    return int(min(max(100.0, 4 * retention), 2000.0))


def _time_means(late: Array, steps: int) -> Array:
    """Means over time of every network, (networks, 4); raises EvidenceError if the halves of `late` differ."""
    middle = late.shape[-1] // 2
    change = late[..., middle:].mean(axis=-1) - late[..., :middle].mean(axis=-1)
    drift, error = np.abs(change.mean(axis=0)), standard_error(change)
    _, q, _, Q = late.mean(axis=(0, 2))
    size = np.array([1.0, q, 1.0, Q])
    moving = (drift > _DRIFT * size) & (drift > _DRIFT_ERRORS * error)
    if moving.any():
        name = ("c", "q", "C", "Q")[int(np.argmax(moving))]
        raise EvidenceError(
            f"{name} still changes by {drift[moving][0] / size[moving][0]:.0%} after {steps} steps; expected a stationary "
            f"network; pass more steps, for example steps={4 * steps}"
        )
    return late.mean(axis=-1)


def relaxation(
    network: RandomNetwork,
    *,
    input_correlation: float,
    width: int,
    steps: int,
    networks: int,
    seed: int | np.random.Generator = 0,
    workers: int | None = None,
    progress: Progress = SILENT,
) -> Growth:
    """chi = lim D_{t+1} / D_t, with D_t the difference of the covariances E[h_a h_b] of two pairs of copies.

    Both pairs have the same inputs and random numbers, in untied networks. After `steps` / 2 steps, enough to reach the
    stable correlation, the second pair is made from the first by setting copy b to copy a in 10 % of the neurons. The
    effect falls as chi^t over the next `steps` / 10 steps at most. chi is fitted to log D_t as long as D_t is at least
    five standard errors; raises EvidenceError if only the first D_t is. For chi below 0.1 the result is too large by up to
    a quarter, because one step ends everything before the response is linear.
    """
    at_least_one("steps", steps)
    check_correlation(input_correlation)
    ensemble = Ensemble(network=network, width=width, networks=networks, workers=workers)

    def run(chunk: Chunk) -> Array:
        fork = _ForkedPair(network, chunk, input_correlation)
        state = _UNLIKE.states(network, chunk)
        for _ in range(steps // 2):
            state = fork.advance(state)
        return np.mean([fork.differences(state, max(steps // 10, 8)) for _ in range(_FORKS)], axis=0)

    parts = ensemble.map(run, seed=seed, progress=progress, words="measuring the relaxation of pairs of networks")
    return _fit_decay_rate(np.concatenate(parts, axis=1).T)


@final
@dataclass(frozen=True, eq=False)
class _ForkedPair:
    """Pairs of copies whose future can be replayed with the same random numbers."""

    network: RandomNetwork
    chunk: Chunk
    correlation: float

    def advance(self, state: State) -> State:
        x = self.chunk.pair(self.network.input_variance, self.correlation)
        e = self.chunk.weights.sums(self.network.cell.hidden(state), x, BOTH)
        return self.network.cell.step(e, x, state)

    def differences(self, state: State, steps: int) -> Array:
        """D_0 ... D_steps: (steps + 1, networks)."""
        generator = self.chunk.generator.bit_generator
        merged = np.arange(self.chunk.width) < max(1, round(_MERGED_SHARE * self.chunk.width))
        other = tuple(np.stack([s[0], np.where(merged, s[0], s[1])]) for s in state)
        seen = [self._difference(state, other)]
        for _ in range(steps):
            # Both pairs must see the same inputs and weights: rewind the generator for the second.
            before = generator.state
            state = self.advance(state)
            generator.state = before
            other = self.advance(other)
            seen.append(self._difference(state, other))
        return np.array(seen)

    def _difference(self, state: State, other: State) -> Array:
        """(h_a - C h_b) . (h_b' - h_b) / N, where the control variate C h_b removes most of the noise, not the mean."""
        (a, b), (_, moved) = self.network.cell.hidden(state), self.network.cell.hidden(other)
        norm = np.vecdot(b, b)
        C = np.divide(np.vecdot(a, b), norm, out=np.zeros_like(norm), where=norm > 0)
        change = moved - b
        return (np.vecdot(a, change) - C * np.vecdot((b + moved) / 2, change)) / b.shape[-1]


def _fit_decay_rate(differences: Array) -> Growth:
    """chi from D_t of every network, (networks, steps + 1), with a jackknife error over networks."""
    mean, error = differences.mean(axis=0), standard_error(differences)
    lost = np.flatnonzero(~(mean > _TRUSTED * error))
    last = int(lost[0]) - 1 if lost.size else mean.size - 1
    if last < 1:
        raise EvidenceError(
            "the difference between two pairs of networks is lost in noise after one step; expected at least "
            f"{_TRUSTED:g} standard errors; pass more networks or a larger width"
        )
    # The first third still holds faster modes than the slowest.
    times = slice(last // 3, last + 1)
    left_out = (differences.sum(axis=0) - differences) / (len(differences) - 1)
    rates = [_log_slope(values[times]) for values in left_out]
    chi = math.exp(_log_slope(mean[times]))
    return Growth(chi, chi * float(jackknife_error(rates)))


def _log_slope(values: Array) -> float:
    return float(np.polyfit(np.arange(values.size), np.log(values), 1)[0])
