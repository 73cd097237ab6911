"""One look back and its gradient for one sequence, as compiled loops over the slots of its memory.

One pass over a slot computes tanh and sums; nothing of the size of the memory is ever written.
"""

from __future__ import annotations

import math

import numpy as np

from memspan.cells.relevance_memory import EMPTY
from memspan.cells.row_kernels import ONE, add, compiled, fill, quick_tanh


@compiled
def read(query, v, pool, keys, b, slots, rows, alpha, factor, s):
    """s becomes factor (s + sum_i alpha_i m_i); rows and alpha of this look are kept."""
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
    """`Screening.store` for one sequence."""
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
def read_back(query, v, dh, pool, keys, b, rows, alpha, dpool, dkeys, dquery, dv):
    """From dL/dc = dh: what the memory, its keys, v and the query get of it."""
    dalpha = np.empty(len(rows), dh.dtype)
    mean = dh.dtype.type(0)
    for k in range(len(rows)):
        if rows[k] > 0:
            dalpha[k] = _carry_back(alpha[k], pool[rows[k], b], dh, dpool[rows[k], b])
            mean += alpha[k] * dalpha[k]
    fill(dquery, 0)
    for k in range(len(rows)):
        if rows[k] > 0:
            de = alpha[k] * (dalpha[k] - mean)
            _align_back(de, query, keys[rows[k], b], v, dquery, dkeys[rows[k], b], dv)


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
def _align_back(de, query, key, v, dquery, dkey, dv):
    """de d(v . tanh(q + k)), added to the gradients of query, key and v."""
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
def _carry_back(weight, state, dh, dstate):
    """dL/dalpha of a state; its part of dL/dc is added to dL/dh of that state."""
    total = dh.dtype.type(0)
    for j in range(len(dh)):
        total += state[j] * dh[j]
        dstate[j] += weight * dh[j]
    return total
