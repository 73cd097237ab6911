"""Which sources have what is no number: told by a sum where there are none, one by one where there may be."""

from __future__ import annotations

import math

import pytest
import torch

from memspan.cells.attentive.transformer import nonfinite_sources


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
@pytest.mark.parametrize("which", [0, 1])
def test_every_vector_with_what_is_no_number_is_found(value, dtype, which):
    vectors = [torch.randn(2, 5, 3).to(dtype) for _ in range(2)]
    assert nonfinite_sources(*vectors) is None
    vectors[which][1, 3, 0] = value
    found = nonfinite_sources(*vectors)
    assert found is not None
    assert found.nonzero().tolist() == [[1, 3]]


def test_numbers_whose_sum_is_too_large_are_numbers():
    found = nonfinite_sources(torch.full((2, 3, 4), 3e38), torch.zeros(2, 3, 4))
    assert found is not None
    assert not found.any()
    assert (
        nonfinite_sources(torch.full((2, 300, 4), 6e4, dtype=torch.float16)) is None
    )  # it is summed in float32


def test_infinities_that_cancel_are_found():
    keys = torch.zeros(1, 2, 2)
    keys[0, 0, 0], keys[0, 1, 0] = math.inf, -math.inf
    found = nonfinite_sources(keys)
    assert found is not None
    assert found.all()
