"""The steps of a scan over a screened memory, compiled: the same as `relevance_steps`, on the CPU.

Sequences do not know of each other, so each thread takes some of them through all steps. What was compiled is kept on disk.
To find it again numba looks at the file of a kernel, its types and the values that it closes over, but not at the functions
that are compiled into it. So the kernels close over a number that stands for the content of all files these come from.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, NamedTuple

import numba
import numpy as np
import torch
from torch import Tensor

from memspan.cells import core_kernels, relevance_kernels, relevance_memory, relevance_trace, row_kernels
from memspan.cells.core_kernels import core_back, core_step
from memspan.cells.relevance_kernels import read, read_back, store
from memspan.cells.relevance_memory import EMPTY
from memspan.cells.relevance_trace import Gradients, Trace, Weights
from memspan.cells.row_kernels import FREEDOM, add, add_product, compiled, fill

SOURCES = (core_kernels, relevance_kernels, relevance_memory, relevance_trace, row_kernels)
"""Where the functions and constants come from that are compiled into a kernel."""

TOGETHER = 8
"""Sequences that go through all steps together: what they remember should stay in the processor's cache."""


def forward(trace: Trace, weights: Weights, a: Tensor, slots: Tensor, scores: Tensor) -> None:
    """Fills the trace; leaves slots and scores as they are after the last step."""
    kind, recent = int(trace.plan.core.kind), trace.plan.screening.short_term
    V_and_W_a = torch.cat([weights.V, weights.W_a]).T.contiguous()
    products = trace.mixed[0] @ V_and_W_a
    bias = trace.extra if trace.extra is not None and trace.extra.dim() == 1 else weights.v
    given = _read_only(V_and_W_a, weights.U_a.T, weights.v, a, bias, *_what_is_given(trace))
    made = _written(products, slots, scores, trace.mixed, *_what_is_kept(trace))
    kernel = kernels().forward
    _in_groups(len(slots), lambda low, high: kernel(low, high, kind, recent, *given, *made))


def backward(
    trace: Trace, weights: Weights, gradients: Gradients, ds_T: Tensor | None, dextra: Tensor | None
) -> Tensor | None:
    """Adds to the gradients, and gives that of `extra`."""
    kind, batch = int(trace.plan.core.kind), trace.pool.shape[1]
    queries = trace.mixed[:-1] @ weights.W_a.T
    ds = torch.zeros_like(queries[0]) if ds_T is None else ds_T.clone(memory_format=torch.contiguous_format)
    # A bias is shared by the sequences: each adds up a gradient of its own.
    shared = dextra is not None and dextra.dim() == 1
    own = (
        torch.zeros_like(ds)
        if dextra is None or shared
        else dextra.clone(memory_format=torch.contiguous_format)
    )
    V_and_W_a = torch.cat([weights.V, weights.W_a])
    given = _read_only(V_and_W_a, weights.U_a, weights.v, queries, *_what_is_given(trace))
    kept = _written(*_what_is_kept(trace))
    made = _written(ds, own, gradients.pool, gradients.keys, gradients.products, gradients.v)
    kernel = kernels().backward
    _in_groups(batch, lambda low, high: kernel(low, high, kind, *given, *kept, *made))
    return None if dextra is None else own.sum(0) if shared else own


class Kernels(NamedTuple):
    """Each takes the sequences low <= b < high through all steps, and gives back the number of its sources."""

    forward: Callable[..., int]
    backward: Callable[..., int]


@cache
def kernels() -> Kernels:
    """Those of the sources as they are; made when first asked for, compiled or found on disk when first called."""
    return kernels_of(number_of(inspect.getsource(module) for module in SOURCES))


def kernels_of(sources: int) -> Kernels:
    """Each gives back `sources` so as to close over it, which makes it a part of what numba looks up."""
    kept = numba.njit(nogil=True, cache=True, error_model="numpy", fastmath=FREEDOM)

    @kept
    def forward(*arguments):
        _forward(*arguments)
        return sources

    @kept
    def backward(*arguments):
        _backward(*arguments)
        return sources

    return Kernels(forward, backward)


def number_of(texts: Iterable[str]) -> int:
    """Another one for other texts, up to one chance in 2^63."""
    digest = hashlib.sha256("\0".join(texts).encode())
    return int.from_bytes(digest.digest()[:8], "big") >> 1


def _what_is_given(trace: Trace) -> tuple[Tensor, ...]:
    """Factors, resets and the probe (empty where there is none)."""
    mixing, resets = trace.plan.mixing, trace.plan.resets
    return (
        mixing,
        torch.zeros_like(mixing, dtype=torch.bool) if resets is None else resets,
        trace.pool.new_zeros(0, 0, 0) if trace.probe is None else trace.probe,
    )


def _what_is_kept(trace: Trace) -> tuple[Tensor, ...]:
    """What the way there writes and the way back reads."""
    room = trace.room if trace.room.dim() == 4 else trace.room.view(0, 0, 0, 0)
    return trace.pool, trace.keys, trace.rows, trace.alpha, room


def _read_only(*tensors: Tensor) -> list[np.ndarray[Any, Any]]:
    """In one layout, so that one compiled form serves all calls."""
    return [tensor.detach().contiguous().numpy() for tensor in tensors]


def _written(*tensors: Tensor) -> list[np.ndarray[Any, Any]]:
    """The memory of the tensors itself."""
    assert all(tensor.is_contiguous() for tensor in tensors)
    return [tensor.detach().numpy() for tensor in tensors]


def _in_groups(batch: int, work: Callable[[int, int], object]) -> None:
    """work(low, high) for groups of sequences, in as many threads as torch takes."""
    threads = torch.get_num_threads()
    size = max(1, min(TOGETHER, -(-batch // threads)))
    groups = [(low, min(batch, low + size)) for low in range(0, batch, size)]
    if threads == 1 or len(groups) == 1:
        for low, high in groups:
            work(low, high)
        return
    with ThreadPoolExecutor(min(threads, len(groups))) as pool:
        for done in [pool.submit(work, low, high) for low, high in groups]:
            done.result()


@compiled
def _forward(
    low, high, kind, recent, V_and_W_a, U_a, v, a, bias, mixing, resets, probe,
    products, slots, scores, mixed, pool, keys, rows, alpha, room,
):  # fmt: skip
    first, gates, one = len(pool) - len(rows), a.shape[2], v.dtype.type(1)
    for t in range(len(rows)):
        for b in range(low, high):
            s = mixed[t + 1, b]
            fill(s, 0)
            if resets[t, b]:
                fill(slots[b], 0)
                fill(scores[b], EMPTY)
            else:
                add(s, pool[first - 1 + t, b], one)
            read(products[b, gates:], v, pool, keys, b, slots[b], rows[t, b], alpha[t, b], mixing[t, b], s)
            store(t, recent, first + t, alpha[t, b], slots[b], scores[b])
            fill(products[b], 0)
            add(products[b, :gates], a[t, b], one)
            fill(keys[first + t, b], 0)
        add_product(mixed[t + 1], V_and_W_a, products, low, high)
        for b in range(low, high):
            h = pool[first + t, b]
            core_step(kind, t, b, products[b], h, room, bias, resets[t, b])
            if len(probe):
                add(h, probe[t, b], one)
        add_product(pool[first + t], U_a, keys[first + t], low, high)


@compiled
def _backward(
    low, high, kind, V_and_W_a, U_a, v, queries, mixing, resets, probe,
    pool, keys, rows, alpha, room, ds, dextra, dpool, dkeys, dproducts, dv,
):  # fmt: skip
    first, gates, one = len(pool) - len(rows), dproducts.shape[2] - len(v), v.dtype.type(1)
    h, dh = np.empty(len(v), v.dtype), np.empty(len(v), v.dtype)
    for t in range(len(rows) - 1, -1, -1):
        add_product(dkeys[first + t], U_a, dpool[first + t], low, high)
        for b in range(low, high):
            fill(h, 0)
            add(h, pool[first + t, b], one)
            if len(probe):
                add(h, probe[t, b], -one)
            core_back(kind, t, b, h, dpool[first + t, b], dproducts[t + 1, b], room, dextra[b], resets[t, b])
        add_product(dproducts[t + 1], V_and_W_a, ds, low, high)
        for b in range(low, high):
            fill(dh, 0)
            add(dh, ds[b], mixing[t, b])
            fill(ds[b], 0)
            if not resets[t, b]:
                add(dpool[first - 1 + t, b], dh, one)
            query, dquery, its_rows = queries[t, b], dproducts[t, b, gates:], rows[t, b]
            read_back(query, v, dh, pool, keys, b, its_rows, alpha[t, b], dpool, dkeys, dquery, dv[b])
