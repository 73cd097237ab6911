"""Drawing walks, levels and trees: random numbers come in batches, compiled kernels turn them into symbols."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memspan.sequences.store import narrow_dtype

BATCH = 1 << 18
"""Random numbers drawn at a time (2 MB), so that memory does not grow with the documents."""


def draw_walks(
    laws: NDArray[np.float64],
    state_of: NDArray[np.int64],
    symbol_of: NDArray[np.int64],
    n_documents: int,
    length: int,
    rng: np.random.Generator,
) -> NDArray[Any]:
    """Symbols of documents that walk from state to state, one document after the other.

    Row s of `laws` is the law of the outcome in state s, the last row that of a document's first outcome; an
    outcome leads to state_of[outcome] and shows symbol_of[outcome].
    """
    # Imported here: numba takes long to load, and I(tau) does not need it.
    from memspan.sequences.sources.kernels import alias_tables, walk

    keep, alias = alias_tables(laws)
    dtype = narrow_dtype(int(symbol_of.max()) + 1)
    symbols = np.empty(n_documents * length, dtype=dtype)
    shown, state = symbol_of.astype(dtype), 0
    for start in range(0, len(symbols), BATCH):
        part = symbols[start : start + BATCH]
        until_next = (length - start % length) % length
        state = walk(rng.random(len(part)), keep, alias, state_of, shown, state, until_next, length, part)
    return symbols


def draw_repeats(
    law: NDArray[np.float64], stay: float, n_documents: int, length: int, rng: np.random.Generator
) -> NDArray[Any]:
    """Symbols that repeat with probability `stay` and are drawn from `law` otherwise, document after document."""
    from memspan.sequences.sources.kernels import alias_tables, repeat_or_draw

    keep, alias = alias_tables(law[np.newaxis])
    symbols = np.empty(n_documents * length, dtype=narrow_dtype(len(law)))
    last = 0
    for start in range(0, len(symbols), BATCH):
        part = symbols[start : start + BATCH]
        until_next = (length - start % length) % length
        last = repeat_or_draw(rng.random(len(part)), stay, keep, alias, last, until_next, length, part)
    return symbols


def draw_levels(
    coefficient: float,
    thresholds: NDArray[np.float64],
    n_documents: int,
    length: int,
    rng: np.random.Generator,
) -> NDArray[Any]:
    """Levels of a first-order autoregression of unit variance, document after document."""
    from memspan.sequences.sources.kernels import autoregress

    symbols = np.empty(n_documents * length, dtype=narrow_dtype(len(thresholds) + 1))
    last = 0.0
    for start in range(0, len(symbols), BATCH):
        part = symbols[start : start + BATCH]
        until_next = (length - start % length) % length
        normals = rng.standard_normal(len(part))
        last = autoregress(normals, coefficient, thresholds, last, until_next, length, part)
    return symbols


def draw_leaves(
    laws: NDArray[np.float64], branching: int, depth: int, n_documents: int, rng: np.random.Generator
) -> NDArray[Any]:
    """Leaves of trees, one tree after the other.

    Row s of `laws` is the law of a child of s, the last row that of a root.
    """
    from memspan.sequences.sources.kernels import alias_tables, descend

    keep, alias = alias_tables(laws)
    n_symbols = laws.shape[1]
    nodes = np.full(n_documents, n_symbols, dtype=narrow_dtype(n_symbols + 1))
    for children in (1, *[branching] * depth):
        below = np.empty(len(nodes) * children, dtype=narrow_dtype(n_symbols))
        for start in range(0, len(below), BATCH):
            part = below[start : start + BATCH]
            descend(rng.random(len(part)), keep, alias, nodes, start, children, part)
        nodes = below
    return nodes
