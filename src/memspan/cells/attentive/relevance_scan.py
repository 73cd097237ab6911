"""s_t = mixing (h_{t-1} + sum_i alpha_i m_i), h_t = core(a_t + V s_t) for all t, where a = U x + b.  Kerg 2020, section 4.

The scan saves the states h and s, the rows that each step attended to and their weights. What has the size of the memory
times the hidden size is recomputed step by step in the backward pass; a key U_a h is computed once for each state. So memory
is linear in time, without a factor nu + rho on the hidden size.

The steps exist twice: here in torch, for any device, and compiled in `relevance_kernels`, for the CPU.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from memspan.cells.attentive.relevance_memory import (
    EMPTY,
    RelevanceGradients,
    RelevancePlan,
    RelevanceTrace,
    RelevanceWeights,
)
from memspan.cells.base.autograd import Probe, Scan

# Whether to use the compiled steps where they apply: on the CPU, in single and double precision.
COMPILED = True


def compiled_steps(tensor: Tensor) -> ModuleType | None:
    """The module of the compiled steps if it supports such tensors."""
    if COMPILED and tensor.device.type == "cpu" and tensor.dtype in (torch.float32, torch.float64):
        from memspan.cells.attentive import relevance_kernels  # loads numba, which takes a second

        return relevance_kernels
    return None


class RelevanceScan(Scan):
    """h_1 … h_T, s_T, the states in the slots at the end (batch, held, hidden), their scores, and the core's final `extra`.

    `memory` (held, batch, hidden) are the states carried over: relevant ones, then recent ones.
    """

    @staticmethod
    def forward(
        ctx: Any,
        plan: RelevancePlan,
        a: Tensor,
        V: Tensor,
        W_a: Tensor,
        U_a: Tensor,
        v: Tensor,
        h_0: Tensor,
        s_0: Tensor,
        memory: Tensor,
        extra: Tensor | None,
        probe: Probe,
    ) -> tuple[Tensor | None, ...]:
        weights = RelevanceWeights(V, W_a, U_a, v)
        trace, slots, scores = run_scan(plan, weights, a, h_0, s_0, memory, extra, probe)
        held = trace.pool[slots.long(), _lanes(slots)]
        ctx.plan = plan
        ctx.save_for_backward(
            *weights, trace.pool, trace.mixed, trace.rows, trace.alpha, trace.workspace, slots, extra, probe
        )
        ctx.mark_non_differentiable(scores)
        ctx.set_materialize_grads(False)
        final = plan.core.final(trace.workspace)
        return trace.pool[plan.screening.first :], trace.mixed[-1], held, scores, final

    @staticmethod
    def backward(ctx: Any, *outer: Tensor | None) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        first = ctx.plan.screening.first
        V, W_a, U_a, v, pool, mixed, rows, alpha, workspace, slots, extra, probe = ctx.saved_tensors
        trace = RelevanceTrace(ctx.plan, pool, pool @ U_a.T, mixed, rows, alpha, workspace, extra, probe)
        dstates, ds_T, dheld, _, dextra = outer
        gradients = RelevanceGradients(
            torch.empty_like(pool),
            torch.zeros_like(pool),
            products=mixed.new_empty(*mixed.shape[:2], len(V) + len(W_a)),
            v=torch.zeros_like(mixed[0]),
        )
        dpool, dproducts = gradients.pool, gradients.products
        dpool[:first], dpool[first:] = 0.0, 0.0 if dstates is None else dstates
        # V s_0 and W_a s_T are used by no step.
        dproducts[0, :, : len(V)], dproducts[-1, :, len(V) :] = 0.0, 0.0
        if dheld is not None:
            dpool.index_put_((slots.long(), _lanes(slots)), dheld, accumulate=True)
        if dextra is None and extra is not None:
            dextra = torch.zeros_like(extra)
        steps = compiled_steps(pool)
        run = backward_steps if steps is None else steps.backward_steps
        dextra = run(trace, RelevanceWeights(V, W_a, U_a, v), gradients, ds_T, dextra)
        dpool[:first] += gradients.keys[:first] @ U_a
        dV, dW_a = (dproducts.flatten(0, 1).T @ mixed.flatten(0, 1)).split([len(V), len(W_a)])
        dU_a = gradients.keys.flatten(0, 1).T @ pool.flatten(0, 1)
        da, ds_0 = dproducts[1:, :, : len(V)], dproducts[0, :, len(V) :] @ W_a
        dprobe = None if probe is None else dpool[first:]
        dh_0, dmemory = dpool[first - 1], dpool[1 : first - 1]
        return None, da, dV, dW_a, dU_a, gradients.v.sum(0), dh_0, ds_0, dmemory, dextra, dprobe


def run_scan(
    plan: RelevancePlan,
    weights: RelevanceWeights,
    a: Tensor,
    h_0: Tensor,
    s_0: Tensor,
    memory: Tensor,
    extra: Tensor | None,
    probe: Probe,
) -> tuple[RelevanceTrace, Tensor, Tensor]:
    """The trace of all steps, and slots and scores after the last."""
    steps, (batch, hidden), held, first = len(a), h_0.shape, plan.screening.held, plan.screening.first
    pool = h_0.new_empty(first + steps, batch, hidden)
    pool[0], pool[1 : first - 1], pool[first - 1] = 0.0, memory, h_0
    trace = RelevanceTrace(
        plan,
        pool,
        keys=torch.empty_like(pool),
        mixed=h_0.new_empty(steps + 1, batch, hidden),
        rows=torch.empty(steps, batch, held, dtype=torch.int32, device=pool.device),
        alpha=h_0.new_empty(steps, batch, held),
        workspace=plan.core.workspace(steps, h_0, extra),
        extra=extra,
        probe=probe,
    )
    torch.matmul(pool[:first], weights.U_a.T, out=trace.keys[:first])
    trace.mixed[0] = s_0
    slots, scores = plan.slots.clone(), plan.scores.clone()
    compiled = compiled_steps(pool)
    run = forward_steps if compiled is None else compiled.forward_steps
    run(trace, weights, a, slots, scores)
    return trace, slots, scores


# The steps in torch. e_i = v . tanh(W_a s_{t-1} + U_a m_i), alpha = softmax(e), s_t = mixing (h_{t-1} + sum_i alpha_i m_i),
# z_t = a_t + V s_t: Kerg 2020, Eq. 1-2 and Algorithm 1, lines 8-12. Since tanh(x) = 2 sigmoid(2 x) - 1, and a constant added
# to all e_i cancels, e_i is computed as 2 v . sigmoid(2 (…)): torch's sigmoid is faster than its tanh.


def forward_steps(trace: RelevanceTrace, weights: RelevanceWeights, a: Tensor, slots: Tensor, scores: Tensor) -> None:
    """Fill the trace; update slots and scores to those after the last step."""
    plan, first, hidden = trace.plan, trace.plan.screening.first, trace.pool.shape[2]
    V_and_W_a, U_a = torch.cat([weights.V, weights.W_a]).T.contiguous(), weights.U_a.T.contiguous()
    products, lanes, doubled = trace.mixed[0] @ V_and_W_a, _lanes(slots), 2 * weights.v
    for t in range(len(a)):
        _attend(t, products[:, -hidden:], trace, lanes, doubled, slots, scores)
        torch.mm(trace.mixed[t + 1], V_and_W_a, out=products)
        h = trace.pool[first + t]
        plan.core.forward(t, products[:, :-hidden].add_(a[t]), h, trace)
        if trace.probe is not None:
            h += trace.probe[t]
        torch.mm(h, U_a, out=trace.keys[first + t])


def backward_steps(
    trace: RelevanceTrace,
    weights: RelevanceWeights,
    gradients: RelevanceGradients,
    ds_T: Tensor | None,
    dextra: Tensor | None,
) -> Tensor | None:
    """Add to the gradients; return that of `extra`."""
    plan, first, hidden = trace.plan, trace.plan.screening.first, trace.pool.shape[2]
    V_and_W_a, lanes = torch.cat([weights.V, weights.W_a]), _lanes(plan.slots)
    queries = trace.mixed[:-1] @ weights.W_a.T
    ds, doubled = torch.empty_like(queries[0]), 2 * weights.v
    for t in range(len(queries) - 1, -1, -1):
        dh = gradients.pool[first + t].addmm_(gradients.keys[first + t], weights.U_a)
        dextra = plan.core.backward(t, dh, gradients.products[t + 1, :, :-hidden], trace, dextra)
        torch.mm(gradients.products[t + 1], V_and_W_a, out=ds)
        if t == len(queries) - 1 and ds_T is not None:
            ds += ds_T
        _attend_backward(t, queries[t], ds, trace, lanes, doubled, gradients)
    return dextra


def _lanes(slots: Tensor) -> Tensor:
    """(batch, 1): the batch index of each sequence."""
    return torch.arange(len(slots), device=slots.device).unsqueeze(1)


def _attend(
    t: int, queries: Tensor, trace: RelevanceTrace, lanes: Tensor, doubled: Tensor, slots: Tensor, scores: Tensor
) -> None:
    """Write s_t, rows and weights of a step; update slots and scores."""
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


def _attend_backward(
    t: int,
    queries: Tensor,
    ds: Tensor,
    trace: RelevanceTrace,
    lanes: Tensor,
    doubled: Tensor,
    gradients: RelevanceGradients,
) -> None:
    """From dL/ds_t, add to the gradients of h_{t-1}, the memory, its keys and v; write that of the query."""
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
    """sigmoid(2 (q + k)) for each slot: (batch, held, hidden); overwrites `keys`."""
    return torch.sigmoid_(keys.add_(queries.unsqueeze(1)).mul_(2.0))
