"""MemRNN and MemLSTM: recurrent networks that attend to all of their past states.  Kerg 2020, section 3.

s_t = factor (h_{t-1} + sum_{i < t} alpha_i h_i) takes the place of h_{t-1} in the recurrence. The scan saves the states, s
and, for an LSTM, the gates. Scores and weights are recomputed step by step in the backward pass, so that work grows with
the square of time but memory only linearly.
"""

from __future__ import annotations

import math
from abc import ABC
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple, final

import torch
from torch import Tensor, nn

from memspan.cells.attentive.attention import (
    COMBINE_FACTORS,
    AttentionMemory,
    AttentionMemoryGradient,
    Softmax,
    check_combine,
    steps_since_reset,
)
from memspan.cells.base.activations import Nonlinearity, nonlinearity_named
from memspan.cells.base.autograd import Probe, Resets, Scan, States, previous_states, weight_gradient
from memspan.cells.base.cell import Cell
from memspan.cells.base.layer import Device, Dtype, Layer, draw_uniform, empty_weights
from memspan.cells.gated.lstm import (
    LSTMSlopes,
    lstm_backward,
    lstm_candidate,
    lstm_forward,
    lstm_gate_biases,
    lstm_slopes,
)
from memspan.errors import InputError
from memspan.init.gates import GateBiases


@final
class MemRNN(Cell):
    """h_t = phi(U x_t + V s_t + b), s_t = h_{t-1} + sum_{i < t} alpha_i h_i.

    alpha = softmax(e), e_i = v . tanh(W_a s_{t-1} + U_a h_i), s_1 = 0: Kerg 2020, Eq. 1, 2, after Bahdanau 2014.
    `combine="mean"` takes half of the sum, as the authors' program does in its other networks (errata 13). phi is one of
    tanh, relu, identity and modrelu.
    """

    label = "MemRNN"
    description = "RNN that attends to all past states"
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
        nonlinearity: str = "tanh",
        combine: str = "sum",
        device: Device = None,
        dtype: Dtype = None,
    ) -> None:
        layer = partial(MemRNNLayer, nonlinearity=nonlinearity, combine=combine)
        super().__init__(
            input_size, hidden_size, num_layers, batch_first, dropout, device=device, dtype=dtype, layer=layer
        )


@final
class MemLSTM(Cell):
    """i, f, g, o from U x_t + V s_t + b; c_t = f * c_{t-1} + i * g; h_t = o * tanh(c_t); s_t = h_{t-1} + sum_i alpha_i h_i.

    Attention is that of `MemRNN`: Kerg 2020, sections 3 and 5. `combine="mean"` takes half of the sum for s_t, as the
    authors' program does (errata 13).
    """

    label = "MemLSTM"
    description = "LSTM that attends to all past states"
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
        combine: str = "sum",
        device: Device = None,
        dtype: Dtype = None,
    ) -> None:
        layer = partial(MemLSTMLayer, combine=combine)
        super().__init__(
            input_size, hidden_size, num_layers, batch_first, dropout, device=device, dtype=dtype, layer=layer
        )


class MemRNNState(NamedTuple):
    """The state of a `MemRNN`."""

    h: Tensor
    """(layers, batch, hidden)"""
    s: Tensor
    """(layers, batch, hidden): the last combination of state and context, the next query"""
    memory: Tensor
    """(layers, batch, time, hidden): the past states, as many as the longest document of the batch has"""
    length: Tensor
    """(layers, batch), int64: number of states, the last ones of the memory, that belong to the current document"""


class MemLSTMState(NamedTuple):
    """The state of a `MemLSTM`: that of a `MemRNN`, and c."""

    h: Tensor
    c: Tensor
    s: Tensor
    memory: Tensor
    length: Tensor


class MemoryLayer(Layer, ABC):
    """Attends to all states since the last reset.

    A state consists of h, c for an LSTM, s, the memory (batch, time, hidden) and the length of the current document, whose
    states are the last ones of the memory. What precedes them is zero.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        gates: int,
        combine: str,
        phi: Nonlinearity | None,
        device: Device,
        dtype: Dtype,
    ) -> None:
        """`gates` is the number of rows of U, V and b per unit; `phi` is None for an LSTM."""
        check_combine(combine)
        super().__init__(input_size, hidden_size)
        self.combine, self.phi = combine, phi
        weights, rows = empty_weights(device, dtype), gates * hidden_size
        self.U, self.V, self.b = weights(rows, input_size), weights(rows, hidden_size), weights(rows)
        self.m = weights(hidden_size) if phi is not None and phi.biased else None
        self.W_a, self.U_a = weights(hidden_size, hidden_size), weights(hidden_size, hidden_size)
        self.v = weights(hidden_size)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform within 1 / sqrt(hidden), as torch's layers; v normal with variance 2 / (hidden + 1), as Kerg 2020."""
        draw_uniform(1 / math.sqrt(self.hidden_size), self.U, self.V, self.b, self.W_a, self.U_a)
        if self.m is not None:
            draw_uniform(0.01, self.m)
        nn.init.normal_(self.v, std=math.sqrt(2 / (self.hidden_size + 1)))

    def start(self, batch: int) -> States:
        of_units = [self.zeros(batch, self.hidden_size) for _ in self.State._fields[:-2]]  # type: ignore[attr-defined]
        memory, length = self.zeros(batch, 0, self.hidden_size), self.zeros(batch, dtype=torch.int64)
        return self.State(*[*of_units, memory, length])

    def state_shapes(self, batch: int) -> tuple[tuple[int | None, ...], ...]:
        *of_units, _, length = super().state_shapes(batch)
        return (*of_units, (batch, None, self.hidden_size), length)

    def state_size(self, length: int) -> int:
        return super().state_size(length) + length * self.hidden_size

    def check_state(self, state: States) -> None:
        *_, memory, length = state
        least, most, stored = int(length.min()), int(length.max()), memory.shape[-2]
        if least < 0 or most > stored:
            raise InputError(
                f"length of the state is {least if least < 0 else most}; its memory holds {stored} states; "
                "pass both as they were returned"
            )

    def scan(self, inputs: Tensor, state: States, resets: Resets, probe: Probe) -> tuple[Tensor, States]:
        window, length = self._window(state, len(inputs), resets)
        memory, sums, cells = self._run(inputs, state, window, probe)
        stored = memory
        if resets is not None:
            # Drop what precedes the longest document, and clear what precedes each shorter one.
            longest = int(length.max())
            stored = memory[len(memory) - longest :]
            ages = torch.arange(longest, 0, -1, device=length.device)
            stored = stored.masked_fill((ages.unsqueeze(1) > length).unsqueeze(-1), 0)
        of_units = [memory[-1], *([] if cells is None else [cells[-1]]), sums[-1]]
        return memory[window.carried :], self.State(*[*of_units, stored.transpose(0, 1), length])

    def attention(self, inputs: Tensor, state: States, resets: Resets) -> Tensor:
        window, _ = self._window(state, len(inputs), resets)
        memory, sums, _ = self._run(inputs, state, window, None)
        keys, queries = memory @ self.U_a.T, previous_states(state[-3], sums, resets) @ self.W_a.T
        weights = memory.new_zeros(len(inputs), memory.shape[1], len(memory))
        for t, query in enumerate(queries):
            places, valid = window.visible(t)
            scores = torch.tanh(query + keys[places]) @ self.v
            weights[t, :, places] = Softmax().weights(scores, valid).T
        return weights

    def _window(self, state: States, steps: int, resets: Resets) -> tuple[MemoryWindow, Tensor]:
        """What each step attends to, and the length of each sequence's document after the last step."""
        *_, memory, length = state
        carried = memory.shape[1]
        position = steps_since_reset(length, steps, resets)
        begin = carried + torch.arange(steps, device=length.device).unsqueeze(1) - position
        if resets is None:
            return MemoryWindow(carried, begin, [0] * steps, None, [False] * steps), position[-1] + 1
        first, any_reset = begin.amin(dim=1).tolist(), resets.any(dim=1).tolist()
        return MemoryWindow(carried, begin, first, resets, any_reset), position[-1] + 1

    def _run(
        self, inputs: Tensor, state: States, window: MemoryWindow, probe: Probe
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        h, *cell, s, memory, _ = state
        a = nn.functional.linear(inputs, self.U, self.b).to(self.U.dtype)
        return MemoryScan.apply(
            a, self.V, self.W_a, self.U_a, self.v, memory.transpose(0, 1), h, s,
            cell[0] if cell else None, self.m, probe, window, COMBINE_FACTORS[self.combine], self.phi,
        )  # fmt: skip


@final
class MemRNNLayer(MemoryLayer):
    """h_t = phi(U x_t + V s_t + b), alpha = softmax(e), e_i = v . tanh(W_a s_{t-1} + U_a h_i)."""

    State: ClassVar[type[tuple]] = MemRNNState

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        nonlinearity: str = "tanh",
        combine: str = "sum",
        device: Device = None,
        dtype: Dtype = None,
    ) -> None:
        phi = nonlinearity_named(nonlinearity)
        super().__init__(input_size, hidden_size, 1, combine, phi, device, dtype)
        self.nonlinearity = nonlinearity


@final
class MemLSTMLayer(MemoryLayer):
    """i, f, o = sigmoid(U x_t + V s_t + b), g = tanh(…), alpha = softmax(e), e_i = v . tanh(W_a s_{t-1} + U_a h_i).

    The rows of U, V and b are those of i, f, g, o, as in `torch.nn.LSTM`.
    """

    State: ClassVar[type[tuple]] = MemLSTMState

    def __init__(
        self, input_size: int, hidden_size: int, combine: str = "sum", device: Device = None, dtype: Dtype = None
    ) -> None:
        super().__init__(input_size, hidden_size, 4, combine, None, device, dtype)

    def gate_biases(self) -> GateBiases:
        return lstm_gate_biases(self.b)

    def candidate(self) -> Tensor:
        return lstm_candidate(self.V)


@final
@dataclass(frozen=True)
class MemoryWindow:
    """The stored states that each step of a call attends to: those since the last reset of its sequence."""

    carried: int
    """Number of states in the memory before the call; step t sees places up to carried + t - 1"""
    begin: Tensor
    """(time, batch): the place in the memory where the document of a step begins"""
    first: list[int]
    """For each step, the first place that any sequence of the batch attends to"""
    resets: Resets
    """(time, batch): true where a document begins"""
    any_reset: list[bool]
    """Whether any sequence is reset before a step"""

    def visible(self, t: int) -> tuple[slice, Tensor]:
        """The places that step t attends to, and (source, batch) whether they belong to its document."""
        places = slice(self.first[t], self.carried + t)
        numbers = torch.arange(places.start, places.stop, device=self.begin.device)
        return places, numbers.unsqueeze(1) >= self.begin[t]

    def clear(self, t: int, tensor: Tensor) -> Tensor:
        """Zeros where a document begins at step t."""
        if self.resets is None or not self.any_reset[t]:
            return tensor
        return tensor.masked_fill(self.resets[t].unsqueeze(-1), 0)


class MemoryScan(Scan):
    """z_t = a_t + V s_t, s_t = factor (h_{t-1} + context_t); h_t = phi(z_t, m) or, with c, the LSTM of gates z_t.

    Returns the memory (source, batch, hidden) with all h_t at its end, s of all steps, and c of all steps or None.
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
        s: Tensor,
        c: Tensor | None,
        m: Tensor | None,
        probe: Probe,
        window: MemoryWindow,
        factor: float,
        phi: Nonlinearity | None,
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        start = (h, s, c)
        memory = torch.cat([carried, h.new_empty(len(a), *h.shape)])
        # Resets clear what attention reads, but the returned memory keeps every state, so it needs its own copy.
        attended = memory if window.resets is None else memory.clone()
        attention = AttentionMemory(W_a, U_a, v, attended, Softmax())
        attention.compute_keys(slice(0, window.carried))
        sums, z = h.new_empty(len(a), *h.shape), torch.empty_like(a)
        cells = None if c is None else torch.empty_like(sums)
        for t in range(len(a)):
            h, s = window.clear(t, h), window.clear(t, s)
            places, valid = window.visible(t)
            if window.resets is not None and window.any_reset[t]:
                attention.forget(window.resets[t], places)
            s = torch.add(h, attention.context(s, places, valid), out=sums[t]).mul_(factor)
            torch.addmm(a[t], s, V.T, out=z[t])
            if c is not None and cells is not None:
                h, c = lstm_forward(z[t], window.clear(t, c))
                cells[t] = c
            else:
                assert phi is not None, "a cell without c has a nonlinearity"
                h = phi.value(z[t], m)
            if probe is not None:
                h = h + probe[t]
            memory[places.stop] = h
            attention.store(places.stop, h)
        gates = None if cells is None else z
        ctx.save_for_backward(V, W_a, U_a, v, m, probe, memory, sums, cells, gates, *start)
        ctx.window, ctx.factor, ctx.phi = window, factor, phi
        return memory, sums, cells

    @staticmethod
    def backward(ctx: Any, *outer: Tensor) -> tuple[Any, ...]:  # type: ignore[override]
        V, W_a, U_a, v, m, probe, memory, sums, cells, gates, h_0, s_0, c_0 = ctx.saved_tensors
        window: MemoryWindow = ctx.window
        values = memory[window.carried :] if probe is None else memory[window.carried :] - probe
        if cells is None:
            slopes, dc = ctx.phi.slope(values), None
        else:
            before = previous_states(c_0, cells, window.resets)
            slopes, dc = lstm_slopes(gates, before, cells), torch.zeros_like(c_0)
        queries = previous_states(s_0, sums, window.resets)
        attention = AttentionMemoryGradient(W_a, U_a, v, memory, queries, Softmax())
        of_memory, dz = outer[0].clone(), torch.empty_like(sums if gates is None else gates)
        dh, ds = torch.zeros_like(h_0), torch.zeros_like(s_0)
        for t in range(len(sums) - 1, -1, -1):
            own = window.carried + t
            dh = of_memory[own].add_(dh).add_(attention.by_keys(own))
            if isinstance(slopes, LSTMSlopes) and dc is not None:
                dc = lstm_backward(slopes, t, dh, dc + outer[2][t], dz[t])
            else:
                torch.mul(dh, 1 if slopes is None else slopes[t], out=dz[t])
            ds = torch.addmm(ds + outer[1][t], dz[t], V).mul_(ctx.factor)
            dh = window.clear(t, ds)
            ds = window.clear(t, attention.context(t, *window.visible(t), ds, of_memory))
            dc = None if dc is None else window.clear(t, dc)
        earlier, steps = slice(0, window.carried), slice(window.carried, None)
        of_carried = of_memory[earlier] + attention.by_keys(earlier)
        dV = weight_gradient(dz, sums)
        dm = None if m is None else (dz * torch.sign(values)).sum((0, 1))
        dprobe = None if probe is None else of_memory[steps]
        return dz, dV, *attention.of_weights(), of_carried, dh, ds, dc, dm, dprobe, None, None, None
