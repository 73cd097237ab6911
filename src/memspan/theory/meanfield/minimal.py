"""The minimal RNN: e = W h + V x + b, u = sigmoid(e), h_next = u h + (1 - u) x."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from memspan.results import JacobianMoments
from memspan.theory.meanfield.activations import Activation, Array, Sigmoid, open_and_closed
from memspan.theory.meanfield.field import Field
from memspan.theory.meanfield.fixed_points import CorrelationMap, input_distance
from memspan.theory.meanfield.gaussian import TwoPoint, expectation, two_point
from memspan.theory.meanfield.jacobian import JacobianParts, moments_of
from memspan.theory.meanfield.parameters import Parameters
from memspan.theory.sampled.cells import ElementwiseCell, MinimalCell

_GATE = Sigmoid()


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class MinimalField(Field):
    """Q_next = Q E[u^2] + R E[(1-u)^2], p_next = p E[u u'] + R Sigma E[(1-u)(1-u')],

    chi = E[u u'] + sigma_w^2 (p + R Sigma) E[sigma' sigma'].

    Meanfield Eq. 6, 7, 21 and 37; Eq. 8, 9 and 40 hold for sigma_b = 0 only, and this chi for any (errata 6).

    >>> field = MinimalField(sigma_w=6.88, sigma_v=1.39, bias_mean=6.0, input_variance=0.46)
    >>> round(field.chi1, 4), round(field.timescale(input_correlation=1.0))
    (0.9928, 139)
    """

    @property
    def gate(self) -> Activation:
        """The sigmoid."""
        return _GATE

    def scale(self, parameters: Parameters) -> Array:
        """R: the state is a weighted mean of inputs, so Q is at most R."""
        return parameters.R

    def share(self, q: Array, mean: Array) -> tuple[Array, Array]:
        """Q / R = E[(1-u)^2] / E[1 - u^2] (Eq. 24) and its slope in q."""

        def integrand(e: Array) -> tuple[Array, ...]:
            u, closed, first, second = _gates(e)
            # By parts, dE[f(e)]/dq = E[f''(e)] / 2: here for f = u^2 and f = (1 - u)^2.
            bend = first**2 + u * second
            return closed**2, closed * (1 + u), first**2 - closed * second, bend

        (taken, lost, taken_slope, kept_slope), _ = expectation(integrand, q, mean, strip=_GATE.strip)
        return taken / lost, (taken_slope + taken / lost * kept_slope) / lost

    def variance_slope_at(self, q: Array, Q: Array, parameters: Parameters) -> Array:
        """E[u^2] + sigma_w^2 d(Q E[u^2] + R E[(1-u)^2])/dq: Eq. 34, by parts (Eq. 30, 31, 36 are misprinted; errata 8)."""

        def integrand(e: Array) -> tuple[Array, ...]:
            u, closed, first, second = _gates(e)
            return u**2, first**2 + u * second, first**2 - closed * second

        (kept, kept_slope, taken_slope), _ = expectation(integrand, q, parameters.mean, strip=_GATE.strip)
        return kept + parameters.w2 * (Q * kept_slope + parameters.R * taken_slope)

    def variance_step(self, Q: Array, parameters: Parameters) -> Array:
        """Q E[u^2] + R E[(1-u)^2] at q = sigma_w^2 Q + drive (Eq. 21, 22)."""
        gates = self.gate_moments(parameters.w2 * Q + parameters.drive, parameters.mean)
        return Q * gates.kept + parameters.R * gates.taken

    def chi1_at(self, q: Array, Q: Array, parameters: Parameters) -> Array:
        """E[u^2] + sigma_w^2 (Q + R) E[sigma'^2] (Eq. 13)."""
        gates = self.gate_moments(q, parameters.mean)
        return gates.kept + parameters.w2 * (Q + parameters.R) * gates.slope2

    def correlation_map(self, q: Array, Q: Array, parameters: Parameters, *, digits: int) -> CorrelationMap:
        """By the Hermite series of the sigmoid and its slope."""
        gates = self.gate_moments(q, parameters.mean)
        values, slopes = two_point(_GATE, q, parameters.mean, (gates.kept, gates.slope2), digits=digits)
        return _MinimalStep(parameters, q, Q, gates.taken, values, slopes)

    def jacobian_moments(self, steps: int = 1, *, weights: str = "gaussian") -> JacobianMoments:
        """For J = D_u + D_a W with a = sigma'(e) (h - x): Eq. 12, corrected (errata 7)."""
        return moments_of(self.jacobian_parts(), steps, weights)

    def jacobian_parts(self) -> JacobianParts:
        """mu_1, sigma_1^2, mu_2, sigma_2^2 and cov of errata 7, for Gaussian inputs."""
        parameters = self._single_point("jacobian_moments")
        point = self.fixed_point()
        gates = self.gate_moments(np.array([point.q]), parameters.mean)
        w2, R, Q = float(parameters.w2[0]), float(parameters.R[0]), float(point.Q)
        kept, slope2 = float(gates.kept[0]), float(gates.slope2[0])
        # E[(h - x)^2] = Q + R, because the state is independent of the current input.
        passed = w2 * (Q + R) * slope2
        # h is a scale mixture of Gaussians, so its fourth moment is not 3 Q^2.
        h4 = (6 * slope2 * Q * R + 3 * R**2 * float(gates.taken4[0])) / float(gates.lost4[0])
        return JacobianParts(
            kept=kept,
            kept_variance=float(gates.kept4[0]) - kept**2,
            passed=passed,
            passed_variance=w2**2 * float(gates.slope4[0]) * (h4 + 6 * Q * R + 3 * R**2) - passed**2,
            covariance=w2 * (Q + R) * float(gates.kept_slope2[0]) - kept * passed,
        )

    def gate_moments(self, q: Array, mean: Array) -> GateMoments:
        """All moments of the gate that the equations need."""

        def integrand(e: Array) -> tuple[Array, ...]:
            u, closed, first, _ = _gates(e)
            kept, taken, slope2 = u**2, closed**2, first**2
            # 1 - u^2 = (1 - u)(1 + u) retains its digits for an almost open gate.
            lost = closed * (1 + u)
            return kept, taken, lost, slope2, kept**2, taken**2, lost * (1 + kept), slope2**2, kept * slope2

        return GateMoments(*expectation(integrand, q, mean, strip=_GATE.strip)[0])

    @property
    def cell(self) -> ElementwiseCell:
        """The minimal cell."""
        return MinimalCell()


@final
@dataclass(frozen=True, eq=False)
class GateMoments:
    """Expectations over e ~ N(mean, q), each (points,)."""

    kept: Array
    """E[u^2]"""
    taken: Array
    """E[(1-u)^2]"""
    lost: Array
    """E[1 - u^2], without the cancellation of 1 - kept"""
    slope2: Array
    """E[sigma'^2], which is also E[u^2 (1-u)^2]"""
    kept4: Array
    """E[u^4]"""
    taken4: Array
    """E[(1-u)^4]"""
    lost4: Array
    """E[1 - u^4]"""
    slope4: Array
    """E[sigma'^4]"""
    kept_slope2: Array
    """E[u^2 sigma'^2]"""


def _gates(e: Array) -> tuple[Array, Array, Array, Array]:
    """u, 1 - u without cancellation, sigma' and sigma''."""
    u, closed = open_and_closed(e)
    first = u * closed
    return u, closed, first, first * (closed - u)


@final
@dataclass(frozen=True, eq=False)
class _MinimalStep:
    """The correlation map of the minimal RNN."""

    parameters: Parameters
    q: Array
    Q: Array
    taken: Array
    values: TwoPoint
    slopes: TwoPoint

    def distance(self, gap: Array, correlation: float) -> Array:
        return input_distance(self.parameters, self.q, gap, correlation)

    def next(self, gap: Array, correlation: float) -> Array:
        """gap E[u u'] + (Q + R Sigma)(E[u^2] - E[u u']) + R (1 - Sigma) E[(1-u)^2]."""
        R, loss = self.parameters.R, self.values.loss(self.distance(gap, correlation))
        kept = self.values.whole - loss
        return gap * kept + (self.Q + R * correlation) * loss + R * (1 - correlation) * self.taken

    def slope(self, gap: Array, correlation: float) -> Array:
        d, R = self.distance(gap, correlation), self.parameters.R
        through = self.parameters.w2 * (self.Q - gap + R * correlation)
        return self.values.value(d) + through * self.slopes.value(d)

    def error(self, gap: Array, correlation: float) -> Array:
        d, R = self.distance(gap, correlation), self.parameters.R
        through = self.parameters.w2 * np.abs(self.Q - gap + R * correlation)
        return self.values.error(d) + through * self.slopes.error(d)
