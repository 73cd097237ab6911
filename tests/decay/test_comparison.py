"""Verdicts: alike, different, undecided, at equal sizes."""

from __future__ import annotations

import numpy as np
import pytest

from memspan.decay import compare
from memspan.errors import InputError
from memspan.results import Comparison
from memspan.sequences import Sequence, read
from memspan.sequences.sources import Independent, MarkovChain


def test_two_samples_of_one_source_are_alike() -> None:
    source = MarkovChain.lazy(5, 0.7)
    found = compare({"a": source.sample(1, 100_000, seed=1), "b": source.sample(1, 100_000, seed=2)})
    (pair,) = found.pairs
    assert pair.verdict == "alike"
    assert pair.different_lags == ()
    assert pair.p_value > 0.01


def test_slower_chains_differ_and_the_lags_say_where() -> None:
    found = compare(
        {
            "fast": MarkovChain.lazy(5, 0.7).sample(1, 100_000, seed=1),
            "slow": MarkovChain.lazy(5, 0.8).sample(1, 100_000, seed=2),
        },
        [1, 2, 5, 500],
    )
    (pair,) = found.pairs
    assert pair.verdict == "different"
    assert {1, 2, 5} <= set(pair.different_lags)
    assert 500 not in pair.different_lags
    assert pair.difference[0] < 0
    assert pair.p_value < 1e-3


def test_false_alarms_are_rare() -> None:
    source = MarkovChain.lazy(4, 0.8)
    verdicts = [
        compare(
            {"a": source.sample(1, 20_000, seed=2 * k), "b": source.sample(1, 60_000, seed=2 * k + 1)}, [1, 2, 4, 8, 16]
        )
        .pairs[0]
        .verdict
        for k in range(10)
    ]
    assert verdicts.count("different") <= 1


def test_too_little_data_is_undecided() -> None:
    source = MarkovChain.lazy(2, 0.6)
    found = compare({"a": source.sample(1, 300, seed=1), "b": source.sample(1, 300, seed=2)})
    assert found.pairs[0].verdict == "undecided"
    assert "more data" in found.pairs[0].explanation


def test_two_sequences_without_memory_are_alike() -> None:
    source = Independent.uniform(8)
    found = compare({"a": source.sample(1, 20_000, seed=1), "b": source.sample(1, 20_000, seed=2)})
    assert found.pairs[0].verdict == "alike"
    assert "neither" in found.pairs[0].explanation


def test_the_longer_source_is_cut_to_samples_of_the_shorter_ones_size() -> None:
    source = MarkovChain.lazy(5, 0.7)
    found = compare({"long": source.sample(1, 70_000, seed=1), "short": source.sample(1, 10_000, seed=2)}, [1, 2, 3])
    assert found.size == 10_000
    assert {name: part.curve.length for name, part in found.sources.items()} == {"long": 10_000, "short": 10_000}
    assert any("7 samples" in note for note in found.sources["long"].notes)


def test_three_sources_make_three_pairs_and_survive_json() -> None:
    source = MarkovChain.lazy(3, 0.5)
    found = compare({name: source.sample(1, 5000, seed=k) for k, name in enumerate("abc")}, [1, 2, 3, 4, 5])
    assert [(pair.a, pair.b) for pair in found.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    again = Comparison.from_json(found.to_json())
    assert again.to_json() == found.to_json()
    np.testing.assert_array_equal(again.pairs[0].difference, found.pairs[0].difference)


def test_one_source_cannot_be_compared() -> None:
    with pytest.raises(InputError, match="two or more"):
        compare({"a": Sequence.from_documents(["abcabd" * 100])})


@pytest.mark.realdata
def test_wikitext_splits_differ_at_short_lags_only(realdata) -> None:  # type: ignore[no-untyped-def]
    found = compare(
        {
            "train": read(realdata("wikitext-2/wiki.train.tokens")),
            "valid": read(realdata("wikitext-2/wiki.valid.tokens")),
        }
    )
    different = found.pairs[0].different_lags
    assert found.pairs[0].verdict == "different"
    assert set(range(1, 8)) <= set(different)
    assert max(different) < 20


def test_sources_of_different_symbols_are_refused_unless_forced():
    generator = np.random.default_rng(0)
    sources = {
        name: Sequence.from_documents([generator.integers(0, 3, 2_000)], symbols=symbols)
        for name, symbols in (("a", "chars"), ("b", "words"), ("c", "symbols"))
    }
    with pytest.raises(InputError, match=r"different symbols \(a has chars, b has words\).*--force"):
        compare(sources, [1, 2])
    assert list(compare(sources, [1, 2], force=True).sources) == ["a", "b", "c"]
    assert compare({"a": sources["a"], "c": sources["c"]}, [1, 2]).size == 2_000


def test_sources_lags_and_estimator_may_be_given_as_in_measure():
    generator = np.random.default_rng(0)
    result = compare({name: generator.integers(0, 3, 2_000) for name in "ab"}, 4, estimator="plugin")
    assert result.sources["a"].curve.lags.tolist() == [1, 2, 3, 4]
    assert result.sources["b"].curve.estimator == "plugin"
