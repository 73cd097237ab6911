"""r, g = sigmoid(a^rg_t + W h_{t-1}), c = modrelu(a^c_t + r * (O h_{t-1})), h_t = g h_{t-1} + (1 - g) c for all t.

The input's part a_t was computed beforehand. The scan keeps the states; gates and candidates of all steps are found again
by one product when gradients are asked for, and what a state passes back is then element-wise, but for one product a step.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from memspan.cells.activations import ModRelu

_MODRELU = ModRelu()


class GoruScan(Function):
    """States h_1 … h_T (time, batch, hidden) from a (time, batch, 3 hidden), M = [W_r; W_g; O] (3 hidden, hidden) and h_0.

    `m` is the bias of modrelu; `keep` (time, batch, 1) is 0 where the state is cleared before a step, else 1; None: never.
    """

    @staticmethod
    def forward(
        ctx: Any,
        a: Tensor,
        M: Tensor,
        h_0: Tensor,
        m: Tensor,
        probe: Tensor | None,
        keep: Tensor | None,
    ) -> Tensor:
        hidden = h_0.shape[-1]
        h, states = h_0, a.new_empty(*a.shape[:2], hidden)
        summed = torch.empty_like(a[0])
        for t, (a_t, state) in enumerate(zip(a.unbind(), states.unbind(), strict=True)):
            if keep is not None:
                h = h * keep[t]
            torch.mm(h, M.T, out=summed)
            gates = (summed[:, : 2 * hidden] + a_t[:, : 2 * hidden]).sigmoid_()
            r, g = gates.split(hidden, dim=1)
            c = _MODRELU(torch.addcmul(a_t[:, 2 * hidden :], r, summed[:, 2 * hidden :]), m)
            h = torch.lerp(c, h, g, out=state)
            if probe is not None:
                h += probe[t]
        ctx.save_for_backward(a, M, h_0, m, keep, states)
        ctx.probed = probe is not None
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        a, M, h_0, m, keep, states = ctx.saved_tensors
        (outer,) = gradients
        before = torch.cat([h_0.unsqueeze(0), states[:-1]])
        if keep is not None:
            before *= keep
        r_sum, g_sum, turned = (before @ M.T).chunk(3, dim=-1)
        a_r, a_g, a_c = a.chunk(3, dim=-1)
        r, g = torch.sigmoid(r_sum + a_r), torch.sigmoid(g_sum + a_g)
        c = _MODRELU(torch.addcmul(a_c, r, turned), m)
        # How h_t changes with the argument of c, and with each of the three products of M and h_{t-1}.
        by_candidate = (1 - g) * _MODRELU.slope(c)
        inner = torch.cat(
            [by_candidate * turned * r * (1 - r), (before - c) * g * (1 - g), by_candidate * r], dim=-1
        )
        total, dh = _back_through_time(outer, g, inner, M, keep)
        by_candidate *= total
        da = torch.cat([inner[..., : 2 * h_0.shape[-1]], by_candidate], dim=-1)
        dM = inner.flatten(0, 1).T @ before.flatten(0, 1) if ctx.needs_input_grad[1] else None
        dm = (by_candidate * torch.sign(c)).sum((0, 1))
        return da, dM, dh, dm, total if ctx.probed else None, None


def _back_through_time(
    outer: Tensor, g: Tensor, slopes: Tensor, M: Tensor, keep: Tensor | None
) -> tuple[Tensor, Tensor]:
    """The total gradient of every h_t, and that of h_0; `slopes` become the gradients of the products M h_{t-1}."""
    total, dh = torch.empty_like(g), torch.zeros_like(g[0])
    by_product = slopes.unflatten(-1, (3, -1))
    for t in range(len(g) - 1, -1, -1):
        torch.add(outer[t], dh, out=total[t])
        by_product[t].mul_(total[t].unsqueeze(1))
        dh = torch.addmm(total[t] * g[t], slopes[t], M)
        if keep is not None:
            dh = dh * keep[t]
    return total, dh
