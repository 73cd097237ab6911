"""Periods and influential stretches: named where they are, silent where they are not."""

from __future__ import annotations

import numpy as np
import pytest

from memspan.decay import fit_decay, measure
from memspan.decay.structure import find_influence, find_period
from memspan.errors import EvidenceError
from memspan.information import count_pairs, mutual_information
from memspan.results import Measurement
from memspan.sequences import Sequence
from memspan.sequences.sources import Independent, MarkovChain, PowerLawBinary

APERIODIC = {
    "independent": lambda seed: Independent.uniform(8).sample(1, 50_000, seed=seed),
    "markov": lambda seed: MarkovChain.lazy(4, stay=0.8).sample(1, 50_000, seed=seed),
    "slow": lambda seed: MarkovChain.lazy(2, stay=0.98).sample(1, 50_000, seed=seed),
    "power": lambda seed: PowerLawBinary(0.1, 0.5).sample(1, 50_000, seed=seed),
    "documents": lambda seed: PowerLawBinary(0.1, 1.0).sample(200, 500, seed=seed),
}


def noisy(pattern: str, length: int, noise: float, seed: int) -> Sequence:
    """A pattern over and over, with a share of its symbols drawn anew from those of the pattern."""
    generator = np.random.default_rng(seed)
    symbols = np.resize(np.array([ord(letter) for letter in pattern]), length)
    changed = generator.random(length) < noise
    symbols[changed] = generator.choice(np.unique(symbols), changed.sum())
    return Sequence.from_documents([symbols])


def codons(length: int, seed: int) -> Sequence:
    """Four letters whose frequencies depend on the place within a triple, independent otherwise."""
    shift = 0.06 * np.array([[1, -1, 1, -1], [-1, 1, -1, 1], [1, 1, -1, -1]])
    below = np.cumsum(0.25 + shift, axis=1)[np.arange(length) % 3]
    letters = (np.random.default_rng(seed).random(length)[:, None] > below).sum(axis=1)
    return Sequence.from_documents([letters.clip(0, 3)])


def with_table(seed: int, length: int = 200_000, share: float = 0.02) -> tuple[Sequence, int]:
    """A chain of which a stretch is one row over and over, and where the stretch begins."""
    (chain,) = MarkovChain.lazy(20, stay=0.6).sample(1, length, seed=seed).documents()
    symbols, generator = chain.astype(np.int64), np.random.default_rng(seed)
    rows = round(share * length)
    start = int(generator.integers(0, length - rows))
    symbols[start : start + rows] = np.resize(generator.integers(0, 20, 47), rows)
    return Sequence.from_documents([symbols]), start


@pytest.mark.parametrize("pattern", ["ab", "abc", "aab", "aabab", "abcabd"])
def test_a_sequence_that_repeats_itself_has_its_period_and_no_law(pattern: str) -> None:
    found = measure([pattern * (20_000 // len(pattern))])
    assert found.period is not None
    assert (found.period.length, found.period.exact) == (len(pattern), True)
    assert (found.decay, found.law_fits) == (None, False)
    assert f"no law: the sequence repeats itself exactly every {len(pattern)} symbols" in found.notes


def test_laws_of_a_sequence_without_any_noise_raise_no_linear_algebra_error() -> None:
    for documents in (["ab" * 50_000], ["abc" * 3000], ["aab" * 3000], ["ab" * 500, "ba" * 500]):
        assert not fit_decay(mutual_information(documents)).fits


def test_the_period_of_counts_is_the_number_of_symbols_on_the_cycle() -> None:
    found = measure(count_pairs(["abc" * 3000], lags=[1, 2, 3, 10, 20]))
    assert found.period is not None
    assert (found.period.length, found.period.exact, found.period.contrast) == (3, True, 0.0)


def test_documents_of_one_symbol_each_have_no_period() -> None:
    assert measure(["a" * 500, "b" * 500]).period is None


@pytest.mark.parametrize("pattern", ["aabab", "aaaab", "aab"])
def test_peaks_of_a_noisy_period_are_found(pattern: str) -> None:
    period = find_period(mutual_information(noisy(pattern, 30_000, 0.4, seed=1)))
    assert period is not None
    assert (period.length, period.exact) == (len(pattern), False)
    assert 0 < period.interval[0] < period.contrast < period.interval[1]
    assert period.p_value < 0.01


def test_the_contrast_of_a_noisy_period_is_the_true_one() -> None:
    """Codons: I(3k) is that of the mixture over places, I elsewhere that of the shifted one, both exact."""
    shift = 0.06 * np.array([[1, -1, 1, -1], [-1, 1, -1, 1], [1, 1, -1, -1]])
    p = 0.25 + shift
    values = []
    for lag in (3, 1, 2):
        joint = np.mean([np.outer(p[i], p[(i + lag) % 3]) for i in range(3)], axis=0)
        values.append(np.sum(joint * np.log(joint / np.outer(joint.sum(1), joint.sum(0)))))
    period = find_period(mutual_information(codons(1_000_000, seed=0)))
    assert period is not None
    assert period.length == 3
    assert period.interval[0] < values[0] - np.mean(values[1:]) < period.interval[1]


def test_a_period_is_told_from_its_multiples_where_every_lag_is_measured() -> None:
    period = find_period(mutual_information(codons(1_000_000, seed=2), range(1, 100)))
    assert period is not None
    assert period.length == 3


def test_a_long_period_is_found_where_every_lag_is_measured() -> None:
    sequence = noisy("aaaaaaaaaaaaaaab", 60_000, 0.3, seed=0)
    assert find_period(mutual_information(sequence)) is None  # 16 and 32 are beyond consecutive lags
    period = find_period(mutual_information(sequence, range(1, 101)))
    assert period is not None
    assert period.length == 16


def test_a_noisy_cycle_of_different_symbols_has_a_flat_curve_and_a_period() -> None:
    found = measure(noisy("abc", 30_000, 0.3, seed=0))
    assert found.period is not None
    assert (found.period.length, found.period.exact, found.period.contrast) == (3, False, 0.0)
    assert not found.law_fits


@pytest.mark.parametrize("name", APERIODIC)
def test_aperiodic_and_homogeneous_sources_raise_no_alarm(name: str) -> None:
    for seed in range(10):
        curve = mutual_information(APERIODIC[name](seed), seed=seed)
        assert find_period(curve) is None
        assert find_influence(curve) is None


@pytest.mark.slow
@pytest.mark.parametrize("name", APERIODIC)
@pytest.mark.parametrize("lags", [None, range(1, 101)])
def test_at_most_one_alarm_in_a_hundred(name: str, lags: range | None) -> None:
    curves = [mutual_information(APERIODIC[name](seed), lags, seed=seed) for seed in range(100)]
    assert sum(find_period(curve) is not None for curve in curves) <= 3  # 1 expected; 4 or more in 2 % of runs
    assert sum(find_influence(curve) is not None for curve in curves) <= 3


@pytest.mark.parametrize("seed", range(3))
def test_a_repeated_table_in_two_percent_of_a_text_is_named(seed: int) -> None:
    sequence, start = with_table(seed)
    found = measure(sequence)
    influence = found.influence
    assert influence is not None
    assert influence.start - 4000 <= start < influence.stop
    assert influence.share > 0.5
    assert influence.first_lag >= 10  # at the nearest lags the chain itself has more
    assert any(influence.blocks_words in note for note in found.notes)


def test_the_document_that_carries_the_information_is_named() -> None:
    chain = MarkovChain.lazy(20, stay=0.6).sample(20, 10_000, seed=0)
    documents = [document.astype(np.int64) for document in chain.documents()]
    documents[7] = np.resize(np.random.default_rng(1).integers(0, 20, 47), 10_000)
    influence = measure(documents).influence
    assert influence is not None
    assert influence.document in (None, 8)
    assert influence.start < 80_000
    assert influence.stop > 70_000


def test_periods_and_influences_survive_json() -> None:
    for data in (["aabab" * 500], with_table(0)[0]):
        found = measure(data)
        assert (found.period is None) != (found.influence is None)
        plain = found.to_json()
        assert Measurement.from_json(plain).to_json() == plain


def test_results_of_earlier_versions_are_read_without_the_new_fields() -> None:
    plain = measure(MarkovChain.lazy(4, stay=0.8).sample(1, 20_000, seed=0)).to_json()
    for name in ("law_fits", "local_exponents", "period", "influence"):
        del plain[name]
    for law in plain["laws"].values():
        for name in ("p_value", "decays", "local_misfit"):
            del law[name]
    read = Measurement.from_json(plain)
    assert read.decay is not None
    assert read.decay[read.decay.best].p_value is None
    assert read.law_fits


def test_undersampled_lags_are_not_fitted() -> None:
    import dataclasses

    curve = mutual_information(PowerLawBinary(0.1, 0.5).sample(200, 500, seed=0))
    far = curve.lags > 8
    fit = fit_decay(dataclasses.replace(curve, undersampled=far))
    assert fit.lags.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    with pytest.raises(EvidenceError, match="undersampled"):
        fit_decay(dataclasses.replace(curve, undersampled=np.ones_like(far)))
