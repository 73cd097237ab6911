"""Sparse attentive backtracking: an LSTM reminded of a few past states, with the recurrent gradient cut short.  Ke 2018."""

from __future__ import annotations

import math
from functools import partial
from typing import ClassVar, NamedTuple, final

import torch
from torch import Tensor, nn

from memspan.cells.cell import Cell
from memspan.cells.layer import Device, Layer, empty_weights
from memspan.cells.lstm_step import lstm_gate_biases
from memspan.cells.sparse_scan import SparseScan
from memspan.cells.sparse_slots import Slots
from memspan.cells.sparse_weights import TopWeights
from memspan.errors import InputError
from memspan.init.chrono import GateBiases


class CellAndStored(NamedTuple):
    """The state of a sparsely backtracking LSTM."""

    h: Tensor
    """(layers, batch, hidden)"""
    c: Tensor
    """(layers, batch, hidden)"""
    memory: Tensor
    """(layers, batch, stored, hidden): every k-th state of the document, the first one first, then zeros"""
    step: Tensor
    """(layers, batch), int64: how many steps of the document are done"""


@final
class SparseBacktrackLayer(Layer):
    """hat h_t, c_t = LSTM(x_t, h_{t-1}, c_{t-1}); h_t = hat h_t + sum_i alpha_i m_i; e_i = v . tanh(W_a hat h_t + U_a m_i).

    The rows of U, V and b are those of i, f, g, o, as in `torch.nn.LSTM`.
    """

    State: ClassVar[type[tuple]] = CellAndStored
    options: ClassVar = {"every": 2, "top": 10, "truncate": 10}
    newest_last: ClassVar[bool] = False

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        every: int,
        top: int,
        truncate: int | None,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size)
        self.every, self.top, self.truncate = every, top, truncate
        weights = empty_weights(device, dtype)
        self.U, self.V = weights(4 * hidden_size, input_size), weights(4 * hidden_size, hidden_size)
        self.b = weights(4 * hidden_size)
        self.W_a, self.U_a = weights(hidden_size, hidden_size), weights(hidden_size, hidden_size)
        self.v = weights(hidden_size)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform within 1 / sqrt(hidden), as `torch.nn.LSTM`."""
        bound = 1 / math.sqrt(self.hidden_size)
        for weights in self.parameters():
            nn.init.uniform_(weights, -bound, bound)

    def start(self, batch: int) -> CellAndStored:
        h, c = self.zeros(batch, self.hidden_size), self.zeros(batch, self.hidden_size)
        return CellAndStored(
            h, c, self.zeros(batch, 0, self.hidden_size), self.zeros(batch, dtype=torch.int64)
        )

    def state_shapes(self, batch: int) -> tuple[tuple[int | None, ...], ...]:
        h, c, _, step = super().state_shapes(batch)
        return h, c, (batch, None, self.hidden_size), step

    def state_size(self, length: int) -> int:
        return super().state_size(length) + length // self.every * self.hidden_size

    def check_state(self, state: tuple[Tensor, ...]) -> None:
        _, _, memory, step = state
        if step.min() < 0:
            raise InputError(
                f"step of the state is {int(step.min())}; expected 0 or more; give it back as it came"
            )
        held, steps = memory.shape[-2], int(step.max())
        stored = steps // self.every
        # More room than that is all right where it is empty: the longest sequence may have left the batch.
        if held < stored or memory[..., stored:, :].any():
            raise InputError(
                f"memory of the state holds {held} states after {steps} steps; expected {stored}, one for "
                f"{self.every} steps; give it back whole, and to a cell of the same `every`"
            )

    def gate_biases(self) -> GateBiases:
        return lstm_gate_biases(self.b)

    def scan(
        self, inputs: Tensor, state: tuple[Tensor, ...], resets: Tensor | None, probe: Tensor | None
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        slots = self._slots(inputs, state, resets)
        states, memory, cells, _ = self._run(inputs, state, resets, probe, slots)
        step = slots.position[-1] + 1
        # What is of earlier documents is dropped: those of each sequence's own begin at its first slot again.
        count = step // self.every
        last = slots.end[-1] + (slots.write[-1] < slots.size).to(count.dtype)
        numbers = torch.arange(int(count.max()), device=count.device).unsqueeze(1)
        index = torch.where(numbers < count, last - count + numbers, slots.size)
        kept = memory[index, torch.arange(len(count), device=count.device)]
        kept = kept.masked_fill((numbers >= count).unsqueeze(-1), 0)
        return states, CellAndStored(states[-1], cells[-1], kept.transpose(0, 1), step)

    def attention(self, inputs: Tensor, state: tuple[Tensor, ...], resets: Tensor | None) -> Tensor:
        slots = self._slots(inputs, state, resets)
        _, memory, _, provisional = self._run(inputs, state, resets, None, slots)
        given, batch, steps = state[2].shape[1], memory.shape[1], len(inputs)
        source = torch.arange(len(memory), device=memory.device).unsqueeze(1).repeat(1, batch)
        keys, queries = memory @ self.U_a.T, provisional @ self.W_a.T
        weights = memory.new_zeros(steps, batch, given + steps)
        for t in range(steps):
            places, valid = slots.seen(t)
            seen = TopWeights(self.top).weights(torch.tanh(queries[t] + keys[places]) @ self.v, valid)
            weights[t].scatter_add_(1, source[places].clamp_max(given + steps - 1).T, seen.T)
            source[slots.written(t)] = given + t
        return weights

    def _slots(self, inputs: Tensor, state: tuple[Tensor, ...], resets: Tensor | None) -> Slots:
        return Slots.plan(state[3], state[2].shape[1], len(inputs), self.every, resets)

    def _run(
        self,
        inputs: Tensor,
        state: tuple[Tensor, ...],
        resets: Tensor | None,
        probe: Tensor | None,
        slots: Slots,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        h, c, memory, _ = state
        a = nn.functional.linear(inputs, self.U, self.b).to(self.U.dtype)
        stopped = None
        if self.truncate is not None:
            stopped = (slots.position > 0) & (slots.position % self.truncate == 0)
        return SparseScan.apply(
            a, self.V, self.W_a, self.U_a, self.v, memory.transpose(0, 1), h, c,
            probe, resets, stopped, slots, self.top,
        )  # fmt: skip


@final
class SparseBacktrackLSTM(Cell):
    """hat h_t, c_t = LSTM(x_t, h_{t-1}, c_{t-1}); h_t = hat h_t + sum_i alpha_i m_i over the `top` best stored states m_i.

    Ke 2018, Algorithm 1 (SAB). Every `every`-th state h_t is stored. Scores are e_i = v . tanh(W_a hat h_t + U_a m_i), and
    alpha_i is in proportion to max(e_i - threshold, 0), the threshold being the (top + 1)-th largest score, so that `top`
    states have a weight. Gradients go through attention without end, but through h and c for `truncate` steps at most: they
    are cut after every `truncate` steps of a document; None cuts nothing.

    Where the authors' program differs from their paper the paper is followed: the program takes w . tanh([hat h_t; m_i]) for
    e_i, in which hat h_t decides nothing, and gives a weight to top - 1 states. Neither says what happens while there are no
    more than `top` states: the program takes raw scores, which may be negative; here the weights are a softmax. The program
    begins with a stored zero, which only takes up weight; here the memory begins empty. A published port compares the scores
    of one sequence with the threshold of another; here each has its own. The paper's head reads the context too, here as
    everywhere h_t alone.
    """

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
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        _check(every, top, truncate)
        super().__init__(
            input_size,
            hidden_size,
            num_layers,
            batch_first,
            dropout,
            device=device,
            dtype=dtype,
            layer=partial(SparseBacktrackLayer, every=every, top=top, truncate=truncate),
        )


def _check(every: int, top: int, truncate: int | None) -> None:
    meanings = {
        "every": (every, "to store every so many-th state"),
        "top": (top, "the states that have a weight"),
        "truncate": (1 if truncate is None else truncate, "steps, or None to cut no gradient"),
    }
    for name, (value, meaning) in meanings.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise InputError(f"{name} is {value!r}; expected a whole number of 1 or more, {meaning}")
