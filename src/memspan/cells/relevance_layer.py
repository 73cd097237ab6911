"""A recurrent layer that looks back at its last nu states and at the rho most relevant before them."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import ClassVar

import torch
from torch import Tensor, nn

from memspan.cells.combine import FACTORS, check_combine
from memspan.cells.layer import Device, Layer, empty_weights
from memspan.cells.relevance_memory import EMPTY, Screening
from memspan.cells.relevance_scan import RelevanceScan, run
from memspan.cells.relevance_trace import Core, Plan, Weights
from memspan.errors import InputError


def check_screening(short_term: int, relevant: int, combine: str) -> None:
    """nu of one or more, rho of none or more, and a way to combine."""
    for name, value, least in (("short_term", short_term, 1), ("relevant", relevant, 0)):
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise InputError(f"{name} is {value!r}; expected a whole number of {least} or more, such as 10")
    check_combine(combine)


class RelevanceLayer(Layer):
    """z_t = U x_t + V s_t + b, s_t = f (h_{t-1} + c_t), c_t = sum_i alpha_i m_i over the memory m.

    alpha = softmax_i v . tanh(W_a s_{t-1} + U_a m_i). Where there is no memory yet, s_t = h_{t-1}. Layers differ in how h_t
    follows from z_t. A state ends with s, the recent states, oldest first, with their scores so far, and the relevant ones
    with theirs.
    """

    options: ClassVar = {"short_term": 10, "relevant": 10, "combine": "mean"}

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        gates: int,
        screening: Screening,
        combine: str,
        device: Device,
        dtype: torch.dtype | None,
    ) -> None:
        super().__init__(input_size, hidden_size)
        self.screening, self.combine = screening, combine
        self.short_term, self.relevant = screening.short_term, screening.relevant

        weights = empty_weights(device, dtype)
        self.U, self.V = weights(gates * hidden_size, input_size), weights(gates * hidden_size, hidden_size)
        self.b = weights(gates * hidden_size)
        self.W_a, self.U_a = weights(hidden_size, hidden_size), weights(hidden_size, hidden_size)
        self.v = weights(hidden_size)

    @abstractmethod
    def core(self) -> Core:
        """From z_t to h_t."""

    @abstractmethod
    def extra(self, state: tuple[Tensor, ...]) -> Tensor | None:
        """What the core has besides V."""

    def reset_attention(self) -> None:
        """W_a and U_a uniform within 1 / sqrt(hidden), v normal of variance 2 / (hidden + 1), as the published program."""
        bound = 1 / math.sqrt(self.hidden_size)
        nn.init.uniform_(self.W_a, -bound, bound)
        nn.init.uniform_(self.U_a, -bound, bound)
        nn.init.normal_(self.v, std=math.sqrt(2 / (self.hidden_size + 1)))

    def nothing(self, batch: int) -> tuple[Tensor, ...]:
        """s and the memory before the first step; the score of an empty place is -inf."""
        recent, relevant = self.screening.short_term, self.screening.relevant
        return (
            self.zeros(batch, self.hidden_size),
            self.zeros(batch, recent, self.hidden_size),
            self.zeros(batch, recent).fill_(EMPTY),
            self.zeros(batch, relevant, self.hidden_size),
            self.zeros(batch, relevant).fill_(EMPTY),
        )

    def scan(
        self, inputs: Tensor, state: tuple[Tensor, ...], resets: Tensor | None, probe: Tensor | None
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        # The steps have one precision, that of the weights.
        with torch.autocast(inputs.device.type, enabled=False):
            plan, weights, numbers = self._prepared(inputs, state, resets)
            states, s, held, scores, end = RelevanceScan.apply(
                plan, numbers[0], *weights, *numbers[1:], probe
            )
        recent, relevant = self.screening.oldest_first(held, len(inputs))
        recent_scores, relevant_scores = self.screening.oldest_first(scores, len(inputs))
        parts = [states[-1], end, s, recent, recent_scores, relevant, relevant_scores]
        return states, self.State(*(part for part in parts if part is not None))

    def attention(self, inputs: Tensor, state: tuple[Tensor, ...], resets: Tensor | None) -> Tensor:
        """alpha (time, batch, source): sources are rho + nu remembered states, if any are, and the steps of the input."""
        plan, weights, numbers = self._prepared(inputs, state, resets)
        trace, *_ = run(plan, weights, *numbers, None)
        steps, batch, _ = trace.alpha.shape
        by_row = trace.alpha.new_zeros(steps, batch, len(trace.pool))
        by_row.scatter_add_(2, trace.rows.long(), trace.alpha)
        own, remembered = by_row[:, :, self.screening.first :], by_row[:, :, 1 : self.screening.first - 1]
        return torch.cat([remembered, own], 2) if plan.slots.any() else own

    def _prepared(
        self, inputs: Tensor, state: tuple[Tensor, ...], resets: Tensor | None
    ) -> tuple[Plan, Weights, tuple[Tensor, Tensor, Tensor, Tensor, Tensor | None]]:
        """The plan, the weights, and a, h_0, s_0, the memory and what the core has besides."""
        s, recent, _, relevant, _ = state[-5:]
        a = nn.functional.linear(inputs.to(self.U.dtype), self.U, self.b)
        memory = torch.cat([relevant, recent], 1).transpose(0, 1)
        weights = Weights(self.V, self.W_a, self.U_a, self.v)
        return self._plan(state, len(inputs), resets), weights, (a, state[0], s, memory, self.extra(state))

    def _plan(self, state: tuple[Tensor, ...], steps: int, resets: Tensor | None) -> Plan:
        slots, scores = self.screening.carried_rows(state[-3], state[-1])
        mixing = state[0].new_full((steps, len(state[0])), FACTORS[self.combine])
        mixing[0].masked_fill_((slots == 0).all(1), 1.0)
        if resets is not None:
            mixing.masked_fill_(resets, 1.0)
        return Plan(self.screening, self.core(), slots, scores, mixing, resets)
