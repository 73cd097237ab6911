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
    StickyChain,
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
def test_corrected_information_is_within_its_errors_of_the_truth(source: Source, documents: int, length: int) -> None:
    curve = mutual_information(source.sample(documents, length, seed=1), LAGS, seed=1)
    deviation = np.abs(curve.corrected - source.information(LAGS)) / curve.error
    assert deviation.max() < SEVEN_ERRORS
    assert np.mean(deviation < 2) > WITHIN_TWO


@pytest.mark.slow
@pytest.mark.parametrize(("source", "documents", "length"), KNOWN)
def test_errors_of_forty_seeds_cover_the_truth(source: Source, documents: int, length: int) -> None:
    """At most four samples exceed seven errors somewhere; two errors cover the truth at 90 to 99 % of the lags.

    The lags of a periodic source share one error, so every sample counts as a single observation: of ten samples all are
    covered with probability 0.6, of forty with 0.13.
    """
    exact = source.information(LAGS)
    samples = [source.sample(documents, length, seed=seed) for seed in range(40)]
    curves = [mutual_information(sample, LAGS, seed=seed) for seed, sample in enumerate(samples)]
    deviation = np.array([np.abs(curve.corrected - exact) / curve.error for curve in curves])
    assert np.sum(deviation.max(axis=1) > SEVEN_ERRORS) <= 4
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


def test_rare_symbols_raise_no_alarm_where_the_null_takes_a_part_of_the_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
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


STICKY = [(60, 0.3), (60, 0.8), (250, 0.5), (1000, 0.5)]
"""Kinds of symbols and probability to repeat the last one; the rest is drawn from a Zipf law."""


def test_sticky_chains_of_many_symbols_are_not_dependent_at_far_lags() -> None:
    """Their cells are sparsely filled and filled in clusters, which looks like dependence to nulls that ignore either."""
    p_values, deviation = [], []
    for kinds, stay in STICKY:
        source = StickyChain.zipf(kinds, stay)
        for seed in range(3):
            lags = log_lags(int(30 / (1 - stay)) + 1, 5000, 8)
            curve = mutual_information(source.sample(1, 100_000, seed=seed), lags, seed=seed)
            assert source.information(lags).max() < 1e-8
            assert curve.span.lag == 0
            p_values.append(curve.p_value)
            deviation.append(np.abs(curve.corrected / curve.floor_sd).mean())
    p = np.concatenate(p_values)
    assert np.mean(p < 1e-3) <= 0.01
    assert 0.01 <= np.mean(p < 0.05) <= 0.1
    assert max(deviation) < 2


@pytest.mark.parametrize("kinds", [250, 4500])
def test_undersampled_lags_are_marked_and_their_errors_cover_the_truth(kinds: int) -> None:
    source = StickyChain.zipf(kinds, 0.5)
    lags = [1, 2, 3, 4, 300, 1000]
    curve = mutual_information(source.sample(1, 100_000, seed=1), lags, seed=1)
    deviation = np.abs(curve.corrected - source.information(lags))
    assert curve.undersampled[:2].all()
    assert not curve.undersampled[4:].any()
    assert np.all(deviation[:3] < 2 * curve.error[:3])
    assert deviation[0] > 4 * curve.sampling_error[0]  # the sampling error alone does not cover it
    assert np.all(curve.stderr_bias[:2] > curve.sampling_error[:2])
    assert any("undersampled" in note for note in curve.notes)


def test_well_sampled_curves_are_not_called_undersampled() -> None:
    curve = mutual_information(MarkovChain.lazy(4, 0.8).sample(1, 200_000, seed=2), seed=2)
    assert curve.undersampled.mean() < 0.05
    assert np.all(curve.stderr_bias[:5] < curve.sampling_error[:5])


def test_the_span_hardly_depends_on_the_seed_of_the_null() -> None:
    """A power law crosses the threshold slowly, so small changes of the floor would move a span of single lags far."""
    sample = TreeGrammar(2, MUTATION, 10).sample(300, 1024, seed=3)
    curves = [mutual_information(sample, seed=seed) for seed in range(6)]
    steps = [int(np.searchsorted(curve.lags, curve.span.lag)) for curve in curves]
    assert max(steps) - min(steps) <= 1
    for curve in curves:
        assert curve.span.interval is not None
        assert all(curve.span.interval[0] <= other.span.lag <= curve.span.interval[1] for other in curves)


def test_one_document_of_slow_memory_is_said_not_to_determine_its_law() -> None:
    from memspan.decay import measure

    source = PowerLawBinary(0.1, 0.4)
    alone = measure(source.sample(1, 100_000, seed=0))
    assert alone.curve.one_document
    assert not alone.law_fits
    assert any("law cannot be determined" in note for note in alone.notes)
    assert not measure(source.sample(100, 1000, seed=0)).curve.one_document


def test_the_reach_of_a_beat_is_found_between_the_lags_of_the_grid() -> None:
    """Symbols repeat the last one or that of 17 before: above the level are multiples of 17, which the grid steps over."""
    generator = np.random.default_rng(0)
    symbols, choice = generator.integers(0, 4, 200_000), generator.random(200_000)
    for t in range(17, len(symbols)):
        if choice[t] < 0.7:
            symbols[t] = symbols[t - 17 if choice[t] < 0.4 else t - 1]
    grid = mutual_information([symbols], log_lags(1, 100)).reach
    every = mutual_information([symbols], np.arange(1, 101)).reach
    assert every.interval is not None
    assert grid.interval is not None
    assert every.lag > 17
    assert grid.interval[0] <= every.lag <= grid.interval[1]
