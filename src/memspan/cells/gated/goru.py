"""r, g gates, c = modrelu(r * (O h_{t-1}) + U_c x_t), h_t = g h_{t-1} + (1 - g) c with O orthogonal: the GORU."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, final

import torch
from torch import Tensor, nn

from memspan.cells.base.activations import modrelu, modrelu_slope
from memspan.cells.base.autograd import (
    Probe,
    Resets,
    Scan,
    States,
    clear,
    leaky_backward,
    previous_states,
    weight_gradient,
)
from memspan.cells.base.cell import Cell
from memspan.cells.base.layer import Device, Dtype, HiddenState, Layer, draw_uniform, empty_weights
from memspan.cells.plain.exp import draw_planes, keep_orthogonal
from memspan.errors import InputError, suggestion

# O as log2(hidden) layers of plane rotations, or as the exponential of a skew-symmetric matrix.
ROTATIONS = ("layers", "dense")


@final
class GORU(Cell):
    """c_t = modrelu(r_t * (O h_{t-1}) + U_c x_t), h_t = g_t h_{t-1} + (1 - g_t) c_t, O orthogonal throughout.  Jing 2019.

    `rotation` selects the form of O: "layers", log2(hidden) layers of hidden / 2 plane rotations each, as published (the
    hidden size must be a power of two), or "dense", the exponential of a skew-symmetric matrix.
    """

    label = "GORU"
    description = "gated orthogonal recurrent unit"

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
        dtype: Dtype = None,
    ) -> None:
        if rotation not in ROTATIONS:
            raise InputError(f"unknown rotation {rotation!r}; {suggestion(rotation, ROTATIONS)}")
        if rotation == "layers" and isinstance(hidden_size, int) and hidden_size & (hidden_size - 1):
            raise InputError(
                f"hidden_size is {hidden_size}; layers of rotations require a power of two; "
                'choose one, or pass rotation="dense"'
            )
        layer = partial(GORULayer, rotation=rotation)
        super().__init__(
            input_size, hidden_size, num_layers, batch_first, dropout, device=device, dtype=dtype, layer=layer
        )


@final
class GORULayer(Layer):
    """c_t = modrelu(r_t * (O h_{t-1}) + U_c x_t), h_t = g_t h_{t-1} + (1 - g_t) c_t.  Jing 2019.

    r_t and g_t are sigmoid(U x_t + W h_{t-1} + b); rows of U are those of r, g and c, rows of W and b those of r and g.
    """

    def __init__(
        self, input_size: int, hidden_size: int, rotation: str = "layers", device: Device = None, dtype: Dtype = None
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
            nn.init.zeros_(self.O)  # the exponential of uninitialized memory might not be finite
            keep_orthogonal(self, "O")
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """U and W within 0.01, b_r = 2, b_g within sqrt(3 / hidden), m = 0.01, angles within pi: the authors' program."""
        draw_uniform(0.01, self.U, self.W)
        nn.init.constant_(self.b[: self.hidden_size].detach(), 2.0)
        draw_uniform(math.sqrt(3 / self.hidden_size), self.b[self.hidden_size :].detach())
        nn.init.constant_(self.m, 0.01)
        if self.rotation == "layers":
            draw_uniform(math.pi, self.angles)
        else:
            draw_planes(self.get_parameter("parametrizations.O.original"))

    def orthogonal_matrix(self) -> Tensor:
        """O (hidden, hidden), from the current parameters."""
        return rotation_layers(self.angles, self.hidden_size) if self.rotation == "layers" else self.O

    def scan(self, inputs: Tensor, state: States, resets: Resets, probe: Probe) -> tuple[Tensor, States]:
        bias = torch.cat([self.b, torch.zeros_like(self.m)])
        a = nn.functional.linear(inputs, self.U, bias).to(self.W.dtype)
        M = torch.cat([self.W, self.orthogonal_matrix().to(self.W.dtype)])
        outputs = GORUScan.apply(a, M, state[0], self.m, probe, resets)
        return outputs, HiddenState(outputs[-1])


def rotation_layers(angles: Tensor, size: int) -> Tensor:
    """O = R_n … R_2 R_1 (size, size), where R_k rotates the planes (i, i + 2^(k-1)) by the angles of row k.

    Every coordinate of O h thus depends on every coordinate of h, as in the fast Fourier transform.
    """
    product = torch.eye(size, dtype=angles.dtype, device=angles.device)
    for k, row in enumerate(angles):
        stride = 2**k
        cosine, sine = (values.view(-1, stride, 1) for values in (row.cos(), row.sin()))
        first, second = product.view(-1, 2, stride, size).unbind(1)
        rotated = torch.stack([cosine * first - sine * second, sine * first + cosine * second], dim=1)
        product = rotated.view(size, size)
    return product


class GORUScan(Scan):
    """r, g = sigmoid(a^rg_t + W h_{t-1}), c = modrelu(a^c_t + r * (O h_{t-1})), h_t = g h_{t-1} + (1 - g) c for all t.

    Returns h_1 … h_T (time, batch, hidden) from a (time, batch, 3 hidden), M = [W_r; W_g; O] (3 hidden, hidden) and h_0; `m`
    is the bias of modrelu. Only the states are saved. The backward pass recomputes gates and candidates of all steps by
    one product; each step then takes element-wise operations and one product.
    """

    @staticmethod
    def forward(ctx: Any, a: Tensor, M: Tensor, h_0: Tensor, m: Tensor, probe: Probe, resets: Resets) -> Tensor:
        hidden = h_0.shape[-1]
        h, states = h_0, a.new_empty(*a.shape[:2], hidden)
        products = torch.empty_like(a[0])
        for t, (a_t, state) in enumerate(zip(a.unbind(), states.unbind(), strict=True)):
            if resets is not None:
                (h,) = clear((h,), resets[t])
            torch.mm(h, M.T, out=products)
            gates = (products[:, : 2 * hidden] + a_t[:, : 2 * hidden]).sigmoid_()
            r, g = gates.split(hidden, dim=1)
            c = modrelu(torch.addcmul(a_t[:, 2 * hidden :], r, products[:, 2 * hidden :]), m)
            h = torch.lerp(c, h, g, out=state)
            if probe is not None:
                h += probe[t]
        ctx.save_for_backward(a, M, h_0, m, resets, states)
        ctx.probed = probe is not None
        return states

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        a, M, h_0, m, resets, states = ctx.saved_tensors
        (outer,) = gradients
        before = previous_states(h_0, states, resets)
        r_product, g_product, rotated = (before @ M.T).chunk(3, dim=-1)
        a_r, a_g, a_c = a.chunk(3, dim=-1)
        r, g = torch.sigmoid(r_product + a_r), torch.sigmoid(g_product + a_g)
        c = modrelu(torch.addcmul(a_c, r, rotated), m)
        # Derivatives of h_t with respect to the argument of modrelu, and to each of the three products M h_{t-1}.
        by_candidate = (1 - g) * modrelu_slope(c)
        inner = torch.cat([by_candidate * rotated * r * (1 - r), (before - c) * g * (1 - g), by_candidate * r], dim=-1)
        total, dh = leaky_backward(outer, g, inner, M, resets)
        by_candidate *= total
        da = torch.cat([inner[..., : 2 * h_0.shape[-1]], by_candidate], dim=-1)
        dM = weight_gradient(inner, before) if ctx.needs_input_grad[1] else None
        dm = (by_candidate * torch.sign(c)).sum((0, 1))
        return da, dM, dh, dm, total if ctx.probed else None, None
