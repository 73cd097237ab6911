"""Laws of decay, each a formula with named parameters.

>>> import numpy as np
>>> LAWS["power"].value(np.array([1, 10, 100]), {"amplitude": 0.1, "exponent": 0.5}).round(4).tolist()
[0.1, 0.0316, 0.01]
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# Logarithms of parameters are held within this, so that a parameter that does not matter stays finite.
LIMIT = 30.0


INFORMATION, SYMBOLS, NUMBER = "information", "symbols", ""
"""Units of parameters: an information (nats, or bits on request), a lag, or none."""


class Law(ABC):
    """I(tau) as a function of tau. Tables, figures and reports take their words from the attributes of a law."""

    name: str
    """The name in JSON and in Python."""
    label: str
    """The name in tables and sentences."""
    description: str
    """One sentence on what the law says about a memory."""
    units: ClassVar[Mapping[str, str]]
    """Parameters in the order of `formula`, with their units: `INFORMATION`, `SYMBOLS` or `NUMBER`."""
    signed: tuple[str, ...] = ()
    """Parameters that may be negative."""

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters in the order of `formula`."""
        return tuple(self.units)

    @property
    def shape(self) -> tuple[str, ...]:
        """The parameters that give the shape of the law; the others are amplitudes."""
        return tuple(name for name, unit in self.units.items() if unit != INFORMATION)

    @abstractmethod
    def formula(self, tau: Floats, *parameters: float) -> Floats:
        """The equation, with parameters in the order of `names`."""

    @abstractmethod
    def starts(self, tau: Floats, information: Floats) -> list[tuple[float, ...]]:
        """Parameters from which a fit may begin, guessed from positive data."""

    def value(self, lags: NDArray[Any], parameters: dict[str, float]) -> Floats:
        """I(tau) in nats at each lag."""
        return self.formula(np.asarray(lags, dtype=np.float64), *(parameters[name] for name in self.names))

    def to_free(self, parameters: tuple[float, ...]) -> Floats:
        """Parameters as numbers without bounds: logarithms, but for the signed ones."""
        return np.array(
            # exp(-LIMIT) is 1e-13: a smaller start would lie outside the bounds of the fit.
            [p if n in self.signed else np.log(max(p, 1e-13)) for n, p in zip(self.names, parameters, strict=True)]
        )

    def from_free(self, free: Floats) -> list[float]:
        """The inverse of `to_free`."""
        bounded = np.clip(free, -LIMIT, LIMIT)
        return [float(v if n in self.signed else np.exp(v)) for n, v in zip(self.names, bounded, strict=True)]


def _line(x: Floats, information: Floats) -> tuple[float, float]:
    """Amplitude and rate of A exp(-rate x), by a straight line through the logarithms."""
    slope, intercept = np.polyfit(x, np.log(information), 1)
    # A rate of 0 or less would start from a law that grows.
    return float(np.exp(np.clip(intercept, -LIMIT, LIMIT))), float(max(-slope, 1e-9))


@final
@dataclass(frozen=True)
class Exponential(Law):
    """I0 exp(-tau / xi).  Shen 2019, Eq. 9; `length` is xi."""

    name = "exponential"
    label = "exponential"
    description = "The memory has one length: every step costs the same factor of information."
    units: ClassVar[Mapping[str, str]] = {"amplitude": INFORMATION, "length": SYMBOLS}

    def formula(self, tau: Floats, *parameters: float) -> Floats:
        amplitude, length = parameters
        return amplitude * np.exp(-tau / length)

    def starts(self, tau: Floats, information: Floats) -> list[tuple[float, ...]]:
        amplitude, rate = _line(tau, information)
        # A second start from the first half: the far half may lie on the floor and flatten the line.
        half = max(2, len(tau) // 2)
        head, head_rate = _line(tau[:half], information[:half])
        return [(amplitude, 1 / rate), (head, 1 / head_rate)]


@final
@dataclass(frozen=True)
class PowerLaw(Law):
    """A tau^-gamma; `exponent` is gamma."""

    name = "power"
    label = "power law"
    description = "The memory has no characteristic length: doubling the lag always costs the same factor."
    units: ClassVar[Mapping[str, str]] = {"amplitude": INFORMATION, "exponent": NUMBER}
    signed = ("exponent",)

    def formula(self, tau: Floats, *parameters: float) -> Floats:
        amplitude, exponent = parameters
        return amplitude * tau**-exponent

    def starts(self, tau: Floats, information: Floats) -> list[tuple[float, ...]]:
        return [_line(np.log(tau), information)]


@final
@dataclass(frozen=True)
class ExponentialConstant(Law):
    """I0 exp(-tau / xi) + C: what a repetitive sequence or documents of different composition show."""

    name = "exponential+constant"
    label = "exponential plus a constant"
    description = "A short memory, and a part that never fades, such as a mix of documents."
    units: ClassVar[Mapping[str, str]] = {"amplitude": INFORMATION, "length": SYMBOLS, "constant": INFORMATION}

    def formula(self, tau: Floats, *parameters: float) -> Floats:
        amplitude, length, constant = parameters
        return amplitude * np.exp(-tau / length) + constant

    def starts(self, tau: Floats, information: Floats) -> list[tuple[float, ...]]:
        simple = Exponential().starts(tau, information)
        return [(a, x, share * information[-1]) for a, x in simple for share in (0.1, 0.9)]


@final
@dataclass(frozen=True)
class CutoffPower(Law):
    """A tau^-gamma exp(-tau / xi): a power law that ends."""

    name = "cutoff-power"
    label = "power law with a cutoff"
    description = "A power law that ends: beyond the length it falls much faster."
    units: ClassVar[Mapping[str, str]] = {"amplitude": INFORMATION, "exponent": NUMBER, "length": SYMBOLS}
    signed = ("exponent",)

    def formula(self, tau: Floats, *parameters: float) -> Floats:
        amplitude, exponent, length = parameters
        return amplitude * tau**-exponent * np.exp(-tau / length)

    def starts(self, tau: Floats, information: Floats) -> list[tuple[float, ...]]:
        amplitude, exponent = _line(np.log(tau), information)
        length = Exponential().starts(tau, information)[0][1]
        # Once as a power law whose cutoff lies beyond the data, once as an exponential with a slow start.
        return [(amplitude, exponent, 10 * tau[-1]), (amplitude, exponent / 2, length)]


@final
@dataclass(frozen=True)
class ExponentialPower(Law):
    """I0 exp(-tau / xi) + A tau^-gamma: one law near, another far, as in text."""

    name = "exponential+power"
    label = "exponential plus a power law"
    description = "A short memory and, below it, one without a characteristic length."
    units: ClassVar[Mapping[str, str]] = {
        "amplitude": INFORMATION,
        "length": SYMBOLS,
        "power_amplitude": INFORMATION,
        "exponent": NUMBER,
    }
    signed = ("exponent",)

    def formula(self, tau: Floats, *parameters: float) -> Floats:
        amplitude, length, power_amplitude, exponent = parameters
        return amplitude * np.exp(-tau / length) + power_amplitude * tau**-exponent

    def starts(self, tau: Floats, information: Floats) -> list[tuple[float, ...]]:
        starts = []
        # Where the one law takes over from the other is unknown: try an early and a late place.
        for share in (0.3, 0.6):
            cut = min(max(2, round(share * len(tau))), len(tau) - 2)
            near, near_rate = _line(tau[:cut], information[:cut])
            far, exponent = _line(np.log(tau[cut:]), information[cut:])
            starts.append((near, 1 / near_rate, far, exponent))
        return starts


@final
@dataclass(frozen=True)
class Stretched(Law):
    """I0 exp(-(tau / xi)^s); `stretch` is s."""

    name = "stretched"
    label = "stretched exponential"
    description = "Between an exponential and a power law."
    units: ClassVar[Mapping[str, str]] = {"amplitude": INFORMATION, "length": SYMBOLS, "stretch": NUMBER}

    def formula(self, tau: Floats, *parameters: float) -> Floats:
        amplitude, length, stretch = parameters
        return amplitude * np.exp(-((tau / length) ** stretch))

    def starts(self, tau: Floats, information: Floats) -> list[tuple[float, ...]]:
        amplitude, length = Exponential().starts(tau, information)[0]
        return [(amplitude, length, 1.0), (3 * amplitude, length / 3, 0.4)]


LAWS: dict[str, Law] = {
    law.name: law
    for law in (Exponential(), PowerLaw(), ExponentialConstant(), CutoffPower(), ExponentialPower(), Stretched())
}
