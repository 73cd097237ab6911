"""s_t = mixing (h_{t-1} + sum_i alpha_i m_i), h_t = core(a_t + V s_t) for all t, where a_t is the input's part.

The scan keeps the states h and s, which states each step looked at and with which weights; what has the size of the memory
times the hidden size is computed again, step by step, on the way back. A key U_a h is computed once for each state.
Memory is linear in time, with no factor nu + rho on the hidden size.  Kerg 2020, section 4.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from memspan.cells import relevance_steps
from memspan.cells.once import differentiable_once
from memspan.cells.precision import in_one_precision
from memspan.cells.relevance_trace import Gradients, Plan, Trace, Weights

COMPILED = True
"""Whether steps are compiled where they can be: on the CPU, in single and double precision."""


def steps_for(tensor: Tensor) -> ModuleType:
    """The compiled steps where there are some for such tensors, else those in torch."""
    if COMPILED and tensor.device.type == "cpu" and tensor.dtype in (torch.float32, torch.float64):
        from memspan.cells import relevance_compiled  # numba takes long to load

        return relevance_compiled
    return relevance_steps


def run(
    plan: Plan,
    weights: Weights,
    a: Tensor,
    h_0: Tensor,
    s_0: Tensor,
    memory: Tensor,
    extra: Tensor | None,
    probe: Tensor | None,
) -> tuple[Trace, Tensor, Tensor]:
    """All steps: their trace, and the slots and scores at the end."""
    steps, (batch, hidden), held, first = len(a), h_0.shape, plan.screening.held, plan.screening.first
    pool = h_0.new_empty(first + steps, batch, hidden)
    pool[0], pool[1 : first - 1], pool[first - 1] = 0.0, memory, h_0
    trace = Trace(
        plan,
        pool,
        keys=torch.empty_like(pool),
        mixed=h_0.new_empty(steps + 1, batch, hidden),
        rows=torch.empty(steps, batch, held, dtype=torch.int32, device=pool.device),
        alpha=h_0.new_empty(steps, batch, held),
        room=plan.core.room(steps, h_0, extra),
        extra=extra,
        probe=probe,
    )
    torch.matmul(pool[:first], weights.U_a.T, out=trace.keys[:first])
    trace.mixed[0] = s_0
    slots, scores = plan.slots.clone(), plan.scores.clone()
    steps_for(pool).forward(trace, weights, a, slots, scores)
    return trace, slots, scores


class RelevanceScan(Function):
    """h_1 … h_T, s_T, what the slots hold at the end (batch, held, hidden), their scores, the core's end.

    `memory` (held, batch, hidden) are the states carried over: relevant ones, then recent ones.
    """

    @staticmethod
    @in_one_precision
    def forward(
        ctx: Any,
        plan: Plan,
        a: Tensor,
        V: Tensor,
        W_a: Tensor,
        U_a: Tensor,
        v: Tensor,
        h_0: Tensor,
        s_0: Tensor,
        memory: Tensor,
        extra: Tensor | None,
        probe: Tensor | None,
    ) -> tuple[Tensor | None, ...]:
        weights = Weights(V, W_a, U_a, v)
        trace, slots, scores = run(plan, weights, a, h_0, s_0, memory, extra, probe)
        held = trace.pool[slots.long(), relevance_steps.lanes_of(slots)]
        ctx.plan = plan
        ctx.save_for_backward(
            *weights, trace.pool, trace.mixed, trace.rows, trace.alpha, trace.room, slots, extra, probe
        )
        ctx.mark_non_differentiable(scores)
        ctx.set_materialize_grads(False)
        return trace.pool[plan.screening.first :], trace.mixed[-1], held, scores, plan.core.end(trace.room)

    @staticmethod
    @differentiable_once
    @in_one_precision
    def backward(ctx: Any, *outer: Tensor | None) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        first = ctx.plan.screening.first
        V, W_a, U_a, v, pool, mixed, rows, alpha, room, slots, extra, probe = ctx.saved_tensors
        trace = Trace(ctx.plan, pool, pool @ U_a.T, mixed, rows, alpha, room, extra, probe)
        dstates, ds_T, dheld, _, dextra = outer
        its = Gradients(
            torch.empty_like(pool),
            torch.zeros_like(pool),
            products=mixed.new_empty(*mixed.shape[:2], len(V) + len(W_a)),
            v=torch.zeros_like(mixed[0]),
        )
        its.pool[:first], its.pool[first:] = 0.0, 0.0 if dstates is None else dstates
        its.products[0, :, : len(V)], its.products[-1, :, len(V) :] = 0.0, 0.0
        if dheld is not None:
            its.pool.index_put_((slots.long(), relevance_steps.lanes_of(slots)), dheld, accumulate=True)
        if dextra is None and extra is not None:
            dextra = torch.zeros_like(extra)
        dextra = steps_for(pool).backward(trace, Weights(V, W_a, U_a, v), its, ds_T, dextra)
        its.pool[:first] += its.keys[:first] @ U_a
        dV, dW_a = (its.products.flatten(0, 1).T @ mixed.flatten(0, 1)).split([len(V), len(W_a)])
        dU_a = its.keys.flatten(0, 1).T @ pool.flatten(0, 1)
        da, ds_0 = its.products[1:, :, : len(V)], its.products[0, :, len(V) :] @ W_a
        dprobe = None if probe is None else its.pool[first:]
        dh_0, dmemory = its.pool[first - 1], its.pool[1 : first - 1]
        return None, da, dV, dW_a, dU_a, its.v.sum(0), dh_0, ds_0, dmemory, dextra, dprobe
