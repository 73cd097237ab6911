"""All that a training is at one update, in one file: tensors by name, the rest as JSON in the metadata."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.optim import Optimizer

from memspan.errors import CorruptError
from memspan.results.atomic import replacing

FORMAT = "1"
"""Of the file; another one is refused."""


@final
@dataclass(frozen=True)
class Position:
    """Where a training stands, besides its tensors."""

    update: int = 0
    losses: list[float] = field(default_factory=list)
    """Of all validations."""
    accuracies: list[float] = field(default_factory=list)
    """Of all validations."""
    best: int | None = None
    """The update whose validation loss is the lowest."""
    metrics_bytes: int = 0
    """Length of metrics.jsonl."""
    pending: dict[str, float] = field(default_factory=dict)
    """Sums since the last line of metrics.jsonl."""
    averaging: bool = False
    stopped: str | None = None
    """Why it is over; None while it is not."""


def write_checkpoint(path: Path, tensors: dict[str, Tensor], position: Position, cell: str) -> None:
    """Atomically; tensors are copied to the processor first."""
    metadata = {"format": FORMAT, "cell": cell, "position": json.dumps(vars(position), sort_keys=True)}
    whole = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    with replacing(path) as temporary:
        save_file(whole, temporary, metadata)


def read_checkpoint(path: Path, cell: str) -> tuple[dict[str, Tensor], Position]:
    """The inverse of `write_checkpoint`; anything else than such a file of this cell raises `CorruptError`."""
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise CorruptError(f"{path} cannot be read ({error})") from error
    if metadata.get("format") != FORMAT:
        raise CorruptError(
            f"{path} has format {metadata.get('format')}; this version of memspan reads {FORMAT}; train again"
        )
    if metadata.get("cell") != cell:
        raise CorruptError(f"{path} is of a {metadata.get('cell')}; the configuration says {cell}")
    try:
        position = Position(**json.loads(metadata["position"]))
    except (KeyError, ValueError, TypeError) as error:
        raise CorruptError(f"{path} does not say where the training stood ({error})") from error
    return tensors, position


def module_tensors(prefix: str, module: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers by name."""
    return {f"{prefix}.{name}": tensor for name, tensor in module.state_dict().items()}


def load_module(prefix: str, module: nn.Module, tensors: dict[str, Tensor], path: Path) -> None:
    """Put back what `module_tensors` gave."""
    own = {
        name.removeprefix(f"{prefix}."): tensor
        for name, tensor in tensors.items()
        if name.startswith(f"{prefix}.")
    }
    try:
        module.load_state_dict(own)
    except RuntimeError as error:
        raise CorruptError(f"{path} does not fit the configuration: {_first_line(error)}") from error


def optimizer_tensors(prefix: str, optimizer: Optimizer) -> dict[str, Tensor]:
    """The state of an optimizer; its groups follow from the configuration."""
    state: dict[int, dict[str, Any]] = optimizer.state_dict()["state"]
    return {
        f"{prefix}.{number}.{name}": torch.as_tensor(value)
        for number, values in state.items()
        for name, value in values.items()
        if value is not None
    }


def load_optimizer(prefix: str, optimizer: Optimizer, tensors: dict[str, Tensor]) -> None:
    """Put back what `optimizer_tensors` gave."""
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        if key.startswith(f"{prefix}."):
            number, name = key.removeprefix(f"{prefix}.").split(".", 1)
            state.setdefault(int(number), {})[name] = tensor
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[1] if len(lines) > 1 else lines[0]
