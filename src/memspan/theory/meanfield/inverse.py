"""Weights at the edge of chaos, where chi_1 = 1 and signals last longest.

For the minimal RNN, Algorithm 1 of the mean-field source: choose the variance q of pre-activations and the bias mean, and
sigma_w and sigma_v follow. Not every choice is possible (errata 9): sigma_v^2 must not be negative, which asks for q of at
least q_min, and the fixed point must be one that a network comes to (variance slope below 1). Both limits depend on the
bias mean alone, not on the input variance.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from memspan.errors import InputError
from memspan.theory.meanfield.activations import Activation, Tanh
from memspan.theory.meanfield.field import CRITICAL_WIDTH, Field, timescale_of
from memspan.theory.meanfield.gaussian import expectation
from memspan.theory.meanfield.minimal import MinimalField
from memspan.theory.meanfield.parameters import Parameters, check_correlation, check_parameters
from memspan.theory.meanfield.vanilla import VanillaField

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


Parameter: TypeAlias = Literal["bias_mean", "sigma_w"]

SEARCHED: dict[Parameter, tuple[float, float]] = {"bias_mean": (-10.0, 20.0), "sigma_w": (0.01, 20.0)}
LONGEST = 1e8
"""Steps: at a timescale ten times that, chi is called 1."""
_POINTS = 401
_NEAR = np.concatenate([-(10.0 ** -np.arange(1.0, 7.0)), [0.0], 10.0 ** -np.arange(1.0, 7.0)])
"""Where to look around the edge of chaos: for a vanilla network the good values are a sliver there."""
_ROUNDS, _FAN = 6, 16
"""An edge is narrowed down _ROUNDS times by evaluating _FAN values at once."""


@final
@dataclass(frozen=True)
class Region:
    """A range of a parameter in which signals last at least as long as wanted; `open` if it goes on beyond the search."""

    low: float
    high: float
    open: bool

    @property
    def width(self) -> float:
        """How broad it is, within what was searched."""
        return self.high - self.low


@final
@dataclass(frozen=True, eq=False)
class Answer:
    """The value of a parameter that makes signals last `wanted` steps."""

    wanted: float
    parameter: Parameter
    value: float
    """The present value if it is good, else the nearest value of the broadest region."""
    timescale: float
    """At `value`."""
    region: Region
    """The region that `value` is in."""
    regions: tuple[Region, ...]
    """Every region that was found, broadest first."""
    field: Field
    """The field with that value."""


def parameter_for(
    field: Field, timescale: float, *, parameter: Parameter = "bias_mean", input_correlation: float = 1.0
) -> Answer:
    """The `parameter` of `field` with which signals last `timescale` steps and the network is not chaotic.

    All values in `SEARCHED` that last at least as long are found. Gated networks have a range that goes on for ever
    (every large bias mean), vanilla ones a sliver at the edge of chaos, and none at all for unequal inputs if the
    timescale is long: the source's point about gating (meanfield section 3.2.1).

    >>> from memspan.theory.meanfield.minimal import MinimalField
    >>> field = MinimalField(sigma_w=6.88, sigma_v=1.39, bias_mean=6.0, input_variance=0.46)
    >>> answer = parameter_for(field, 963.87)
    >>> round(answer.value, 3), answer.region.open
    (8.0, True)
    """
    check_correlation(input_correlation)
    check_wanted(timescale)
    if parameter not in SEARCHED:
        raise InputError(f"the parameter to vary is {parameter!r}; expected {' or '.join(SEARCHED)}")
    search = _Search(field, parameter, timescale, input_correlation)
    regions = search.regions()
    present = float(getattr(field, parameter))
    inside = [region for region in regions if region.low <= present <= region.high]
    region = inside[0] if inside else regions[0]
    value = float(np.clip(present, region.low, region.high))
    lasting = float(search.lasting(np.array([value]))[0])
    return Answer(timescale, parameter, value, lasting, region, tuple(regions), search.moved(value))


def check_wanted(timescale: float) -> None:
    """A timescale that can be asked for: positive, and short enough that chi can be told from 1."""
    if not 0 < timescale <= LONGEST:
        raise InputError(
            f"the wanted timescale is {timescale:g} steps; expected a positive number, at most {LONGEST:g}"
        )


@final
@dataclass(frozen=True, eq=False)
class _Search:
    field: Field
    parameter: Parameter
    timescale: float
    input_correlation: float

    @property
    def searched(self) -> tuple[float, float]:
        """The range of `SEARCHED`, widened to hold the present value."""
        low, high = SEARCHED[self.parameter]
        present = float(getattr(self.field, self.parameter))
        return min(low, present), max(high, present)

    def moved(self, value: Any) -> Field:
        return dataclasses.replace(self.field, **{self.parameter: value})

    def lasting(self, values: Array) -> Array:
        """Timescale at each value; a chaotic network is not asked how long it lasts, and gets 0."""
        chi1 = np.asarray(self.moved(values).chi1)
        lasting, tame = np.zeros_like(chi1), chi1 <= 1 + CRITICAL_WIDTH
        if tame.any():
            lasting[tame] = timescale_of(self.moved(values[tame]).chi(self.input_correlation))
        return lasting

    def good(self, values: Array) -> NDArray[np.bool_]:
        return self.lasting(values) >= self.timescale

    def regions(self) -> list[Region]:
        values = self.scan()
        good = self.good(values)
        if not good.any():
            raise InputError(self.unreachable(values))
        padded = np.concatenate([[False], good, [False]])
        starts = np.flatnonzero(padded[1:] & ~padded[:-1])
        stops = np.flatnonzero(padded[:-1] & ~padded[1:]) - 1
        found = [
            self.sharpened(values, first, last)
            for first, last in zip(starts.tolist(), stops.tolist(), strict=True)
        ]
        return sorted(found, key=lambda region: -region.width)

    def scan(self) -> Array:
        """Evenly spread values, and more of them where chi_1 crosses 1."""
        low, high = self.searched
        spread = np.linspace if self.parameter == "bias_mean" else np.geomspace
        values = np.append(
            spread(low, high, _POINTS), np.clip(getattr(self.field, self.parameter), low, high)
        )
        values = np.unique(values)
        excess = np.asarray(self.moved(values).chi1) - 1
        for i in np.flatnonzero(excess[:-1] * excess[1:] < 0):
            edge = self.edge_of_chaos(float(values[i]), float(values[i + 1]))
            values = np.append(values, np.clip(edge * (1 + _NEAR) if edge else _NEAR, low, high))
        return np.unique(values)

    def edge_of_chaos(self, low: float, high: float) -> float:
        """Where chi_1 is 1 between two values, or where it jumps over it from one branch to another."""

        def excess(value: float) -> float:
            return float(self.moved(value).chi1) - 1

        ends = excess(low), excess(high)
        if ends[0] * ends[1] >= 0:  # one end is at the edge already, to the last digit
            return low if abs(ends[0]) < abs(ends[1]) else high
        return float(optimize.root_scalar(excess, bracket=(low, high), xtol=1e-13).root)

    def sharpened(self, values: Array, first: int, last: int) -> Region:
        """The run of good values first … last, its ends moved to where good turns into bad."""
        low = self.edge(values[first - 1], values[first]) if first > 0 else float(values[0])
        end = last == values.size - 1
        high = float(values[-1]) if end else self.edge(values[last + 1], values[last])
        return Region(low, high, bool(end))

    def edge(self, bad: float, good: float) -> float:
        """The last good value on the way from good to bad."""
        for _ in range(_ROUNDS):
            fan = np.linspace(good, bad, _FAN)
            wrong = int(np.argmax(~np.append(self.good(fan[1:-1]), False))) + 1
            good, bad = float(fan[wrong - 1]), float(fan[wrong])
        return good

    def unreachable(self, values: Array) -> str:
        lasting = self.lasting(values)
        best = int(np.argmax(lasting))
        low, high = self.searched
        return (
            f"no {self.parameter} from {low:g} to {high:g} makes signals last {self.timescale:,.6g} steps at input "
            f"correlation {self.input_correlation:g}; the longest is {lasting[best]:,.4g} steps at {values[best]:.4g}; "
            "ask for less, or change another parameter or the cell"
        )
