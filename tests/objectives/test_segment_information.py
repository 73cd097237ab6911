"""Texts whose segments share a known topic, or nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest

from memspan.errors import InputError
from memspan.objectives.segment_information import Critic, segment_information

QUICK = Critic(width=8, hidden=16, updates=150, look=30, pairs=600, batch=64, learning_rate=2e-2, dropout=0.0)
TOPICS = 4


def about_topics(count: int, length: int, seed: int) -> list[np.ndarray]:
    """Documents of one topic each, with five words of its own."""
    random = np.random.default_rng(seed)
    return [5 * topic + random.integers(0, 5, length) for topic in random.integers(0, TOPICS, count)]


def test_segments_of_one_topic_tell_the_topic_and_no_more():
    """Two segments of 8 with 3 between them fill a document: they share its topic, log 4 nats."""
    found = segment_information(
        about_topics(3_000, 19, 0), 20, seed=0, length=8, gap=3, folds=3, critic=QUICK
    )
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


def test_a_seed_gives_the_same_numbers():
    texts = about_topics(300, 40, 1)
    small = Critic(width=4, hidden=4, updates=20, look=10, pairs=100, batch=16)
    one, again, other = (
        segment_information(texts, 20, seed=seed, length=8, gap=3, folds=3, critic=small)
        for seed in (0, 0, 1)
    )
    assert one == again != other


@pytest.mark.parametrize(
    ("texts", "settings", "message"),
    [
        ([np.zeros(50, int)], {}, "have 0 places where two segments of 90 symbols together fit"),
        ([np.zeros(5_000, int)], {"folds": 2}, "2 folds; expected 3 or more"),
        ([np.full(5_000, 7)], {}, "texts hold symbols from 7 to 7; expected 0 to 4"),
        ([np.zeros(300, int)], {}, "too few for 10 folds"),
    ],
)
def test_what_cannot_be_learnt_from_is_refused(texts, settings, message):
    with pytest.raises(InputError, match=message):
        segment_information(texts, 5, seed=0, **settings)
