"""From z to h for one sequence and step, and back, compiled: phi(z), or the gates of an LSTM."""

from __future__ import annotations

from memspan.cells.relevance_trace import CoreKind
from memspan.cells.row_kernels import compiled, fill, sigmoid_row, tanh_row

TANH, RELU, IDENTITY, MODRELU, GATED = (int(kind) for kind in CoreKind)


@compiled
def core_step(kind, t, b, z, h, room, bias, reset):
    """Writes h; z begins with the row that belongs to it."""
    if kind == TANH:
        tanh_row(z, h)
    elif kind == GATED:
        _gated_step(t, b, z, h, room, reset)
    else:
        for j in range(len(h)):
            if kind == IDENTITY:
                h[j] = z[j]
            elif kind == RELU:
                h[j] = z[j] if not z[j] < 0 else 0
            else:
                size = max(abs(z[j]) + bias[j], 0)
                h[j] = size if z[j] > 0 else -size if z[j] < 0 else z[j] * 0


@compiled
def core_back(kind, t, b, h, dh, dz, room, dextra, reset):
    """Writes the beginning of dz; adds to, or replaces, the gradient of the bias or of c."""
    if kind == GATED:
        _gated_back(t, b, dh, dz, room, dextra, reset)
    elif kind == TANH:
        for j in range(len(h)):
            dz[j] = dh[j] * (h.dtype.type(1) - h[j] * h[j])
    else:
        for j in range(len(h)):
            dz[j] = dh[j]
            if kind != IDENTITY and h[j] == 0:
                dz[j] = 0
            if kind == MODRELU:
                dextra[j] += dz[j] if h[j] > 0 else -dz[j]


@compiled
def _gated_step(t, b, z, h, room, reset):
    n = len(h)
    i, f, g, o, c = (
        room[t + 1, 0, b],
        room[t + 1, 1, b],
        room[t + 1, 2, b],
        room[t + 1, 3, b],
        room[t + 1, 4, b],
    )
    sigmoid_row(z[:n], i)
    sigmoid_row(z[n : 2 * n], f)
    tanh_row(z[2 * n : 3 * n], g)
    sigmoid_row(z[3 * n : 4 * n], o)
    for j in range(n):
        c[j] = i[j] * g[j]
    if not reset:
        before = room[t, 4, b]
        for j in range(n):
            c[j] += f[j] * before[j]
    tanh_row(c, h)
    for j in range(n):
        h[j] *= o[j]


@compiled
def _gated_back(t, b, dh, dz, room, dc, reset):
    n, one = len(dh), dh.dtype.type(1)
    i, f, g, o, c = (
        room[t + 1, 0, b],
        room[t + 1, 1, b],
        room[t + 1, 2, b],
        room[t + 1, 3, b],
        room[t + 1, 4, b],
    )
    before, do = room[t, 4, b], dz[3 * n : 4 * n]
    tanh_row(c, do)
    for j in range(n):
        squashed = do[j]
        dc[j] += dh[j] * o[j] * (one - squashed * squashed)
        do[j] = dh[j] * squashed * o[j] * (one - o[j])
        dz[j] = dc[j] * g[j] * i[j] * (one - i[j])
        dz[2 * n + j] = dc[j] * i[j] * (one - g[j] * g[j])
    if reset:
        fill(dz[n : 2 * n], 0)
        fill(dc, 0)
    else:
        for j in range(n):
            dz[n + j] = dc[j] * before[j] * f[j] * (one - f[j])
            dc[j] *= f[j]
