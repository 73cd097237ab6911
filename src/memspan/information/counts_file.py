"""One file of pair counts: safetensors with a version, a description and a checksum; never pickle."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import CorruptError, InputError
from memspan.information.counts import NullCounts, PairCounts
from memspan.information.kernels import Table
from memspan.information.tables import narrowed
from memspan.results.files import replacing

VERSION = "1"
FIRST_QUARTER_OF_SHIFTS = 64
Tensors = dict[str, NDArray[Any]]


@final
@dataclass(frozen=True)
class Origin:
    """Where counts come from: `key` names data and options, `part` is one of the `parts` that make up `run`.

    All empty for counts that are whole in themselves.
    """

    key: str = ""
    run: str = ""
    part: str = ""
    parts: tuple[str, ...] = ()


def save_counts(counts: PairCounts, path: str | os.PathLike[str], origin: Origin | None = None) -> None:
    """Write counts, with their origin if they are a part of something."""
    from safetensors.numpy import save

    tensors: Tensors = {"lags": counts.lags, "frequencies": counts.frequencies}
    for number, block in enumerate(counts.blocks):
        tensors |= _packed(f"block.{number}", list(block), len(counts.alphabet))
    drawn = sorted(counts.null.draws)
    if drawn:
        tensors["null.draws"] = np.array(drawn, dtype=np.int64)
        tensors |= _packed("null", [counts.null.draws[place] for place in drawn], len(counts.alphabet))
    about = json.dumps(
        {
            "alphabet": [_plain_label(label) for label in counts.alphabet],
            "blocks": len(counts.blocks),
            "null": {"kind": counts.null.kind, "seed": counts.null.seed},
            "documents": counts.documents,
            "symbols": counts.symbols,
            "paths": counts.paths,
            "notes": counts.notes,
            "column": counts.column,
            "origin": dataclasses.asdict(origin or Origin()),
        }
    )
    tensors = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    metadata = {"format": "memspan-counts", "version": VERSION, "about": about}
    with replacing(path) as temporary:
        temporary.write_bytes(save(tensors, {**metadata, "checksum": _checksum(about, tensors)}))


def load_counts(path: str | os.PathLike[str]) -> tuple[PairCounts, Origin]:
    """Counts and their origin. Damaged, foreign and future files raise `CorruptError`."""
    about, tensors = _read(Path(path))
    try:
        origin = Origin(**{**about["origin"], "parts": tuple(about["origin"]["parts"])})
        return _checked(_counts(about, tensors)), origin
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise CorruptError(f"{path} is not a whole counts file ({error}); count again") from error


def _counts(about: dict[str, Any], tensors: Tensors) -> PairCounts:
    alphabet = tuple(_label(label) for label in about["alphabet"])
    lags, size = tensors["lags"], len(alphabet)
    blocks = [_unpacked(f"block.{number}", tensors, len(lags), size) for number in range(about["blocks"])]
    kind, seed = about["null"]["kind"], about["null"]["seed"]
    places = [(int(lag), int(draw)) for lag, draw in tensors.get("null.draws", np.zeros((0, 2), np.int64))]
    tables = dict(zip(places, _unpacked("null", tensors, len(places), size) if places else [], strict=True))
    if kind == "shifts":  # version 0.1 added draws of a quarter of the data, from this number on
        tables = {place: table for place, table in tables.items() if place[1] < FIRST_QUARTER_OF_SHIFTS}
    null = NullCounts(kind, seed, tables)
    return PairCounts(
        lags,
        alphabet,
        tuple(map(tuple, blocks)),
        null,
        tensors["frequencies"],
        about["documents"],
        about["symbols"],
        tuple(about["paths"]),
        tuple(about["notes"]),
        about.get("column"),
    )


def _checked(counts: PairCounts) -> PairCounts:
    """The same counts, if they can be counts at all: a file from outside is not trusted."""
    lags, frequencies, size = counts.lags, counts.frequencies, len(counts.alphabet)
    for table in [table for block in counts.blocks for table in block] + list(counts.null.draws.values()):
        if not np.issubdtype(table.cells.dtype, np.integer) or (
            table.keys is not None and not _keys_fit(table, size)
        ):
            raise ValueError("a table does not fit its alphabet")
    fine = (
        lags.ndim == 1
        and lags.dtype == np.int64
        and len(lags) > 0
        and lags[0] >= 1
        and bool(np.all(np.diff(lags) > 0))
        and frequencies.shape == (size,)
        and frequencies.dtype == np.int64
        and bool(np.all(frequencies >= 0))
        and len(set(counts.alphabet)) == size
        and bool(counts.blocks or counts.null.draws)
    )
    if not fine:
        raise ValueError("lags, frequencies or alphabet are not those of counts")
    return counts


def _keys_fit(table: Table, alphabet: int) -> bool:
    """Keys within the square of the alphabet, row by row, one for every cell."""
    keys = np.asarray(table.keys)
    if len(keys) != len(table.cells) or not len(keys):
        return len(keys) == len(table.cells)
    rows = keys // alphabet
    return bool(keys.min() >= 0 and keys.max() < alphabet**2 and np.all(np.diff(rows) >= 0))


def _plain_label(label: Any) -> Any:
    """A label as JSON can write it: text, numbers, and tuples of them."""
    label = label.item() if isinstance(label, np.generic) else label
    if isinstance(label, tuple):
        return [_plain_label(item) for item in label]
    if not isinstance(label, str | int | float | bool | None):
        raise InputError(
            f"symbols of type {type(label).__name__} cannot be saved; use text, numbers or tuples of them"
        )
    return label


def _label(plain: Any) -> Any:
    return tuple(_label(item) for item in plain) if isinstance(plain, list) else plain


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
    if len(ends) != slots or np.any(np.diff(ends, prepend=0) < 0) or (slots and ends[-1] != len(cells)):
        raise ValueError(f"{name} does not have {slots} tables")
    keys = tensors[f"{name}.keys"].astype(np.int64)
    return [Table(*pair) for pair in zip(np.split(keys, ends[:-1]), np.split(cells, ends[:-1]), strict=True)]
