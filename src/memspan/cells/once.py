"""Scans that are written by hand can be differentiated once, and say so whatever a second derivative is asked for.

torch's own `once_differentiable` refuses only where its way back is walked to the end. Where derivatives of some tensors are
asked for (`torch.autograd.grad`) it leaves out, silently, all that would have passed through the first gradient.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from memspan.errors import InputError


class _Refusal(Function):
    """A gradient as it is; its own gradient, with respect to anything that it came from, is refused."""

    @staticmethod
    def forward(ctx: Any, gradient: Tensor, *origins: Tensor) -> Tensor:  # noqa: ARG004
        return gradient.view_as(gradient)

    @staticmethod
    def backward(ctx: Any, *outer: Tensor) -> Any:  # noqa: ARG004 # type: ignore[override]
        raise InputError(
            "a second derivative of a scan was asked for; the scans of memspan.cells can be differentiated once; "
            "take LSTM or GRU, which are torch's own, or leave create_graph out"
        )


def differentiable_once(backward: Callable[..., Any]) -> Callable[..., Any]:
    """For `backward` of an `autograd.Function` that saves a tensor it gave back: from there everything can be reached."""

    @functools.wraps(backward)
    def run(ctx: Any, *outer: Tensor | None) -> Any:
        with torch.no_grad():
            gradients = backward(ctx, *outer)
        if not torch.is_grad_enabled():
            return gradients
        origins = [
            tensor for tensor in (*outer, *ctx.saved_tensors) if tensor is not None and tensor.requires_grad
        ]
        return tuple(
            None if gradient is None else _Refusal.apply(gradient, *origins) for gradient in gradients
        )

    return run
