"""Checkpoints: the complete state of a training at one update in one file.

Tensors are stored by name, everything else (`Position`) as JSON in the metadata. The file is written to a temporary
name and renamed, so that a killed process never leaves half a checkpoint.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, final

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.optim import Optimizer

from memspan.errors import CorruptError, InputError
from memspan.results.files import replacing
from memspan.training.run.folder import RunFolder

# Version of the file format; others are refused.
FORMAT = 1
# The only metadata key. With several, safetensors writes them in any order, and equal states would differ in bytes.
_KEY = "memspan"

Tensors = dict[str, Tensor]


@final
@dataclass(kw_only=True)
class Position:
    """Where a training stands, apart from its tensors."""

    update: int = 0
    """Updates done."""
    validated: list[int] = field(default_factory=list)
    """Updates after which a validation took place."""
    losses: list[float] = field(default_factory=list)
    """Validation losses."""
    accuracies: list[float | None] = field(default_factory=list)
    """Validation accuracies; None if the task has no accuracy."""
    metrics_bytes: int = 0
    """Length of metrics.jsonl."""
    last_look: int = 0
    """Length of its last line if that validation took place only because training had ended; otherwise 0."""
    pending: dict[str, float] = field(default_factory=dict)
    """Sums of the metrics since the last logged line."""
    counted: dict[str, int] = field(default_factory=dict)
    """Number of updates in each sum."""
    averaging: bool = False
    """Whether validation has stopped improving, so that nt-asgd averages and objectives have switched."""
    stopped: str | None = None
    """Why the training ended; None while it has not."""
    lost: list[int] = field(default_factory=list)
    """Validated updates whose checkpoints could not be read when the run was resumed."""
    notes: list[str] = field(default_factory=list)
    """Remarks for readers of the result."""

    @property
    def best(self) -> int | None:
        """The first update with the lowest validation loss among those whose weights are not lost.

        >>> Position(validated=[10, 20, 30], losses=[3.0, 1.0, 1.0]).best
        20
        """
        return next(iter(self.by_loss()), None)

    def by_loss(self) -> list[int]:
        """The validated updates, best first.

        >>> Position(validated=[10, 20, 30], losses=[3.0, 1.0, 1.0], lost=[20]).by_loss()
        [30, 10]
        """
        looks = sorted(zip(self.losses, self.validated, strict=True))
        return [update for _, update in looks if update not in self.lost]

    def reopened(self) -> Position:
        """The same position in a training that has not ended: without the final validation, if there was one."""
        end = -1 if self.last_look else None
        return replace(
            self,
            validated=self.validated[:end],
            losses=self.losses[:end],
            accuracies=self.accuracies[:end],
            metrics_bytes=self.metrics_bytes - self.last_look,
            last_look=0,
            pending=dict(self.pending),
            counted=dict(self.counted),
            lost=list(self.lost),
            notes=list(self.notes),
            stopped=None,
        )


def write_checkpoint(path: Path, tensors: Tensors, position: Position, network: str) -> None:
    """Write a checkpoint atomically, with a checksum. Equal states give equal bytes."""
    # Clones, because safetensors refuses tensors that share memory (tied weights).
    whole = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()}
    metadata: dict[str, Any] = {"format": FORMAT, "cell": network, "position": vars(position)}
    metadata["checksum"] = _checksum(metadata, whole)
    with replacing(path) as temporary:
        try:
            save_file(whole, temporary, {_KEY: json.dumps(metadata, sort_keys=True)})
        except SafetensorError as error:  # a full disk, which safetensors does not report as an OSError
            raise OSError(_first_line(error)) from error


def read_checkpoint(path: Path, network: str) -> tuple[Tensors, Position]:
    """The inverse of `write_checkpoint`.

    A damaged file raises `CorruptError`; an intact one of another format or network raises `InputError`.
    """
    try:
        with safe_open(path, framework="pt") as file:
            strings = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        metadata = json.loads(strings[_KEY])
        version, owner, checksum = metadata["format"], metadata["cell"], metadata.pop("checksum")
    except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
        raise CorruptError(f"{path} cannot be read as a checkpoint ({_first_line(error)})") from error
    if checksum != _checksum(metadata, tensors):
        raise CorruptError(f"{path} is damaged: its checksum does not match its content")
    if version != FORMAT:
        raise InputError(
            f"{path} has format {version}; this version of memspan reads format {FORMAT}; use the version that wrote it, "
            "or train again"
        )
    if owner != network:
        raise InputError(
            f"{path} belongs to {owner}, but config.json says {network}; restore {owner} there, or train again"
        )
    return tensors, Position(**metadata["position"])


def newest_checkpoint(
    folder: RunFolder, network: str, report: Callable[[str], None], *, check_metrics: bool = False
) -> tuple[Tensors, Position] | None:
    """The newest readable checkpoint of a run; None without one. Each damaged file is passed to `report`.

    With `check_metrics`, a checkpoint that knows more lines than metrics.jsonl has counts as damaged.
    """
    for update in folder.saved():
        path = folder.checkpoint(update)
        try:
            tensors, position = read_checkpoint(path, network)
            if check_metrics and folder.metrics_length() < position.metrics_bytes:
                raise CorruptError(f"{folder.metrics_file} is shorter than {path.name} says")
        except CorruptError as error:
            report(f"skipped: {error}")
            continue
        return tensors, position
    return None


def module_tensors(prefix: str, module: nn.Module) -> Tensors:
    """Parameters and buffers by name."""
    return {f"{prefix}.{name}": tensor for name, tensor in module.state_dict().items()}


def load_module(prefix: str, module: nn.Module, tensors: Tensors, path: Path) -> None:
    """Restore what `module_tensors` returned; `path` is for the error message."""
    try:
        module.load_state_dict(strip_prefix(prefix, tensors))
    except RuntimeError as error:
        # torch says on the first line that something is wrong, and on the second what.
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        reason = lines[min(1, len(lines) - 1)].rstrip(".")
        raise InputError(f"{path} does not match config.json: {reason}; restore config.json, or train again") from error


def optimizer_tensors(prefix: str, optimizer: Optimizer) -> Tensors:
    """The state of an optimizer; its parameter groups follow from the configuration."""
    state: dict[int, dict[str, Any]] = optimizer.state_dict()["state"]
    return {
        f"{prefix}.{number}.{name}": torch.as_tensor(value)
        for number, values in state.items()
        for name, value in values.items()
        if value is not None
    }


def load_optimizer(prefix: str, optimizer: Optimizer, tensors: Tensors) -> None:
    """Restore what `optimizer_tensors` returned."""
    state: dict[int, Tensors] = {}
    for key, tensor in strip_prefix(prefix, tensors).items():
        number, name = key.split(".", 1)
        # A clone: the tensors of a file are mapped memory, which the optimizer must not write to.
        state.setdefault(int(number), {})[name] = tensor.clone()
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})


def strip_prefix(prefix: str, tensors: Tensors) -> Tensors:
    """The tensors whose names start with `prefix` and a dot, under the rest of their names."""
    return {
        name.removeprefix(f"{prefix}."): tensor for name, tensor in tensors.items() if name.startswith(f"{prefix}.")
    }


def _checksum(metadata: dict[str, Any], tensors: Tensors) -> str:
    digest = hashlib.sha256(json.dumps(metadata, sort_keys=True).encode())
    for name, tensor in sorted(tensors.items()):
        # Type and shape are part of the digest: the same bytes could be read as another tensor.
        digest.update(f"{name} {tensor.dtype} {list(tensor.shape)}".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _first_line(error: Exception) -> str:
    return f"no {error} in it" if isinstance(error, KeyError) else str(error).splitlines()[0]
