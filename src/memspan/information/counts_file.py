"""One file of pair counts: safetensors with a version, a description and a checksum; never pickle."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memspan.errors import CorruptError, InputError
from memspan.information.counts import NullCounts, PairCounts
from memspan.information.kernels import Table
from memspan.information.tables import narrowed
from memspan.results.atomic import replacing

VERSION = "1"
Tensors = dict[str, NDArray[Any]]


def save_counts(counts: PairCounts, path: str | os.PathLike[str], key: str = "") -> None:
    """Write counts; `key` names what they were counted from, for those who want to continue."""
    from safetensors.numpy import save_file

    tensors: Tensors = {"lags": counts.lags, "frequencies": counts.frequencies}
    for number, block in enumerate(counts.blocks):
        tensors |= _packed(f"block.{number}", list(block), len(counts.alphabet))
    drawn = sorted(counts.null.draws)
    if drawn:
        tensors["null.draws"] = np.array(drawn, dtype=np.int64)
        tensors |= _packed("null", [counts.null.draws[place] for place in drawn], len(counts.alphabet))
    about = json.dumps(
        {
            "alphabet": counts.alphabet,
            "blocks": len(counts.blocks),
            "null": {"kind": counts.null.kind, "seed": counts.null.seed},
            "documents": counts.documents,
            "symbols": counts.symbols,
            "paths": counts.paths,
            "notes": counts.notes,
            "key": key,
        }
    )
    tensors = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    metadata = {"format": "memspan-counts", "version": VERSION, "about": about}
    with replacing(path) as temporary:
        save_file(tensors, temporary, {**metadata, "checksum": _checksum(about, tensors)})


def load_counts(path: str | os.PathLike[str]) -> tuple[PairCounts, str]:
    """Counts and their key. Damaged, foreign and future files raise `CorruptError`."""
    about, tensors = _read(Path(path))
    try:
        alphabet = tuple(tuple(label) if isinstance(label, list) else label for label in about["alphabet"])
        lags, size = tensors["lags"], len(alphabet)
        blocks = tuple(
            tuple(_unpacked(f"block.{number}", tensors, len(lags), size)) for number in range(about["blocks"])
        )
        places = [(int(lag), int(draw)) for lag, draw in tensors.get("null.draws", np.zeros((0, 2)))]
        tables = _unpacked("null", tensors, len(places), size) if places else []
        null = NullCounts(
            about["null"]["kind"], about["null"]["seed"], dict(zip(places, tables, strict=True))
        )
        counts = PairCounts(
            lags,
            alphabet,
            blocks,
            null,
            tensors["frequencies"],
            about["documents"],
            about["symbols"],
            tuple(about["paths"]),
            tuple(about["notes"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise CorruptError(f"{path} is not a whole counts file ({error}); count again") from error
    return counts, about["key"]


def _read(path: Path) -> tuple[dict[str, Any], Tensors]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as file:
            metadata = file.metadata() or {}
            tensors: Tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError as error:
        raise InputError(f"no such file: {path}") from error
    except (SafetensorError, OSError) as error:
        raise CorruptError(f"{path} is not a counts file, or is damaged ({error}); count again") from error
    if metadata.get("format") != "memspan-counts":
        raise CorruptError(f"{path} is not a counts file of memspan; give files that measure --out wrote")
    if metadata.get("version") != VERSION:
        raise CorruptError(
            f"{path} has counts format {metadata.get('version')}, this memspan reads {VERSION}; count again"
        )
    if metadata.get("checksum") != _checksum(metadata["about"], tensors):
        raise CorruptError(f"{path} is damaged: its checksum does not match; count again")
    return json.loads(metadata["about"]), tensors


def _checksum(about: str, tensors: Tensors) -> str:
    digest = hashlib.sha256(about.encode())
    for name in sorted(tensors):
        tensor = np.ascontiguousarray(tensors[name])
        digest.update(f"{name} {tensor.dtype.str} {tensor.shape}".encode())
        digest.update(tensor.data if tensor.size else b"")
    return digest.hexdigest()


def _packed(name: str, tables: list[Table], alphabet: int) -> Tensors:
    """Dense tables as one array; sparse ones laid end to end with their ends."""
    if all(table.keys is None for table in tables):
        return {f"{name}.cells": narrowed(np.stack([table.cells for table in tables]))}
    keys = np.concatenate([np.asarray(table.keys) for table in tables])
    return {
        f"{name}.keys": keys.astype(np.uint32 if alphabet <= 1 << 16 else np.int64),
        f"{name}.cells": narrowed(np.concatenate([table.cells for table in tables])),
        f"{name}.ends": np.cumsum([len(table.cells) for table in tables]).astype(np.int64),
    }


def _unpacked(name: str, tensors: Tensors, slots: int, alphabet: int) -> list[Table]:
    cells = tensors[f"{name}.cells"]
    if f"{name}.keys" not in tensors:
        return [Table(None, row) for row in cells.reshape(slots, alphabet**2)]
    ends = tensors[f"{name}.ends"]
    if len(ends) != slots or (slots and ends[-1] != len(cells)):
        raise ValueError(f"{name} does not have {slots} tables")
    keys = tensors[f"{name}.keys"].astype(np.int64)
    return [Table(*pair) for pair in zip(np.split(keys, ends[:-1]), np.split(cells, ends[:-1]), strict=True)]
