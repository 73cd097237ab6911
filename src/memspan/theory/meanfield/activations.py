"""Element-wise functions of a Gaussian pre-activation, each with what quadrature must know of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]

_LARGEST_EXPONENT = 700.0
"""exp of it is still a double."""


class Activation(ABC):
    """phi(e), a function that is smooth on a strip around the real line.

    Kinks (as of a rectifier) are outside this theory: quadrature and series would converge too slowly.
    """

    strip: ClassVar[float]
    """Distance of the nearest pole from the real line; it sets the step of the quadrature."""
    bound: ClassVar[float]
    """The largest |phi|; infinite if there is none."""

    @abstractmethod
    def value(self, e: Array) -> Array:
        """phi(e)."""

    @abstractmethod
    def slopes(self, e: Array) -> tuple[Array, Array]:
        """phi'(e) and phi''(e)."""


@final
@dataclass(frozen=True)
class Sigmoid(Activation):
    """1 / (1 + exp(-e)), the gate; poles at ± i pi."""

    strip: ClassVar[float] = np.pi
    bound: ClassVar[float] = 1.0

    def value(self, e: Array) -> Array:
        """The share that a gate lets through."""
        return open_and_closed(e)[0]

    def slopes(self, e: Array) -> tuple[Array, Array]:
        """u (1 - u) and u (1 - u) (1 - 2 u)."""
        u, closed = open_and_closed(e)
        first = u * closed
        return first, first * (closed - u)


def open_and_closed(e: Array) -> tuple[Array, Array]:
    """sigmoid(e) and 1 - sigmoid(e); the second keeps its digits where a gate is almost open.

    numpy's exp is several times as fast as scipy's expit, and this is where phase diagrams spend their time.
    """
    fall = np.exp(np.minimum(-e, _LARGEST_EXPONENT))
    u = 1 / (1 + fall)
    return u, fall * u


@final
@dataclass(frozen=True)
class Tanh(Activation):
    """tanh(e); poles at ± i pi / 2."""

    strip: ClassVar[float] = np.pi / 2
    bound: ClassVar[float] = 1.0

    def value(self, e: Array) -> Array:
        """The hyperbolic tangent."""
        return np.tanh(e)

    def slopes(self, e: Array) -> tuple[Array, Array]:
        """1 / cosh^2 and -2 tanh / cosh^2."""
        u, closed = open_and_closed(2 * e)
        first = 4 * u * closed
        return first, 2 * (closed - u) * first


@final
@dataclass(frozen=True)
class Erf(Activation):
    """erf(sqrt(pi) e / 2), of slope 1 at 0; entire, so the strip is where it grows too large to help."""

    strip: ClassVar[float] = 1.0
    bound: ClassVar[float] = 1.0

    def value(self, e: Array) -> Array:
        """The error function, scaled to slope 1 at the origin."""
        return special.erf(np.sqrt(np.pi) / 2 * e)

    def slopes(self, e: Array) -> tuple[Array, Array]:
        """exp(-pi e^2 / 4) and its slope."""
        first = np.exp(-np.pi / 4 * e**2)
        return first, -np.pi / 2 * e * first


@final
@dataclass(frozen=True)
class Identity(Activation):
    """phi(e) = e, the linear network."""

    strip: ClassVar[float] = np.inf
    bound: ClassVar[float] = np.inf

    def value(self, e: Array) -> Array:
        """e itself."""
        return e

    def slopes(self, e: Array) -> tuple[Array, Array]:
        """1 and 0."""
        return np.ones_like(e), np.zeros_like(e)
