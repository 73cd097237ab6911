"""h_t = hat h_t + sum_i alpha_i m_i over the few stored states that score highest: the scan over time.

It keeps the states, the gates and what is stored; scores and weights are computed again, step by step, in the backward pass.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from memspan.cells.additive_attention import Reading, ReadingGradient
from memspan.cells.carried import found, weight_gradient
from memspan.cells.lstm_step import lstm_backward, lstm_forward, lstm_slopes
from memspan.cells.once import differentiable_once
from memspan.cells.precision import in_one_precision
from memspan.cells.segments import cleared
from memspan.cells.sparse_slots import Slots
from memspan.cells.sparse_weights import TopWeights


class SparseScan(Function):
    """h of all steps, the slots (slot, batch, hidden), c of all steps and, for looking at attention, hat h of all steps.

    `stopped` (time, batch) is true where no gradient goes from a step to the h and c before it; attention is not stopped.
    """

    @staticmethod
    @in_one_precision
    def forward(
        ctx: Any,
        a: Tensor,
        V: Tensor,
        W_a: Tensor,
        U_a: Tensor,
        v: Tensor,
        given: Tensor,
        h: Tensor,
        c: Tensor,
        probe: Tensor | None,
        resets: Tensor | None,
        stopped: Tensor | None,
        slots: Slots,
        top: int,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        start = (h, c)
        memory = torch.cat([given, h.new_zeros(slots.size + 1 - len(given), *h.shape)])
        reading = Reading(W_a, U_a, v, memory if resets is None else memory.clone(), TopWeights(top))
        reading.compute_keys(slice(None))
        gates = torch.empty_like(a)
        states, cells, provisional = (h.new_empty(len(a), *h.shape) for _ in range(3))
        for t in range(len(a)):
            places, valid = slots.seen(t)
            if resets is not None and slots.renewed[t]:
                h, c = cleared((h, c), resets[t])
                reading.forget(resets[t], places)
            h, c = lstm_forward(torch.addmm(a[t], h, V.T, out=gates[t]), c)
            provisional[t], cells[t] = h, c
            h = h + reading.context(h, places, valid)
            states[t] = h = h if probe is None else h + probe[t]
            if slots.stores[t]:
                index = slots.written(t)
                memory[index] = h
                reading.store(index, h)
        ctx.save_for_backward(
            V, W_a, U_a, v, resets, stopped, memory, states, cells, provisional, gates, *start
        )
        ctx.slots, ctx.top, ctx.given, ctx.probed = slots, top, len(given), probe is not None
        ctx.mark_non_differentiable(provisional)
        return states, memory, cells, provisional

    @staticmethod
    @differentiable_once
    @in_one_precision
    def backward(ctx: Any, *outer: Tensor) -> tuple[Any, ...]:  # type: ignore[override]
        V, W_a, U_a, v, resets, stopped, memory, states, cells, provisional, gates, h_0, c_0 = (
            ctx.saved_tensors
        )
        slots: Slots = ctx.slots
        slopes = lstm_slopes(gates, found(c_0, cells, resets), cells)
        reading = ReadingGradient(W_a, U_a, v, memory, provisional, TopWeights(ctx.top))
        of_memory = outer[1].clone()
        total, dz = torch.empty_like(states), torch.empty_like(gates)
        dh, dc = torch.zeros_like(h_0), torch.zeros_like(c_0)
        for t in range(len(states) - 1, -1, -1):
            torch.add(outer[0][t], dh, out=total[t])
            if slots.stores[t]:
                index = slots.written(t)
                total[t] += of_memory[index] + reading.by_keys(index)
            dh = total[t] + reading.context(t, *slots.seen(t), total[t], of_memory)
            dc = lstm_backward(slopes, t, dh, dc + outer[2][t], dz[t])
            dh = dz[t] @ V
            for cut in (resets, stopped):
                if cut is not None:
                    dh, dc = cleared((dh, dc), cut[t])
        dV = weight_gradient(dz, found(h_0, states, resets))
        of_given = (of_memory + reading.by_keys(slice(None)))[: ctx.given]
        probe = total if ctx.probed else None
        return dz, dV, *reading.of_weights(), of_given, dh, dc, probe, None, None, None, None
