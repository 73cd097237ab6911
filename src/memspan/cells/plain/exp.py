"""h_t = modrelu(U x_t + V h_{t-1}), V = exp(A) with A skew-symmetric, hence orthogonal throughout training.

The exponential is computed here and not by `torch.matrix_exp`, whose backward pass takes the exponential of a matrix of
twice the size and a norm that grows with the gradient: at least eight times the work. The series below is a handful of
products that autograd differentiates one by one.
"""

from __future__ import annotations

import math
from typing import ClassVar, final

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from memspan.cells.base.activations import nonlinearity_named
from memspan.cells.base.autograd import Probe, Resets, States
from memspan.cells.base.cell import Cell
from memspan.cells.base.layer import Device, Dtype, HiddenState, Layer, draw_uniform, empty_weights
from memspan.cells.plain.vanilla import VanillaScan

# Degree of the Taylor series of exp.
_DEGREE = 12


@final
class ExpLayer(Layer):
    """h_t = modrelu(U x_t + V h_{t-1}), V = exp(A), modrelu(z) = sign(z) max(|z| + m, 0).

    Lezcano and Martinez-Rubio 2019. The part of `parametrizations.V.original` below the diagonal is that of A; the rest
    has no effect. Every access to V computes the exponential.
    """

    learning_rate_factors: ClassVar = {"parametrizations.V": 0.1}

    def __init__(self, input_size: int, hidden_size: int, device: Device = None, dtype: Dtype = None) -> None:
        super().__init__(input_size, hidden_size)
        self.phi = nonlinearity_named("modrelu")
        weights = empty_weights(device, dtype)
        self.U, self.V = weights(hidden_size, input_size), weights(hidden_size, hidden_size)
        self.m = weights(hidden_size)
        nn.init.zeros_(self.V)  # the exponential of uninitialized memory might not be finite
        keep_orthogonal(self, "V")
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """exp(A) rotates separate planes by angles uniform within pi; U of variance 2 / input_size; m within 0.01."""
        draw_planes(self.get_parameter("parametrizations.V.original"))
        nn.init.kaiming_normal_(self.U)
        draw_uniform(0.01, self.m)

    def scan(self, inputs: Tensor, state: States, resets: Resets, probe: Probe) -> tuple[Tensor, States]:
        V = self.V  # one exponential for all steps
        a = nn.functional.linear(inputs, self.U).to(V.dtype)
        outputs = VanillaScan.apply(a, V, state[0], self.m, probe, resets, self.phi)
        return outputs, HiddenState(outputs[-1])


@final
class ExpRNN(Cell):
    """h_t = modrelu(U x_t + V h_{t-1}), V = exp(A) with A skew-symmetric.  Lezcano and Martinez-Rubio 2019.

    V stays orthogonal for every optimizer. `parameter_groups` gives A a tenth of the learning rate, as the authors do.
    Each call computes the exponential once; to process single symbols, cache it:

        with torch.no_grad(), torch.nn.utils.parametrize.cached():
            output, state = cell(symbol, state)
    """

    kind = ExpLayer
    label = "expRNN"
    description = "RNN whose recurrent matrix stays orthogonal, the exponential of a skew-symmetric matrix"


@final
class SkewExponential(nn.Module):
    """X -> exp(L - L^T), where L is the part of X below its diagonal; the rest of X has no effect."""

    def forward(self, X: Tensor) -> Tensor:
        L = X.tril(-1)
        # A product in half precision would not be orthogonal.
        with torch.autocast(X.device.type, enabled=False):
            return skew_exponential(L - L.mT)


def keep_orthogonal(module: nn.Module, name: str) -> None:
    """Parametrize a square parameter as exp of a skew-symmetric one, `parametrizations.<name>.original`.

    Every access computes the exponential, except within `torch.nn.utils.parametrize.cached()`.
    """
    # `unsafe` skips the check of shapes. Only the original can be assigned, as this map has no right inverse.
    parametrize.register_parametrization(module, name, SkewExponential(), unsafe=True)


def skew_exponential(A: Tensor) -> Tensor:
    """exp(A) = exp(A / 2^s)^(2^s), with s such that the Taylor series to degree 12 is exact to the last digit.

    A may be any square matrix; the exponential is orthogonal if A is skew-symmetric.
    """
    largest = (torch.finfo(A.dtype).eps / 2 * math.factorial(_DEGREE + 1)) ** (1 / (_DEGREE + 1))
    norm = float(A.detach().abs().sum(-2).max())
    squarings = max(0, math.ceil(math.log2(norm / largest))) if 0 < norm < math.inf else 0
    B = A / 2**squarings
    square = B @ B
    cube = square @ B
    # Groups of three terms, each a sum of I, B and B^2, in powers of B^3 (Paterson and Stockmeyer 1973).
    powers = (torch.eye(len(A), dtype=A.dtype, device=A.device), B, square, cube)
    value = _series_terms(_DEGREE - 3, powers)
    for lowest in range(_DEGREE - 6, -1, -3):
        value = torch.addmm(_series_terms(lowest, powers[:3]), value, cube)
    for _ in range(squarings):
        value = value @ value
    return value


def _series_terms(lowest: int, powers: tuple[Tensor, ...]) -> Tensor:
    """Terms `lowest`, `lowest` + 1, … of the series, divided by the power of B that they share."""
    first, *rest = (power / math.factorial(lowest + k) for k, power in enumerate(powers))
    return sum(rest, start=first)


@torch.no_grad()
def draw_planes(skew: Tensor) -> None:
    """Fill a skew-symmetric matrix whose exponential rotates planes (0, 1), (2, 3), … by angles uniform within pi.

    Henaff, Szlam and LeCun 2016. With an odd size the last coordinate is fixed.
    """
    first = torch.arange(0, len(skew) - 1, 2, device=skew.device)
    angles = torch.empty(len(first), device=skew.device, dtype=skew.dtype).uniform_(-math.pi, math.pi)
    skew.zero_()
    skew[first + 1, first], skew[first, first + 1] = angles, -angles
