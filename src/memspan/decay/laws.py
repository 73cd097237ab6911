"""Six laws of decay, each a formula with named parameters.

>>> import numpy as np
>>> LAWS["power"].value(np.array([1, 10, 100]), {"amplitude": 0.1, "exponent": 0.5}).round(4).tolist()
[0.1, 0.0316, 0.01]
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
LIMIT = 30.0
"""Logarithms of parameters are held within this, so that a parameter that does not matter stays finite."""


class Law(ABC):
    """I(tau) as a function of tau; `names` are its parameters, `signed` those that may be negative."""

    name: str
    names: tuple[str, ...]
    signed: tuple[str, ...] = ()

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
            [p if n in self.signed else np.log(max(p, 1e-13)) for n, p in zip(self.names, parameters, strict=True)]
        )

    def from_free(self, free: Floats) -> list[float]:
        """The inverse of `to_free`."""
        bounded = np.clip(free, -LIMIT, LIMIT)
        return [float(v if n in self.signed else np.exp(v)) for n, v in zip(self.names, bounded, strict=True)]


def _line(x: Floats, information: Floats) -> tuple[float, float]:
    """Amplitude and rate of A exp(-rate x), by a straight line through the logarithms."""
    slope, intercept = np.polyfit(x, np.log(information), 1)
    return float(np.exp(np.clip(intercept, -LIMIT, LIMIT))), float(max(-slope, 1e-9))


@final
@dataclass(frozen=True)
class Exponential(Law):
    """I0 exp(-tau / xi).  Shen 2019, Eq. 9; `length` is xi."""

    name = "exponential"
    names = ("amplitude", "length")

    def formula(self, tau: Floats, *parameters: float) -> Floats:
        amplitude, length = parameters
        return amplitude * np.exp(-tau / length)

    def starts(self, tau: Floats, information: Floats) -> list[tuple[float, ...]]:
        amplitude, rate = _line(tau, information)
        half = max(2, len(tau) // 2)
        head, head_rate = _line(tau[:half], information[:half])
        return [(amplitude, 1 / rate), (head, 1 / head_rate)]


@final
@dataclass(frozen=True)
class PowerLaw(Law):
    """A tau^-gamma; `exponent` is gamma."""

    name = "power"
    names = ("amplitude", "exponent")
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
    names = ("amplitude", "length", "constant")

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
    names = ("amplitude", "exponent", "length")
    signed = ("exponent",)

    def formula(self, tau: Floats, *parameters: float) -> Floats:
        amplitude, exponent, length = parameters
        return amplitude * tau**-exponent * np.exp(-tau / length)

    def starts(self, tau: Floats, information: Floats) -> list[tuple[float, ...]]:
        amplitude, exponent = _line(np.log(tau), information)
        length = Exponential().starts(tau, information)[0][1]
        return [(amplitude, exponent, 10 * tau[-1]), (amplitude, exponent / 2, length)]


@final
@dataclass(frozen=True)
class ExponentialPower(Law):
    """I0 exp(-tau / xi) + A tau^-gamma: one law near, another far, as in text."""

    name = "exponential+power"
    names = ("amplitude", "length", "power_amplitude", "exponent")
    signed = ("exponent",)

    def formula(self, tau: Floats, *parameters: float) -> Floats:
        amplitude, length, power_amplitude, exponent = parameters
        return amplitude * np.exp(-tau / length) + power_amplitude * tau**-exponent

    def starts(self, tau: Floats, information: Floats) -> list[tuple[float, ...]]:
        starts = []
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
    names = ("amplitude", "length", "stretch")

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
