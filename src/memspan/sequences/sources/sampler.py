"""Drawing symbols: random numbers come in batches, and compiled kernels turn them into walks, levels and trees.

Sources import this module only to sample, because numba takes long to load and I(tau) does not need it.

Every categorical draw uses Walker's alias method: a distribution over K outcomes becomes K columns of equal weight, each
shared by two outcomes, so one random number selects a column and one of its two outcomes in constant time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from memspan.sequences.store import narrow_dtype

# Random numbers drawn at a time (2 MB), so that memory does not grow with the sample.
BATCH = 1 << 18


def draw_walks(
    laws: NDArray[np.float64],
    state_of: NDArray[np.int64],
    symbol_of: NDArray[np.int64],
    n_documents: int,
    length: int,
    rng: np.random.Generator,
) -> NDArray[Any]:
    """Symbols of concatenated documents that walk from state to state.

    Row s of `laws` is the distribution of the outcome in state s, the last row that of a document's first outcome. An
    outcome leads to state_of[outcome] and emits symbol_of[outcome].
    """
    keep, alias = alias_tables(laws)
    dtype = narrow_dtype(int(symbol_of.max()) + 1)
    symbols = np.empty(n_documents * length, dtype=dtype)
    emitted, state = symbol_of.astype(dtype), 0
    for part, until_next in _batches(symbols, length):
        state = _walk(rng.random(len(part)), keep, alias, state_of, emitted, state, until_next, length, part)
    return symbols


def draw_repeats(
    law: NDArray[np.float64], stay: float, n_documents: int, length: int, rng: np.random.Generator
) -> NDArray[Any]:
    """Symbols that repeat with probability `stay` and are drawn from `law` otherwise, in concatenated documents."""
    keep, alias = alias_tables(law[np.newaxis])
    symbols = np.empty(n_documents * length, dtype=narrow_dtype(len(law)))
    last = 0
    for part, until_next in _batches(symbols, length):
        last = _repeat_or_draw(rng.random(len(part)), stay, keep, alias, last, until_next, length, part)
    return symbols


def draw_levels(
    coefficient: float, thresholds: NDArray[np.float64], n_documents: int, length: int, rng: np.random.Generator
) -> NDArray[Any]:
    """Levels of a first-order autoregression of unit variance, in concatenated documents."""
    symbols = np.empty(n_documents * length, dtype=narrow_dtype(len(thresholds) + 1))
    last = 0.0
    for part, until_next in _batches(symbols, length):
        normals = rng.standard_normal(len(part))
        last = _autoregress(normals, coefficient, thresholds, last, until_next, length, part)
    return symbols


def draw_leaves(
    laws: NDArray[np.float64], branching: int, depth: int, n_documents: int, rng: np.random.Generator
) -> NDArray[Any]:
    """Leaves of trees, one tree after the other.

    Row s of `laws` is the distribution of a child of s, the last row that of a root.
    """
    keep, alias = alias_tables(laws)
    n_symbols = laws.shape[1]
    # The virtual parent of a root is the last row.
    nodes = np.full(n_documents, n_symbols, dtype=narrow_dtype(n_symbols + 1))
    for children in (1, *[branching] * depth):
        below = np.empty(len(nodes) * children, dtype=narrow_dtype(n_symbols))
        for start in range(0, len(below), BATCH):
            part = below[start : start + BATCH]
            _descend(rng.random(len(part)), keep, alias, nodes, start, children, part)
        nodes = below
    return nodes


def _batches(symbols: NDArray[Any], length: int) -> Iterator[tuple[NDArray[Any], int]]:
    """Slices of the output, each with the number of symbols before the next document begins."""
    for start in range(0, len(symbols), BATCH):
        yield symbols[start : start + BATCH], (length - start % length) % length


@njit(nogil=True, cache=True)
def alias_tables(laws: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The share of each column that belongs to its own outcome, and the outcome of the rest.  Vose 1991."""
    n_rows, n = laws.shape
    keep = np.ones((n_rows, n))
    alias = np.empty((n_rows, n), dtype=np.int64)
    poor = np.empty(n, dtype=np.int64)
    rich = np.empty(n, dtype=np.int64)
    for row in range(n_rows):
        weight = laws[row] * (n / laws[row].sum())
        n_poor = n_rich = 0
        for k in range(n):
            alias[row, k] = k
            if weight[k] < 1.0:
                poor[n_poor] = k
                n_poor += 1
            else:
                rich[n_rich] = k
                n_rich += 1
        while n_poor and n_rich:
            n_poor -= 1
            low, high = poor[n_poor], rich[n_rich - 1]
            keep[row, low] = weight[low]
            alias[row, low] = high
            # The rich outcome fills the rest of the poor one's column.
            weight[high] -= 1.0 - weight[low]
            if weight[high] < 1.0:
                n_rich -= 1
                poor[n_poor] = high
                n_poor += 1
        # The remaining columns have weight one up to rounding, so each belongs to its own outcome alone.
    return keep, alias


@njit(nogil=True, cache=True, inline="always")
def _pick(uniform: float, keep: Any, alias: Any, row: int) -> int:
    scaled = uniform * keep.shape[1]
    # Rounding can make the product equal to the number of columns.
    column = min(int(scaled), keep.shape[1] - 1)
    return column if scaled - column < keep[row, column] else alias[row, column]


@njit(nogil=True, cache=True)
def _walk(
    uniforms: NDArray[np.float64],
    keep: NDArray[np.float64],
    alias: NDArray[np.int64],
    state_of: NDArray[np.int64],
    symbol_of: NDArray[Any],
    state: int,
    until_next: int,
    length: int,
    out: NDArray[Any],
) -> int:
    """Write one symbol per random number; a document begins after `until_next` of them. Returns the last state."""
    for i in range(len(uniforms)):
        if until_next == 0:
            # The last row is the distribution of a document's first outcome.
            state = len(keep) - 1
            until_next = length
        until_next -= 1
        outcome = _pick(uniforms[i], keep, alias, state)
        state = state_of[outcome]
        out[i] = symbol_of[outcome]
    return state


@njit(nogil=True, cache=True)
def _descend(
    uniforms: NDArray[np.float64],
    keep: NDArray[np.float64],
    alias: NDArray[np.int64],
    parents: NDArray[Any],
    start: int,
    children: int,
    out: NDArray[Any],
) -> None:
    """Write children start, start + 1, … of the parents, each of which has `children`."""
    for i in range(len(uniforms)):
        out[i] = _pick(uniforms[i], keep, alias, parents[(start + i) // children])


@njit(nogil=True, cache=True)
def _repeat_or_draw(
    uniforms: NDArray[np.float64],
    stay: float,
    keep: NDArray[np.float64],
    alias: NDArray[np.int64],
    symbol: int,
    until_next: int,
    length: int,
    out: NDArray[Any],
) -> int:
    """Repeat the last symbol where the random number is below `stay`, otherwise draw one. Returns the last symbol.

    A document's first symbol is always drawn; the next document begins after `until_next` numbers.
    """
    for i in range(len(uniforms)):
        first = until_next == 0
        if first:
            until_next = length
        until_next -= 1
        if first:
            symbol = _pick(uniforms[i], keep, alias, 0)
        elif uniforms[i] >= stay:
            # Given u >= stay, (u - stay)/(1 - stay) is uniform again and can draw the symbol.
            symbol = _pick((uniforms[i] - stay) / (1.0 - stay), keep, alias, 0)
        out[i] = symbol
    return symbol


@njit(nogil=True, cache=True)
def _autoregress(
    normals: NDArray[np.float64],
    coefficient: float,
    thresholds: NDArray[np.float64],
    value: float,
    until_next: int,
    length: int,
    out: NDArray[Any],
) -> float:
    """Write the level of x_t = a x_{t-1} + sqrt(1 - a^2) z_t for each normal number z. Returns the last x.

    A document starts from x = z, the stationary distribution; the next one begins after `until_next` numbers.
    """
    innovation = np.sqrt(1.0 - coefficient * coefficient)
    for i in range(len(normals)):
        if until_next == 0:
            until_next = length
            value = normals[i]
        else:
            value = coefficient * value + innovation * normals[i]
        until_next -= 1
        out[i] = np.searchsorted(thresholds, value)
    return value
