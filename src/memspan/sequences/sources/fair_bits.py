"""The information between two fair bits, as a function of how correlated they are, and its inverse."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memspan.errors import InputError

ALMOST_ONE = 1.0 - 2.0**-53
"""The largest float below one."""

NEWTON_STEPS = 60
"""More than any start needs: I is convex and the start lies above the root, so no step leads away."""


def fair_bit_information(correlation: ArrayLike) -> NDArray[np.float64]:
    """I(u) = 1/2 [(1+u) ln(1+u) + (1-u) ln(1-u)], u the correlation of two fair ±1 symbols, in nats.

    Written as u arctanh(u) + 1/2 ln(1-u^2), which loses no digits where u is small (I is near u^2/2).

    >>> fair_bit_information([0.0, 0.5, 1.0]).round(6).tolist()
    [0.0, 0.130812, 0.693147]
    """
    u = np.abs(np.asarray(correlation, dtype=np.float64))
    inside = np.minimum(u, ALMOST_ONE)
    return np.where(u >= 1.0, np.log(2.0), _information(inside, np.arctanh(inside)))


def information_of_correlation(correlation: ArrayLike) -> NDArray[np.float64]:
    """I(theta) = ln(2/pi) + [(pi-theta) ln(pi-theta) + theta ln(theta)]/pi.  Shen 2019, Eq. 46.

    The information in nats between the signs of two Gaussians of correlation c = cos(theta). The signs have
    correlation u = 1 - 2 theta/pi = (2/pi) arcsin(c). For small c it is 2 c^2/pi^2, at c = 0.7 already more:

    >>> information_of_correlation(0.7).round(4), round(2 * 0.7**2 / np.pi**2, 4)
    (np.float64(0.1273), 0.0993)
    """
    c = np.asarray(correlation, dtype=np.float64)
    if not np.all(np.abs(c) <= 1.0):
        raise InputError(f"correlation {correlation}; expected numbers from -1 to 1")
    return fair_bit_information(2.0 / np.pi * np.arcsin(c))


def correlation_of_information(information: ArrayLike) -> NDArray[np.float64]:
    """The correlation c >= 0 at which signs share this information.  Shen 2019, Eq. 46, inverted by Newton.

    >>> correlation_of_information([0.0, 0.1, np.log(2)]).round(4).tolist()
    [0.0, 0.6369, 1.0]
    """
    target = np.asarray(information, dtype=np.float64)
    if not np.all((target >= 0.0) & (target <= np.log(2.0))):
        raise InputError(
            f"information {information}; two binary symbols can share from 0 to ln 2 = 0.6931 nats"
        )
    return np.sin(0.5 * np.pi * _sign_correlation(target))


def _sign_correlation(target: NDArray[np.float64]) -> NDArray[np.float64]:
    """u with I(u) = target; the derivative is arctanh(u). I = u^2/2 + u^4/12 + u^6/30 + … gives the start."""
    u = np.minimum(np.sqrt(2.0 * target * (1.0 - target / 3.0)), ALMOST_ONE)
    for _ in range(NEWTON_STEPS):
        slope = np.arctanh(u)
        step = np.divide(_information(u, slope) - target, slope, out=np.zeros_like(u), where=slope > 0.0)
        u = np.clip(u - step, 0.0, ALMOST_ONE)
        # Convergence is quadratic: a step this small has already brought u to rounding.
        if np.all(np.abs(step) <= 1e-14 * u):
            break
    return np.where(target >= np.log(2.0), 1.0, u)


def _information(u: NDArray[np.float64], slope: NDArray[np.float64]) -> NDArray[np.float64]:
    """I(u) for 0 <= u < 1 and slope = arctanh(u); each form of ln(1-u^2) has all digits where it is used."""
    return u * slope + 0.5 * np.where(u < 0.5, np.log1p(-u * u), np.log((1.0 - u) * (1.0 + u)))
