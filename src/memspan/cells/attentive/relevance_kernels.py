"""The steps of a scan over a screened memory, compiled for the CPU: the same as those of `relevance.RelevanceScan`.

Sequences are independent, so each thread takes some of them through all steps. Compiled code is cached on disk. numba
invalidates the cache when the file of a kernel changes, but not when a function compiled into it changes elsewhere. So the
name of a kernel, and with it that of its cache file, contains a digest of all other files that its parts come from.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, NamedTuple

import numba
import numpy as np
import torch
from torch import Tensor

from memspan.cells.attentive import relevance_memory
from memspan.cells.attentive.relevance_memory import (
    EMPTY,
    CoreKind,
    RelevanceGradients,
    RelevanceTrace,
    RelevanceWeights,
)
from memspan.cells.base import kernels
from memspan.cells.base.kernels import (
    FAST_MATH,
    ONE,
    add,
    add_product,
    compiled,
    fill,
    quick_tanh,
    sigmoid_row,
    source_digest,
    tanh_row,
)
from memspan.progress import Progress

# The other files whose functions and constants are compiled into a kernel.
SOURCES = (kernels, relevance_memory)

# Sequences that a thread takes through all steps together: few enough for their memory to stay in the processor's cache.
GROUP = 8

TANH, RELU, IDENTITY, MODRELU, GATED = (int(kind) for kind in CoreKind)


def forward_steps(trace: RelevanceTrace, weights: RelevanceWeights, a: Tensor, slots: Tensor, scores: Tensor) -> None:
    """Fill the trace; update slots and scores to those after the last step."""
    kind, recent = int(trace.plan.core.kind), trace.plan.screening.short_term
    V_and_W_a = torch.cat([weights.V, weights.W_a]).T.contiguous()
    products = trace.mixed[0] @ V_and_W_a
    bias = trace.extra if trace.extra is not None and trace.extra.dim() == 1 else weights.v
    read_only = _read_only(V_and_W_a, weights.U_a.T, weights.v, a, bias, *_settings(trace))
    written = _writable(products, slots, scores, trace.mixed, *_trace_tensors(trace))
    kernel = relevance_kernels().forward
    _run_groups(len(slots), lambda low, high: kernel(low, high, kind, recent, *read_only, *written))


def backward_steps(
    trace: RelevanceTrace,
    weights: RelevanceWeights,
    gradients: RelevanceGradients,
    ds_T: Tensor | None,
    dextra: Tensor | None,
) -> Tensor | None:
    """Add to the gradients; return that of `extra`."""
    kind, batch = int(trace.plan.core.kind), trace.pool.shape[1]
    queries = trace.mixed[:-1] @ weights.W_a.T
    ds = torch.zeros_like(queries[0]) if ds_T is None else ds_T.clone(memory_format=torch.contiguous_format)
    # A bias is shared by all sequences, which run in parallel: each adds up its own gradient.
    shared = dextra is not None and dextra.dim() == 1
    own = torch.zeros_like(ds) if dextra is None or shared else dextra.clone(memory_format=torch.contiguous_format)
    V_and_W_a = torch.cat([weights.V, weights.W_a])
    read_only = _read_only(V_and_W_a, weights.U_a, weights.v, queries, *_settings(trace))
    saved = _writable(*_trace_tensors(trace))
    written = _writable(ds, own, gradients.pool, gradients.keys, gradients.products, gradients.v)
    kernel = relevance_kernels().backward
    _run_groups(batch, lambda low, high: kernel(low, high, kind, *read_only, *saved, *written))
    return None if dextra is None else own.sum(0) if shared else own


def announce_compilation(progress: Progress) -> None:
    """Report if the first call is going to compile the kernels."""
    from memspan.information.kernels.kernel import announce

    announce(relevance_kernels().forward, progress, "the kernels of a relevance memory (half a minute)")


class RelevanceKernels(NamedTuple):
    """Each takes the sequences low <= b < high through all steps."""

    forward: Callable[..., None]
    backward: Callable[..., None]


@cache
def relevance_kernels() -> RelevanceKernels:
    """The kernels of the current sources; compiled, or loaded from disk, when first called."""
    return build_kernels(source_digest(inspect.getsource(module) for module in SOURCES))


def build_kernels(digest: str) -> RelevanceKernels:
    """Kernels whose cache files are named by the digest."""
    cached = numba.njit(nogil=True, cache=True, error_model="numpy", fastmath=FAST_MATH)

    def forward(*arguments):
        _forward(*arguments)

    def backward(*arguments):
        _backward(*arguments)

    # numba derives the name of the cache file from this attribute.
    forward.__qualname__, backward.__qualname__ = f"forward_{digest}", f"backward_{digest}"
    return RelevanceKernels(cached(forward), cached(backward))


def _settings(trace: RelevanceTrace) -> tuple[Tensor, ...]:
    """Mixing factors, resets and the probe; the last is empty if there is none."""
    mixing, resets = trace.plan.mixing, trace.plan.resets
    return (
        mixing,
        torch.zeros_like(mixing, dtype=torch.bool) if resets is None else resets,
        trace.pool.new_zeros(0, 0, 0) if trace.probe is None else trace.probe,
    )


def _trace_tensors(trace: RelevanceTrace) -> tuple[Tensor, ...]:
    """What the forward pass writes and the backward pass reads."""
    workspace = trace.workspace if trace.workspace.dim() == 4 else trace.workspace.view(0, 0, 0, 0)
    return trace.pool, trace.keys, trace.rows, trace.alpha, workspace


def _read_only(*tensors: Tensor) -> list[np.ndarray[Any, Any]]:
    """Contiguous arrays, so that one compiled form serves all calls."""
    return [tensor.detach().contiguous().numpy() for tensor in tensors]


def _writable(*tensors: Tensor) -> list[np.ndarray[Any, Any]]:
    """Views of the memory of the tensors."""
    assert all(tensor.is_contiguous() for tensor in tensors)
    return [tensor.detach().numpy() for tensor in tensors]


def _run_groups(batch: int, work: Callable[[int, int], object]) -> None:
    """Call work(low, high) for groups of sequences, in as many threads as torch uses."""
    threads = torch.get_num_threads()
    size = max(1, min(GROUP, -(-batch // threads)))
    groups = [(low, min(batch, low + size)) for low in range(0, batch, size)]
    if threads == 1 or len(groups) == 1:
        for low, high in groups:
            work(low, high)
        return
    with ThreadPoolExecutor(min(threads, len(groups))) as pool:
        for future in [pool.submit(work, low, high) for low, high in groups]:
            future.result()


@compiled
def _forward(
    low, high, kind, recent, V_and_W_a, U_a, v, a, bias, mixing, resets, probe,
    products, slots, scores, mixed, pool, keys, rows, alpha, workspace,
):  # fmt: skip
    # Rows of the pool before `first` hold the states of earlier calls.
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
            attend(products[b, gates:], v, pool, keys, b, slots[b], rows[t, b], alpha[t, b], mixing[t, b], s)
            store(t, recent, first + t, alpha[t, b], slots[b], scores[b])
            fill(products[b], 0)
            add(products[b, :gates], a[t, b], one)
            fill(keys[first + t, b], 0)
        add_product(mixed[t + 1], V_and_W_a, products, low, high)
        for b in range(low, high):
            h = pool[first + t, b]
            core_forward(kind, t, b, products[b], h, workspace, bias, resets[t, b])
            if len(probe):
                add(h, probe[t, b], one)
        add_product(pool[first + t], U_a, keys[first + t], low, high)


@compiled
def _backward(
    low, high, kind, V_and_W_a, U_a, v, queries, mixing, resets, probe,
    pool, keys, rows, alpha, workspace, ds, dextra, dpool, dkeys, dproducts, dv,
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
            core_backward(kind, t, b, h, dpool[first + t, b], dproducts[t + 1, b], workspace, dextra[b], resets[t, b])
        add_product(dproducts[t + 1], V_and_W_a, ds, low, high)
        for b in range(low, high):
            fill(dh, 0)
            add(dh, ds[b], mixing[t, b])
            fill(ds[b], 0)
            if not resets[t, b]:
                add(dpool[first - 1 + t, b], dh, one)
            query, dquery, its_rows = queries[t, b], dproducts[t, b, gates:], rows[t, b]
            attend_backward(query, v, dh, pool, keys, b, its_rows, alpha[t, b], dpool, dkeys, dquery, dv[b])


@compiled
def attend(query, v, pool, keys, b, slots, rows, alpha, factor, s):
    """s becomes factor (s + sum_i alpha_i m_i); rows and weights are recorded."""
    for k in range(len(slots)):
        rows[k] = slots[k]
        alpha[k] = _alignment(query, keys[slots[k], b], v) if slots[k] > 0 else EMPTY
    _softmax(alpha, slots)
    for k in range(len(slots)):
        if slots[k] > 0:
            add(s, pool[slots[k], b], alpha[k])
    for j in range(len(s)):
        s[j] *= factor


@compiled
def store(t, recent, row, alpha, slots, scores):
    """`Screening.store` for one sequence"""
    place, least = t % recent, recent
    for k in range(recent):
        scores[k] += alpha[k]
    for k in range(recent, len(slots)):
        if scores[k] < scores[least]:
            least = k
    if least < len(slots) and scores[place] > scores[least]:
        slots[least], scores[least] = slots[place], scores[place]
    slots[place], scores[place] = row, 0


@compiled
def attend_backward(query, v, dh, pool, keys, b, rows, alpha, dpool, dkeys, dquery, dv):
    """From dL/dcontext = dh, add to the gradients of the memory, its keys and v; write that of the query."""
    dalpha = np.empty(len(rows), dh.dtype)
    mean = dh.dtype.type(0)
    for k in range(len(rows)):
        if rows[k] > 0:
            dalpha[k] = _sum_backward(alpha[k], pool[rows[k], b], dh, dpool[rows[k], b])
            mean += alpha[k] * dalpha[k]
    fill(dquery, 0)
    for k in range(len(rows)):
        if rows[k] > 0:
            de = alpha[k] * (dalpha[k] - mean)
            _alignment_backward(de, query, keys[rows[k], b], v, dquery, dkeys[rows[k], b], dv)


@compiled
def _alignment(query, key, v):
    """v . tanh(q + k)"""
    total = v.dtype.type(0)
    if v.itemsize == 8:
        for j in range(len(v)):
            total += v[j] * math.tanh(query[j] + key[j])
    else:
        for j in range(len(v)):
            total += v[j] * quick_tanh(query[j] + key[j])
    return total


@compiled
def _alignment_backward(de, query, key, v, dquery, dkey, dv):
    """Add de d(v . tanh(q + k)) to the gradients of query, key and v."""
    if v.itemsize == 8:
        for j in range(len(v)):
            value = math.tanh(query[j] + key[j])
            inner = de * v[j] * (1 - value * value)
            dquery[j] += inner
            dkey[j] += inner
            dv[j] += de * value
    else:
        for j in range(len(v)):
            value = quick_tanh(query[j] + key[j])
            inner = de * v[j] * (ONE - value * value)
            dquery[j] += inner
            dkey[j] += inner
            dv[j] += de * value


@compiled
def _softmax(e, slots):
    """In place; 0 for an empty slot."""
    top = e[0]
    for k in range(len(e)):
        top = max(top, e[k])
    total = e.dtype.type(0)
    for k in range(len(e)):
        e[k] = math.exp(e[k] - top) if slots[k] > 0 else 0
        total += e[k]
    for k in range(len(e)):
        e[k] = e[k] / total if slots[k] > 0 else 0


@compiled
def _sum_backward(weight, state, dh, dstate):
    """dL/dalpha of a state; adds its share of dL/dcontext to dL/dh of that state."""
    total = dh.dtype.type(0)
    for j in range(len(dh)):
        total += state[j] * dh[j]
        dstate[j] += weight * dh[j]
    return total


@compiled
def core_forward(kind, t, b, z, h, workspace, bias, reset):
    """Write h; z may be longer than the part that belongs to the core."""
    if kind == TANH:
        tanh_row(z, h)
    elif kind == GATED:
        _gated_forward(t, b, z, h, workspace, reset)
    else:
        for j in range(len(h)):
            if kind == IDENTITY:
                h[j] = z[j]
            elif kind == RELU:
                h[j] = z[j] if not z[j] < 0 else 0
            else:
                size = max(abs(z[j]) + bias[j], 0)
                h[j] = size if z[j] > 0 else -size if z[j] < 0 else z[j] * 0


@compiled
def core_backward(kind, t, b, h, dh, dz, workspace, dextra, reset):
    """Write the first part of dz; update the gradient of the bias or of c."""
    if kind == GATED:
        _gated_backward(t, b, dh, dz, workspace, dextra, reset)
    elif kind == TANH:
        for j in range(len(h)):
            dz[j] = dh[j] * (h.dtype.type(1) - h[j] * h[j])
    else:
        for j in range(len(h)):
            dz[j] = dh[j]
            if kind != IDENTITY and h[j] == 0:
                dz[j] = 0
            if kind == MODRELU:
                dextra[j] += dz[j] if h[j] > 0 else -dz[j]


@compiled
def _gated_forward(t, b, z, h, workspace, reset):
    n = len(h)
    now = workspace[t + 1]
    i, f, g, o, c = now[0, b], now[1, b], now[2, b], now[3, b], now[4, b]
    sigmoid_row(z[:n], i)
    sigmoid_row(z[n : 2 * n], f)
    tanh_row(z[2 * n : 3 * n], g)
    sigmoid_row(z[3 * n : 4 * n], o)
    for j in range(n):
        c[j] = i[j] * g[j]
    if not reset:
        before = workspace[t, 4, b]
        for j in range(n):
            c[j] += f[j] * before[j]
    tanh_row(c, h)
    for j in range(n):
        h[j] *= o[j]


@compiled
def _gated_backward(t, b, dh, dz, workspace, dc, reset):
    n, one = len(dh), dh.dtype.type(1)
    now = workspace[t + 1]
    i, f, g, o, c = now[0, b], now[1, b], now[2, b], now[3, b], now[4, b]
    before, do = workspace[t, 4, b], dz[3 * n : 4 * n]
    tanh_row(c, do)
    for j in range(n):
        squashed = do[j]
        dc[j] += dh[j] * o[j] * (one - squashed * squashed)
        do[j] = dh[j] * squashed * o[j] * (one - o[j])
        dz[j] = dc[j] * g[j] * i[j] * (one - i[j])
        dz[2 * n + j] = dc[j] * i[j] * (one - g[j] * g[j])
    if reset:
        fill(dz[n : 2 * n], 0)
        fill(dc, 0)
    else:
        for j in range(n):
            dz[n + j] = dc[j] * before[j] * f[j] * (one - f[j])
            dc[j] *= f[j]
