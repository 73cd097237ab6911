"""Counts files put together: the parts of each run joined, whole, and runs added."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from memspan.errors import InputError
from memspan.information.counts import PairCounts, join_lags, merge
from memspan.information.counts_file import Origin, load_counts

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
