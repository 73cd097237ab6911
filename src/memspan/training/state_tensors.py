"""Modules and optimizers as tensors by name, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from memspan.errors import InputError

Tensors = dict[str, Tensor]


def module_tensors(prefix: str, module: nn.Module) -> Tensors:
    """Parameters and buffers by name."""
    return {f"{prefix}.{name}": tensor for name, tensor in module.state_dict().items()}


def load_module(prefix: str, module: nn.Module, tensors: Tensors, path: Path) -> None:
    """Put back what `module_tensors` gave; `path` is where it comes from."""
    try:
        module.load_state_dict(below(prefix, tensors))
    except RuntimeError as error:
        raise InputError(
            f"{path} does not fit config.json: {_reason(error)}; put config.json back as it was, or train again"
        ) from error


def optimizer_tensors(prefix: str, optimizer: Optimizer) -> Tensors:
    """The state of an optimizer; its groups follow from the configuration."""
    state: dict[int, dict[str, Any]] = optimizer.state_dict()["state"]
    return {
        f"{prefix}.{number}.{name}": torch.as_tensor(value)
        for number, values in state.items()
        for name, value in values.items()
        if value is not None
    }


def load_optimizer(prefix: str, optimizer: Optimizer, tensors: Tensors) -> None:
    """Put back what `optimizer_tensors` gave."""
    state: dict[int, Tensors] = {}
    for key, tensor in below(prefix, tensors).items():
        number, name = key.split(".", 1)
        state.setdefault(int(number), {})[name] = tensor.clone()  # the file's memory is not to be written to
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})


def below(prefix: str, tensors: Tensors) -> Tensors:
    """Those whose names begin with `prefix` and a dot, without these."""
    return {
        name.removeprefix(f"{prefix}."): tensor
        for name, tensor in tensors.items()
        if name.startswith(f"{prefix}.")
    }


def _reason(error: RuntimeError) -> str:
    """torch says on the first line that something is wrong, and on the second what."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[min(1, len(lines) - 1)].rstrip(".")
