"""Estimates against sources whose information is known in closed form.

The short versions run always; those marked slow are the full claims: all seeds, all sizes.
"""

from __future__ import annotations

import numpy as np
import pytest

from memspan.information import ESTIMATORS, EntropyEstimator, log_lags, mutual_information
from memspan.sequences.sources import (
    HiddenMarkov,
    Independent,
    IsingChain,
    MarkovChain,
    PowerLawBinary,
    Source,
    TreeGrammar,
)

FOUR_ERRORS = 4.0
"""Of a few lags none may be further off."""
SEVEN_ERRORS = 7.0
"""Of 400 lags none may be further off. Information is a sum of squares: that of three symbols without dependence has
four degrees of freedom, and exceeds its mean by seven standard deviations at 400 lags in one run of forty."""
WITHIN_TWO = 0.85
"""At least this share of 400 lags of one sample, whose errors are correlated, is within two errors."""
LAGS = np.arange(1, 401)
MUTATION = np.full((3, 3), 0.1) + 0.7 * np.eye(3)


def flipping(length: float) -> MarkovChain:
    """A binary chain whose correlation falls by e in `length` steps."""
    flip = (1 - np.exp(-1 / length)) / 2
    return MarkovChain(np.array([[1 - flip, flip], [flip, 1 - flip]]))


KNOWN = [
    pytest.param(MarkovChain.lazy(20, 0.9), 1, 400_000, id="markov-20"),
    pytest.param(MarkovChain.lazy(20, 0.9), 100, 5_000, id="markov-20-documents"),
    pytest.param(HiddenMarkov.periodic_pairs(0.9), 1, 400_000, id="periodic-pairs"),
    pytest.param(HiddenMarkov.periodic_pairs(0.7), 100, 5_000, id="periodic-pairs-documents"),
    pytest.param(IsingChain(-1.5), 1, 400_000, id="ising"),
    pytest.param(TreeGrammar(2, MUTATION, 10), 500, 1024, id="tree-grammar"),
    pytest.param(TreeGrammar(3, MUTATION, 6), 1000, 729, id="tree-grammar-3"),
]


@pytest.mark.parametrize(("source", "documents", "length"), KNOWN)
def test_corrected_information_is_within_its_errors_of_the_truth(
    source: Source, documents: int, length: int
) -> None:
    curve = mutual_information(source.sample(documents, length, seed=1), LAGS, seed=1)
    deviation = np.abs(curve.corrected - source.information(LAGS)) / curve.error
    assert deviation.max() < SEVEN_ERRORS
    assert np.mean(deviation < 2) > WITHIN_TWO


@pytest.mark.slow
@pytest.mark.parametrize(("source", "documents", "length"), KNOWN)
def test_errors_of_ten_seeds_cover_the_truth(source: Source, documents: int, length: int) -> None:
    """At most one run in ten exceeds seven errors somewhere; two errors cover the truth at 90 to 99 % of the lags."""
    exact = source.information(LAGS)
    samples = [source.sample(documents, length, seed=seed) for seed in range(10)]
    curves = [mutual_information(sample, LAGS, seed=seed) for seed, sample in enumerate(samples)]
    deviation = np.array([np.abs(curve.corrected - exact) / curve.error for curve in curves])
    assert np.sum(deviation.max(axis=1) > SEVEN_ERRORS) <= 1
    assert 0.9 <= np.mean(deviation < 2) <= 0.99


@pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)
def test_every_estimator_gives_the_same_corrected_curve(estimator: EntropyEstimator) -> None:
    source = MarkovChain.lazy(20, 0.9)
    curve = mutual_information(source.sample(1, 200_000, seed=3), [1, 10, 50, 200], estimator=estimator)
    deviation = (curve.corrected - source.information([1, 10, 50, 200])) / curve.error
    assert np.abs(deviation).max() < FOUR_ERRORS
    assert curve.estimator == estimator.name


def test_a_slow_chain_has_a_floor_that_shuffled_symbols_miss() -> None:
    """20 symbols that stay with probability 0.9, 200,000 of them: 7.7e-3 nats at long lags where the truth is 0."""
    sample = MarkovChain.lazy(20, 0.9).sample(1, 200_000, seed=0)
    structured = mutual_information(sample, [1000, 2000])
    shuffled = mutual_information(sample, [1000, 2000], null="independent")
    assert structured.information == pytest.approx(7.4e-3, abs=4 * structured.floor_sd.max())
    assert structured.floor == pytest.approx(7.4e-3, rel=0.1)
    assert np.all(np.abs(shuffled.floor) < 1e-4)
    assert not structured.significant.any()
    assert shuffled.significant.all()


def test_four_random_symbols_have_no_information_in_nats() -> None:
    curve = mutual_information(Independent.uniform(4).sample(1, 1_000_000, seed=0))
    assert curve.entropy == pytest.approx(np.log(4), abs=1e-5)
    assert np.abs(curve.information).max() < 5e-5
    assert curve.span.lag == 0
    assert curve.reach.lag == 0


@pytest.mark.parametrize(("alphabet", "seeds"), [(2, 30), (27, 15), (283, 4)])
def test_independent_symbols_have_no_span(alphabet: int, seeds: int) -> None:
    source = Independent.uniform(alphabet)
    spans = [mutual_information(source.sample(1, 20_000, seed=s), seed=s).span.lag for s in range(seeds)]
    assert np.count_nonzero(spans) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("alphabet", [2, 27, 283])
def test_independent_symbols_have_no_span_in_97_of_100_cases(alphabet: int) -> None:
    source = Independent.uniform(alphabet)
    spans = [mutual_information(source.sample(1, 100_000, seed=s), seed=s).span.lag for s in range(200)]
    assert np.count_nonzero(spans) <= 6


@pytest.mark.slow
@pytest.mark.parametrize("length", [50, 500])
def test_slow_chains_raise_no_false_alarms_and_p_values_are_uniform(length: int) -> None:
    lags = log_lags(1, 40 * length)
    found: list[float] = []
    for seed in range(100):
        curve = mutual_information(flipping(length).sample(1, 400_000, seed=seed), lags, seed=seed)
        found.extend(curve.p_value[curve.lags > 20 * length])
    p = np.array(found)
    assert np.mean(p < 1e-3) <= 0.02
    assert 0.03 <= np.mean(p < 0.05) <= 0.08


def test_interleaved_chains_have_a_span_although_lag_one_shows_nothing() -> None:
    chains = [flipping(10).sample(1, 50_000, seed=s).store.read(0, 50_000) for s in (1, 2)]
    curve = mutual_information([np.stack(chains, axis=1).ravel()])
    assert not curve.significant[0]
    assert curve.significant[1]
    assert curve.span.lag > 10


def test_a_periodic_sequence_keeps_its_information_at_every_lag() -> None:
    """Permuted blocks lose their phases, so what a period shows is dependence and no floor."""
    source = HiddenMarkov.periodic_pairs(0.9)
    curve = mutual_information(source.sample(1, 100_000, seed=2), [2, 3, 100])
    assert curve.null == "blocks"
    assert curve.corrected == pytest.approx(source.information([2, 3, 100]), abs=4 * curve.error.max())


@pytest.mark.parametrize("period", ["ab", "abc", "abcd"])
def test_a_purely_periodic_sequence_has_the_entropy_of_its_period(period: str) -> None:
    curve = mutual_information([period * 20_000], [1, 2, 3, 10, 100, 1000])
    assert curve.corrected == pytest.approx(np.log(len(period)), abs=1e-3)
    assert curve.span.censored


def test_documents_paired_with_others_give_the_floor_of_short_windows() -> None:
    """At lags near the documents' length few pairs are left, and slow chains correlate over the whole window."""
    source = flipping(100)
    curve = mutual_information(source.sample(2000, 400, seed=5), [1, 100, 200, 300, 350, 390])
    deviation = (curve.corrected - source.information(curve.lags)) / curve.error
    assert curve.null == "blocks"
    assert np.abs(deviation).max() < FOUR_ERRORS
    assert curve.floor[-2] > 2 * curve.floor[0]


def test_short_data_of_a_slow_chain_warn_that_their_null_is_too_short() -> None:
    curve = mutual_information(flipping(500).sample(1, 20_000, seed=3))
    assert any("blocks of the null" in note for note in curve.notes)
    assert not any("blocks of the null" in note for note in mutual_information(["abcabdabe" * 100]).notes)


def test_power_law_binary_has_its_law_at_every_lag() -> None:
    source = PowerLawBinary(0.1, 0.5)
    curve = mutual_information(source.sample(2000, 500, seed=4), log_lags(1, 300))
    deviation = (curve.corrected - source.information(curve.lags)) / curve.error
    assert np.abs(deviation).max() < FOUR_ERRORS


@pytest.mark.realdata
def test_wikitext_validation_has_the_known_values_at_lag_100(realdata) -> None:  # type: ignore[no-untyped-def]
    from memspan.sequences import read

    text = read(realdata("wikitext-2/wiki.valid.tokens"))
    for estimator in ESTIMATORS.values():
        curve = mutual_information(text, [1, 100], estimator=estimator)
        assert curve.corrected[1] == pytest.approx(3e-4, abs=2e-4)
        if estimator.name == "digamma":
            assert curve.information[1] == pytest.approx(1.26e-3, abs=1e-5)


def zipf(kinds: int) -> Independent:
    share = 1 / np.arange(1.0, kinds + 1)
    return Independent(share / share.sum())


def test_rare_symbols_raise_no_alarm_where_the_null_takes_a_part_of_the_pairs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Bias does not fall as one over the pairs where cells are empty; the null must know."""
    from memspan.information import null

    monkeypatch.setattr(null, "PAIRS_PER_DRAW", 100_000)
    curve = mutual_information(zipf(200).sample(1, 1_000_000, seed=0), [1, 2, 3, 10, 100])
    assert not curve.significant.any()
    assert np.abs(curve.corrected / curve.error).max() < FOUR_ERRORS


@pytest.mark.parametrize("null", ["auto", "independent"])
def test_documents_of_uneven_length_raise_no_alarm(null: str) -> None:
    generator = np.random.default_rng(1)
    words = zipf(1500)
    lengths = generator.integers(200, 2000, 200)
    documents = [words.sample(1, int(n), seed=k).store.read(0, int(n)) for k, n in enumerate(lengths)]
    curve = mutual_information(documents, [1, 10, 100, 500, 1000, 1500], null=null)
    assert curve.span.lag == 0
    assert np.abs(curve.corrected / curve.error).max() < FOUR_ERRORS


def test_one_long_document_among_short_ones_is_not_paired_with_them() -> None:
    generator = np.random.default_rng(2)
    documents = [generator.integers(0, 2, 100) for _ in range(200)] + [generator.integers(0, 2, 30_000)]
    curve = mutual_information(documents, [1, 50, 100, 500, 1000])
    assert not curve.significant.any()


@pytest.mark.parametrize("text", ["a" * 1500 + "b" * 1500, "a" * 3000 + "b", "ab" * 50 + "a" * 3000])
def test_drifting_composition_leaves_floor_and_corrected_within_reason(text: str) -> None:
    curve = mutual_information([text])
    assert np.all(curve.corrected <= curve.entropy + 1e-3)
    assert np.all(curve.floor > -1e-3)
    if text.endswith("ab"):
        assert curve.span.lag == 0


def test_the_reach_is_found_where_small_lags_were_not_measured() -> None:
    curve = mutual_information(flipping(50).sample(1, 100_000, seed=1), [5, 10, 20])
    assert curve.span.lag == 20
    assert curve.reach.lag == 20
