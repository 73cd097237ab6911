"""s_t = f (h_{t-1} + sum_i alpha_i m_i) over the last nu states and the rho most relevant before them; h_t from x_t and s_t.

Kerg 2020, section 4 and Algorithm 1, with errata 12 and 13: Python lists, one sequence.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import torch
from oracle import Oracle, lstm, zeros
from torch import Tensor

from memspan.cells import RelLSTM, RelRNN


class Event(NamedTuple):
    """A stored state: its time, and the attention it received in the short-term buffer."""

    h: Tensor
    time: int
    score: float


class State(NamedTuple):
    h: Tensor
    c: Tensor
    s: Tensor
    buffer: list[Event]
    relevant: list[Event]
    attention: dict[int, float]
    """Of the last step, by the time of the stored state."""
    time: int = 0


def start(layer: Any) -> State:
    return State(zeros(layer), zeros(layer), zeros(layer), [], [], {})


def mix(layer: Any, state: State) -> tuple[Tensor, list[float]]:
    """s_t, and the attention that each state of the buffer and of the relevant set received."""
    memory = [event.h for event in state.buffer + state.relevant]
    if not memory:
        return state.h, []
    e = torch.stack([layer.v @ torch.tanh(layer.W_a @ state.s + layer.U_a @ m) for m in memory])
    alpha = torch.softmax(e, 0)
    c = sum((weight * m for weight, m in zip(alpha, memory, strict=True)), torch.zeros_like(state.h))
    return {"mean": 0.5, "sum": 1.0}[layer.combine] * (state.h + c), alpha.tolist()


def remember(layer: Any, state: State, h: Tensor, alpha: list[float]) -> tuple[list[Event], list[Event]]:
    """The short-term buffer and the relevant set after h_t was computed."""
    buffer = [e._replace(score=e.score + a) for e, a in zip(state.buffer, alpha, strict=False)]
    relevant = list(state.relevant)
    if len(buffer) == layer.screening.short_term:
        leaving = buffer.pop(0)
        if len(relevant) < layer.screening.relevant:
            relevant.append(leaving)
        elif relevant:
            scores = [event.score for event in relevant]
            least = scores.index(min(scores))
            if leaving.score > scores[least]:
                relevant[least] = leaving
    return [*buffer, Event(h, state.time, 0.0)], relevant


def next_state(layer: Any, state: State, h: Tensor, c: Tensor, s: Tensor, alpha: list[float]) -> State:
    times = [event.time for event in state.buffer + state.relevant]
    buffer, relevant = remember(layer, state, h, alpha)
    return State(h, c, s, buffer, relevant, dict(zip(times, alpha, strict=True)), state.time + 1)


def rnn_step(layer: Any, x: Tensor, state: State) -> tuple[Tensor, State]:
    s, alpha = mix(layer, state)
    h = layer.phi.value(layer.U @ x + layer.V @ s + layer.b, layer.m)
    return h, next_state(layer, state, h, state.c, s, alpha)


def lstm_step(layer: Any, x: Tensor, state: State) -> tuple[Tensor, State]:
    s, alpha = mix(layer, state)
    h, c = lstm(layer.U @ x + layer.V @ s + layer.b, state.c)
    return h, next_state(layer, state, h, c, s, alpha)


REL_RNN = Oracle(make=partial(RelRNN, short_term=2, relevant=2), start=start, step=rnn_step)
REL_LSTM = Oracle(make=partial(RelLSTM, short_term=2, relevant=2), start=start, step=lstm_step)
