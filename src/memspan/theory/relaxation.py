"""The slope chi at a stable correlation, measured: how fast two pairs of copies come to agree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from memspan.errors import EvidenceError
from memspan.progress import SILENT, Progress
from memspan.theory.elementwise import Array, Network, State
from memspan.theory.ensemble import Chunk, Ensemble, at_least_one, correlation_within_one
from memspan.theory.growth import Growth
from memspan.theory.simulation import StartingPair

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
    network: Network,
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

    network: Network
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
