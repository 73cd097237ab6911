"""Texts whose segments share a known topic, or nothing."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import final

import numpy as np
import pytest
import torch

from memspan.errors import InputError
from memspan.objectives.segment_information import Critic, _PairSampler, far_shifts, segment_information
from memspan.progress import Progress, Stage

QUICK = Critic(width=8, hidden=16, updates=150, look=30, pairs=600, batch=64, learning_rate=2e-2, dropout=0.0)
TOPICS = 4


def about_topics(count: int, length: int, seed: int) -> list[np.ndarray]:
    """Documents of one topic each, with five words of its own."""
    random = np.random.default_rng(seed)
    return [5 * topic + random.integers(0, 5, length) for topic in random.integers(0, TOPICS, count)]


def test_segments_of_one_topic_tell_the_topic_and_no_more():
    """Two segments of 8 with 3 between them fill a document: they share its topic, log 4 nats."""
    found = segment_information(about_topics(3_000, 19, 0), 20, seed=0, length=8, gap=3, folds=3, critic=QUICK)
    error = (found.interval[1] - found.interval[0]) / 8.6  # Student's t with two degrees of freedom
    assert found.nats == pytest.approx(math.log(TOPICS), rel=0.1)
    assert found.nats < math.log(TOPICS) + 3 * error + 0.03
    assert len(found.folds) == 3
    assert found.nats == pytest.approx(np.mean(found.folds))
    assert found.interval[0] < found.nats < found.interval[1]


def test_segments_that_have_nothing_in_common_tell_nothing():
    text = np.random.default_rng(0).integers(0, 20, 20_000)
    found = segment_information([text], 20, seed=0, length=8, gap=3, folds=3, critic=QUICK)
    assert abs(found.nats) < 0.05


def test_the_usual_critic_finds_a_topic_among_many_words():
    """Documents of 90 words of one of eight topics: half of them of its own 50, the others of 1,600 for all."""
    random, shape = np.random.default_rng(1), (3_000, 90)
    own = random.integers(0, 50, shape) + 50 * random.integers(0, 8, 3_000)[:, None]
    texts = np.where(random.random(shape) < 0.5, own, random.integers(400, 2_000, shape))
    critic = Critic(updates=150, pairs=500, look=50)
    found = segment_information(list(texts), 2_000, seed=0, folds=3, critic=critic)
    assert 0.8 * math.log(8) < found.nats < math.log(8) + 0.05  # from vectors of size 1 on, it finds nothing


def test_segments_that_have_nothing_to_do_with_each_other_are_far_apart():
    """A text that counts up tells where a segment stands; the places of a pair are at least a tenth of the stretch apart."""
    count, stretch = 500, 10_000
    pairs = _PairSampler(torch.arange(stretch + 100), np.arange(stretch), length=8, gap=3)
    first, second = pairs.draw(count, np.random.default_rng(0))
    assert (second[:, 0] - first[:, 0]).unique().tolist() == [11]
    for shift in far_shifts(count, 40):
        apart = (second.roll(shift, 0)[:, 0] - first[:, 0]).abs()
        assert apart.min() > 0.07 * stretch  # a tenth, up to the scatter of random places


def test_shifts_avoid_a_pair_and_its_neighbors():
    for count in (2, 3, 20, 1_000):
        shifts = far_shifts(count, 40)
        assert len(shifts) == 40
        assert min(shifts) >= max(1, math.floor(0.1 * count))
        assert max(shifts) <= count - max(1, math.floor(0.1 * count))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pairs": 1}, "Critic: pairs is 1; expected a whole number of 2 or more"),
        ({"updates": 0}, "Critic: updates is 0"),
        ({"dropout": 1.0}, "Critic: dropout is 1.0"),
        ({"highest": 0.0}, "Critic: highest is 0.0"),
    ],
)
def test_an_invalid_critic_is_rejected(settings, message):
    with pytest.raises(InputError, match=message):
        Critic(**settings)


def test_a_seed_gives_the_same_numbers():
    texts = about_topics(300, 40, 1)
    small = Critic(width=4, hidden=4, updates=20, look=10, pairs=100, batch=16)
    one, again, other = (
        segment_information(texts, 20, seed=seed, length=8, gap=3, folds=3, critic=small) for seed in (0, 0, 1)
    )
    assert one == again != other


@pytest.mark.parametrize(
    ("texts", "settings", "message"),
    [
        ([np.zeros(50, int)], {}, "room for 0 non-overlapping pairs of segments, of 90 symbols each"),
        ([np.zeros(5_000, int)], {"folds": 2}, "2 folds; expected 3 or more"),
        ([np.full(20_000, 7)], {}, "texts hold symbols from 7 to 7; expected 0 to 4"),
        (
            [np.zeros(3_000, int)],
            {},
            r"one of 10 folds has room for 3 non-overlapping pairs .*; use texts of 18,900 symbols",
        ),
    ],
)
def test_texts_that_are_too_short_or_invalid_are_rejected(texts, settings, message):
    with pytest.raises(InputError, match=message):
        segment_information(texts, 5, seed=0, **settings)


@final
class Counter(Progress, Stage):
    """Adds up what is done."""

    def __init__(self) -> None:
        self.total = self.done = 0.0
        self.steps = 0

    def stage(self, name: str, total: float, done: float = 0.0) -> Stage:
        del name, done
        self.total = total
        return self

    def say(self, remark: str) -> None:
        raise AssertionError(remark)

    def advance(self, amount: float = 1.0) -> None:
        self.done += amount
        self.steps += 1

    def close(self) -> None:
        pass


def test_progress_advances_at_every_update_and_ends_at_its_total():
    text, counter = np.random.default_rng(0).integers(0, 20, 20_000), Counter()
    critic = replace(QUICK, patience=1)  # which ends early
    segment_information([text], 20, seed=0, length=8, gap=3, folds=3, critic=critic, progress=counter)
    assert counter.done == counter.total == 3 * QUICK.updates
    assert 3 * QUICK.look < counter.steps < counter.total
