"""Recurrent cells as element-wise maps of the sums W h + V x + b, and `RandomNetwork`.

Mean-field theory needs nothing else of a cell. The sums come either from weight matrices or from the Gaussian law that they
follow if the weights are drawn anew at every step.

>>> [total.remembers for total in LSTMCell().sums]   # input, forget, candidate, output
[False, True, False, False]
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from memspan.errors import InputError

Array = NDArray[np.float64]
State = tuple[Array, ...]
"""The recurrent state of a cell; each array is (copies, networks, width)."""


@final
@dataclass(frozen=True)
class PreActivation:
    """One sum in a cell: W h if `recurrent`, plus V x + b if `driven`, each with its own W, V and b."""

    recurrent: bool = True
    driven: bool = True
    remembers: bool = False
    """Whether `bias_mean` is the mean of its bias (else 0): true for the gate that retains the state."""


class ElementwiseCell(ABC):
    """A cell as an element-wise map of its sums, its input and its state."""

    @property
    @abstractmethod
    def sums(self) -> tuple[PreActivation, ...]:
        """The pre-activations, in the order that `step` expects."""

    @abstractmethod
    def start(self, h: Array) -> State:
        """The initial state with hidden state `h`."""

    @abstractmethod
    def step(self, e: Array, x: Array, state: State) -> State:
        """The next state, from the sums `e` (sums, copies, networks, width) and the input `x`; may overwrite `e`."""

    @abstractmethod
    def hidden(self, state: State) -> Array:
        """The part of the state that the recurrent weights multiply."""

    @abstractmethod
    def memory(self, state: State) -> Array:
        """The part of the state that is retained from step to step; distances are measured in it."""


class DifferentiableCell(ElementwiseCell):
    """A cell with one sum and state h, whose Jacobian is known in closed form."""

    @property
    def sums(self) -> tuple[PreActivation, ...]:
        return (PreActivation(remembers=True),)

    def start(self, h: Array) -> State:
        return (h,)

    def hidden(self, state: State) -> Array:
        return state[0]

    def memory(self, state: State) -> Array:
        return state[0]

    @abstractmethod
    def slopes(self, e: Array, x: Array, h: Array) -> tuple[Array, Array]:
        """(u, a) of the Jacobian dh'/dh = diag(u) + diag(a) W at the sum `e`."""


@final
@dataclass(frozen=True)
class VanillaCell(DifferentiableCell):
    """h' = phi(e), e = W h + V x + b.  Chen 2018, Eq. 1.

    `slope` is the derivative of `activation`, needed for Jacobians only; it may be omitted for tanh.
    """

    activation: Callable[[Array], Array] = np.tanh
    slope: Callable[[Array], Array] | None = None

    def step(self, e: Array, x: Array, state: State) -> State:  # noqa: ARG002
        return (self.activation(e[0]),)

    def slopes(self, e: Array, x: Array, h: Array) -> tuple[Array, Array]:  # noqa: ARG002
        if self.slope is not None:
            return np.zeros_like(h), self.slope(e)
        if self.activation is not np.tanh:
            raise InputError(
                f"the derivative of {self.activation!r} is unknown; expected VanillaCell(activation, slope); "
                "pass its derivative as slope"
            )
        return np.zeros_like(h), 1 - np.tanh(e) ** 2


@final
@dataclass(frozen=True)
class MinimalCell(DifferentiableCell):
    """h' = u h + (1 - u) x, u = sigmoid(W h + V x + b).  Chen 2018, Eq. 5."""

    def step(self, e: Array, x: Array, state: State) -> State:
        # In place, u h + (1 - u) x = x + u (h - x): one temporary array instead of three.
        u = expit(e[0], out=e[0])
        h = state[0] - x
        h *= u
        h += x
        return (h,)

    def slopes(self, e: Array, x: Array, h: Array) -> tuple[Array, Array]:
        u = expit(e)
        return u, u * (1 - u) * (h - x)


@final
@dataclass(frozen=True)
class LSTMCell(ElementwiseCell):
    """c' = f c + i g, h' = o tanh(c'); gates i, f, o are sigmoids and g a tanh of their sums, as in torch.nn.LSTM.

    `bias_mean` is that of the forget gate. The state is (h, c); `start(h)` sets both to h.
    """

    @property
    def sums(self) -> tuple[PreActivation, ...]:
        return (PreActivation(), PreActivation(remembers=True), PreActivation(), PreActivation())

    def start(self, h: Array) -> State:
        return (h, h)

    def step(self, e: Array, x: Array, state: State) -> State:  # noqa: ARG002
        # The gates overwrite their sums, which are not needed again.
        i, f, o = (expit(e[gate], out=e[gate]) for gate in (0, 1, 3))
        g = np.tanh(e[2], out=e[2])
        c = f * state[1]
        g *= i
        c += g
        h = np.tanh(c)
        h *= o
        return (h, c)

    def hidden(self, state: State) -> Array:
        return state[0]

    def memory(self, state: State) -> Array:
        return state[1]


@final
@dataclass(frozen=True)
class GRUCell(ElementwiseCell):
    """h' = (1 - z) n + z h, n = tanh(V_n x + b_n + r * (W_n h)), with sigmoid gates r and z, as in torch.nn.GRU.

    `bias_mean` is that of the update gate (z = 1 retains the state). torch's second candidate bias, inside r * (...), is 0.
    """

    @property
    def sums(self) -> tuple[PreActivation, ...]:
        return (
            PreActivation(),
            PreActivation(remembers=True),
            PreActivation(driven=False),
            PreActivation(recurrent=False),
        )

    def start(self, h: Array) -> State:
        return (h,)

    def step(self, e: Array, x: Array, state: State) -> State:  # noqa: ARG002
        r, z = (expit(e[gate], out=e[gate]) for gate in (0, 1))
        r *= e[2]
        r += e[3]
        n = np.tanh(r, out=r)
        h = state[0] - n
        h *= z
        h += n
        return (h,)

    def hidden(self, state: State) -> Array:
        return state[0]

    def memory(self, state: State) -> Array:
        return state[0]


@final
@dataclass(frozen=True, kw_only=True)
class RandomNetwork:
    """A random recurrent network: W ~ N(0, sigma_w^2 / N), V ~ N(0, sigma_v^2 / N), b ~ N(bias_mean, sigma_b^2).

    Inputs have width N and second moment `input_variance` (R). Chen 2018, section 3.
    """

    cell: ElementwiseCell
    sigma_w: float = 1.0
    sigma_v: float = 1.0
    sigma_b: float = 0.0
    bias_mean: float = 0.0
    input_variance: float = 1.0

    def __post_init__(self) -> None:
        for name in ("sigma_w", "sigma_v", "sigma_b", "input_variance"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise InputError(f"{name} is {value}; expected a finite number, 0 or more")
        if not math.isfinite(self.bias_mean):
            raise InputError(f"bias_mean is {self.bias_mean}; expected a finite number")
