"""Generators of text: sizes of streams, first symbols, and the old name."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import memspan.sampling
from memspan.cells import LSTM
from memspan.models.model import SequenceModel
from memspan.models.vocabulary import Numbers
from memspan.sampling import TextGenerator, joined, sample
from memspan.sampling.generator import stream_sizes


def generator(first: int | None) -> TextGenerator:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = SequenceModel(LSTM(4, 8), 6)
    return TextGenerator(model, Numbers(6), "run:here", "an LSTM", first, None)


def test_a_generator_samples_from_its_first_symbol():
    one = generator(2)
    expected = joined(sample(one.model, streams=3, length=20, first=2, seed=5, group=256))
    np.testing.assert_array_equal(joined(one.generate(streams=3, length=20, seed=5)), expected)


def test_without_a_first_symbol_each_stream_starts_at_a_random_one():
    one = generator(None)
    first = torch.from_numpy(np.random.default_rng([5, 1]).integers(6, size=3))
    expected = joined(sample(one.model, streams=3, length=20, first=first, seed=5, group=256))
    np.testing.assert_array_equal(joined(one.generate(streams=3, length=20, seed=5)), expected)


@pytest.mark.parametrize("length", [1, 999, 5_000, 2_000_000])
def test_streams_hold_at_least_the_requested_symbols(length):
    number, each = stream_sizes(length, None)
    assert length <= number * each < length + number
    assert stream_sizes(length, 4)[0] == 4


def test_the_name_of_the_first_edition_is_deprecated():
    with pytest.warns(DeprecationWarning, match=r"Author is deprecated; use memspan\.sampling\.TextGenerator"):
        assert memspan.sampling.Author is TextGenerator
