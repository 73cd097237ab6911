"""Orthogonal matrices: uniform over all of them, or rotations of separate planes by uniform angles."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from memspan.errors import InputError


@torch.no_grad()
def orthogonal_(tensor: Tensor, gain: float = 1.0, *, generator: torch.Generator | None = None) -> Tensor:
    """Fill with gain times an orthogonal matrix, uniform (Haar) over all; leading dimensions hold independent matrices.

    Matrices that are not square have orthonormal rows or columns, whichever are fewer.
    """
    if tensor.dim() < 2:
        raise InputError(f"the tensor has shape {tuple(tensor.shape)}; expected (…, rows, columns)")
    rows, columns = tensor.shape[-2:]
    shape = (*tensor.shape[:-2], max(rows, columns), min(rows, columns))
    # torch has no QR factorization in half precision.
    precise = tensor.dtype if tensor.dtype == torch.float64 else torch.float32
    drawn = torch.empty(shape, dtype=precise, device=tensor.device).normal_(generator=generator)
    # One by one: a batched factorization is no faster and takes twice the memory.
    for number, matrix in enumerate(drawn.view(-1, *shape[-2:])):
        q, r = torch.linalg.qr(matrix)
        # Without the signs of r's diagonal the factor q is not uniform over the orthogonal group.
        q = q * torch.where(r.diagonal() < 0, -gain, gain)
        tensor.view(-1, rows, columns)[number] = q if rows >= columns else q.T
    return tensor


@torch.no_grad()
def henaff_(
    tensor: Tensor, low: float = -math.pi, high: float = math.pi, *, generator: torch.Generator | None = None
) -> Tensor:
    """exp(A), A block-diagonal with blocks [[0, s], [-s, 0]], s uniform between `low` and `high`.  Henaff 2016.

    Such a block rotates its plane by s; with an odd size the last coordinate is fixed. The program of Kerg 2020 draws s
    between -pi and 0.
    """
    return _rotations(tensor, low, high, generator)


@torch.no_grad()
def cayley_(tensor: Tensor, *, generator: torch.Generator | None = None) -> Tensor:
    """(I + A)^-1 (I - A), A with blocks [[0, s], [-s, 0]], s^2 = (1 - cos t) / (1 + cos t), t uniform in 0 … pi/2.

    Helfrich 2018, section 3.2. Since s = tan(t / 2), such a block rotates its plane by -t.
    """
    return _rotations(tensor, -math.pi / 2, 0.0, generator)


def _rotations(tensor: Tensor, low: float, high: float, generator: torch.Generator | None) -> Tensor:
    """Blocks [[cos s, sin s], [-sin s, cos s]] along the diagonal: both maps above in closed form."""
    size = tensor.shape[-1]
    if tensor.dim() < 2 or tensor.shape[-2] != size:
        raise InputError(f"the tensor has shape {tuple(tensor.shape)}; expected a square matrix")
    if not low <= high:
        raise InputError(f"angles range from {low:g} to {high:g}; expected the smaller first")
    shape = (*tensor.shape[:-2], size // 2)
    angles = torch.empty(shape, dtype=tensor.dtype, device=tensor.device).uniform_(low, high, generator=generator)
    even = torch.arange(0, size - 1, 2, device=tensor.device)
    tensor.zero_()
    tensor[..., even, even] = tensor[..., even + 1, even + 1] = angles.cos()
    tensor[..., even, even + 1] = angles.sin()
    tensor[..., even + 1, even] = -angles.sin()
    if size % 2:
        tensor[..., -1, -1] = 1.0
    return tensor
