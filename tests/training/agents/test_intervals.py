"""Intervals of mean rewards: numbers by hand, honest ends, and covered as often as they say."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from memspan.training.agents.play import PlayedEpisodes, reward_interval, summarize

ROUNDS = 1_000
COVERED = 0.93
"""Of 0.95, less three standard deviations of a share of so many rounds."""


def test_rewards_are_told_as_computed_by_hand():
    first = PlayedEpisodes(np.array([0.5, 0.0, 0.7, 0.0]), np.array([10, 40, 6, 40]))
    second = PlayedEpisodes(np.array([0.9, 0.9, 0.9, 0.0]), np.array([2, 2, 2, 38]))
    found = summarize("DoorKey-5x5", "lstm", [first, second])
    assert (found.world, found.cell, found.episodes) == ("DoorKey-5x5", "lstm", 8)
    assert found.reward == pytest.approx(3.9 / 8)
    assert found.seeds == pytest.approx((0.3, 0.675))
    assert found.solved == 5 / 8
    assert found.length == 140 / 8


def test_of_shares_it_is_the_interval_of_agresti_and_coull():
    """40 of 50: (40 + 1.92) / 53.84 = 0.7786, and 1.96 standard errors of that are 0.1109."""
    found = reward_interval(np.array([[1.0] * 40 + [0.0] * 10]))
    assert found == pytest.approx((0.6677, 0.8895), abs=1e-4)


def test_several_networks_are_counted_as_networks():
    """Of means 0.48 and 0.52 the standard error is 0.02, and Student's t of one degree of freedom 12.7062."""
    alike = np.array([[0.0, 1.0] * 50, [0.0, 1.0] * 50])
    assert reward_interval(alike) == pytest.approx(reward_interval(alike[:1]))  # type: ignore[arg-type]
    apart = np.array([[0.48] * 100, [0.52] * 100])
    low, high = reward_interval(apart) or (0.0, 0.0)
    of_episodes = reward_interval(apart.mean(axis=0, keepdims=True)) or (0.0, 0.0)
    half = 12.7062 * 0.02
    assert (0.5 - low, high - 0.5) == pytest.approx(
        (math.hypot(half, 0.5 - of_episodes[0]), math.hypot(half, of_episodes[1] - 0.5)), rel=1e-4
    )


def test_one_network_of_three_that_fails_leaves_the_mean_open():
    seeds = np.stack([np.full(100, 0.95), np.full(100, 0.95), np.zeros(100)])
    assert reward_interval(seeds) == (0.0, 1.0)


@pytest.mark.parametrize(("reward", "low", "high"), [(0.0, 0.0, 0.0444), (1.0, 0.9556, 1.0)])
def test_at_the_edges_it_neither_closes_nor_leaves_what_is_possible(reward, low, high):
    assert reward_interval(np.full((1, 100), reward)) == pytest.approx((low, high), abs=1e-4)
    assert reward_interval(np.full((3, 100), reward)) == pytest.approx((low, high), abs=1e-4)


def test_of_few_episodes_it_stays_between_0_and_1():
    low, high = reward_interval(np.array([[0.7, 0.0]])) or (math.nan, math.nan)
    assert 0 <= low < 0.35 < high <= 1


def test_where_rewards_below_zero_occur_it_may_reach_them():
    low, high = reward_interval(np.array([[-1.0, 0.0, -1.0, 0.5]])) or (math.nan, math.nan)
    assert -1 <= low < -0.375 < high <= 1


@pytest.mark.parametrize("networks", [1, 3])
def test_a_single_episode_has_none(networks):
    assert reward_interval(np.full((networks, 1), 0.5)) is None


def covered(draw: Callable[[np.random.Generator], np.ndarray], mean: float) -> float:
    """How often the mean is inside."""
    generator = np.random.default_rng(0)
    ends = [reward_interval(draw(generator)) or (math.nan, math.nan) for _ in range(ROUNDS)]
    return float(np.mean([low <= mean <= high for low, high in ends]))


@pytest.mark.parametrize("solved", [0.01, 0.05, 0.5, 0.98])
@pytest.mark.parametrize("episodes", [10, 100])
def test_of_one_network_the_mean_is_inside_as_often_as_it_says(solved, episodes):
    def draw(generator: np.random.Generator) -> np.ndarray:
        size = (1, episodes)
        return (generator.random(size) < solved) * generator.uniform(0.9, 0.98, size)

    assert covered(draw, 0.94 * solved) > COVERED


@pytest.mark.parametrize("networks", [2, 3])
def test_of_several_networks_that_differ_the_mean_of_all_is_inside(networks):
    """Networks and layouts are easy or hard: episodes alone would cover the mean six times of ten."""

    def draw(generator: np.random.Generator) -> np.ndarray:
        odds = generator.normal(0.6, 0.1, (networks, 1)) + generator.normal(0, 0.1, (1, 100))
        return (generator.random((networks, 100)) < odds).astype(float)

    assert covered(draw, 0.6) > COVERED
