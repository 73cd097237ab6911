"""Passes through finite sets: everything once, in an order that only the seed and the pass decide."""

from __future__ import annotations

import numpy as np
import pytest

from memspan.errors import InputError
from memspan.tasks.passes import batches_of, passed
from memspan.tasks.task import Split

SIZES: dict[Split, int] = {"train": 10, "valid": 7, "test": 5}


def members(index: int, size: int, *, seed: int = 0, split: Split = "train") -> list[int]:
    return passed(SIZES, index, size, seed=seed, split=split).members.tolist()


def test_a_training_pass_takes_no_member_twice() -> None:
    assert batches_of(SIZES, 3, "train") == 3
    for at in range(3):
        taken = [member for index in range(3) for member in members(3 * at + index, 3)]
        assert len(set(taken)) == 9
        assert set(taken) <= set(range(10))
    assert sorted(members(0, 5) + members(1, 5)) == list(range(10))


def test_every_pass_and_every_seed_has_its_own_order() -> None:
    orders = [tuple(members(at, 10, seed=seed)) for at in range(3) for seed in range(3)]
    assert len(set(orders)) == len(orders)


def test_every_member_is_left_out_equally_often() -> None:
    taken = np.zeros(10)
    for index in range(2_000):
        taken[members(index, 7)] += 1
    # Each batch is a pass of its own that leaves 3 of 10 out; five standard deviations.
    np.testing.assert_allclose(taken, 1_400, atol=5 * np.sqrt(2_000 * 0.21))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 20])
def test_the_weights_of_a_validation_pass_count_everything_once(size: int) -> None:
    counted = np.zeros(7)
    for index in range(batches_of(SIZES, size, "valid")):
        chosen = passed(SIZES, index, size, seed=0, split="valid")
        assert len(chosen.members) == size
        assert chosen.weights.sum() > 0
        np.add.at(counted, chosen.members, chosen.weights)
    np.testing.assert_array_equal(counted, 1)


def test_validation_passes_are_in_order_and_repeat() -> None:
    assert [members(index, 3, split="valid") for index in range(4)] == [
        [0, 1, 2],
        [3, 4, 5],
        [6, 0, 1],
        [0, 1, 2],
    ]
    assert members(1, 3, split="valid", seed=5) == [3, 4, 5]


@pytest.mark.parametrize("size", [0, 11])
def test_a_training_batch_larger_than_the_set_is_refused(size: int) -> None:
    with pytest.raises(InputError, match=f"a batch of {size} sequences; expected 1 to 10"):
        members(0, size)
