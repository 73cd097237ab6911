"""The inverse question: which bias mean (or sigma_w) makes signals last a wanted number of steps, and how broad that is."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from memspan.errors import InputError
from memspan.theory.field import Field
from memspan.theory.parameters import check_correlation
from memspan.theory.timescale import CRITICAL_WIDTH, timescale_of

Array = NDArray[np.float64]
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

    >>> from memspan.theory.minimal import MinimalField
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
