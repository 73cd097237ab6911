"""Oracles of recurrent networks with gates."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from oracle import Oracle, lstm, two_zeros, zeros
from oracle_plain import modrelu, spread
from torch import Tensor

from memspan.cells import GORU, GRU, LSTM, DetachLSTM, MinimalRNN


def minimal_step(layer: Any, x: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
    """z = tanh(W_x x_t), u = sigmoid(W h_{t-1} + V z + b), h_t = u h_{t-1} + (1 - u) z.  Chen 2018, Eq. 5, footnote 2."""
    z = torch.tanh(layer.W_x @ x)
    u = torch.sigmoid(layer.W @ h + layer.V @ z + layer.b)
    h = u * h + (1 - u) * z
    return h, h


def lstm_step(layer: Any, x: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """i, f, o = sigmoid(W x_t + U h_{t-1} + b), g = tanh(W x_t + U h_{t-1} + b), gate by gate."""
    h, c = state
    W_i, W_f, W_g, W_o = layer.network.weight_ih_l0.chunk(4)
    U_i, U_f, U_g, U_o = layer.network.weight_hh_l0.chunk(4)
    b_i, b_f, b_g, b_o = (layer.network.bias_ih_l0 + layer.network.bias_hh_l0).chunk(4)
    i = torch.sigmoid(W_i @ x + U_i @ h + b_i)
    f = torch.sigmoid(W_f @ x + U_f @ h + b_f)
    g = torch.tanh(W_g @ x + U_g @ h + b_g)
    o = torch.sigmoid(W_o @ x + U_o @ h + b_o)
    c = f * c + i * g
    h = o * torch.tanh(c)
    return h, (h, c)


def gru_step(layer: Any, x: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
    """r, z = sigmoid(W x_t + U h_{t-1} + b), n = tanh(W_n x_t + b_n + r (U_n h_{t-1} + c_n)), h_t = (1 - z) n + z h_{t-1}"""
    W_r, W_z, W_n = layer.network.weight_ih_l0.chunk(3)
    U_r, U_z, U_n = layer.network.weight_hh_l0.chunk(3)
    b_r, b_z, b_n = layer.network.bias_ih_l0.chunk(3)
    c_r, c_z, c_n = layer.network.bias_hh_l0.chunk(3)
    r = torch.sigmoid(W_r @ x + b_r + U_r @ h + c_r)
    z = torch.sigmoid(W_z @ x + b_z + U_z @ h + c_z)
    n = torch.tanh(W_n @ x + b_n + r * (U_n @ h + c_n))
    h = (1 - z) * n + z * h
    return h, h


def detach_step(layer: Any, x: Tensor, state: Any) -> tuple[Tensor, Any]:
    """An LSTM with gates U x_t + V h_{t-1} + b; nothing is detached."""
    h, c = lstm(layer.U @ x + layer.V @ state[0] + layer.b, state[1])
    return h, (h, c)


@torch.no_grad()
def make_goru(input_size: int, hidden_size: int, **options: Any) -> GORU:
    """With weights of the size that training gives them; they start at 0.01."""
    cell = spread(GORU(input_size, hidden_size, **options))
    for layer in cell.layers:
        layer.get_parameter("U").mul_(100)
        layer.get_parameter("W").mul_(100)
    return cell


def rotate(angles: Tensor, h: Tensor) -> Tensor:
    """Plane by plane: layer k rotates coordinates i and i + 2^k, in ascending order of i."""
    for k, row in enumerate(angles):
        rotated = list(h)
        lower = [i for i in range(len(h)) if not i & 2**k]
        for angle, i in zip(row, lower, strict=True):
            j = i + 2**k
            rotated[i] = torch.cos(angle) * h[i] - torch.sin(angle) * h[j]
            rotated[j] = torch.sin(angle) * h[i] + torch.cos(angle) * h[j]
        h = torch.stack(rotated)
    return h


def goru_step(layer: Any, x: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
    """r, g = sigmoid(U x_t + W h_{t-1} + b), c = modrelu(r (O h_{t-1}) + U_c x_t), h_t = g h_{t-1} + (1 - g) c"""
    U_r, U_g, U_c = layer.U.chunk(3)
    W_r, W_g = layer.W.chunk(2)
    b_r, b_g = layer.b.chunk(2)
    r = torch.sigmoid(U_r @ x + W_r @ h + b_r)
    g = torch.sigmoid(U_g @ x + W_g @ h + b_g)
    O_h = rotate(layer.angles, h) if layer.rotation == "layers" else layer.O @ h
    h = g * h + (1 - g) * modrelu(r * O_h + U_c @ x, layer.m)
    return h, h


MINIMAL = Oracle(make=MinimalRNN, start=zeros, step=minimal_step)
LSTM_ORACLE = Oracle(make=LSTM, start=two_zeros, step=lstm_step)
GRU_ORACLE = Oracle(make=GRU, start=zeros, step=gru_step)
DETACH = Oracle(make=partial(DetachLSTM, p=0.0), start=two_zeros, step=detach_step)
GORU_ORACLE = Oracle(make=make_goru, start=zeros, step=goru_step)
