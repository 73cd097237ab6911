"""Inverse problems: weights at the edge of chaos, and the parameter value for a requested timescale.

At the edge of chaos chi_1 = 1 and signals last longest. For the minimal RNN, Algorithm 1 of the mean-field source gives
sigma_w and sigma_v from the variance q of the pre-activations and the bias mean. Not every choice is feasible (errata 9):
sigma_v^2 >= 0 requires q >= q_min, and the fixed point must be stable (variance slope below 1). Both limits depend on the
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
from memspan.theory.meanfield.activations import Activation, Array, Tanh
from memspan.theory.meanfield.field import CRITICAL_WIDTH, Field, timescale_of
from memspan.theory.meanfield.gaussian import expectation
from memspan.theory.meanfield.minimal import MinimalField
from memspan.theory.meanfield.parameters import Parameters, check_correlation, check_parameters
from memspan.theory.meanfield.vanilla import VanillaField

Parameter: TypeAlias = Literal["bias_mean", "sigma_w"]

# Default variance slope: the variance converges within some tens of steps.
COMFORTABLE_SLOPE = 0.97
# Default share of the inputs in q: at q_min itself the gates would not depend on the input at all.
LEAST_INPUT_SHARE = 0.05
# Range of q in which critical networks are searched.
_SMALLEST_Q, _LARGEST_Q = 1e-3, 1e4
_SCAN = 300

# Range in which `parameter_for` searches.
SEARCHED: dict[Parameter, tuple[float, float]] = {"bias_mean": (-10.0, 20.0), "sigma_w": (0.01, 20.0)}
# Longest timescale in steps: at ten times that, chi is indistinguishable from 1.
LONGEST = 1e8
_POINTS = 401
# Offsets around the edge of chaos: the good values of a vanilla network are a sliver there.
_NEAR = np.concatenate([-(10.0 ** -np.arange(1.0, 7.0)), [0.0], 10.0 ** -np.arange(1.0, 7.0)])
# The end of a region is refined _ROUNDS times by evaluating _FAN values at once.
_ROUNDS, _FAN = 6, 16


@final
@dataclass(frozen=True)
class FeasibleRange:
    """The q for which a critical minimal RNN of this bias mean exists and is stable: `low` and above."""

    bias_mean: float
    q_min: float
    """From here on sigma_v^2 >= 0."""
    low: float
    """From here on the fixed point is stable as well."""
    comfortable: float
    """From here on the variance slope is at most 0.97 and inputs contribute at least a twentieth of q."""


def critical_minimal(*, bias_mean: float = 0.0, input_variance: float = 1.0, q: float | None = None) -> MinimalField:
    """The critical minimal RNN of pre-activation variance `q`: Algorithm 1, with a check of feasibility.

    Default `q`: the smallest with a variance slope of at most 0.97 and gates that depend on the input.

    >>> field = critical_minimal(bias_mean=4.0, input_variance=0.46)
    >>> abs(field.chi1 - 1) < 1e-9
    True
    """
    check_parameters(0.0, 0.0, 0.0, bias_mean, input_variance)
    _check_scalars(bias_mean, input_variance, 0.0 if q is None else q)
    if input_variance == 0:
        raise InputError("input_variance is 0; expected more than 0, because the state consists of inputs")
    feasible = feasible_range(bias_mean)
    chosen = feasible.comfortable if q is None else q
    if not feasible.low <= chosen < _LARGEST_Q:
        why = "sigma_v^2 would be negative" if chosen < feasible.q_min else "that fixed point is unstable"
        raise InputError(
            f"no critical minimal RNN has bias mean {bias_mean:g} and q = {chosen:g}: {why}; feasible are q from "
            f"{feasible.low:.4g} to {_LARGEST_Q:g}; choose one of them, or omit q"
        )
    found, R = _algorithm_1(np.array([chosen]), bias_mean), float(input_variance)
    return MinimalField(
        sigma_w=float(np.sqrt(found.w2[0] / R)),
        sigma_v=float(np.sqrt(max(found.input_share[0], 0.0) / R)),
        bias_mean=float(bias_mean),
        input_variance=R,
    )


def feasible_range(bias_mean: float) -> FeasibleRange:
    """The q for which Algorithm 1 gives a stable network (errata 9).

    >>> found = feasible_range(4.0)
    >>> round(found.q_min, 2), round(found.low, 2)
    (1.42, 2.42)
    """
    scan = _algorithm_1(np.geomspace(_SMALLEST_Q, _LARGEST_Q, _SCAN), bias_mean)
    q_min = _last_zero(scan, bias_mean, lambda found: found.input_share)
    if not np.isfinite(q_min):
        raise InputError(
            f"no critical minimal RNN has bias mean {bias_mean:g} with q up to {_LARGEST_Q:g}; choose a larger bias mean"
        )
    low = max(q_min, _last_zero(scan, bias_mean, lambda found: 1 - found.slope))
    comfortable = max(
        low,
        _last_zero(scan, bias_mean, lambda found: COMFORTABLE_SLOPE - found.slope),
        _last_zero(scan, bias_mean, lambda found: found.input_share - LEAST_INPUT_SHARE * found.q),
    )
    return FeasibleRange(bias_mean, q_min, low, comfortable)


@final
@dataclass(frozen=True, eq=False)
class _Algorithm1:
    """Result of Algorithm 1 at each q for inputs of variance 1; everything scales with the input variance."""

    q: Array
    w2: Array
    """sigma_w^2 R"""
    input_share: Array
    """sigma_v^2 R; negative if there is no critical network"""
    slope: Array
    """of the variance map"""


def _algorithm_1(q: Array, bias_mean: float) -> _Algorithm1:
    mean, unit = np.full_like(q, bias_mean), MinimalField()
    share = unit.share(q, mean)[0]
    gates = unit.gate_moments(q, mean)
    # chi_1 = 1 solved for sigma_w^2 R (Eq. 13).
    w2 = gates.lost / ((share + 1) * gates.slope2)
    parameters = Parameters.of(np.sqrt(w2), 0.0, 0.0, mean, 1.0)
    return _Algorithm1(q, w2, q - share * w2, unit.variance_slope_at(q, share, parameters))


def _last_zero(scan: _Algorithm1, bias_mean: float, margin: Callable[[_Algorithm1], Array]) -> float:
    """The q from which on the margin stays non-negative; infinite if it is negative at the end of the scan."""
    q = scan.q
    wrong = np.flatnonzero(margin(scan) < 0)
    if not wrong.size:
        return float(q[0])
    if wrong[-1] == q.size - 1:
        return float("inf")

    def at(x: float) -> float:
        return float(margin(_algorithm_1(np.array([x]), bias_mean))[0])

    return float(optimize.root_scalar(at, bracket=(q[wrong[-1]], q[wrong[-1] + 1]), xtol=1e-13).root)


def critical_vanilla(
    *,
    sigma_v: float = 1.0,
    sigma_b: float = 0.0,
    bias_mean: float = 0.0,
    input_variance: float = 1.0,
    activation: Activation | None = None,
) -> VanillaField:
    """The sigma_w with sigma_w^2 E[phi'^2] = 1 for given inputs and biases: the line chi_1 = 1.

    >>> field = critical_vanilla(sigma_v=1.0, input_variance=0.1)
    >>> abs(field.chi1 - 1) < 1e-9
    True
    """
    check_parameters(0.0, sigma_v, sigma_b, bias_mean, input_variance)
    _check_scalars(sigma_v, sigma_b, bias_mean, input_variance)
    phi = Tanh() if activation is None else activation
    drive = sigma_v**2 * input_variance + sigma_b**2

    def moments(q: Array) -> tuple[Array, ...]:
        def integrand(e: Array) -> tuple[Array, ...]:
            return phi.value(e) ** 2, phi.slopes(e)[0] ** 2

        return expectation(integrand, q, np.full_like(q, bias_mean), strip=phi.strip)[0]

    def missing(log_q: float) -> float:
        """The drive of a critical network with pre-activations of variance q, minus the actual drive."""
        q = np.array([np.exp(log_q)])
        square, slope2 = moments(q)
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
    slope2 = moments(np.array([np.exp(log_q)]))[1]
    return VanillaField(
        sigma_w=float(1 / np.sqrt(slope2[0])),
        sigma_v=sigma_v,
        sigma_b=sigma_b,
        bias_mean=bias_mean,
        input_variance=input_variance,
        activation=phi,
    )


def _check_scalars(*given: Any) -> None:
    if any(np.ndim(value) for value in given):
        raise InputError("a critical network has single numbers, got an array; ask for one point at a time")


@final
@dataclass(frozen=True)
class Region:
    """A range of a parameter with at least the requested timescale; `open` if it extends beyond the search."""

    low: float
    high: float
    open: bool

    @property
    def width(self) -> float:
        """Width within the searched range."""
        return self.high - self.low


@final
@dataclass(frozen=True, eq=False)
class Answer:
    """The value of a parameter that gives the requested timescale."""

    wanted: float
    """The requested timescale, in steps."""
    parameter: Parameter
    value: float
    """The present value if it is in a region, else the nearest value of the widest region."""
    timescale: float
    """At `value`."""
    region: Region
    """The region of `value`."""
    regions: tuple[Region, ...]
    """All regions, widest first."""
    field: Field
    """The field with that value."""


def parameter_for(
    field: Field, timescale: float, *, parameter: Parameter = "bias_mean", input_correlation: float = 1.0
) -> Answer:
    """The value of `parameter` with which signals last `timescale` steps and the network is not chaotic.

    Finds all values in `SEARCHED` that last at least as long. Gated networks have an unbounded range (every large bias
    mean), vanilla networks a sliver at the edge of chaos, and none at all for unequal inputs if the timescale is long: the
    source's argument for gating (meanfield section 3.2.1).

    >>> from memspan.theory.meanfield.minimal import MinimalField
    >>> field = MinimalField(sigma_w=6.88, sigma_v=1.39, bias_mean=6.0, input_variance=0.46)
    >>> answer = parameter_for(field, 963.87)
    >>> round(answer.value, 3), answer.region.open
    (8.0, True)
    """
    check_correlation(input_correlation)
    check_timescale(timescale)
    if parameter not in SEARCHED:
        raise InputError(f"the parameter to vary is {parameter!r}; expected {' or '.join(SEARCHED)}")
    search = _ParameterSearch(field, parameter, timescale, input_correlation)
    regions = search.regions()
    present = float(getattr(field, parameter))
    inside = [region for region in regions if region.low <= present <= region.high]
    region = inside[0] if inside else regions[0]
    value = float(np.clip(present, region.low, region.high))
    reached = float(search.timescales(np.array([value]))[0])
    return Answer(timescale, parameter, value, reached, region, tuple(regions), search.field_at(value))


def check_timescale(timescale: float) -> None:
    """Raise InputError unless the timescale is positive, and short enough to distinguish chi from 1."""
    if not 0 < timescale <= LONGEST:
        raise InputError(
            f"the requested timescale is {timescale:g} steps; expected a positive number, at most {LONGEST:g}"
        )


@final
@dataclass(frozen=True, eq=False)
class _ParameterSearch:
    field: Field
    parameter: Parameter
    timescale: float
    input_correlation: float

    @property
    def searched(self) -> tuple[float, float]:
        """The range of `SEARCHED`, extended to include the present value."""
        low, high = SEARCHED[self.parameter]
        present = float(getattr(self.field, self.parameter))
        return min(low, present), max(high, present)

    def field_at(self, value: Any) -> Field:
        return dataclasses.replace(self.field, **{self.parameter: value})

    def timescales(self, values: Array) -> Array:
        """Timescale at each value; 0 for chaotic networks."""
        chi1 = np.asarray(self.field_at(values).chi1)
        timescales, ordered = np.zeros_like(chi1), chi1 <= 1 + CRITICAL_WIDTH
        if ordered.any():
            timescales[ordered] = timescale_of(self.field_at(values[ordered]).chi(self.input_correlation))
        return timescales

    def good(self, values: Array) -> NDArray[np.bool_]:
        return self.timescales(values) >= self.timescale

    def regions(self) -> list[Region]:
        values = self.scan()
        good = self.good(values)
        if not good.any():
            raise InputError(self.unreachable(values))
        # Runs of good values, with sentinels at both ends.
        padded = np.concatenate([[False], good, [False]])
        starts = np.flatnonzero(padded[1:] & ~padded[:-1])
        stops = np.flatnonzero(padded[:-1] & ~padded[1:]) - 1
        found = [self.refined(values, first, last) for first, last in zip(starts.tolist(), stops.tolist(), strict=True)]
        return sorted(found, key=lambda region: -region.width)

    def scan(self) -> Array:
        """Evenly spaced values, and more of them where chi_1 crosses 1."""
        low, high = self.searched
        spaced = np.linspace if self.parameter == "bias_mean" else np.geomspace
        present = np.clip(getattr(self.field, self.parameter), low, high)
        values = np.unique(np.append(spaced(low, high, _POINTS), present))
        excess = np.asarray(self.field_at(values).chi1) - 1
        for i in np.flatnonzero(excess[:-1] * excess[1:] < 0):
            edge = self.edge_of_chaos(float(values[i]), float(values[i + 1]))
            values = np.append(values, np.clip(edge * (1 + _NEAR) if edge else _NEAR, low, high))
        return np.unique(values)

    def edge_of_chaos(self, low: float, high: float) -> float:
        """Where chi_1 crosses 1 between two values, or jumps across it from one branch to another."""

        def excess(value: float) -> float:
            return float(self.field_at(value).chi1) - 1

        ends = excess(low), excess(high)
        if ends[0] * ends[1] >= 0:  # one end is at the edge already, to the last digit
            return low if abs(ends[0]) < abs(ends[1]) else high
        return float(optimize.root_scalar(excess, bracket=(low, high), xtol=1e-13).root)

    def refined(self, values: Array, first: int, last: int) -> Region:
        """The run of good values first … last, with its ends refined."""
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
        timescales = self.timescales(values)
        best = int(np.argmax(timescales))
        low, high = self.searched
        return (
            f"no {self.parameter} from {low:g} to {high:g} makes signals last {self.timescale:,.6g} steps at input "
            f"correlation {self.input_correlation:g}; the longest is {timescales[best]:,.4g} steps at {values[best]:.4g}; "
            "request less, or change another parameter or the cell"
        )
