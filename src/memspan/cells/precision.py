"""Scans have one precision, that of the weights, also where autocast would have matrix products in another."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


def in_one_precision(function: Callable[..., Any]) -> Callable[..., Any]:
    """For `forward` and `backward` of an `autograd.Function`: autocast is off inside, whoever calls and wherever.

    A step that added products in half precision to states in single would lose digits at every step, and some of torch's
    ways to write into a tensor refuse another type.
    """

    @functools.wraps(function)
    def run(ctx: Any, *arguments: Any) -> Any:
        devices = {argument.device.type for argument in arguments if isinstance(argument, Tensor)}
        with contextlib.ExitStack() as inside:
            for device in devices:
                if torch.is_autocast_enabled(device):
                    inside.enter_context(torch.autocast(device, enabled=False))
            return function(ctx, *arguments)

    return run
