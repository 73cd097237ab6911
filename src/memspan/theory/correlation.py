"""The step of the covariance p of two copies, and where it comes to rest.

All of it is written in the gap Q - p instead of p, so that nothing cancels when the copies are almost equal.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memspan.errors import EvidenceError
from memspan.theory.parameters import Parameters

Array = NDArray[np.float64]

_MOST_STEPS = 200
_RESOLUTION = 1e-13
"""Relative to Q."""


class CorrelationMap(Protocol):
    """gap -> gap after one step, for many points at once; `correlation` is that of the inputs."""

    @property
    def Q(self) -> Array:
        """The second moment, which is the gap of uncorrelated states."""
        ...

    def distance(self, gap: Array, correlation: float) -> Array:
        """1 - c of the pre-activations."""
        ...

    def next(self, gap: Array, correlation: float) -> Array:
        """The gap after one step."""
        ...

    def slope(self, gap: Array, correlation: float) -> Array:
        """d next / d gap, which is chi."""
        ...

    def error(self, gap: Array, correlation: float) -> Array:
        """Largest error of chi from the series' tail."""
        ...


def stable_gap(step: CorrelationMap, correlation: float) -> Array:
    """The stable fixed point of the gap.

    For inputs of correlation 0 or more the map p -> p_next is a power series with positive coefficients, so it
    is convex and Newton's iteration from p = 0 rises to the smallest fixed point, which is the stable one. For
    negative correlations p may have either sign (biases are shared). A bracket is kept in either case.
    """
    low = np.zeros_like(step.Q)
    high = 2 * step.Q if correlation < 0 else step.Q.copy()
    gap = step.Q.copy()
    tolerance = _RESOLUTION * np.maximum(step.Q, 1e-300)
    for _ in range(_MOST_STEPS):
        excess = step.next(gap, correlation) - gap
        # The gap's fixed point is above where the next gap is larger.
        low, high = np.where(excess > 0, gap, low), np.where(excess > 0, high, gap)
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = gap - excess / (step.slope(gap, correlation) - 1)
        inside = np.isfinite(newton) & (newton >= low) & (newton <= high)
        moved = np.where(excess == 0, gap, np.where(inside, newton, (low + high) / 2))
        done = np.abs(moved - gap) <= tolerance
        gap = moved
        if done.all():
            break
    if np.max(np.abs(step.next(gap, correlation) - gap) / np.maximum(step.Q, 1e-300)) < 1e-9:
        return gap
    raise EvidenceError(
        "the fixed point of the correlation was not found; expected one to nine digits; move the parameters a little"
    )


def input_distance(parameters: Parameters, q: Array, gap: Array, correlation: float) -> Array:
    """1 - c = (sigma_w^2 (Q - p) + sigma_v^2 R (1 - Sigma)) / q; 0 where nothing varies. Clamped to [0, 2]."""
    apart = parameters.w2 * gap + parameters.v2 * parameters.R * (1 - correlation)
    return np.clip(np.where(q > 0, apart / np.where(q > 0, q, 1.0), 0.0), 0.0, 2.0)
