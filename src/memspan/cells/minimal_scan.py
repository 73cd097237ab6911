"""u_t = sigmoid(a_t + W h_{t-1}), h_t = u_t h_{t-1} + (1 - u_t) z_t for all t; a_t and z_t were computed beforehand.

The scan keeps states and gates. Both slopes that back-propagation needs, of h_t by the gate and by h_{t-1}, are then
element-wise, and the gradient of W is one product over all steps.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class MinimalScan(Function):
    """States h_1 … h_T (time, batch, hidden) from a and z of that shape, W (hidden, hidden) or one per step, and h_0.

    `keep` (time, batch, 1) is 0 where the state is cleared before a step, else 1; None: never.
    """

    @staticmethod
    def forward(
        ctx: Any,
        a: Tensor,
        z: Tensor,
        W: Tensor,
        h_0: Tensor,
        probe: Tensor | None,
        keep: Tensor | None,
    ) -> Tensor:
        h, states, gates = h_0, torch.empty_like(a), torch.empty_like(a)
        steps = zip(a.unbind(), z.unbind(), _each(W.mT, len(a)), gates.unbind(), states.unbind(), strict=True)
        for t, (a_t, z_t, into, u, state) in enumerate(steps):
            if keep is not None:
                h = h * keep[t]
            torch.addmm(a_t, h, into, out=u).sigmoid_()
            h = torch.lerp(z_t, h, u, out=state)
            if probe is not None:
                h += probe[t]
        ctx.save_for_backward(z, W, h_0, keep, gates, states)
        ctx.probed = probe is not None
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        z, W, h_0, keep, gates, states = ctx.saved_tensors
        (outer,) = gradients
        before = torch.cat([h_0.unsqueeze(0), states[:-1]])
        if keep is not None:
            before *= keep
        closed = 1 - gates
        # At first how h_t changes with a_t, then in its place the gradient of a_t.
        inner = (before - z).mul_(gates).mul_(closed)
        total, dh = torch.empty_like(states), torch.zeros_like(h_0)
        columns = (outer.unbind(), gates.unbind(), total.unbind(), inner.unbind(), _each(W, len(states)))
        for t, (outer_t, u, total_t, inner_t, W_t) in reversed(list(enumerate(zip(*columns, strict=True)))):
            torch.add(outer_t, dh, out=total_t)
            inner_t *= total_t
            dh = torch.addmm(total_t * u, inner_t, W_t)
            if keep is not None:
                dh = dh * keep[t]
        dW = _products(inner, before, W.dim() == 2) if ctx.needs_input_grad[2] else None
        return inner, closed.mul_(total), dW, dh, total if ctx.probed else None, None


def _each(W: Tensor, steps: int) -> tuple[Tensor, ...]:
    """The weights of every step: always the same, or each its own."""
    return (W,) * steps if W.dim() == 2 else W.unbind()


def _products(inner: Tensor, before: Tensor, tied: bool) -> Tensor:
    """The gradient of W: the sum over steps and batch of inner before^T, or one such sum for each step."""
    if tied:
        return inner.flatten(0, 1).T @ before.flatten(0, 1)
    return inner.mT @ before
