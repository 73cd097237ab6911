"""r, g = sigmoid(a^rg_t + W h_{t-1}), c = modrelu(a^c_t + r * (O h_{t-1})), h_t = g h_{t-1} + (1 - g) c for all t.

The input's part a_t was computed beforehand. The scan keeps the states; gates and candidates of all steps are found again
by one product when gradients are asked for, and what a state passes back is then element-wise, but for one product a step.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from memspan.cells.activations import ModRelu
from memspan.cells.carried import found, weight_gradient
from memspan.cells.leaky import back_through_time
from memspan.cells.once import differentiable_once
from memspan.cells.precision import in_one_precision
from memspan.cells.segments import cleared

_MODRELU = ModRelu()


class GoruScan(Function):
    """States h_1 … h_T (time, batch, hidden) from a (time, batch, 3 hidden), M = [W_r; W_g; O] (3 hidden, hidden) and h_0.

    `m` is the bias of modrelu; where `resets` (time, batch) is true the state is cleared before a step.
    """

    @staticmethod
    @in_one_precision
    def forward(
        ctx: Any,
        a: Tensor,
        M: Tensor,
        h_0: Tensor,
        m: Tensor,
        probe: Tensor | None,
        resets: Tensor | None,
    ) -> Tensor:
        hidden = h_0.shape[-1]
        h, states = h_0, a.new_empty(*a.shape[:2], hidden)
        summed = torch.empty_like(a[0])
        for t, (a_t, state) in enumerate(zip(a.unbind(), states.unbind(), strict=True)):
            if resets is not None:
                (h,) = cleared((h,), resets[t])
            torch.mm(h, M.T, out=summed)
            gates = (summed[:, : 2 * hidden] + a_t[:, : 2 * hidden]).sigmoid_()
            r, g = gates.split(hidden, dim=1)
            c = _MODRELU(torch.addcmul(a_t[:, 2 * hidden :], r, summed[:, 2 * hidden :]), m)
            h = torch.lerp(c, h, g, out=state)
            if probe is not None:
                h += probe[t]
        ctx.save_for_backward(a, M, h_0, m, resets, states)
        ctx.probed = probe is not None
        return states

    @staticmethod
    @differentiable_once
    @in_one_precision
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        a, M, h_0, m, resets, states = ctx.saved_tensors
        (outer,) = gradients
        before = found(h_0, states, resets)
        r_sum, g_sum, turned = (before @ M.T).chunk(3, dim=-1)
        a_r, a_g, a_c = a.chunk(3, dim=-1)
        r, g = torch.sigmoid(r_sum + a_r), torch.sigmoid(g_sum + a_g)
        c = _MODRELU(torch.addcmul(a_c, r, turned), m)
        # How h_t changes with the argument of c, and with each of the three products of M and h_{t-1}.
        by_candidate = (1 - g) * _MODRELU.slope(c)
        inner = torch.cat(
            [by_candidate * turned * r * (1 - r), (before - c) * g * (1 - g), by_candidate * r], dim=-1
        )
        total, dh = back_through_time(outer, g, inner, M, resets)
        by_candidate *= total
        da = torch.cat([inner[..., : 2 * h_0.shape[-1]], by_candidate], dim=-1)
        dM = weight_gradient(inner, before) if ctx.needs_input_grad[1] else None
        dm = (by_candidate * torch.sign(c)).sum((0, 1))
        return da, dM, dh, dm, total if ctx.probed else None, None
