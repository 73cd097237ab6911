"""h_t = phi(a_t + V h_{t-1}) for all t, where a_t, the input's part, was computed in one product beforehand.

The scan keeps the states and nothing else: the slope of phi follows from its value, and the gradient of V is one product
over all steps.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from memspan.cells.activations import Activation
from memspan.cells.carried import found, weight_gradient
from memspan.cells.once import differentiable_once
from memspan.cells.precision import in_one_precision
from memspan.cells.segments import cleared


class VanillaScan(Function):
    """States h_1 … h_T (time, batch, hidden) from a of that shape, V (hidden, hidden) or (time, hidden, hidden), and h_0.

    Where `resets` (time, batch) is true the state is cleared before a step. `bias` is the activation's.
    """

    @staticmethod
    @in_one_precision
    def forward(
        ctx: Any,
        a: Tensor,
        V: Tensor,
        h_0: Tensor,
        bias: Tensor | None,
        probe: Tensor | None,
        resets: Tensor | None,
        phi: Activation,
    ) -> Tensor:
        h, states = h_0, torch.empty_like(a)
        for t in range(len(a)):
            if resets is not None:
                (h,) = cleared((h,), resets[t])
            h = phi(torch.addmm(a[t], h, (V if V.dim() == 2 else V[t]).T), bias)
            if probe is not None:
                h = h + probe[t]
            states[t] = h
        ctx.save_for_backward(V, h_0, bias, probe, resets, states)
        ctx.phi = phi
        return states

    @staticmethod
    @differentiable_once
    @in_one_precision
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        V, h_0, bias, probe, resets, states = ctx.saved_tensors
        (outer,) = gradients
        values = states if probe is None else states - probe
        slopes = ctx.phi.slope(values)
        total = torch.empty_like(states)
        inner = torch.empty_like(states) if slopes is not None else total
        dh = torch.zeros_like(h_0)
        for t in range(len(states) - 1, -1, -1):
            torch.add(outer[t], dh, out=total[t])
            if slopes is not None:
                torch.mul(total[t], slopes[t], out=inner[t])
            dh = inner[t] @ (V if V.dim() == 2 else V[t])
            if resets is not None:
                (dh,) = cleared((dh,), resets[t])
        before = found(h_0, states, resets)
        dV = weight_gradient(inner, before, V.dim() == 2) if ctx.needs_input_grad[1] else None
        dbias = (inner * torch.sign(values)).sum((0, 1)) if bias is not None else None
        return inner, dV, dh, dbias, total if probe is not None else None, None, None
