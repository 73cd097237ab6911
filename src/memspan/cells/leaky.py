"""h_t = g_t h_{t-1} + (1 - g_t) c_t, where h_{t-1} enters g_t and c_t by a product with M: the way back through time."""

from __future__ import annotations

import torch
from torch import Tensor


def each(W: Tensor, steps: int) -> tuple[Tensor, ...]:
    """The weights of every step: always the same (…), or each its own (time, …)."""
    return (W,) * steps if W.dim() == 2 else W.unbind()


def back_through_time(
    outer: Tensor, g: Tensor, slopes: Tensor, M: Tensor, resets: Tensor | None
) -> tuple[Tensor, Tensor]:
    """The total gradient of every h_t (time, batch, hidden), and that of h_0.

    `slopes` (time, batch, products) are those of h_t by the products M h_{t-1}, of which there are one or more for each
    unit; they become the gradients of these products. M is (products, hidden), or one for each step.
    """
    total, dh = torch.empty_like(g), torch.zeros_like(g[0])
    by_unit = slopes.unflatten(-1, (-1, g.shape[-1]))
    columns = (outer.unbind(), g.unbind(), total.unbind(), slopes.unbind(), by_unit.unbind(), each(M, len(g)))
    for t, (outer_t, g_t, total_t, inner, units, M_t) in reversed(
        list(enumerate(zip(*columns, strict=True)))
    ):
        torch.add(outer_t, dh, out=total_t)
        units *= total_t.unsqueeze(1)
        dh = torch.addmm(total_t * g_t, inner, M_t)
        if resets is not None:
            dh = dh.masked_fill_(resets[t].unsqueeze(-1), 0)
    return total, dh
