"""Helpers of scans whose backward pass is written by hand: precision, resets, and gradients of all steps at once."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from memspan.errors import InputError

States = tuple[Tensor, ...]
"""Tensors (batch, …) of one layer, or (layers, batch, …) of a cell."""
Resets = Tensor | None
"""A bool mask (time, batch): true where the state is cleared before a step."""
Probe = Tensor | None
"""Zeros (time, batch, hidden) added to every h_t, whose gradient is the total dL/dh_t."""


class Scan(Function):
    """An `autograd.Function` over all steps: autocast is off inside, and a second derivative raises an error.

    `forward` must save one of its outputs: see `differentiable_once`.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.forward = staticmethod(without_autocast(cls.forward))
        cls.backward = staticmethod(differentiable_once(without_autocast(cls.backward)))


def without_autocast(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `forward` or `backward` of an `autograd.Function` so that autocast is off inside.

    Half-precision products would lose digits at every step, and some in-place operations of torch reject mixed types.
    """

    @functools.wraps(function)
    def run(ctx: Any, *arguments: Any) -> Any:
        devices = {argument.device.type for argument in arguments if isinstance(argument, Tensor)}
        with contextlib.ExitStack() as stack:
            for device in devices:
                if torch.is_autocast_enabled(device):
                    stack.enter_context(torch.autocast(device, enabled=False))
            return function(ctx, *arguments)

    return run


def differentiable_once(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a `backward` so that every request for a second derivative raises an error.

    `torch.autograd.function.once_differentiable` raises only if the backward pass reaches the decorated function. With
    `torch.autograd.grad` of selected tensors it silently omits all that passes through the first gradient. The function must
    save one of its outputs, so that every input can be reached from the saved tensors.
    """

    @functools.wraps(backward)
    def run(ctx: Any, *outer: Tensor | None) -> Any:
        with torch.no_grad():
            gradients = backward(ctx, *outer)
        if not torch.is_grad_enabled():
            return gradients
        origins = [tensor for tensor in (*outer, *ctx.saved_tensors) if tensor is not None and tensor.requires_grad]
        return tuple(
            None if gradient is None else _NoSecondDerivative.apply(gradient, *origins) for gradient in gradients
        )

    return run


class _NoSecondDerivative(Function):
    """The identity on a gradient; its own backward raises."""

    @staticmethod
    def forward(ctx: Any, gradient: Tensor, *origins: Tensor) -> Tensor:  # noqa: ARG004
        return gradient.view_as(gradient)

    @staticmethod
    def backward(ctx: Any, *outer: Tensor) -> Any:  # noqa: ARG004 # type: ignore[override]
        raise InputError(
            "a second derivative of a scan was requested; the scans of memspan.cells are differentiable once; "
            "use LSTM or GRU, which run torch's kernels, or omit create_graph"
        )


def clear(state: States, reset: Tensor) -> States:
    """The state with zeros where `reset` (batch) is true."""
    # Not a product with a mask: 0 times NaN is NaN.
    return tuple(tensor.masked_fill(reset.unsqueeze(-1), 0) for tensor in state)


def scan_segments(
    kernel: Callable[[Tensor, States], tuple[Tensor, States]], inputs: Tensor, state: States, resets: Resets
) -> tuple[Tensor, States]:
    """Outputs (time, batch, hidden) and final state of a kernel without resets, called once between resets of the batch."""
    if resets is None:
        return kernel(inputs, state)
    begins = resets.any(dim=1).nonzero().flatten().tolist()
    parts = []
    for begin, end in pairwise(sorted({0, *begins, len(inputs)})):
        part, state = kernel(inputs[begin:end], clear(state, resets[begin]))
        parts.append(part)
    return torch.cat(parts), state


def previous_states(first: Tensor, states: Tensor, resets: Resets) -> Tensor:
    """(time, batch, …): the state before every step, `first` and then `states` without the last; zero after a reset."""
    before = torch.cat([first.unsqueeze(0), states[:-1]])
    return before if resets is None else before.masked_fill_(resets.unsqueeze(-1), 0)


def weight_gradient(inner: Tensor, before: Tensor, tied: bool = True) -> Tensor:
    """dL/dW of W h_{t-1}: inner before^T summed over the batch and, with `tied` weights, over time."""
    if tied:
        return inner.flatten(0, 1).T @ before.flatten(0, 1)
    return inner.mT @ before


def weights_per_step(W: Tensor, steps: int) -> tuple[Tensor, ...]:
    """The weights of every step: W itself, or W[t] where W has a time dimension."""
    return (W,) * steps if W.dim() == 2 else W.unbind()


def leaky_backward(outer: Tensor, g: Tensor, slopes: Tensor, M: Tensor, resets: Resets) -> tuple[Tensor, Tensor]:
    """Backpropagate through h_t = g_t h_{t-1} + (1 - g_t) c_t, where g_t and c_t depend on h_{t-1} through M h_{t-1}.

    Returns the total gradient of every h_t (time, batch, hidden) and that of h_0. `slopes` (time, batch, products) hold the
    derivatives of h_t with respect to M h_{t-1}, one or more products for each unit; they are overwritten by the
    gradients of these products. M is (products, hidden) or, untied, (time, products, hidden).
    """
    total, dh = torch.empty_like(g), torch.zeros_like(g[0])
    by_unit = slopes.unflatten(-1, (-1, g.shape[-1]))
    # Views of all steps are taken at once: indexing tensors inside the loop costs as much as a small product.
    M_t = weights_per_step(M, len(g))
    columns = (outer.unbind(), g.unbind(), total.unbind(), slopes.unbind(), by_unit.unbind(), M_t)
    steps = reversed(list(enumerate(zip(*columns, strict=True))))
    for t, (outer_t, g_t, total_t, inner, units, M_now) in steps:
        torch.add(outer_t, dh, out=total_t)
        units *= total_t.unsqueeze(1)
        dh = torch.addmm(total_t * g_t, inner, M_now)
        if resets is not None:
            dh = dh.masked_fill_(resets[t].unsqueeze(-1), 0)
    return total, dh
