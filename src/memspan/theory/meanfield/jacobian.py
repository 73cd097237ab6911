"""Moments of J J^T for the product J of T one-step Jacobians D_u + D_a W with untied weights (errata 7).

With chi = mu_1 + mu_2 the mean of the squared singular values after T steps is chi^T. Their second moment m and the
mean square s of the diagonal of J J^T follow, for wide networks,

    m_next = chi^2 m + sigma_1^2 s + chi^2T (sigma_2^2 + 2 cov + 2 mu_1 mu_2 - s_1 mu_2^2)
    s_next = (sigma_1^2 + mu_1^2) s + chi^2T (sigma_2^2 + mu_2^2 + 2 (cov + mu_1 mu_2))

because W is drawn anew in every step while the gate D_u keeps its basis. The first step gives the corrected Eq. 12. For
small sigma_1 the variance grows by the same amount per step, as Eq. 12 says (`linear_variance`; as printed,
`printed_variance`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

from memspan.errors import InputError
from memspan.results import JacobianMoments

# s_1, the first coefficient of the S-transform of W W^T.
S_TRANSFORM = {"gaussian": -1.0, "orthogonal": 0.0}
# The exponential of this is still finite in double precision.
_LARGEST_LOGARITHM = 690.0


@final
@dataclass(frozen=True)
class JacobianParts:
    """Moments of the squared entries of D_u (the direct path) and of sigma_w D_a (the path through W)."""

    kept: float
    """mu_1 = E[u^2]"""
    kept_variance: float
    """sigma_1^2"""
    passed: float
    """mu_2 = sigma_w^2 E[a^2]"""
    passed_variance: float
    """sigma_2^2"""
    covariance: float
    """cov(u^2, sigma_w^2 a^2)"""

    @property
    def chi(self) -> float:
        """mu_1 + mu_2 = chi_1."""
        return self.kept + self.passed

    def source(self, s_1: float) -> float:
        """Contribution of one step to the second moment, for weights of this s_1."""
        mixed = 2 * self.kept * self.passed - s_1 * self.passed**2
        return self.passed_variance + 2 * self.covariance + mixed


def moments_of(parts: JacobianParts, steps: int, weights: str) -> JacobianMoments:
    """Mean and variance after `steps` steps, by the recursion above."""
    s_1 = _s_transform(steps, weights)
    chi2, source = parts.chi**2, parts.source(s_1)
    kept4 = parts.kept_variance + parts.kept**2
    added = parts.passed_variance + parts.passed**2 + 2 * (parts.covariance + parts.kept * parts.passed)
    mean = mean_over(parts.chi, steps)
    variance, diagonal, mean2 = 0.0, 1.0, 1.0
    for _ in range(steps):
        variance, diagonal = (
            chi2 * variance + parts.kept_variance * diagonal + mean2 * source,
            kept4 * diagonal + mean2 * added,
        )
        mean2 *= chi2
    return JacobianMoments(steps, weights, mean, max(variance, 0.0))


def mean_over(chi: float, steps: int) -> float:
    """chi^steps, the mean of the squared singular values; raises InputError if its square would overflow."""
    if chi > 1 and 2 * steps * math.log(chi) > _LARGEST_LOGARITHM:
        most = int(_LARGEST_LOGARITHM / (2 * math.log(chi)))
        raise InputError(
            f"the Jacobian of this chaotic network (chi_1 = {chi:.4g}) overflows over {steps:,} steps; "
            f"expected at most {most:,} steps"
        )
    return chi**steps


def linear_variance(parts: JacobianParts, steps: int, weights: str) -> float:
    """chi^2T T (sigma_1^2 + 2 mu_1 mu_2 - s_1 mu_2^2 + sigma_2^2 + 2 cov) / chi^2: the corrected Eq. 12."""
    s_1 = _s_transform(steps, weights)
    return steps * parts.chi ** (2 * steps - 2) * (parts.kept_variance + parts.source(s_1))


def printed_variance(parts: JacobianParts, printed_passed_variance: float, steps: int, weights: str) -> float:
    """chi^2T (1 + T (2 (mu_1 - s_1) mu_2 + sigma_1^2 + sigma_2^2) / chi^2): Eq. 12 as printed.

    `printed_passed_variance` is sigma_2^2 with the printed Q^2 + R^2 in place of E[(h - x)^4].
    """
    s_1 = _s_transform(steps, weights)
    spread = 2 * (parts.kept - s_1) * parts.passed + parts.kept_variance + printed_passed_variance
    return parts.chi ** (2 * steps) * (1 + steps * spread / parts.chi**2)


def _s_transform(steps: int, weights: str) -> float:
    if weights not in S_TRANSFORM:
        raise InputError(f"weights are {weights!r}; expected gaussian or orthogonal")
    if steps < 1:
        raise InputError(f"the Jacobian is over {steps} steps; expected 1 or more")
    return S_TRANSFORM[weights]
