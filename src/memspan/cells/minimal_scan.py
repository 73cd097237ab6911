"""u_t = sigmoid(a_t + W h_{t-1}), h_t = u_t h_{t-1} + (1 - u_t) z_t for all t; a_t and z_t were computed beforehand.

The scan keeps states and gates. Both slopes that back-propagation needs, of h_t by the gate and by h_{t-1}, are then
element-wise, and the gradient of W is one product over all steps.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from memspan.cells.carried import found, weight_gradient
from memspan.cells.leaky import back_through_time, each
from memspan.cells.once import differentiable_once
from memspan.cells.precision import in_one_precision
from memspan.cells.segments import cleared


class MinimalScan(Function):
    """States h_1 … h_T (time, batch, hidden) from a and z of that shape, W (hidden, hidden) or one per step, and h_0.

    Where `resets` (time, batch) is true the state is cleared before a step.
    """

    @staticmethod
    @in_one_precision
    def forward(
        ctx: Any,
        a: Tensor,
        z: Tensor,
        W: Tensor,
        h_0: Tensor,
        probe: Tensor | None,
        resets: Tensor | None,
    ) -> Tensor:
        h, states, gates = h_0, torch.empty_like(a), torch.empty_like(a)
        steps = zip(a.unbind(), z.unbind(), each(W.mT, len(a)), gates.unbind(), states.unbind(), strict=True)
        for t, (a_t, z_t, into, u, state) in enumerate(steps):
            if resets is not None:
                (h,) = cleared((h,), resets[t])
            torch.addmm(a_t, h, into, out=u).sigmoid_()
            h = torch.lerp(z_t, h, u, out=state)
            if probe is not None:
                h += probe[t]
        ctx.save_for_backward(z, W, h_0, resets, gates, states)
        ctx.probed = probe is not None
        return states

    @staticmethod
    @differentiable_once
    @in_one_precision
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        z, W, h_0, resets, gates, states = ctx.saved_tensors
        (outer,) = gradients
        before = found(h_0, states, resets)
        closed = 1 - gates
        # At first how h_t changes with a_t, then in its place the gradient of a_t.
        inner = (before - z).mul_(gates).mul_(closed)
        total, dh = back_through_time(outer, gates, inner, W, resets)
        dW = weight_gradient(inner, before, W.dim() == 2) if ctx.needs_input_grad[2] else None
        return inner, closed.mul_(total), dW, dh, total if ctx.probed else None, None
