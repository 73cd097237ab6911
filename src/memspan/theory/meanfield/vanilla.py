"""The vanilla RNN: e = W h + V x + b, h_next = phi(e)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np

from memspan.results import JacobianMoments
from memspan.theory.meanfield.activations import Activation, Array, Tanh
from memspan.theory.meanfield.field import Field
from memspan.theory.meanfield.fixed_points import CorrelationMap, input_distance
from memspan.theory.meanfield.gaussian import TwoPoint, expectation, two_point
from memspan.theory.meanfield.jacobian import JacobianParts, moments_of
from memspan.theory.meanfield.parameters import Parameters
from memspan.theory.sampled.cells import ElementwiseCell, VanillaCell


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class VanillaField(Field):
    """Q_next = E[phi(e)^2], p_next = E[phi(e) phi(e')], chi = sigma_w^2 E[phi'(e) phi'(e')].

    Meanfield Eq. 2 and 4 (the exponent of Eq. 3 lacks a 1/2; errata 6).

    >>> field = VanillaField(sigma_w=1.0, sigma_v=0.0, sigma_b=0.5)
    >>> round(field.chi1, 4), field.phase
    (0.5799, 'ordered')
    """

    activation: Activation = field(default_factory=Tanh)

    @property
    def gate(self) -> Activation:
        """phi."""
        return self.activation

    def scale(self, parameters: Parameters) -> Array:
        """1: the share is Q itself."""
        return np.ones(parameters.size)

    def share(self, q: Array, mean: Array) -> tuple[Array, Array]:
        """E[phi^2] and its slope in q, E[phi'^2 + phi phi''] (by parts)."""

        def integrand(e: Array) -> tuple[Array, ...]:
            value, (first, second) = self.activation.value(e), self.activation.slopes(e)
            return value**2, first**2 + value * second

        (square, slope), _ = expectation(integrand, q, mean, strip=self.gate.strip)
        return square, slope

    def variance_slope_at(self, q: Array, Q: Array, parameters: Parameters) -> Array:  # noqa: ARG002
        """sigma_w^2 dE[phi^2]/dq."""
        return parameters.w2 * self.share(q, parameters.mean)[1]

    def variance_step(self, Q: Array, parameters: Parameters) -> Array:
        """E[phi^2] at q = sigma_w^2 Q + drive."""
        return self.share(parameters.w2 * Q + parameters.drive, parameters.mean)[0]

    def chi1_at(self, q: Array, Q: Array, parameters: Parameters) -> Array:  # noqa: ARG002
        """sigma_w^2 E[phi'^2]."""
        return parameters.w2 * self._slope_moments(q, parameters.mean)[0]

    def correlation_map(self, q: Array, Q: Array, parameters: Parameters, *, digits: int) -> CorrelationMap:
        """By the Hermite series of phi and phi'."""
        whole = (self.share(q, parameters.mean)[0], self._slope_moments(q, parameters.mean)[0])
        values, slopes = two_point(self.activation, q, parameters.mean, whole, digits=digits)
        return _VanillaStep(parameters, q, Q, values, slopes)

    def jacobian_moments(self, steps: int = 1, *, weights: str = "gaussian") -> JacobianMoments:
        """mean chi_1^T, variance chi_1^2T T (E[phi'^4] / E[phi'^2]^2 - 1 - s_1): errata 7 without a gate (J = D W).

        Pennington, Schoenholz and Ganguli 2017.
        """
        parameters = self._single_point("jacobian_moments")
        q = np.array([self.fixed_point().q])
        square, fourth = self._slope_moments(q, parameters.mean)
        w2 = float(parameters.w2[0])
        mean = w2 * float(square[0])
        parts = JacobianParts(0.0, 0.0, mean, w2**2 * float(fourth[0]) - mean**2, 0.0)
        return moments_of(parts, steps, weights)

    @property
    def cell(self) -> ElementwiseCell:
        """The vanilla cell with this activation."""
        return VanillaCell(self.activation.value, slope=lambda e: self.activation.slopes(e)[0])

    def _slope_moments(self, q: Array, mean: Array) -> tuple[Array, ...]:
        def integrand(e: Array) -> tuple[Array, ...]:
            first = self.activation.slopes(e)[0]
            return first**2, first**4

        return expectation(integrand, q, mean, strip=self.gate.strip)[0]


@final
@dataclass(frozen=True, eq=False)
class _VanillaStep:
    """The correlation map of the vanilla RNN."""

    parameters: Parameters
    q: Array
    Q: Array
    values: TwoPoint
    slopes: TwoPoint

    def distance(self, gap: Array, correlation: float) -> Array:
        return input_distance(self.parameters, self.q, gap, correlation)

    def next(self, gap: Array, correlation: float) -> Array:
        return self.values.loss(self.distance(gap, correlation))

    def slope(self, gap: Array, correlation: float) -> Array:
        return self.parameters.w2 * self.slopes.value(self.distance(gap, correlation))

    def error(self, gap: Array, correlation: float) -> Array:
        return self.parameters.w2 * self.slopes.error(self.distance(gap, correlation))
