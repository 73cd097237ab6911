"""The benchmark of sampling at tiny sizes: both sides write as much as they are timed for."""

from __future__ import annotations

import pytest
import torch

from memspan import errors
from memspan.bench import BENCHMARKS
from memspan.bench.sample import SampleSizes, generate, sample
from memspan.cells import LSTM
from memspan.errors import MissingExtraError
from memspan.models.model import SequenceModel
from memspan.progress import SILENT

TINY = SampleSizes(characters=1000, symbols=3, hidden=8, steps=2, alone=2, context=4, cached=6, uncached=2, rounds=1)


def test_both_sides_are_reported_in_seconds_for_the_whole_text():
    before = torch.get_num_threads()
    found = sample(SILENT, TINY)
    assert [benchmark.peer for benchmark in found] == ["one stream at a time", "the same without a cache"]
    assert all(benchmark.ours > 0 and benchmark.theirs > 0 for benchmark in found)
    assert all(benchmark.name.startswith("1,000 characters of ") for benchmark in found)
    assert BENCHMARKS["sample"].function() is sample
    assert torch.get_num_threads() == before


def test_as_many_symbols_are_written_as_are_counted():
    assert tuple(generate(SequenceModel(LSTM(4, 4), 3), 5, 7).shape) == (5, 7)


def test_without_torch_the_extra_for_sampling_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(errors, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="this benchmark needs PyTorch"):
        BENCHMARKS["sample"](SILENT)
