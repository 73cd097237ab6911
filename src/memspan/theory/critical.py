"""Weights at the edge of chaos, where chi_1 = 1 and signals last longest.

For the minimal RNN, Algorithm 1 of the mean-field source: choose the variance q of pre-activations and the bias mean, and
sigma_w and sigma_v follow. Not every choice is possible (errata 9): sigma_v^2 must not be negative, which asks for q of at
least q_min, and the fixed point must be one that a network comes to (variance slope below 1). Both limits depend on the
bias mean alone, not on the input variance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from memspan.errors import InputError
from memspan.theory.activations import Activation, Tanh
from memspan.theory.gaussian import expectation
from memspan.theory.minimal import MinimalField
from memspan.theory.parameters import Parameters, check_parameters
from memspan.theory.vanilla import VanillaField

Array = NDArray[np.float64]

COMFORTABLE_SLOPE = 0.97
"""The variance slope that is asked for where q is not given: the variance settles within some tens of steps."""
HEARD_SHARE = 0.05
"""The share of inputs in q that is asked for then: at q_min itself the gates would not hear the input at all."""
_SMALLEST_Q, _LARGEST_Q = 1e-3, 1e4
_SCAN = 300


@final
@dataclass(frozen=True)
class FeasibleRange:
    """The q for which a critical minimal RNN of this bias mean exists and is reached: from `low` on."""

    bias_mean: float
    q_min: float
    """From here on sigma_v^2 is not negative."""
    low: float
    """From here on the fixed point is stable as well."""
    comfortable: float
    """From here on the variance slope is at most 0.97 and inputs make up at least a twentieth of q."""


def critical_minimal(
    *, bias_mean: float = 0.0, input_variance: float = 1.0, q: float | None = None
) -> MinimalField:
    """The critical minimal RNN of pre-activation variance `q`: Algorithm 1, with feasibility.

    Without `q`, the smallest whose variance settles comfortably (slope of 0.97 or less) and whose gates hear the input.

    >>> field = critical_minimal(bias_mean=4.0, input_variance=0.46)
    >>> abs(field.chi1 - 1) < 1e-9
    True
    """
    check_parameters(0.0, 0.0, 0.0, bias_mean, input_variance)
    if np.ndim(bias_mean) or np.ndim(input_variance) or np.ndim(0.0 if q is None else q):
        raise InputError("a critical network has single numbers, got an array; ask for one point at a time")
    if input_variance == 0:
        raise InputError("input_variance is 0; expected more than 0, because the state is made of inputs")
    feasible = feasible_range(bias_mean)
    chosen = feasible.comfortable if q is None else q
    if not feasible.low <= chosen < _LARGEST_Q:
        why = (
            "sigma_v^2 would be negative"
            if chosen < feasible.q_min
            else "no network comes to that fixed point"
        )
        raise InputError(
            f"no critical minimal RNN has bias mean {bias_mean:g} and q = {chosen:g}: {why}; feasible are q from "
            f"{feasible.low:.4g} to {_LARGEST_Q:g}; choose one of them, or leave q out"
        )
    found, R = _algorithm_1(np.array([chosen]), bias_mean), float(input_variance)
    return MinimalField(
        sigma_w=float(np.sqrt(found.w2[0] / R)),
        sigma_v=float(np.sqrt(max(found.input_share[0], 0.0) / R)),
        bias_mean=float(bias_mean),
        input_variance=R,
    )


def feasible_range(bias_mean: float) -> FeasibleRange:
    """Where Algorithm 1 has an answer that a network reaches (errata 9).

    >>> found = feasible_range(4.0)
    >>> round(found.q_min, 2), round(found.low, 2)
    (1.42, 2.42)
    """
    scan = _algorithm_1(np.geomspace(_SMALLEST_Q, _LARGEST_Q, _SCAN), bias_mean)
    q_min = _from(scan, bias_mean, lambda found: found.input_share)
    if not np.isfinite(q_min):
        raise InputError(
            f"no critical minimal RNN has bias mean {bias_mean:g} with q up to {_LARGEST_Q:g}; choose a larger bias mean"
        )
    low = max(q_min, _from(scan, bias_mean, lambda found: 1 - found.slope))
    comfortable = max(
        low,
        _from(scan, bias_mean, lambda found: COMFORTABLE_SLOPE - found.slope),
        _from(scan, bias_mean, lambda found: found.input_share - HEARD_SHARE * found.q),
    )
    return FeasibleRange(bias_mean, q_min, low, comfortable)


def critical_vanilla(
    *,
    sigma_v: float = 1.0,
    sigma_b: float = 0.0,
    bias_mean: float = 0.0,
    input_variance: float = 1.0,
    activation: Activation | None = None,
) -> VanillaField:
    """The sigma_w at which sigma_w^2 E[phi'^2] = 1, for given inputs and biases: the line chi_1 = 1.

    >>> field = critical_vanilla(sigma_v=1.0, input_variance=0.1)
    >>> abs(field.chi1 - 1) < 1e-9
    True
    """
    check_parameters(0.0, sigma_v, sigma_b, bias_mean, input_variance)
    if any(np.ndim(given) for given in (sigma_v, sigma_b, bias_mean, input_variance)):
        raise InputError("a critical network has single numbers, got an array; ask for one point at a time")
    phi = Tanh() if activation is None else activation
    drive = sigma_v**2 * input_variance + sigma_b**2

    def missing(log_q: float) -> float:
        """What drive is left over if pre-activations of variance q are critical."""
        q = np.array([np.exp(log_q)])
        square, slope2 = _vanilla_moments(phi, q, bias_mean)
        return float((q - square / slope2)[0]) - drive

    low, high = np.log(1e-10), np.log(_LARGEST_Q)
    if drive == 0 and bias_mean == 0:
        slope = float(phi.slopes(np.zeros(1))[0][0])
        return VanillaField(sigma_w=1 / slope, sigma_v=sigma_v, input_variance=input_variance, activation=phi)
    if not missing(low) < 0 < missing(high):
        raise InputError(
            f"no sigma_w makes this vanilla RNN critical (sigma_v^2 R + sigma_b^2 = {drive:g}, bias mean {bias_mean:g}); "
            "expected smaller inputs or biases, or an activation that saturates"
        )
    log_q = optimize.root_scalar(missing, bracket=(low, high), xtol=1e-14).root
    slope2 = _vanilla_moments(phi, np.array([np.exp(log_q)]), bias_mean)[1]
    return VanillaField(
        sigma_w=float(1 / np.sqrt(slope2[0])),
        sigma_v=sigma_v,
        sigma_b=sigma_b,
        bias_mean=bias_mean,
        input_variance=input_variance,
        activation=phi,
    )


@final
@dataclass(frozen=True, eq=False)
class _Algorithm1:
    """What Algorithm 1 gives at each q, for inputs of variance 1; all of it scales with the input variance."""

    q: Array
    w2: Array
    """sigma_w^2 R"""
    input_share: Array
    """sigma_v^2 R, negative where there is no critical network"""
    slope: Array
    """of the variance map"""


def _algorithm_1(q: Array, bias_mean: float) -> _Algorithm1:
    mean, unit = np.full_like(q, bias_mean), MinimalField()
    share = unit.share(q, mean)[0]
    gates = unit.gate_moments(q, mean)
    w2 = gates.lost / ((share + 1) * gates.slope2)
    parameters = Parameters.of(np.sqrt(w2), 0.0, 0.0, mean, 1.0)
    return _Algorithm1(q, w2, q - share * w2, unit.variance_slope_at(q, share, parameters))


def _from(scan: _Algorithm1, bias_mean: float, margin: Callable[[_Algorithm1], Array]) -> float:
    """The q from which on the margin is not negative any more; infinite if it still is at the end."""
    q = scan.q
    wrong = np.flatnonzero(margin(scan) < 0)
    if not wrong.size:
        return float(q[0])
    if wrong[-1] == q.size - 1:
        return float("inf")

    def at(x: float) -> float:
        return float(margin(_algorithm_1(np.array([x]), bias_mean))[0])

    return float(optimize.root_scalar(at, bracket=(q[wrong[-1]], q[wrong[-1] + 1]), xtol=1e-13).root)


def _vanilla_moments(phi: Activation, q: Array, bias_mean: float) -> tuple[Array, Array]:
    def integrand(e: Array) -> tuple[Array, ...]:
        return phi.value(e) ** 2, phi.slopes(e)[0] ** 2

    (square, slope2), _ = expectation(integrand, q, np.full_like(q, bias_mean), strip=phi.strip)
    return square, slope2
