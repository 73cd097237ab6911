"""Oracles of cells that attend to all stored states: MemRNN, MemLSTM, sparse backtracking and the Transformer."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import torch
from oracle import Oracle, lstm, zeros
from torch import Tensor

from memspan.cells import MemLSTM, MemRNN, SparseBacktrackLSTM, Transformer


def attend(layer: Any, s: Tensor, past: list[Tensor]) -> Tensor:
    """s_t = h_{t-1} + sum_i alpha_i h_i, alpha = softmax(e), e_i = v . tanh(W_a s_{t-1} + U_a h_i); zero without a past."""
    if not past:
        return torch.zeros_like(s)
    states = torch.stack(past)
    alpha = torch.softmax(torch.tanh(layer.W_a @ s + states @ layer.U_a.T) @ layer.v, dim=0)
    total = past[-1] + alpha @ states
    return total if layer.combine == "sum" else 0.5 * total


def mem_rnn_step(layer: Any, x: Tensor, state: Any) -> tuple[Tensor, Any]:
    """h_t = tanh(U x_t + V s_t + b)"""
    s, past = state
    s = attend(layer, s, past)
    h = torch.tanh(layer.U @ x + layer.V @ s + layer.b)
    return h, (s, [*past, h])


def mem_lstm_step(layer: Any, x: Tensor, state: Any) -> tuple[Tensor, Any]:
    """An LSTM with gates U x_t + V s_t + b"""
    s, c, past = state
    s = attend(layer, s, past)
    h, c = lstm(layer.U @ x + layer.V @ s + layer.b, c)
    return h, (s, c, [*past, h])


def top_weights(scores: Tensor, top: int) -> Tensor:
    """A softmax of up to `top` scores; of more, the excess over the (top + 1)-th, normalized."""
    if len(scores) <= top:
        return torch.softmax(scores, dim=0)
    above = torch.relu(scores - scores.sort(descending=True).values[top])
    return above / (above.sum() + 1e-7)


def sparse_backtrack_step(layer: Any, x: Tensor, state: Any) -> tuple[Tensor, Any]:
    """hat h_t, c_t = LSTM(x_t, h_{t-1}, c_{t-1}); h_t = hat h_t + sum_i alpha_i m_i over the best of every k-th state."""
    h, c, stored, done = state
    if layer.truncate is not None and done > 0 and done % layer.truncate == 0:
        h, c = h.detach(), c.detach()
    h, c = lstm(layer.U @ x + layer.V @ h + layer.b, c)
    context = zeros(layer)
    if stored:
        states = torch.stack(stored)
        scores = torch.tanh(layer.W_a @ h + states @ layer.U_a.T) @ layer.v
        context = top_weights(scores, layer.top) @ states
    h = h + context
    done += 1
    output = torch.cat([h, context]) if layer.output_context else h
    return output, (h, c, [*stored, h] if done % layer.every == 0 else stored, done)


Pairs = list[tuple[Tensor, Tensor]]


def transformer_step(layer: Any, x: Tensor, past: Pairs) -> tuple[Tensor, Pairs]:
    """a_t = norm(x_t + W_o [softmax(q_t . k_s / sqrt(size)) v_s]), h_t = norm(a_t + W_2 relu(W_1 a_t + b_1) + b_2)"""
    if layer.W_x is not None:
        x = layer.W_x @ x
    if layer.positions:
        x = x + position_code(len(past), layer.hidden_size)
    W_q, W_k, W_v = layer.W_qkv.chunk(3)
    b_q, b_k, b_v = layer.b_qkv.chunk(3)
    q = W_q @ x + b_q
    past = [*past, (W_k @ x + b_k, W_v @ x + b_v)]
    size = layer.hidden_size // layer.heads
    context = []
    for head in range(layer.heads):
        part = slice(head * size, (head + 1) * size)
        scores = torch.stack([q[part] @ k[part] / math.sqrt(size) for k, _ in past])
        weights = torch.softmax(scores, dim=0)
        context.append(sum(weight * v[part] for weight, (_, v) in zip(weights, past, strict=True)))
    a = norm(x + layer.W_o @ torch.cat(context) + layer.b_o) * layer.gain_a + layer.shift_a
    inner = torch.relu(layer.W_1 @ a + layer.b_1)
    h = norm(a + layer.W_2 @ inner + layer.b_2) * layer.gain_h + layer.shift_h
    return h, past


def norm(x: Tensor) -> Tensor:
    return (x - x.mean()) / torch.sqrt(x.var(unbiased=False) + 1e-5)


def position_code(position: int, width: int) -> Tensor:
    angles = [position / 10_000 ** ((j - j % 2) / width) for j in range(width)]
    return torch.tensor([math.cos(a) if j % 2 else math.sin(a) for j, a in enumerate(angles)], dtype=torch.float64)


MEM_RNN = Oracle(make=MemRNN, start=lambda layer: (zeros(layer), []), step=mem_rnn_step)
MEM_LSTM = Oracle(make=MemLSTM, start=lambda layer: (zeros(layer), zeros(layer), []), step=mem_lstm_step)
SPARSE_BACKTRACK = Oracle(
    make=partial(SparseBacktrackLSTM, every=1, top=2, truncate=4),
    start=lambda layer: (zeros(layer), zeros(layer), [], 0),
    step=sparse_backtrack_step,
    differentiable=False,
    truncated=True,
)
TRANSFORMER = Oracle(make=partial(Transformer, heads=2, feedforward=5), start=lambda _: [], step=transformer_step)
