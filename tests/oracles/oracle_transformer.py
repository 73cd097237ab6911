"""a_t = norm(x_t + W_o [softmax(q_t . k_s / sqrt(size)) v_s]), h_t = norm(a_t + W_2 relu(W_1 a_t + b_1) + b_2)"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import torch
from oracle import Oracle
from torch import Tensor

from memspan.cells.attentive.transformer import Transformer

Pairs = list[tuple[Tensor, Tensor]]


def start(layer: Any) -> Pairs:
    return []


def step(layer: Any, x: Tensor, past: Pairs) -> tuple[Tensor, Pairs]:
    if layer.W_x is not None:
        x = layer.W_x @ x
    if layer.positions:
        x = x + code(len(past), layer.hidden_size)
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


def code(position: int, width: int) -> Tensor:
    angles = [position / 10_000 ** ((j - j % 2) / width) for j in range(width)]
    return torch.tensor(
        [math.cos(a) if j % 2 else math.sin(a) for j, a in enumerate(angles)], dtype=torch.float64
    )


TRANSFORMER = Oracle(make=partial(Transformer, heads=2, feedforward=5), start=start, step=step)
