"""The benchmark of the mixture of softmaxes at small sizes: both sides compute the same, and one of them holds less."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch

from memspan.bench import BENCHMARKS
from memspan.bench.mixture import SIDES, MixtureSizes, mixture
from memspan.errors import MemspanError
from memspan.progress import SILENT


def test_memory_and_time_are_reported_and_the_plain_equation_needs_more_memory():
    memory, time = mixture(SILENT, MixtureSizes(tokens=800, experts=8, words=3_000, embedding=4))
    assert (memory.unit, time.unit) == ("MB", "s")
    assert memory.theirs > 800 * 8 * 3_000 * 4 / 1e6  # once at least all numbers of the mixture, in float32
    assert memory.ratio > 2
    assert min(time.ours, time.theirs) > 0
    assert BENCHMARKS["mixture"].function() is mixture


def test_both_sides_give_the_same_loss():
    priors, latents = torch.randn(5, 3).log_softmax(dim=1), torch.randn(5, 3, 4)
    embedding, bias = torch.randn(7, 4), torch.randn(7)
    for one, other in pairwise(side(priors, latents, embedding, bias) for side in SIDES.values()):
        torch.testing.assert_close(one, other)


def test_a_process_that_fails_is_reported():
    with pytest.raises(MemspanError, match=r"the loss \(ours\) of 10 words failed: .*"):
        mixture(SILENT, MixtureSizes(tokens=10, experts=-1, words=3, embedding=4))
