"""r, g gates, c = modrelu(r * (O h_{t-1}) + U_c x_t), h_t = g h_{t-1} + (1 - g) c with O orthogonal: the GORU."""

from __future__ import annotations

import math
from functools import partial
from typing import ClassVar, final

import torch
from torch import Tensor, nn

from memspan.cells.cell import Cell
from memspan.cells.goru_scan import GoruScan
from memspan.cells.layer import Device, Hidden, Layer, empty_weights
from memspan.cells.skew_exponential import draw_planes, keep_orthogonal
from memspan.errors import InputError, suggestion

ROTATIONS = ("layers", "dense")
"""O from log2(hidden) layers of plane rotations, or any rotation, as the exponential of a skew-symmetric matrix."""


def rotation_layers(angles: Tensor, size: int) -> Tensor:
    """O = R_n … R_2 R_1 (size, size), where R_k turns the planes (i, i + 2^(k-1)) by the angles of row k.

    Every coordinate of O h thus depends on every one of h, as in the fast Fourier transform.
    """
    product = torch.eye(size, dtype=angles.dtype, device=angles.device)
    for k, row in enumerate(angles):
        stride = 2**k
        cosine, sine = (values.view(-1, stride, 1) for values in (row.cos(), row.sin()))
        first, second = product.view(-1, 2, stride, size).unbind(1)
        turned = torch.stack([cosine * first - sine * second, sine * first + cosine * second], dim=1)
        product = turned.view(size, size)
    return product


@final
class GoruLayer(Layer):
    """c_t = modrelu(r_t * (O h_{t-1}) + U_c x_t), h_t = g_t h_{t-1} + (1 - g_t) c_t.  Jing 2019.

    r_t and g_t are sigmoid(U x_t + W h_{t-1} + b); rows of U are those of r, g and c, rows of W and b those of r and g.
    """

    State = Hidden
    options: ClassVar = {"rotation": "layers"}

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        rotation: str = "layers",
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size)
        self.rotation = rotation
        weights = empty_weights(device, dtype)
        self.U, self.W = weights(3 * hidden_size, input_size), weights(2 * hidden_size, hidden_size)
        self.b, self.m = weights(2 * hidden_size), weights(hidden_size)
        if rotation == "layers":
            self.angles = weights(hidden_size.bit_length() - 1, hidden_size // 2)
        else:
            self.O = weights(hidden_size, hidden_size)
            nn.init.zeros_(self.O)  # the exponential of what is not drawn yet might be no number
            keep_orthogonal(self, "O")
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """U and W within 0.01, b_r = 2, b_g within sqrt(3 / hidden), m = 0.01, angles within pi: the authors' program."""
        for weights in (self.U, self.W):
            nn.init.uniform_(weights, -0.01, 0.01)
        bound = math.sqrt(3 / self.hidden_size)
        nn.init.constant_(self.b[: self.hidden_size].detach(), 2.0)
        nn.init.uniform_(self.b[self.hidden_size :].detach(), -bound, bound)
        nn.init.constant_(self.m, 0.01)
        if self.rotation == "layers":
            nn.init.uniform_(self.angles, -math.pi, math.pi)
        else:
            draw_planes(self.get_parameter("parametrizations.O.original"))

    def orthogonal(self) -> Tensor:
        """O (hidden, hidden), as the parameters are now."""
        return rotation_layers(self.angles, self.hidden_size) if self.rotation == "layers" else self.O

    def scan(
        self, inputs: Tensor, state: tuple[Tensor, ...], resets: Tensor | None, probe: Tensor | None
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        bias = torch.cat([self.b, torch.zeros_like(self.m)])
        a = nn.functional.linear(inputs, self.U, bias).to(self.W.dtype)
        M = torch.cat([self.W, self.orthogonal().to(self.W.dtype)])
        states = GoruScan.apply(a, M, state[0], self.m, probe, resets)
        return states, Hidden(states[-1])


@final
class GORU(Cell):
    """c_t = modrelu(r_t * (O h_{t-1}) + U_c x_t), h_t = g_t h_{t-1} + (1 - g_t) c_t, O orthogonal throughout.  Jing 2019.

    `rotation` is how O is made: "layers", log2(hidden) layers of hidden / 2 plane rotations each, as its authors do (the
    hidden size must be a power of two), or "dense", the exponential of a skew-symmetric matrix.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        batch_first: bool = False,
        dropout: float = 0.0,
        *,
        rotation: str = "layers",
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        if rotation not in ROTATIONS:
            raise InputError(f"there is no rotation {rotation!r}; {suggestion(rotation, ROTATIONS)}")
        if rotation == "layers" and isinstance(hidden_size, int) and hidden_size & (hidden_size - 1):
            raise InputError(
                f"hidden_size is {hidden_size}; layers of rotations need a power of two; "
                'take one, or give rotation="dense"'
            )
        super().__init__(
            input_size,
            hidden_size,
            num_layers,
            batch_first,
            dropout,
            device=device,
            dtype=dtype,
            layer=partial(GoruLayer, rotation=rotation),
        )
