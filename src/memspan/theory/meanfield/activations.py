"""Smooth activations of a Gaussian pre-activation, with what quadrature needs to know about them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]

# The exponential of this is still finite in double precision.
_LARGEST_EXPONENT = 700.0


class Activation(ABC):
    """phi(e), analytic on a strip around the real line.

    Functions with kinks, such as ReLU, are not supported: quadrature and series would converge too slowly.
    """

    strip: ClassVar[float]
    """Distance of the nearest pole from the real line; sets the step of the quadrature."""
    bound: ClassVar[float]
    """Upper bound of |phi|; may be infinite."""

    @abstractmethod
    def value(self, e: Array) -> Array:
        """phi(e)."""

    @abstractmethod
    def slopes(self, e: Array) -> tuple[Array, Array]:
        """phi'(e) and phi''(e)."""


@final
@dataclass(frozen=True)
class Sigmoid(Activation):
    """1 / (1 + exp(-e)); poles at ± i pi."""

    strip: ClassVar[float] = np.pi
    bound: ClassVar[float] = 1.0

    def value(self, e: Array) -> Array:
        """The sigmoid."""
        return open_and_closed(e)[0]

    def slopes(self, e: Array) -> tuple[Array, Array]:
        """u (1 - u) and u (1 - u) (1 - 2 u)."""
        u, closed = open_and_closed(e)
        first = u * closed
        return first, first * (closed - u)


def open_and_closed(e: Array) -> tuple[Array, Array]:
    """sigmoid(e) and 1 - sigmoid(e), the latter without cancellation for an almost open gate."""
    # numpy's exp is several times as fast as scipy's expit, and phase diagrams spend most of their time here.
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
        # 1 - tanh(e)^2 = 4 u (1 - u) with u = sigmoid(2 e), without cancellation for large |e|.
        u, closed = open_and_closed(2 * e)
        first = 4 * u * closed
        return first, 2 * (closed - u) * first


@final
@dataclass(frozen=True)
class Erf(Activation):
    """erf(sqrt(pi) e / 2), with slope 1 at 0. It is entire, but grows off the real line, which limits the strip."""

    strip: ClassVar[float] = 1.0
    bound: ClassVar[float] = 1.0

    def value(self, e: Array) -> Array:
        """The error function, scaled to slope 1 at the origin."""
        return special.erf(np.sqrt(np.pi) / 2 * e)

    def slopes(self, e: Array) -> tuple[Array, Array]:
        """exp(-pi e^2 / 4) and its derivative."""
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
