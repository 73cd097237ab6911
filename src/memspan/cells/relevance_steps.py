"""The steps of a scan over a screened memory in torch, on any device.

e_i = v . tanh(W_a s_{t-1} + U_a m_i), alpha = softmax(e), s_t = mixing (h_{t-1} + sum_i alpha_i m_i), z_t = a_t + V s_t.
Kerg 2020, Eq. 1-2 and Algorithm 1, lines 8-12. Since tanh(x) = 2 sigmoid(2x) - 1, and a constant moves all e_i alike and
cancels, e_i = 2 v . sigmoid(2 (…)): the faster function of the two.
"""

from __future__ import annotations

import torch
from torch import Tensor

from memspan.cells.relevance_memory import EMPTY
from memspan.cells.relevance_trace import Gradients, Trace, Weights


def forward(trace: Trace, weights: Weights, a: Tensor, slots: Tensor, scores: Tensor) -> None:
    """Fills the trace; leaves slots and scores as they are after the last step."""
    plan, first, hidden = trace.plan, trace.plan.screening.first, trace.pool.shape[2]
    V_and_W_a, U_a = torch.cat([weights.V, weights.W_a]).T.contiguous(), weights.U_a.T.contiguous()
    products, lanes, doubled = trace.mixed[0] @ V_and_W_a, lanes_of(slots), 2 * weights.v
    for t in range(len(a)):
        _read(t, products[:, -hidden:], trace, lanes, doubled, slots, scores)
        torch.mm(trace.mixed[t + 1], V_and_W_a, out=products)
        h = trace.pool[first + t]
        plan.core.step(t, products[:, :-hidden].add_(a[t]), h, trace)
        if trace.probe is not None:
            h += trace.probe[t]
        torch.mm(h, U_a, out=trace.keys[first + t])


def backward(
    trace: Trace, weights: Weights, gradients: Gradients, ds_T: Tensor | None, dextra: Tensor | None
) -> Tensor | None:
    """Adds to the gradients, and gives that of `extra`."""
    plan, first, hidden = trace.plan, trace.plan.screening.first, trace.pool.shape[2]
    V_and_W_a, lanes = torch.cat([weights.V, weights.W_a]), lanes_of(plan.slots)
    queries = trace.mixed[:-1] @ weights.W_a.T
    ds, doubled = torch.empty_like(queries[0]), 2 * weights.v
    for t in range(len(queries) - 1, -1, -1):
        dh = gradients.pool[first + t].addmm_(gradients.keys[first + t], weights.U_a)
        dextra = plan.core.back(t, dh, gradients.products[t + 1, :, :-hidden], trace, dextra)
        torch.mm(gradients.products[t + 1], V_and_W_a, out=ds)
        if t == len(queries) - 1 and ds_T is not None:
            ds += ds_T
        _read_back(t, queries[t], ds, trace, lanes, doubled, gradients)
    return dextra


def lanes_of(slots: Tensor) -> Tensor:
    """(batch, 1): the number of each sequence."""
    return torch.arange(len(slots), device=slots.device).unsqueeze(1)


def _read(
    t: int, queries: Tensor, trace: Trace, lanes: Tensor, doubled: Tensor, slots: Tensor, scores: Tensor
) -> None:
    """s_t, and what was read for it; slots and scores become those after the step."""
    plan = trace.plan
    before, reset = trace.pool[plan.screening.first - 1 + t], trace.reset(t)
    if reset is not None:
        plan.screening.forget(reset, slots, scores)
        before = before.masked_fill(reset, 0.0)
    rows, empty = slots.long(), slots == 0
    e = _sigmoid(queries, trace.keys[rows, lanes]) @ doubled
    alpha = torch.softmax(e.masked_fill_(empty, EMPTY), 1).masked_fill_(empty, 0.0)
    context = (alpha.unsqueeze(2) * trace.pool[rows, lanes]).sum(1)
    torch.mul(plan.mixing[t].unsqueeze(1), before + context, out=trace.mixed[t + 1])
    trace.rows[t], trace.alpha[t] = slots, alpha
    plan.screening.store(t, alpha, slots, scores)


def _read_back(
    t: int, queries: Tensor, ds: Tensor, trace: Trace, lanes: Tensor, doubled: Tensor, gradients: Gradients
) -> None:
    """From dL/ds_t: what h_{t-1}, the memory, its keys and v get of it, and the gradient of the query."""
    plan, alpha, rows, reset = trace.plan, trace.alpha[t], trace.rows[t].long(), trace.reset(t)
    dh = plan.mixing[t].unsqueeze(1) * ds
    gradients.pool[plan.screening.first - 1 + t] += dh if reset is None else dh.masked_fill(reset, 0.0)
    dalpha = (trace.pool[rows, lanes] * dh.unsqueeze(1)).sum(2)
    de = (alpha * (dalpha - (alpha * dalpha).sum(1, keepdim=True))).unsqueeze(2)
    sigmoid = _sigmoid(queries, trace.keys[rows, lanes])
    gradients.v.add_((de * sigmoid).sum(1), alpha=2.0)
    inner = (sigmoid - sigmoid * sigmoid).mul_(de).mul_(2 * doubled)
    gradients.products[t, :, -ds.shape[1] :] = inner.sum(1)
    gradients.keys.index_put_((rows, lanes), inner, accumulate=True)
    gradients.pool.index_put_((rows, lanes), alpha.unsqueeze(2) * dh.unsqueeze(1), accumulate=True)


def _sigmoid(queries: Tensor, keys: Tensor) -> Tensor:
    """sigmoid(2 (q + k)) for each slot: (batch, held, hidden); `keys` are used up."""
    return torch.sigmoid_(keys.add_(queries.unsqueeze(1)).mul_(2.0))
