"""`PairCounts`: exact joint histograms per lag and block, with those of the null. Merge with +, save, load.

A counts file is safetensors with a version, a description and a checksum. `assemble` puts the files of one run together.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import itertools
import json
import os
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import CorruptError, InputError
from memspan.information.kernels import MOST_BLOCKS, PairTable
from memspan.information.tables import aligned, moved, narrowed, summed
from memspan.results.files import replacing

Draws = dict[tuple[int, int], PairTable]
# Cells of the largest table that `joint` writes out.
LARGEST_TABLE = 1 << 27


@final
@dataclass(frozen=True, eq=False)
class NullCounts:
    """Tables of the null: `draws[lag, draw]` for the class of lags that begins with `lag`; empty if `independent`."""

    kind: str
    seed: int
    draws: Draws = field(default_factory=dict)

    @property
    def lags(self) -> NDArray[np.int64]:
        """The first lag of every class."""
        return np.array(sorted({lag for lag, _ in self.draws}), dtype=np.int64)


@final
@dataclass(frozen=True, eq=False)
class PairCounts:
    """How often symbol b follows symbol a at each lag, by block.

    `blocks[k][i]` is block k's table at `lags[i]`. Counts of parts of the data add up with +, whoever counted them.

    >>> import memspan as ms
    >>> counts = ms.count_pairs(["abab" * 20], lags=[1, 2])
    >>> counts.joint(1)
    array([[ 0, 40],
           [39,  0]])
    >>> (counts + counts).pairs.tolist()
    [158, 156]
    """

    lags: NDArray[np.int64]
    alphabet: tuple[Hashable, ...]
    blocks: tuple[tuple[PairTable, ...], ...]
    null: NullCounts
    frequencies: NDArray[np.int64]
    """How often each symbol occurs; shape alphabet."""
    documents: int
    symbols: str = "symbols"
    paths: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    column: str | None = None

    @property
    def length(self) -> int:
        """Number of symbols."""
        return int(self.frequencies.sum())

    @property
    def pairs(self) -> NDArray[np.int64]:
        """Number of pairs per lag."""
        sums = [[int(table.cells.sum(dtype=np.int64)) for table in block] for block in self.blocks]
        return np.array(sums, dtype=np.int64).reshape(len(self.blocks), len(self.lags)).sum(axis=0)

    def joint(self, lag: int) -> NDArray[np.int64]:
        """The table at one lag, shape alphabet x alphabet: rows are first symbols, columns second ones."""
        if len(self.alphabet) ** 2 > LARGEST_TABLE:
            raise InputError(f"a table of {len(self.alphabet):,} x {len(self.alphabet):,} symbols is too large to show")
        index = np.flatnonzero(self.lags == lag)
        if not len(index):
            raise InputError(f"lag {lag} was not counted; counted are {self.lags.tolist()[:20]}")
        keys, cells = aligned([block[int(index[0])] for block in self.blocks], len(self.alphabet))
        table = np.zeros(len(self.alphabet) ** 2, np.int64)
        table[keys if keys is not None else slice(None)] = cells.sum(axis=0, dtype=np.int64)
        return table.reshape(len(self.alphabet), -1)

    def __add__(self, other: PairCounts) -> PairCounts:
        return merge([self, other])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the counts to one file, atomically."""
        save_counts(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> PairCounts:
        """Read what `save` wrote; damaged and foreign files are refused."""
        return load_counts(path)[0]


def merge(parts: Iterable[PairCounts]) -> PairCounts:
    """The counts of all parts together, over the union of their alphabets."""
    parts = list(parts)
    first = parts[0]
    for part in parts[1:]:
        _check_alike(first, part)
    alphabet = _union([part.alphabet for part in parts])
    parts = [_recoded(part, alphabet) for part in parts]
    size = len(alphabet)
    return PairCounts(
        first.lags,
        alphabet,
        _folded([block for part in parts for block in part.blocks], size),
        NullCounts(first.null.kind, first.null.seed, _merged_draws([part.null for part in parts], size)),
        np.sum([part.frequencies for part in parts], axis=0),
        sum(part.documents for part in parts),
        first.symbols,
        tuple(dict.fromkeys(path for part in parts for path in part.paths)),
        tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        first.column,
    )


def join_lags(groups: list[PairCounts]) -> PairCounts:
    """Counts of the same blocks at different lags as one."""
    first = groups[0]
    if len(groups) == 1:
        return first
    lags = np.concatenate([group.lags for group in groups])
    if len(np.unique(lags)) < len(lags) or len({len(group.blocks) for group in groups}) > 1:
        raise InputError(
            "these counts are of different runs and cannot be joined; give the files of one run, or add runs"
        )
    order = np.argsort(lags)
    joined = (tuple(itertools.chain.from_iterable(tables)) for tables in zip(*(g.blocks for g in groups), strict=True))
    blocks = tuple(tuple(tables[i] for i in order) for tables in joined)
    null = next((group.null for group in groups if group.null.draws), first.null)
    return dataclasses.replace(first, lags=lags[order], blocks=blocks, null=null)


def _merged_draws(nulls: list[NullCounts], alphabet: int) -> Draws:
    """Draws of parts of one run are put together; draws of different data are added, class by class."""
    merged: Draws = {}
    for null in nulls:
        drawn, before = {draw for _, draw in null.draws}, {draw for _, draw in merged}
        if not drawn & before:
            merged |= null.draws
            continue
        lags = sorted({lag for lag, _ in null.draws} | {lag for lag, _ in merged})
        merged = {
            (lag, draw): summed([_containing(some, lag, draw) for some in (merged, null.draws)], alphabet)
            for lag in lags
            for draw in sorted(drawn & before)
        }
    return merged


def _containing(draws: Draws, lag: int, draw: int) -> PairTable:
    """The table of the class of lags that `lag` belongs to."""
    lags = sorted({first for first, _ in draws})
    return draws[max((first for first in lags if first <= lag), default=lags[0]), draw]


def _check_alike(a: PairCounts, b: PairCounts) -> None:
    if not np.array_equal(a.lags, b.lags):
        raise InputError("these counts are of different lags and cannot be added; count both with the same --lags")
    if a.symbols != b.symbols:
        raise InputError(f"counts of {a.symbols} and of {b.symbols} cannot be added; count both with the same --as")
    if a.null.kind != b.null.kind:
        raise InputError(
            f"counts with null {a.null.kind} and {b.null.kind} cannot be added; count both with the same --null"
        )


def _union(alphabets: list[tuple[Hashable, ...]]) -> tuple[Hashable, ...]:
    if all(alphabet == alphabets[0] for alphabet in alphabets):
        return alphabets[0]
    labels: list[Any] = list(dict.fromkeys(label for alphabet in alphabets for label in alphabet))
    try:
        return tuple(sorted(labels))
    except TypeError:
        return tuple(labels)


def _recoded(part: PairCounts, alphabet: tuple[Hashable, ...]) -> PairCounts:
    """The same counts with symbol numbers of a larger alphabet."""
    if part.alphabet == alphabet:
        return part
    number = {label: code for code, label in enumerate(alphabet)}
    codes = np.array([number[label] for label in part.alphabet], dtype=np.int64)
    move = functools.partial(moved, codes=codes, alphabet=len(alphabet))
    frequencies = np.zeros(len(alphabet), np.int64)
    frequencies[codes] = part.frequencies
    blocks = tuple(tuple(move(table) for table in block) for block in part.blocks)
    null = dataclasses.replace(part.null, draws={key: move(table) for key, table in part.null.draws.items()})
    return dataclasses.replace(part, alphabet=alphabet, blocks=blocks, null=null, frequencies=frequencies)


def _folded(blocks: list[tuple[PairTable, ...]], alphabet: int) -> tuple[tuple[PairTable, ...], ...]:
    """At most 64 blocks: neighbours are added together until that is so."""
    while len(blocks) > MOST_BLOCKS:
        blocks = [
            tuple(summed(list(tables), alphabet) for tables in zip(*blocks[k : k + 2], strict=True))
            for k in range(0, len(blocks), 2)
        ]
    return tuple(blocks)


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
        if not np.issubdtype(table.cells.dtype, np.integer) or (table.keys is not None and not _keys_fit(table, size)):
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


def _keys_fit(table: PairTable, alphabet: int) -> bool:
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
        raise InputError(f"symbols of type {type(label).__name__} cannot be saved; use text, numbers or tuples of them")
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


def _packed(name: str, tables: list[PairTable], alphabet: int) -> Tensors:
    """Dense tables as one array; sparse ones laid end to end with their ends."""
    if all(table.keys is None for table in tables):
        return {f"{name}.cells": narrowed(np.stack([table.cells for table in tables]))}
    keys = np.concatenate([np.asarray(table.keys) for table in tables])
    return {
        f"{name}.keys": keys.astype(np.uint32 if alphabet <= 1 << 16 else np.int64),
        f"{name}.cells": narrowed(np.concatenate([table.cells for table in tables])),
        f"{name}.ends": np.cumsum([len(table.cells) for table in tables]).astype(np.int64),
    }


def _unpacked(name: str, tensors: Tensors, slots: int, alphabet: int) -> list[PairTable]:
    cells = tensors[f"{name}.cells"]
    if f"{name}.keys" not in tensors:
        return [PairTable(None, row) for row in cells.reshape(slots, alphabet**2)]
    ends = tensors[f"{name}.ends"]
    if len(ends) != slots or np.any(np.diff(ends, prepend=0) < 0) or (slots and ends[-1] != len(cells)):
        raise ValueError(f"{name} does not have {slots} tables")
    keys = tensors[f"{name}.keys"].astype(np.int64)
    return [PairTable(*pair) for pair in zip(np.split(keys, ends[:-1]), np.split(cells, ends[:-1]), strict=True)]


Part = tuple[str, PairCounts, Origin]


def assemble(paths: Iterable[str | os.PathLike[str]]) -> PairCounts:
    """The counts in all files together. Parts that are missing, or given twice, are refused."""
    loaded: list[Part] = [(Path(path).name, *load_counts(path)) for path in paths]
    runs: dict[str, list[Part]] = {}
    for number, part in enumerate(loaded):
        runs.setdefault(part[2].run or f"file {number}", []).append(part)
    return merge([_whole(parts) for parts in runs.values()])


def _whole(parts: list[Part]) -> PairCounts:
    """One run from its parts: blocks and null merged within each group of lags, then the groups joined."""
    expected, given = set(parts[0][2].parts), [origin.part for _, _, origin in parts]
    missing = sorted(expected - set(given))
    if missing:
        raise InputError(
            f"{parts[0][0]} belongs to a count of {len(expected)} parts, of which {len(missing)} are missing "
            f"({', '.join(missing[:3])}{', …' if len(missing) > 3 else ''}); give all files of the folder, "
            "or count again to finish it"
        )
    if len(given) > len(set(given)):
        twice = next(part for part in given if given.count(part) > 1)
        raise InputError(f"{twice or parts[0][0]} was given twice; give each file once")
    groups: dict[tuple[int, ...], list[PairCounts]] = {}
    for _, counts, _ in parts:
        groups.setdefault(tuple(counts.lags.tolist()), []).append(counts)
    return join_lags([merge(group) for group in groups.values()])
