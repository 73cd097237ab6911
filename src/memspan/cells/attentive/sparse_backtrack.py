"""Sparse attentive backtracking: an LSTM that attends to a few stored states, with truncated gradients.  Ke 2018.

The scan saves the states, the gates and what is stored; scores and weights are recomputed step by step in the backward pass.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple, final

import torch
from torch import Tensor, nn

from memspan.cells.attentive.attention import (
    AttentionMemory,
    AttentionMemoryGradient,
    Normalization,
    Softmax,
    steps_since_reset,
)
from memspan.cells.base.autograd import Probe, Resets, Scan, States, clear, previous_states, weight_gradient
from memspan.cells.base.cell import Cell, check_count
from memspan.cells.base.layer import Device, Dtype, Layer, draw_uniform, empty_weights
from memspan.cells.gated.lstm import lstm_backward, lstm_candidate, lstm_forward, lstm_gate_biases, lstm_slopes
from memspan.errors import InputError
from memspan.init.gates import GateBiases


@final
class SparseBacktrackLSTM(Cell):
    """hat h_t, c_t = LSTM(x_t, h_{t-1}, c_{t-1}); h_t = hat h_t + sum_i alpha_i m_i over the `top` best stored states m_i.

    Ke 2018, Algorithm 1 (SAB). Every `every`-th state h_t is stored. Scores are e_i = v . tanh(W_a hat h_t + U_a m_i), and
    alpha_i is proportional to max(e_i - threshold, 0), where the threshold is the (top + 1)-th largest score, so that `top`
    states have a weight. Gradients pass through attention without limit, but through h and c for at most `truncate` steps:
    they are cut after every `truncate` steps of a document. None cuts nothing.

    Where the authors' program differs from their paper, this cell follows the paper: the program scores with
    w . tanh([hat h_t; m_i]), in which hat h_t has no effect on the weights, and gives a weight to top - 1 states. Neither
    says what happens while there are no more than `top` states: the program uses raw scores, which may be negative; here the
    weights are a softmax. The program starts with a stored zero, which only takes up weight; here the memory starts empty.
    A published port compares the scores of one sequence with the threshold of another; here each has its own. The
    output is h_t; with `output_context` it is [h_t; sum_i alpha_i m_i], of twice the width, which the head of the program
    reads.
    """

    label = "SAB"
    description = "LSTM with sparse attentive backtracking"
    attends = True
    stores_past = True

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        batch_first: bool = False,
        dropout: float = 0.0,
        *,
        every: int = 2,
        top: int = 10,
        truncate: int | None = 10,
        output_context: bool = False,
        device: Device = None,
        dtype: Dtype = None,
    ) -> None:
        check_count("every", every, meaning=", the interval between stored states")
        check_count("top", top, meaning=", the number of states with a weight")
        if truncate is not None:
            check_count("truncate", truncate, meaning=", in steps, or None to cut no gradient")
        layer = partial(SparseBacktrackLayer, every=every, top=top, truncate=truncate, output_context=output_context)
        super().__init__(
            input_size, hidden_size, num_layers, batch_first, dropout, device=device, dtype=dtype, layer=layer
        )


class SparseBacktrackState(NamedTuple):
    """The state of a `SparseBacktrackLSTM`."""

    h: Tensor
    """(layers, batch, hidden)"""
    c: Tensor
    """(layers, batch, hidden)"""
    memory: Tensor
    """(layers, batch, stored, hidden): every k-th state of the document, oldest first, then zeros"""
    step: Tensor
    """(layers, batch), int64: number of steps of the document so far"""


@final
class SparseBacktrackLayer(Layer):
    """hat h_t, c_t = LSTM(x_t, h_{t-1}, c_{t-1}); h_t = hat h_t + sum_i alpha_i m_i; e_i = v . tanh(W_a hat h_t + U_a m_i).

    The rows of U, V and b are those of i, f, g, o, as in `torch.nn.LSTM`.
    """

    State: ClassVar[type[tuple]] = SparseBacktrackState
    newest_last: ClassVar[bool] = False

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        every: int = 2,
        top: int = 10,
        truncate: int | None = 10,
        output_context: bool = False,
        device: Device = None,
        dtype: Dtype = None,
    ) -> None:
        super().__init__(input_size, hidden_size)
        self.every, self.top, self.truncate, self.output_context = every, top, truncate, output_context
        weights = empty_weights(device, dtype)
        self.U, self.V = weights(4 * hidden_size, input_size), weights(4 * hidden_size, hidden_size)
        self.b = weights(4 * hidden_size)
        self.W_a, self.U_a = weights(hidden_size, hidden_size), weights(hidden_size, hidden_size)
        self.v = weights(hidden_size)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform within 1 / sqrt(hidden), as `torch.nn.LSTM`, except W_a = 0: hat h_t has no effect on the weights at
        first, as it never has in the authors' program. With a random W_a the choice of states changes at every step, and
        recall is not learned.
        """
        draw_uniform(1 / math.sqrt(self.hidden_size), *self.parameters())
        nn.init.zeros_(self.W_a)

    @property
    def output_size(self) -> int:
        return (2 if self.output_context else 1) * self.hidden_size

    def start(self, batch: int) -> SparseBacktrackState:
        h, c = self.zeros(batch, self.hidden_size), self.zeros(batch, self.hidden_size)
        memory, step = self.zeros(batch, 0, self.hidden_size), self.zeros(batch, dtype=torch.int64)
        return SparseBacktrackState(h, c, memory, step)

    def state_shapes(self, batch: int) -> tuple[tuple[int | None, ...], ...]:
        h, c, _, step = super().state_shapes(batch)
        return h, c, (batch, None, self.hidden_size), step

    def state_size(self, length: int) -> int:
        return super().state_size(length) + length // self.every * self.hidden_size

    def check_state(self, state: States) -> None:
        _, _, memory, step = state
        if step.min() < 0:
            raise InputError(
                f"step of the state is {int(step.min())}; expected 0 or more; pass the state as it was returned"
            )
        stored, steps = memory.shape[-2], int(step.max())
        expected = steps // self.every
        # A longer memory is valid if the rest is empty: the longest sequence may have left the batch.
        if stored < expected or memory[..., expected:, :].any():
            raise InputError(
                f"memory of the state holds {stored} states after {steps} steps; expected {expected}, one for "
                f"{self.every} steps; pass it unchanged, to a cell with the same `every`"
            )

    def gate_biases(self) -> GateBiases:
        return lstm_gate_biases(self.b)

    def candidate(self) -> Tensor:
        return lstm_candidate(self.V)

    def scan(self, inputs: Tensor, state: States, resets: Resets, probe: Probe) -> tuple[Tensor, States]:
        slots = self._slots(inputs, state, resets)
        states, memory, cells, provisional = self._run(inputs, state, resets, probe, slots)
        step = slots.position[-1] + 1
        # Drop what belongs to earlier documents, so that each sequence's own states start at the first slot again.
        count = step // self.every
        last = slots.end[-1] + (slots.write[-1] < slots.size).to(count.dtype)
        numbers = torch.arange(int(count.max()), device=count.device).unsqueeze(1)
        index = torch.where(numbers < count, last - count + numbers, slots.size)
        stored = memory[index, torch.arange(len(count), device=count.device)]
        stored = stored.masked_fill((numbers >= count).unsqueeze(-1), 0)
        after = SparseBacktrackState(states[-1], cells[-1], stored.transpose(0, 1), step)
        if not self.output_context:
            return states, after
        context = states - provisional if probe is None else states - provisional - probe
        return torch.cat([states, context], dim=-1), after

    def attention(self, inputs: Tensor, state: States, resets: Resets) -> Tensor:
        slots = self._slots(inputs, state, resets)
        _, memory, _, provisional = self._run(inputs, state, resets, None, slots)
        carried, batch, steps = state[2].shape[1], memory.shape[1], len(inputs)
        source = torch.arange(len(memory), device=memory.device).unsqueeze(1).repeat(1, batch)
        keys, queries = memory @ self.U_a.T, provisional @ self.W_a.T
        weights = memory.new_zeros(steps, batch, carried + steps)
        for t in range(steps):
            places, valid = slots.visible(t)
            alpha = TopWeights(self.top).weights(torch.tanh(queries[t] + keys[places]) @ self.v, valid)
            weights[t].scatter_add_(1, source[places].clamp_max(carried + steps - 1).T, alpha.T)
            source[slots.write_index(t)] = carried + t
        return weights

    def _slots(self, inputs: Tensor, state: States, resets: Resets) -> StorageSlots:
        return StorageSlots.plan(state[3], state[2].shape[1], len(inputs), self.every, resets)

    def _run(
        self, inputs: Tensor, state: States, resets: Resets, probe: Probe, slots: StorageSlots
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        h, c, memory, _ = state
        a = nn.functional.linear(inputs, self.U, self.b).to(self.U.dtype)
        cut = None
        if self.truncate is not None:
            cut = (slots.position > 0) & (slots.position % self.truncate == 0)
        return SparseScan.apply(
            a, self.V, self.W_a, self.U_a, self.v, memory.transpose(0, 1), h, c,
            probe, resets, cut, slots, self.top,
        )  # fmt: skip


@final
@dataclass(frozen=True)
class StorageSlots:
    """Where the steps of a call store their states, and what they attend to; tensors are (time, batch).

    Every k-th state of a document is stored, in adjacent slots. Resets come at different steps in different sequences, so
    each sequence counts separately. Within a call no slot is overwritten, as the backward pass reads all of them again.
    """

    begin: Tensor
    """The slot of the first state that the step attends to"""
    end: Tensor
    """One beyond the slot of the last one"""
    write: Tensor
    """The slot in which the step stores its state; `size` if it stores none"""
    size: int
    """Slots in use after the last step; one more receives what is not stored"""
    low: list[int]
    """For each step, the first slot that any sequence attends to"""
    high: list[int]
    """One beyond the last of them"""
    any_store: list[bool]
    """Whether any sequence stores at a step"""
    any_reset: list[bool]
    """Whether any sequence is reset before a step"""
    position: Tensor
    """The position of the step in its document"""

    @staticmethod
    def plan(step: Tensor, carried: int, steps: int, every: int, resets: Resets) -> StorageSlots:
        """For sequences that have done `step` (batch) steps, with `carried` slots in the memory of the state."""
        position = steps_since_reset(step, steps, resets)
        stored = (position + 1) % every == 0
        after = step // every + stored.cumsum(dim=0)
        end = after - stored.to(after.dtype)
        begin = end - position // every
        size = max(carried, int(after.max()))
        return StorageSlots(
            begin=begin,
            end=end,
            write=torch.where(stored, end, size),
            size=size,
            low=begin.amin(dim=1).tolist(),
            high=end.amax(dim=1).tolist(),
            any_store=stored.any(dim=1).tolist(),
            any_reset=[False] * steps if resets is None else resets.any(dim=1).tolist(),
            position=position,
        )

    def visible(self, t: int) -> tuple[slice, Tensor]:
        """The slots that step t attends to, and (source, batch) whether they belong to its document."""
        numbers = torch.arange(self.low[t], self.high[t], device=self.begin.device).unsqueeze(1)
        return slice(self.low[t], self.high[t]), (numbers >= self.begin[t]) & (numbers < self.end[t])

    def write_index(self, t: int) -> tuple[Tensor, Tensor]:
        """The index (slot, sequence) at which step t stores."""
        return self.write[t], torch.arange(self.write.shape[1], device=self.write.device)


# Added to the divisor of the weights: their sum is zero if more than `top` scores share the highest value.
SMALL = 1e-7


@final
@dataclass(frozen=True)
class TopWeights(Normalization):
    """alpha_i = r_i / sum_j r_j, r_i = max(e_i - threshold, 0), with the (top + 1)-th largest score as the threshold.

    So `top` sources have a weight, which grows from zero. While there are no more than `top` sources, the weights are a
    softmax. The gradient includes that of the threshold.  Ke 2018, Algorithm 1.
    """

    top: int

    def weights(self, scores: Tensor, valid: Tensor) -> Tensor:
        dense = Softmax().weights(scores, valid)
        if len(scores) <= self.top:
            return dense
        above, _, sums = self._above(scores, valid)
        return torch.where(self._sparse(valid), above / sums, dense)

    def gradient(self, scores: Tensor, valid: Tensor, weights: Tensor, outer: Tensor) -> Tensor:
        dense = Softmax().gradient(scores, valid, weights, outer)
        if len(scores) <= self.top:
            return dense
        above, last, sums = self._above(scores, valid)
        of_above = (outer - (outer * weights).sum(dim=0)) / sums * (above > 0)
        sparse = of_above.scatter_add(0, last, -of_above.sum(dim=0, keepdim=True))
        return torch.where(self._sparse(valid), sparse, dense)

    def _sparse(self, valid: Tensor) -> Tensor:
        """(batch): whether there are more than `top` sources."""
        return valid.sum(dim=0) > self.top

    def _above(self, scores: Tensor, valid: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """r, the index of the threshold (1, batch), and the divisor of r."""
        highest = scores.masked_fill(~valid, -torch.inf).topk(self.top + 1, dim=0)
        above = (scores - highest.values[-1]).clamp_min(0).masked_fill(~valid, 0)
        return above, highest.indices[-1:], above.sum(dim=0) + SMALL


class SparseScan(Scan):
    """h of all steps, the slots (slot, batch, hidden), c of all steps, and hat h of all steps.

    Where `cut` (time, batch) is true, no gradient passes from a step to the h and c before it; attention is not cut.
    """

    @staticmethod
    def forward(
        ctx: Any,
        a: Tensor,
        V: Tensor,
        W_a: Tensor,
        U_a: Tensor,
        v: Tensor,
        carried: Tensor,
        h: Tensor,
        c: Tensor,
        probe: Probe,
        resets: Resets,
        cut: Tensor | None,
        slots: StorageSlots,
        top: int,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        start = (h, c)
        memory = torch.cat([carried, h.new_zeros(slots.size + 1 - len(carried), *h.shape)])
        # Resets clear what attention reads, but the returned slots keep every state, so they need their own copy.
        attended = memory if resets is None else memory.clone()
        attention = AttentionMemory(W_a, U_a, v, attended, TopWeights(top))
        attention.compute_keys(slice(None))
        gates = torch.empty_like(a)
        states, cells, provisional = (h.new_empty(len(a), *h.shape) for _ in range(3))
        for t in range(len(a)):
            places, valid = slots.visible(t)
            if resets is not None and slots.any_reset[t]:
                h, c = clear((h, c), resets[t])
                attention.forget(resets[t], places)
            h, c = lstm_forward(torch.addmm(a[t], h, V.T, out=gates[t]), c)
            provisional[t], cells[t] = h, c
            h = h + attention.context(h, places, valid)
            states[t] = h = h if probe is None else h + probe[t]
            if slots.any_store[t]:
                index = slots.write_index(t)
                memory[index] = h
                attention.store(index, h)
        ctx.save_for_backward(V, W_a, U_a, v, resets, cut, memory, states, cells, provisional, gates, *start)
        ctx.slots, ctx.top, ctx.carried, ctx.probed = slots, top, len(carried), probe is not None
        return states, memory, cells, provisional

    @staticmethod
    def backward(ctx: Any, *outer: Tensor) -> tuple[Any, ...]:  # type: ignore[override]
        V, W_a, U_a, v, resets, cut, memory, states, cells, provisional, gates, h_0, c_0 = ctx.saved_tensors
        slots: StorageSlots = ctx.slots
        slopes = lstm_slopes(gates, previous_states(c_0, cells, resets), cells)
        attention = AttentionMemoryGradient(W_a, U_a, v, memory, provisional, TopWeights(ctx.top))
        of_memory = outer[1].clone()
        total, dz = torch.empty_like(states), torch.empty_like(gates)
        dh, dc = torch.zeros_like(h_0), torch.zeros_like(c_0)
        for t in range(len(states) - 1, -1, -1):
            torch.add(outer[0][t], dh, out=total[t])
            if slots.any_store[t]:
                index = slots.write_index(t)
                total[t] += of_memory[index] + attention.by_keys(index)
            dh = total[t] + outer[3][t] + attention.context(t, *slots.visible(t), total[t], of_memory)
            dc = lstm_backward(slopes, t, dh, dc + outer[2][t], dz[t])
            dh = dz[t] @ V
            for mask in (resets, cut):
                if mask is not None:
                    dh, dc = clear((dh, dc), mask[t])
        dV = weight_gradient(dz, previous_states(h_0, states, resets))
        of_carried = (of_memory + attention.by_keys(slice(None)))[: ctx.carried]
        dprobe = total if ctx.probed else None
        return dz, dV, *attention.of_weights(), of_carried, dh, dc, dprobe, None, None, None, None
