"""All that a training is at one update, in one file: tensors by name, the rest as JSON in the metadata."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from memspan.errors import CorruptError, InputError
from memspan.results.files import replacing
from memspan.training.position import Position as Position

FORMAT = 1
"""Of the file; another one is refused."""
_KEY = "memspan"
"""The only one of the metadata: of several, safetensors would write any order, and equal states would differ in bytes."""


def write_checkpoint(path: Path, tensors: dict[str, Tensor], position: Position, cell: str) -> None:
    """Atomically, with a checksum. Equal states give equal bytes."""
    # Clones, because tensors that share their memory (tied weights) are refused otherwise.
    whole = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()}
    told: dict[str, Any] = {"format": FORMAT, "cell": cell, "position": vars(position)}
    told["checksum"] = _checksum(told, whole)
    with replacing(path) as temporary:
        try:
            save_file(whole, temporary, {_KEY: json.dumps(told, sort_keys=True)})
        except SafetensorError as error:  # a full disk, which it does not tell as an OSError
            raise OSError(_words(error)) from error


def read_checkpoint(path: Path, cell: str) -> tuple[dict[str, Tensor], Position]:
    """The inverse of `write_checkpoint`.

    A file that is damaged raises `CorruptError`; a sound one of another format or cell raises `InputError`.
    """
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        told = json.loads(metadata[_KEY])
        version, owner, checksum = told["format"], told["cell"], told.pop("checksum")
    except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
        raise CorruptError(f"{path} cannot be read as a checkpoint ({_words(error)})") from error
    if checksum != _checksum(told, tensors):
        raise CorruptError(f"{path} is damaged: its checksum does not fit its content")
    if version != FORMAT:
        raise InputError(
            f"{path} has format {version}; this version of memspan reads {FORMAT}; "
            "use the version that wrote it, or train again"
        )
    if owner != cell:
        raise InputError(
            f"{path} is of a {owner}; config.json says {cell}; put {owner} back there, or train again"
        )
    return tensors, Position(**told["position"])


def _checksum(told: dict[str, Any], tensors: dict[str, Tensor]) -> str:
    digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {list(tensor.shape)}".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _words(error: Exception) -> str:
    return f"no {error} in it" if isinstance(error, KeyError) else str(error).splitlines()[0]
