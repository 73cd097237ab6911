"""exp(A) = I + A + A^2 / 2 + …, orthogonal for every skew-symmetric A: matrices that stay orthogonal while they learn.

`torch.matrix_exp` is back-propagated through by the exponential of a matrix of twice the size whose norm grows with the
gradient: eight times the work and more. Here the same series is a handful of products, differentiated one by one.
"""

from __future__ import annotations

import math
from typing import final

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

_DEGREE = 12


@final
class SkewExponential(nn.Module):
    """X -> exp(L - L^T), where L is the part of X below its diagonal; the rest of X has no effect."""

    def forward(self, X: Tensor) -> Tensor:
        L = X.tril(-1)
        # Products of few bits would not be orthogonal any more.
        with torch.autocast(X.device.type, enabled=False):
            return skew_exponential(L - L.mT)


def keep_orthogonal(module: nn.Module, name: str) -> None:
    """Let a square parameter be exp of a skew-symmetric one, `parametrizations.<name>.original`, from now on.

    Each access computes it, except within `torch.nn.utils.parametrize.cached()`.
    """
    # "Unsafe" spares the check of shapes; this map cannot be assigned to, only its original can.
    parametrize.register_parametrization(module, name, SkewExponential(), unsafe=True)


def skew_exponential(A: Tensor) -> Tensor:
    """exp(A) = exp(A / 2^s)^(2^s), with s so that the Taylor series to degree 12 is exact to the last digit.

    A may be any square matrix; only of a skew-symmetric one the exponential is orthogonal.
    """
    largest = (torch.finfo(A.dtype).eps / 2 * math.factorial(_DEGREE + 1)) ** (1 / (_DEGREE + 1))
    norm = float(A.detach().abs().sum(-2).max())
    squarings = max(0, math.ceil(math.log2(norm / largest))) if 0 < norm < math.inf else 0
    B = A / 2**squarings
    square = B @ B
    cube = square @ B
    # Groups of three terms, each a sum of I, B and B^2, in powers of B^3 (Paterson and Stockmeyer 1973).
    powers = (torch.eye(len(A), dtype=A.dtype, device=A.device), B, square, cube)
    value = _terms(_DEGREE - 3, powers)
    for lowest in range(_DEGREE - 6, -1, -3):
        value = torch.addmm(_terms(lowest, powers[:3]), value, cube)
    for _ in range(squarings):
        value = value @ value
    return value


def _terms(lowest: int, powers: tuple[Tensor, ...]) -> Tensor:
    """Terms number `lowest`, `lowest` + 1, … of the series, without the power of B that they share."""
    first, *rest = (power / math.factorial(lowest + k) for k, power in enumerate(powers))
    return sum(rest, start=first)


@torch.no_grad()
def draw_planes(skew: Tensor) -> None:
    """Fill a skew-symmetric matrix whose exponential turns planes (0, 1), (2, 3), … by angles uniform within pi.

    Henaff, Szlam and LeCun 2016. With an odd size the last direction stays where it is.
    """
    first = torch.arange(0, len(skew) - 1, 2, device=skew.device)
    angles = torch.empty(len(first), device=skew.device, dtype=skew.dtype).uniform_(-math.pi, math.pi)
    skew.zero_()
    skew[first + 1, first], skew[first, first + 1] = angles, -angles
