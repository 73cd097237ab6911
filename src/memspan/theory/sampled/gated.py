"""`gated_point`: where an LSTM or a GRU settles and how long it remembers, beyond the sources.

Chen 2018 solves the vanilla and the minimal cell, and expects the theory to reach further (section 1). With several
gates the state of a neuron has no closed law, but the sums are still Gaussian given the states, so a population of
neurons, each with its own history, answers the same questions by sampling.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from memspan.errors import EvidenceError, InputError
from memspan.progress import SILENT, Progress
from memspan.theory.sampled.cells import Array, RandomNetwork, State
from memspan.theory.sampled.ensemble import (
    Chunk,
    Ensemble,
    at_least_one,
    correlation_within_one,
    seed_number,
    standard_error,
)
from memspan.theory.sampled.simulation import Growth, StartingPair, growth, trajectories

_DRIFT, _ERRORS = 0.02, 4.0
"""What still changes by 2 % (a correlation by 0.02), and by four standard errors, has not settled."""


@final
@dataclass(frozen=True, kw_only=True)
class GatedPoint:
    """Where an untied random network settles, by sampling; each number with its standard error over networks."""

    q: float
    """Second moment of the sums W h + V x + b, without the bias mean."""
    q_error: float
    Q: float
    """Second moment of the hidden state."""
    Q_error: float
    c: float
    """Correlation of the sums of two copies whose inputs have the correlation asked for."""
    c_error: float
    chi: float
    """Factor per step by which a deviation from c falls."""
    chi_error: float
    chi1: float
    """Factor per step of a small squared distance under the same inputs; 1 and above: chaotic."""
    chi1_error: float

    @property
    def timescale(self) -> float:
        """-1 / log chi, in steps; infinite where chi is 1 or more."""
        return Growth(self.chi, self.chi_error).timescale

    @property
    def timescale_error(self) -> float:
        """Standard error of the timescale; nan where that is infinite."""
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

    q, Q and c are means over the later half of `steps`, of two copies that start apart; chi_1 is `growth`, of the cell
    state for the LSTM and of h for the others; chi is chi_1 where equal inputs make the copies equal, and otherwise
    `relaxation`. By default `steps` grows with the bias mean as the time that the gate keeps its state, 1 + exp(bias
    mean); the timescale then is good to 1 % at equal inputs (standard errors miss the rarest neurons, see `growth`) and
    to about 5 % at others. Raises EvidenceError if the states have not settled.

    >>> from memspan.theory.sampled.cells import GRUCell
    >>> point = gated_point(RandomNetwork(cell=GRUCell(), bias_mean=2.0))
    >>> round(point.timescale, 1)
    3.3
    """
    correlation_within_one("input_correlation", input_correlation)
    if networks < 2 or (steps is not None and steps < 8):
        raise InputError(
            f"got {networks} networks and {steps} steps; expected at least 2 networks and 8 steps, "
            "since errors come from networks that differ; pass more"
        )
    steps = _default_steps(network) if steps is None else steps
    ensemble = Ensemble(
        network=network,
        width=width,
        networks=networks,
        tied=False,
        matrices=False,
        weights="gaussian",
        workers=workers,
    )
    streams = np.random.default_rng(seed_number(seed)).spawn(3)
    correlations = np.full(steps, input_correlation)
    series = trajectories(ensemble, correlations, APART, seed=streams[0], progress=progress)
    late = _settled(series[:, :, steps // 2 :], steps)
    (c, q, _, Q), (c_error, q_error, _, Q_error) = late.mean(axis=0).tolist(), standard_error(late).tolist()
    near = growth(
        network,
        width=width,
        steps=steps,
        networks=networks,
        seed=streams[1],
        workers=workers,
        progress=progress,
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
    kept = 1 + math.exp(min(network.bias_mean, 7.0))
    return int(min(max(100.0, 4 * kept), 2000.0))


def _settled(late: Array, steps: int) -> Array:
    """Means over time of every network, (networks, 4); refuses what still drifts between the halves of `late`."""
    middle = late.shape[-1] // 2
    change = late[..., middle:].mean(axis=-1) - late[..., :middle].mean(axis=-1)
    drift, error = np.abs(change.mean(axis=0)), standard_error(change)
    _, q, _, Q = late.mean(axis=(0, 2))
    size = np.array([1.0, q, 1.0, Q])
    moving = (drift > _DRIFT * size) & (drift > _ERRORS * error)
    if moving.any():
        name = ("c", "q", "C", "Q")[int(np.argmax(moving))]
        raise EvidenceError(
            f"{name} still changes by {drift[moving][0] / size[moving][0]:.0%} after {steps} steps; expected a network "
            f"that has settled; pass more steps, for example steps={4 * steps}"
        )
    return late.mean(axis=-1)


_PART = 0.1
"""Share of the neurons whose second copy is made equal to the first: small enough that the response is linear."""
_TRUSTED = 5.0
"""Standard errors by which a difference must exceed zero to be used."""
_FORKS = 8
"""How often that is done to a network."""
APART = StartingPair(variance=0.01, correlation=0.0)
"""Copies that start unlike each other, so that they find the stable correlation even where 1 is a fixed point."""
_BOTH = np.ones(2)


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

    Both pairs see the same inputs and the same random numbers, in untied networks. After `steps` / 2 steps, which
    must suffice to reach the stable correlation, the second pair is made from the first by setting copy b to copy a in
    10 % of the neurons; what is left of that after t steps, at most `steps` / 10, falls as chi^t. The slope is fitted to
    log D_t where D_t is five standard errors or more. Raises EvidenceError where only the first D_t is. If chi is
    below 0.1 it comes out too large by up to a quarter: one step then ends all, before the response is linear.
    """
    at_least_one("steps", steps)
    correlation_within_one("input_correlation", input_correlation)
    ensemble = Ensemble(
        network=network,
        width=width,
        networks=networks,
        tied=False,
        matrices=False,
        weights="gaussian",
        workers=workers,
    )

    def run(chunk: Chunk) -> Array:
        fork = _Fork(network, chunk, input_correlation)
        state = APART.states(network, chunk)
        for _ in range(steps // 2):
            state = fork.advance(state)
        return np.mean([fork.differences(state, max(steps // 10, 8)) for _ in range(_FORKS)], axis=0)

    parts = ensemble.map(run, seed=seed, progress=progress, words="measuring how pairs of networks relax")
    return _fit(np.concatenate(parts, axis=1).T)


@final
@dataclass(frozen=True, eq=False)
class _Fork:
    """Pairs of copies whose future can be replayed with the same random numbers."""

    network: RandomNetwork
    chunk: Chunk
    correlation: float

    def advance(self, state: State) -> State:
        x = self.chunk.pair(self.network.input_variance, self.correlation)
        e = self.chunk.weights.sums(self.network.cell.hidden(state), x, _BOTH)
        return self.network.cell.step(e, x, state)

    def differences(self, state: State, steps: int) -> Array:
        """D_0 ... D_steps: (steps + 1, networks)."""
        generator = self.chunk.generator.bit_generator
        met = np.arange(self.chunk.width) < max(1, round(_PART * self.chunk.width))
        other = tuple(np.stack([s[0], np.where(met, s[0], s[1])]) for s in state)
        seen = [self._difference(state, other)]
        for _ in range(steps):
            before = generator.state
            state = self.advance(state)
            generator.state = before
            other = self.advance(other)
            seen.append(self._difference(state, other))
        return np.array(seen)

    def _difference(self, state: State, other: State) -> Array:
        """(h_a - C h_b) . (h_b' - h_b) / N, where C h_b, which changes no mean, takes away most of the noise."""
        (a, b), (_, moved) = self.network.cell.hidden(state), self.network.cell.hidden(other)
        norm = np.vecdot(b, b)
        C = np.divide(np.vecdot(a, b), norm, out=np.zeros_like(norm), where=norm > 0)
        change = moved - b
        return (np.vecdot(a, change) - C * np.vecdot((b + moved) / 2, change)) / b.shape[-1]


def _fit(differences: Array) -> Growth:
    """chi from D_t of every network, (networks, steps + 1), with an error by leaving out one network at a time."""
    mean, error = differences.mean(axis=0), differences.std(axis=0, ddof=1) / math.sqrt(len(differences))
    lost = np.flatnonzero(~(mean > _TRUSTED * error))
    last = int(lost[0]) - 1 if lost.size else mean.size - 1
    if last < 1:
        raise EvidenceError(
            "the difference between two pairs of networks is lost in noise after one step; expected it to be "
            f"{_TRUSTED:g} standard errors or more; pass more networks or a larger width"
        )
    times = slice(last // 3, last + 1)
    rest = (differences.sum(axis=0) - differences) / (len(differences) - 1)
    rates = [_rate(values[times]) for values in rest]
    chi = math.exp(_rate(mean[times]))
    return Growth(chi, chi * math.sqrt((len(rates) - 1) * float(np.var(rates))))


def _rate(values: Array) -> float:
    return float(np.polyfit(np.arange(values.size), np.log(values), 1)[0])
