"""Which members of a finite set make up a batch: passes through all of them, shuffled in training."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.tasks.task import SPLITS, Split, check_split


class Chosen(NamedTuple):
    """Members of a split that form one batch."""

    members: NDArray[np.int64]
    """(batch,): counted from 0"""
    weights: NDArray[np.float32]
    """(batch,): 1, or 0 for a member that only fills up the last batch of a pass"""


def passed(sizes: Mapping[Split, int], index: int, size: int, *, seed: int, split: Split) -> Chosen:
    """Batch number `index` of endless passes through a split, whose members `sizes` counts.

    Training passes are in an order of their own each, and leave out the few that do not fill a batch. Others go
    through the members in order; the last batch is filled up from the start of the set, with weight 0, so that the
    weighted batches of one pass count every member exactly once.

    >>> passed({"test": 5}, 1, 3, seed=0, split="test")
    Chosen(members=array([3, 4, 0]), weights=array([1., 1., 0.], dtype=float32))
    """
    at, start = divmod(index, batches_of(sizes, size, split))
    total = sizes[split]
    if split == "train":
        members = shuffled(total, seed, at)[start * size : (start + 1) * size]
        return Chosen(members, np.ones(size, np.float32))
    places = np.arange(start * size, (start + 1) * size)
    return Chosen(places % total, (places < total).astype(np.float32))


def batches_of(sizes: Mapping[Split, int], size: int, split: Split) -> int:
    """Batches of one pass.

    >>> sizes = {"train": 5, "test": 5}
    >>> batches_of(sizes, 3, "train"), batches_of(sizes, 3, "test")
    (1, 2)
    """
    check_split(split)
    total = sizes[split]
    if size < 1 or (split == "train" and size > total):
        raise InputError(
            f"a batch of {size:,} sequences; expected 1 to {total:,}, all that there are to train on"
        )
    return total // size if split == "train" else -(-total // size)


@lru_cache(maxsize=4)
def shuffled(total: int, seed: int, at: int) -> NDArray[np.int64]:
    """The order of training pass number `at`; not to be written to."""
    # The splits are numbered from 0, so no batch's own random numbers are these.
    order = np.random.default_rng([seed, len(SPLITS), at]).permutation(total)
    order.setflags(write=False)
    return order
