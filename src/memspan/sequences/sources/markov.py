"""Markov chains: the next symbol depends on the last one only, and information falls exponentially.

`MarkovChain` takes any transition matrix. `StickyChain` repeats its last symbol or draws a new one, and stays exact with
tens of thousands of symbols. `BigramChain` has the transitions of a given sequence. `IsingChain` is a chain of two spins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memspan.errors import InputError
from memspan.sequences.sequence import PIECE, Sequence
from memspan.sequences.sources.exact import excess, fair_bit_information, information_of_deviation, powers
from memspan.sequences.sources.independent import zipf_law
from memspan.sequences.sources.source import (
    Source,
    as_documents,
    check_size,
    checked_distribution,
    checked_lags,
    checked_transition,
    stationary,
)

# Largest alphabet of a bigram chain: its matrix and alias tables stay below half a gigabyte.
LARGEST_TABLE = 4_096

# Information in nats that is reported as zero: smaller values would only produce denormal numbers.
NEGLIGIBLE = 1e-40


@final
@dataclass(frozen=True, eq=False)
class MarkovChain(Source):
    """p(x_t = a, x_{t+tau} = b) = pi_a (P^tau)_ab, started from the stationary distribution pi.

    >>> chain = MarkovChain(np.array([[0.9, 0.1], [0.3, 0.7]]))
    >>> chain.stationary.round(2).tolist(), chain.information([1]).round(4).tolist()
    ([0.75, 0.25], [0.1658])
    """

    transition: NDArray[np.float64]
    """P[a, b] = p(b | a), shape symbols × symbols, irreducible; rows are scaled to sum to one."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "transition", checked_transition(self.transition))

    @classmethod
    def lazy(cls, n_symbols: int, stay: float) -> MarkovChain:
        """Stays with probability `stay`, otherwise moves to one of the other symbols, all equally likely.

        >>> MarkovChain.lazy(3, stay=0.5).transition.tolist()
        [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]
        """
        if n_symbols < 2 or not 0.0 <= stay < 1.0:
            raise InputError(f"{n_symbols} symbols, stay {stay}; expected two or more, and 0 <= stay < 1")
        transition = np.full((n_symbols, n_symbols), (1.0 - stay) / (n_symbols - 1))
        np.fill_diagonal(transition, stay)
        return cls(transition)

    @classmethod
    def cycle(cls, period: int) -> MarkovChain:
        """0, 1, …, period - 1, 0, 1, … from a random start: I(tau) = ln(period) at every lag.

        >>> MarkovChain.cycle(3).information([1, 3, 1000]).round(4).tolist()
        [1.0986, 1.0986, 1.0986]
        """
        if period < 2:
            raise InputError(f"period {period}; expected two or more")
        return cls(np.roll(np.eye(period), 1, axis=1))

    @property
    def stationary(self) -> NDArray[np.float64]:
        """pi = pi P, the distribution of a single symbol."""
        return stationary(self.transition)

    def information(self, lags: ArrayLike) -> NDArray[np.float64]:
        return _information(self.transition, self.stationary, lags)

    def sample(self, n_documents: int, length: int, *, seed: int | np.random.Generator) -> Sequence:
        return _sample(self.transition, self.stationary, n_documents, length, seed)


@final
@dataclass(frozen=True, eq=False)
class StickyChain(Source):
    """p(x_t = a, x_{t+tau} = b) = s p_a [a = b] + (1 - s) p_a p_b with s = stay^tau.

    Each symbol repeats the last one with probability `stay` and is drawn from p otherwise. Two symbols are equal
    if nothing was drawn between them, and independent otherwise. In terms of
    e(r) = (1 + r) ln(1 + r) - r the information is a sum over single symbols,

        I(tau) = sum_a p_a^2 e(s (1 - p_a)/p_a) + (1 - sum_a p_a^2) e(-s),

    so time and memory grow with the number of symbols, not with the number of pairs.

    >>> StickyChain.zipf(50_000, stay=0.5).information([1, 10, 100]).round(4).tolist()
    [3.1138, 0.0014, 0.0]
    """

    probabilities: NDArray[np.float64]
    """p, shape symbols."""
    stay: float
    """Probability that a symbol repeats the last one; 0 <= stay < 1."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "probabilities", checked_distribution(self.probabilities))
        if not 0.0 <= self.stay < 1.0:
            raise InputError(f"stay {self.stay}; expected a probability from 0 to less than 1")

    @classmethod
    def zipf(cls, n_symbols: int, stay: float) -> StickyChain:
        """New symbols follow Zipf's law, p(k) proportional to 1/k over k = 1 … n_symbols."""
        return cls(zipf_law(n_symbols), stay)

    def information(self, lags: ArrayLike) -> NDArray[np.float64]:
        p = self.probabilities[self.probabilities > 0.0]
        odds, equal = (1.0 - p) / p, float(p @ p)
        memory = self.stay ** checked_lags(lags).astype(np.float64)
        values = [p**2 @ excess(s * odds) + (1.0 - equal) * excess(np.array([-s]))[0] for s in memory]
        return np.array(values)

    def sample(self, n_documents: int, length: int, *, seed: int | np.random.Generator) -> Sequence:
        from memspan.sequences.sources.sampler import draw_repeats

        check_size(n_documents, length)
        rng = np.random.default_rng(seed)
        symbols = draw_repeats(self.probabilities, self.stay, n_documents, length, rng)
        return as_documents(symbols, length, len(self.probabilities))


@final
@dataclass(frozen=True, eq=False)
class BigramChain(Source):
    """The Markov chain with the transitions of a given sequence: p(b | a) = n_ab / n_a.

    `fit` counts neighbors, including those from each document's last symbol to the next document's first and from the
    very last symbol to the very first. The counts then form one closed walk through all symbols, so every symbol has a
    successor and can be reached from every other, and the stationary distribution is exactly p(a) = n_a / N.

    >>> chain = BigramChain.fit(Sequence.from_documents(["abracadabra"]))
    >>> (11 * chain.stationary).round(12).tolist()  # a, b, c, d, r
    [5.0, 2.0, 1.0, 1.0, 2.0]
    >>> chain.information([1, 2, 10]).round(4).tolist()
    [0.8087, 0.3902, 0.0003]
    """

    counts: NDArray[np.int64]
    """Number of times symbol b follows symbol a, shape symbols × symbols; row sums equal column sums."""

    def __post_init__(self) -> None:
        counts = np.array(self.counts)
        if (
            counts.ndim != 2
            or counts.shape[0] != counts.shape[1]
            or len(counts) < 2
            or not np.issubdtype(counts.dtype, np.integer)
            or counts.min() < 0
        ):
            raise InputError(
                f"bigram counts of type {counts.dtype} and shape {counts.shape}; expected non-negative "
                "integers, two or more symbols, square; use BigramChain.fit"
            )
        occurrences = counts.sum(axis=1)
        if not np.array_equal(occurrences, counts.sum(axis=0)) or occurrences.min() < 1:
            raise InputError(
                "bigram counts in which a symbol never occurs, or occurs more often on one side; "
                "expected those of a closed walk; use BigramChain.fit"
            )
        counts.setflags(write=False)
        object.__setattr__(self, "counts", counts)

    @classmethod
    def fit(cls, sequence: Sequence, n_symbols: int | None = None) -> BigramChain:
        """The chain of a sequence; with `n_symbols`, all but the n_symbols - 1 most frequent symbols become one.

        >>> BigramChain.fit(Sequence.from_documents(["abracadabra"]), n_symbols=2).counts.tolist()
        [[1, 4], [4, 2]]
        """
        occurrences = np.zeros(len(sequence.alphabet), dtype=np.int64)
        for start in range(0, sequence.length, PIECE):
            part = sequence.store.read(start, min(start + PIECE, sequence.length))
            occurrences += np.bincount(part, minlength=len(occurrences))
        place, kinds = _renumbered(occurrences, n_symbols)
        if not 2 <= kinds <= LARGEST_TABLE:
            raise InputError(
                f"a bigram chain of {kinds:,} different symbols; expected 2 to {LARGEST_TABLE:,}; "
                "pass n_symbols to merge the rare ones into one"
            )
        counts = np.zeros(kinds * kinds, dtype=np.int64)
        for start in range(0, sequence.length, PIECE):
            stop = min(start + PIECE, sequence.length)
            symbols = place[sequence.store.read(start, stop)]
            # The symbol after the very last one is the very first.
            after = stop % sequence.length
            following = np.concatenate([symbols[1:], place[sequence.store.read(after, after + 1)]])
            counts += np.bincount(symbols * kinds + following, minlength=kinds * kinds)
        return cls(counts.reshape(kinds, kinds))

    @property
    def stationary(self) -> NDArray[np.float64]:
        """n_a / N, the distribution of a single symbol."""
        return self.counts.sum(axis=1) / self.counts.sum()

    @property
    def transition(self) -> NDArray[np.float64]:
        """p(b | a), shape symbols × symbols."""
        return self.counts / self.counts.sum(axis=1, keepdims=True)

    def information(self, lags: ArrayLike) -> NDArray[np.float64]:
        return _information(self.transition, self.stationary, lags)

    def sample(self, n_documents: int, length: int, *, seed: int | np.random.Generator) -> Sequence:
        """Documents over the symbols 0, 1, …, numbered as in the alphabet of the sequence (merged ones last)."""
        return _sample(self.transition, self.stationary, n_documents, length, seed)


@final
@dataclass(frozen=True)
class IsingChain(Source):
    """p(s_t | s_{t-1}) = exp(-beta J s_{t-1} s_t) / (2 cosh(beta J)).  Shen 2019, Eq. 62.

    With this sign a positive J favors unequal neighbors; symbol 0 is spin -1, symbol 1 is spin +1. Spins at
    lag tau have correlation l^tau, l = -tanh(beta J), and both spins are equally likely, so
    I(tau) = 1/2 [(1 + l^tau) ln(1 + l^tau) + (1 - l^tau) ln(1 - l^tau)].

    >>> IsingChain(-1.0).information([1, 10]).round(4).tolist()
    [0.3278, 0.0022]
    """

    beta_j: float
    """Interaction over temperature."""

    def __post_init__(self) -> None:
        # Beyond 18, tanh(beta J) rounds to one: the chain would never change, or always change.
        if not abs(self.beta_j) <= 18.0:
            raise InputError(f"beta J is {self.beta_j}; expected a number from -18 to 18")

    def chain(self) -> MarkovChain:
        """The same process as a Markov chain of two symbols."""
        equal = 1.0 / (1.0 + np.exp(2.0 * self.beta_j))
        unequal = 1.0 / (1.0 + np.exp(-2.0 * self.beta_j))
        return MarkovChain(np.array([[equal, unequal], [unequal, equal]]))

    def information(self, lags: ArrayLike) -> NDArray[np.float64]:
        return fair_bit_information(np.tanh(abs(self.beta_j)) ** checked_lags(lags))

    def sample(self, n_documents: int, length: int, *, seed: int | np.random.Generator) -> Sequence:
        return self.chain().sample(n_documents, length, seed=seed)


def _renumbered(occurrences: NDArray[np.int64], n_symbols: int | None) -> tuple[NDArray[np.int64], int]:
    """The new number of every symbol, without gaps and with the rare ones merged, and the size of the new alphabet."""
    if n_symbols is not None and n_symbols < 2:
        raise InputError(f"n_symbols {n_symbols}; expected two or more")
    seen = np.flatnonzero(occurrences)
    if n_symbols is None or len(seen) <= n_symbols:
        frequent, merged = seen, 0
    else:
        order = np.argsort(-occurrences, kind="stable")
        frequent, merged = np.sort(order[: n_symbols - 1]), 1
    place = np.full(len(occurrences), len(frequent), dtype=np.int64)
    place[frequent] = np.arange(len(frequent))
    return place, len(frequent) + merged


def _information(transition: NDArray[np.float64], pi: NDArray[np.float64], lags: ArrayLike) -> NDArray[np.float64]:
    """P^tau = 1 pi + (P - 1 pi)^tau, where the second term is the deviation from independence."""
    ordered, place = np.unique(checked_lags(lags), return_inverse=True)
    values = np.zeros(len(ordered))
    for number, deviation in enumerate(powers(np.diag(pi), transition - pi, ordered)):
        values[number] = information_of_deviation(deviation, pi, pi)
        # The information of a chain never grows with the lag, so all later values are smaller.
        if values[number] < NEGLIGIBLE:
            break
    return values[place]


def _sample(
    transition: NDArray[np.float64],
    pi: NDArray[np.float64],
    n_documents: int,
    length: int,
    seed: int | np.random.Generator,
) -> Sequence:
    from memspan.sequences.sources.sampler import draw_walks

    check_size(n_documents, length)
    states = np.arange(len(transition))
    rng = np.random.default_rng(seed)
    symbols = draw_walks(np.vstack([transition, pi]), states, states, n_documents, length, rng)
    return as_documents(symbols, length, len(states))
