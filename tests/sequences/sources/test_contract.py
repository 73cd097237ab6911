"""What every source of known information must do, tested on all of them."""

import subprocess
import sys

import numpy as np
import pytest
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.sequences import Sequence
from memspan.sequences.sources import (
    BigramChain,
    HiddenMarkov,
    Independent,
    IsingChain,
    MarkovChain,
    PowerLawBinary,
    QuantizedAR1,
    Source,
    StickyChain,
    TreeGrammar,
    power_law,
    sampler,
)

LOPSIDED = np.array([[0.7, 0.2, 0.1], [0.05, 0.9, 0.05], [0.6, 0.0, 0.4]])
EMISSION = np.array([[[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5], [0.0, 1.0]]])
SOURCES: dict[str, tuple[Source, int]] = {
    "power law, short": (PowerLawBinary(0.1, 0.5), 128),
    "power law, long": (PowerLawBinary(0.1, 0.5), 729),
    "power law, approximate": (PowerLawBinary(0.1, 1.0, approximate=True), 729),
    "lazy chain": (MarkovChain.lazy(5, stay=0.8), 729),
    "lopsided chain": (MarkovChain(LOPSIDED), 729),
    "hidden chain": (HiddenMarkov(np.array([[0.95, 0.05], [0.1, 0.9]]), EMISSION), 729),
    "periodic pairs": (HiddenMarkov.periodic_pairs(0.8), 729),
    "ferromagnet": (IsingChain(-0.7), 729),
    "antiferromagnet": (IsingChain(0.5), 729),
    "sticky chain": (StickyChain.zipf(12, stay=0.6), 729),
    "bigram chain": (BigramChain.fit(Sequence.from_documents(["abracadabra", "banana"])), 729),
    "autoregression": (QuantizedAR1(0.8, levels=5), 729),
    "alternating autoregression": (QuantizedAR1(-0.7, levels=3), 729),
    "tree": (TreeGrammar(3, LOPSIDED, depth=6), 729),
}
every_source = pytest.mark.parametrize(("source", "length"), SOURCES.values(), ids=SOURCES.keys())

N_GROUPS = 20
"""Groups of documents for the jackknife."""
SIGMAS = 4.5
"""Twenty groups give Student's t with 19 degrees of freedom: beyond 4.5 with probability 2.5e-4."""


def symbols_of(sequence: Sequence) -> NDArray[np.int64]:
    """Documents as rows."""
    return np.stack(list(sequence.documents())).astype(np.int64)


def plugin(table: NDArray[np.float64]) -> float:
    joint = table / table.sum()
    independent = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    seen = joint > 0
    return float(np.sum(joint[seen] * np.log(joint[seen] / independent[seen])))


def jackknife(documents: NDArray[np.int64], lag: int, n_symbols: int) -> tuple[float, float]:
    """Plug-in information with its bias removed, and its standard error, from groups of documents."""
    pairs = documents[:, :-lag] * n_symbols + documents[:, lag:]
    tables = np.array(
        [
            np.bincount(group.ravel(), minlength=n_symbols**2).reshape(n_symbols, n_symbols)
            for group in np.array_split(pairs, N_GROUPS)
        ]
    )
    whole = plugin(tables.sum(axis=0))
    without = np.array([plugin(tables.sum(axis=0) - table) for table in tables])
    corrected = N_GROUPS * whole - (N_GROUPS - 1) * without.mean()
    return corrected, float(np.sqrt((N_GROUPS - 1) * without.var()))


@every_source
def test_counted_information_agrees_with_the_stated_one(source: Source, length: int) -> None:
    sequence = source.sample(800, length, seed=1)
    documents = symbols_of(sequence)
    lags = [1, 2, 3, 7]
    for lag, exact in zip(lags, source.information(lags), strict=True):
        estimate, error = jackknife(documents, lag, len(sequence.alphabet))
        assert lag > 2 or error < 0.15 * exact, "the sample is too small for the comparison to mean anything"
        assert abs(estimate - exact) < SIGMAS * error


@every_source
def test_documents_have_the_requested_number_and_length(source: Source, length: int) -> None:
    sequence = source.sample(3, length, seed=0)
    assert sequence.offsets.tolist() == [0, length, 2 * length, 3 * length]
    assert sequence.store.read(0, 10).dtype == np.uint8
    assert sequence.alphabet == tuple(range(len(sequence.alphabet)))


@every_source
def test_documents_start_from_the_stationary_law(source: Source, length: int) -> None:
    n_documents = 2000
    documents = symbols_of(source.sample(n_documents, length, seed=2))
    n_symbols = documents.max() + 1
    first = np.bincount(documents[:, 0], minlength=n_symbols) / n_documents
    last = np.bincount(documents[:, -1], minlength=n_symbols) / n_documents
    five_sigma = 5 * np.sqrt(2 * 0.25 / n_documents)
    assert np.abs(first - last).max() < five_sigma


@every_source
def test_a_seed_fixes_every_symbol(source: Source, length: int) -> None:
    once, again = source.sample(2, length, seed=5), source.sample(2, length, seed=5)
    assert once.fingerprint() == again.fingerprint()
    assert once.fingerprint() != source.sample(2, length, seed=6).fingerprint()


@every_source
def test_a_generator_is_advanced(source: Source, length: int) -> None:
    rng = np.random.default_rng(5)
    first = source.sample(2, length, seed=rng)
    assert first.fingerprint() == source.sample(2, length, seed=5).fingerprint()
    assert first.fingerprint() != source.sample(2, length, seed=rng).fingerprint()


@every_source
def test_batches_leave_no_trace(source: Source, length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = source.sample(5, length, seed=3).fingerprint()
    monkeypatch.setattr(sampler, "BATCH", 100)
    monkeypatch.setattr(power_law, "BATCH", 2 * length)
    assert source.sample(5, length, seed=3).fingerprint() == whole


@every_source
def test_information_does_not_depend_on_the_order_of_lags(source: Source, length: int) -> None:
    lags = np.array([30, 1, 7, 1, 2])
    one_by_one = [source.information([lag])[0] for lag in lags.tolist()]
    np.testing.assert_allclose(source.information(lags), one_by_one, rtol=1e-12)


@every_source
@pytest.mark.parametrize("lags", [[0], [-1], [1.5], [[1, 2]], ["a"]])
def test_lags_that_are_not_positive_whole_numbers_are_refused(source: Source, length: int, lags: list) -> None:
    with pytest.raises(InputError, match="expected a list of positive integers"):
        source.information(lags)


@every_source
@pytest.mark.parametrize(("n_documents", "factor"), [(0, 1), (1, 0)])
def test_drawing_nothing_is_refused(source: Source, length: int, n_documents: int, factor: int) -> None:
    with pytest.raises(InputError, match="at least one of each"):
        source.sample(n_documents, factor * length, seed=0)


def test_the_alphabet_is_whole_even_where_symbols_do_not_occur() -> None:
    assert Independent(np.array([0.5, 0.5, 0.0])).sample(1, 20, seed=0).alphabet == (0, 1, 2)
    assert MarkovChain.lazy(300, stay=0.9).sample(1, 5, seed=0).alphabet == tuple(range(300))


def test_information_needs_neither_numba_nor_scipy() -> None:
    program = (
        "import sys, numpy as np; from memspan.sequences.sources import *; "
        "PowerLawBinary(0.1, 0.5).information([1]); MarkovChain.lazy(3, 0.5).information([1]); "
        "QuantizedAR1(0.5).information([1]); StickyChain.zipf(9, 0.5).information([1]); "
        "TreeGrammar(2, np.full((2, 2), 0.5), 3).information([1]); "
        "sys.exit(int('numba' in sys.modules or 'scipy' in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
