"""When is a law headlined? Sources whose law is known, and sources that follow none of the laws.

`python examples/law_calibration.py 20` measures 20 samples of each source (about 20 minutes). The default is 2.
"""

import sys
from collections.abc import Callable

import numpy as np

import memspan as ms
from memspan.errors import EvidenceError

MarkovChain, PowerLawBinary = ms.sources.MarkovChain, ms.sources.PowerLawBinary


def two_chains(slow: float, length: int, seed: int) -> ms.Sequence:
    """A fast chain of four symbols and a slow one of two, side by side: a sum of two exponentials."""
    samples = (
        MarkovChain.lazy(4, stay=0.5).sample(1, length, seed=seed),
        MarkovChain.lazy(2, stay=slow).sample(1, length, seed=seed + 1_000_000),
    )
    fast, second = (next(sample.documents()).astype(np.int64) for sample in samples)
    return ms.Sequence.from_documents([2 * fast + second])


def noisy_period(pattern: str, length: int, seed: int) -> ms.Sequence:
    """A repeated pattern with 30 % of the symbols drawn at random."""
    rng = np.random.default_rng(seed)
    symbols = np.resize(np.array(list(pattern)), length)
    errors = rng.random(length) < 0.3
    symbols[errors] = rng.choice(np.unique(symbols), errors.sum())
    return ms.Sequence.from_documents(["".join(symbols)])


SOURCES: dict[str, Callable[[int], ms.Sequence]] = {
    "power law 0.3, 400 documents": lambda seed: PowerLawBinary(0.1, 0.3).sample(400, 400, seed=seed),
    "power law 0.5, 1,000 documents": lambda seed: PowerLawBinary(0.1, 0.5).sample(1_000, 1_000, seed=seed),
    "power law 1.0, 1,000 documents": lambda seed: PowerLawBinary(0.1, 1.0).sample(1_000, 1_000, seed=seed),
    "Markov, 2 symbols, length 25": lambda seed: MarkovChain.lazy(2, stay=0.98).sample(1, 300_000, seed=seed),
    "Markov, 4 symbols": lambda seed: MarkovChain.lazy(4, stay=0.8).sample(1, 100_000, seed=seed),
    "Markov, 20 symbols": lambda seed: MarkovChain.lazy(20, stay=0.9).sample(1, 200_000, seed=seed),
    "two exponentials, lengths 1 and 250": lambda seed: two_chains(0.999, 1_000_000, seed),
    "two exponentials, lengths 1 and 25": lambda seed: two_chains(0.99, 300_000, seed),
    "noisy period aabab": lambda seed: noisy_period("aabab", 100_000, seed),
    "noisy period abc": lambda seed: noisy_period("abc", 100_000, seed),
}

seeds = int(sys.argv[1]) if sys.argv[1:] and sys.argv[1].isdigit() else 2
for name, sample in SOURCES.items():
    accepted, periods, best = 0, 0, []
    for seed in range(seeds):
        curve = ms.mutual_information(sample(seed), seed=seed)
        try:
            fit = ms.fit_decay(curve)
        except EvidenceError:
            continue
        period = ms.decay.find_period(curve)
        periods += period is not None
        accepted += fit.fits and period is None
        best.append(fit.best)
    common = max(set(best), key=best.count) if best else "none"
    print(f"{name}: law accepted in {accepted} of {seeds}, period found in {periods}; mostly {common}", flush=True)
