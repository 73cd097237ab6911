"""95 % intervals of mean rewards: over the episodes of one network, over networks and episodes of several."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

Z = 1.959964
"""Standard deviations of a 95 % interval."""
Interval = tuple[float, float]


def interval_of(rewards: NDArray[np.float64]) -> Interval | None:
    """Of the mean of rewards (networks, episodes), all networks on the same episodes; None of a single episode.

    Of one network it is over episodes, with its weights as they are. Of several it is over networks, too: the distance of
    each end from the mean is sqrt(a^2 + b^2), with a over episodes (their means over networks) and b over networks,
    Student's t times the standard error of their means. What scatters in both is counted twice, so that it is rather too
    wide. Rewards are between 0 and 1, unless one is seen beyond, and no end is outside.

    >>> nothing, half = np.zeros((1, 100)), np.array([[0.0, 1.0] * 50])
    >>> [round(end, 3) for end in interval_of(nothing)], [round(end, 3) for end in interval_of(half)]
    ([0.0, 0.044], [0.404, 0.596])
    """
    networks, episodes = rewards.shape
    if episodes < 2:
        return None
    least, most = min(0.0, float(rewards.min())), max(1.0, float(rewards.max()))
    mean, between = float(rewards.mean()), 0.0
    low, high = _over_episodes(rewards.mean(axis=0), least, most)
    if networks > 1:
        scatter = float(rewards.mean(axis=1).std(ddof=1))
        between = float(stdtrit(networks - 1, 0.975)) * scatter / math.sqrt(networks)
    low, high = mean - math.hypot(mean - low, between), mean + math.hypot(high - mean, between)
    return max(low, least), min(high, most)


def _over_episodes(rewards: NDArray[np.float64], least: float, most: float) -> Interval:
    """Mean +- Z standard errors, as if Z^2/2 further episodes had earned the least and as many the most.

    For shares that is the interval of Agresti and Coull 1998. It does not close around 0 where nothing was earned, nor
    around the mean where all of a hundred episodes went well: that one in thirty fails may not have been seen.
    """
    further = Z**2 / 2
    count = rewards.size + 2 * further
    centre = (float(rewards.sum()) + further * (least + most)) / count
    squares = float(((rewards - centre) ** 2).sum()) + further * (
        (least - centre) ** 2 + (most - centre) ** 2
    )
    half = Z * math.sqrt(squares) / count
    mean = float(rewards.mean())
    return min(centre - half, mean), max(centre + half, mean)
