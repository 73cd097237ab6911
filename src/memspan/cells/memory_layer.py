"""What MemRNN and MemLSTM share: their weights, and the memory that they carry from call to call."""

from __future__ import annotations

import math
from abc import ABC
from typing import ClassVar

import torch
from torch import Tensor, nn

from memspan.cells.activations import Activation
from memspan.cells.additive_attention import Softmax
from memspan.cells.carried import found
from memspan.cells.combine import FACTORS
from memspan.cells.layer import Device, Layer, empty_weights
from memspan.cells.memory_scan import MemoryScan, Sight
from memspan.cells.windows import steps_since_reset
from memspan.errors import InputError


class MemoryLayer(Layer, ABC):
    """s_t = h_{t-1} + sum_i alpha_i h_i, or half of it, with alpha over all states since the last reset.

    The state of such a layer is h, for an LSTM c, s, the memory (batch, time, hidden) and the length of the
    current document, whose states are the last ones of the memory. What is before them is zero.
    """

    options: ClassVar = {"combine": "sum"}

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        rows: int,
        combine: str,
        phi: Activation | None,
        device: Device,
        dtype: torch.dtype | None,
    ) -> None:
        """`rows` of U, V and b: one for each gate and unit; `phi` is None for an LSTM."""
        super().__init__(input_size, hidden_size)
        self.combine, self.phi = combine, phi
        weights = empty_weights(device, dtype)
        self.U, self.V, self.b = weights(rows, input_size), weights(rows, hidden_size), weights(rows)
        self.m = weights(hidden_size) if phi is not None and phi.biased else None
        self.W_a, self.U_a = weights(hidden_size, hidden_size), weights(hidden_size, hidden_size)
        self.v = weights(hidden_size)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform within 1 / sqrt(hidden), as torch's layers; v normal with variance 2 / (hidden + 1), as Kerg 2020."""
        bound = 1 / math.sqrt(self.hidden_size)
        for weights in (self.U, self.V, self.b, self.W_a, self.U_a):
            nn.init.uniform_(weights, -bound, bound)
        if self.m is not None:
            nn.init.uniform_(self.m, -0.01, 0.01)
        nn.init.normal_(self.v, std=math.sqrt(2 / (self.hidden_size + 1)))

    def start(self, batch: int) -> tuple[Tensor, ...]:
        of_units = [self.zeros(batch, self.hidden_size) for _ in self.State._fields[:-2]]  # type: ignore[attr-defined]
        return self.State(
            *[*of_units, self.zeros(batch, 0, self.hidden_size), self.zeros(batch, dtype=torch.int64)]
        )

    def state_shapes(self, batch: int) -> tuple[tuple[int | None, ...], ...]:
        *of_units, _, length = super().state_shapes(batch)
        return (*of_units, (batch, None, self.hidden_size), length)

    def state_size(self, length: int) -> int:
        return super().state_size(length) + length * self.hidden_size

    def check_state(self, state: tuple[Tensor, ...]) -> None:
        *_, memory, length = state
        least, most, held = int(length.min()), int(length.max()), memory.shape[-2]
        if least < 0 or most > held:
            raise InputError(
                f"length of the state is {least if least < 0 else most}; its memory holds {held} states; "
                "give both back as they came"
            )

    def scan(
        self, inputs: Tensor, state: tuple[Tensor, ...], resets: Tensor | None, probe: Tensor | None
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        sight, length = self._sight(state, len(inputs), resets)
        memory, sums, cells = self._run(inputs, state, sight, probe)
        kept = memory
        if resets is not None:
            # What no sequence remembers is dropped, and what only others remember is no one's.
            longest = int(length.max())
            kept = memory[len(memory) - longest :]
            ages = torch.arange(longest, 0, -1, device=length.device)
            kept = kept.masked_fill((ages.unsqueeze(1) > length).unsqueeze(-1), 0)
        of_units = [memory[-1], *([] if cells is None else [cells[-1]]), sums[-1]]
        return memory[sight.given :], self.State(*[*of_units, kept.transpose(0, 1), length])

    def attention(self, inputs: Tensor, state: tuple[Tensor, ...], resets: Tensor | None) -> Tensor:
        sight, _ = self._sight(state, len(inputs), resets)
        memory, sums, _ = self._run(inputs, state, sight, None)
        keys, queries = memory @ self.U_a.T, found(state[-3], sums, resets) @ self.W_a.T
        weights = memory.new_zeros(len(inputs), memory.shape[1], len(memory))
        for t, query in enumerate(queries):
            places, valid = sight.of(t)
            scores = torch.tanh(query + keys[places]) @ self.v
            weights[t, :, places] = Softmax().weights(scores, valid).T
        return weights

    def _sight(self, state: tuple[Tensor, ...], steps: int, resets: Tensor | None) -> tuple[Sight, Tensor]:
        """What each step sees, and how many states are of the document of each sequence after the last step."""
        *_, memory, length = state
        given = memory.shape[1]
        position = steps_since_reset(length, steps, resets)
        begin = given + torch.arange(steps, device=length.device).unsqueeze(1) - position
        if resets is None:
            return Sight(given, begin, [0] * steps, None, [False] * steps), position[-1] + 1
        first, renewed = begin.amin(dim=1).tolist(), resets.any(dim=1).tolist()
        return Sight(given, begin, first, resets, renewed), position[-1] + 1

    def _run(
        self, inputs: Tensor, state: tuple[Tensor, ...], sight: Sight, probe: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        h, *cell, s, memory, _ = state
        a = nn.functional.linear(inputs, self.U, self.b).to(self.U.dtype)
        share = FACTORS[self.combine]
        return MemoryScan.apply(
            a, self.V, self.W_a, self.U_a, self.v, memory.transpose(0, 1), h, s,
            cell[0] if cell else None, self.m, probe, sight, share, self.phi,
        )  # fmt: skip
