"""s_t = f(h_{t-1}, c_t), c_t = sum_i alpha_i h_i over all past states; h_t from s_t and x_t: the scan over time.

It keeps the states, s and (for an LSTM) the gates. Scores and weights of the attention are computed again, step by step, in
the backward pass: the work grows with the square of time, the memory does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import torch
from torch import Tensor
from torch.autograd import Function

from memspan.cells.activations import Activation
from memspan.cells.additive_attention import Reading, ReadingGradient, Softmax
from memspan.cells.carried import found, weight_gradient
from memspan.cells.lstm_step import LstmSlopes, lstm_backward, lstm_forward, lstm_slopes
from memspan.cells.once import differentiable_once
from memspan.cells.precision import in_one_precision


@final
@dataclass(frozen=True)
class Sight:
    """Which stored states the steps of a call see: those of their own document, that is, since the last reset."""

    given: int
    """How many states the memory held before the call; step t sees places up to given + t - 1"""
    begin: Tensor
    """(time, batch): the place in the memory where the document of a step begins"""
    first: list[int]
    """The first place of each step that any sequence of the batch sees"""
    resets: Tensor | None
    """(time, batch): true where a document begins"""
    renewed: list[bool]
    """Whether any sequence is reset before a step"""

    def of(self, t: int) -> tuple[slice, Tensor]:
        """The places that step t looks at, and (source, batch) whether they are of its document."""
        places = slice(self.first[t], self.given + t)
        numbers = torch.arange(places.start, places.stop, device=self.begin.device)
        return places, numbers.unsqueeze(1) >= self.begin[t]

    def cleared(self, t: int, tensor: Tensor) -> Tensor:
        """Zero where a document begins at step t; by choice, as a product would keep what is not a number."""
        if self.resets is None or not self.renewed[t]:
            return tensor
        return tensor.masked_fill(self.resets[t].unsqueeze(-1), 0)


class MemoryScan(Function):
    """Memory (source, batch, hidden) with all h_t at its end, s of all steps, and c of all steps for an LSTM, else None.

    `a` is the input's part of z_t = a_t + V s_t. With c, z_t are the gates of an LSTM; without, h_t = phi(z_t, m).
    s_t = share * (h_{t-1} + c_t), share 1 or 1/2.
    """

    @staticmethod
    @in_one_precision
    def forward(
        ctx: Any,
        a: Tensor,
        V: Tensor,
        W_a: Tensor,
        U_a: Tensor,
        v: Tensor,
        given: Tensor,
        h: Tensor,
        s: Tensor,
        c: Tensor | None,
        m: Tensor | None,
        probe: Tensor | None,
        sight: Sight,
        share: float,
        phi: Activation | None,
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        start = (h, s, c)
        memory = torch.cat([given, h.new_empty(len(a), *h.shape)])
        reading = Reading(W_a, U_a, v, memory if sight.resets is None else memory.clone(), Softmax())
        reading.compute_keys(slice(0, sight.given))
        sums, z = h.new_empty(len(a), *h.shape), torch.empty_like(a)
        cells = None if c is None else torch.empty_like(sums)
        for t in range(len(a)):
            h, s = sight.cleared(t, h), sight.cleared(t, s)
            places, valid = sight.of(t)
            if sight.resets is not None and sight.renewed[t]:
                reading.forget(sight.resets[t], places)
            s = torch.add(h, reading.context(s, places, valid), out=sums[t]).mul_(share)
            torch.addmm(a[t], s, V.T, out=z[t])
            h, c = _advance(z[t], None if c is None else sight.cleared(t, c), m, phi)
            if probe is not None:
                h = h + probe[t]
            if c is not None and cells is not None:
                cells[t] = c
            memory[places.stop] = h
            reading.store(places.stop, h)
        gates = None if cells is None else z
        ctx.save_for_backward(V, W_a, U_a, v, m, probe, memory, sums, cells, gates, *start)
        ctx.sight, ctx.share, ctx.phi = sight, share, phi
        return memory, sums, cells

    @staticmethod
    @differentiable_once
    @in_one_precision
    def backward(ctx: Any, *outer: Tensor) -> tuple[Any, ...]:  # type: ignore[override]
        V, W_a, U_a, v, m, probe, memory, sums, cells, gates, h_0, s_0, c_0 = ctx.saved_tensors
        sight: Sight = ctx.sight
        values = memory[sight.given :] if probe is None else memory[sight.given :] - probe
        if cells is None:
            slopes, dc = ctx.phi.slope(values), None
        else:
            slopes, dc = lstm_slopes(gates, found(c_0, cells, sight.resets), cells), torch.zeros_like(c_0)
        reading = ReadingGradient(W_a, U_a, v, memory, found(s_0, sums, sight.resets), Softmax())
        of_memory, dz = outer[0].clone(), torch.empty_like(sums if gates is None else gates)
        dh, ds = torch.zeros_like(h_0), torch.zeros_like(s_0)
        for t in range(len(sums) - 1, -1, -1):
            own = sight.given + t
            dh = of_memory[own].add_(dh).add_(reading.by_keys(own))
            dc = _retreat(slopes, t, dh, None if dc is None else dc + outer[2][t], dz[t])
            ds = torch.addmm(ds + outer[1][t], dz[t], V).mul_(ctx.share)
            dh = sight.cleared(t, ds)
            ds = sight.cleared(t, reading.context(t, *sight.of(t), ds, of_memory))
            dc = None if dc is None else sight.cleared(t, dc)
        earlier, steps = slice(0, sight.given), slice(sight.given, None)
        of_given = of_memory[earlier] + reading.by_keys(earlier)
        dV = weight_gradient(dz, sums)
        dm = None if m is None else (dz * torch.sign(values)).sum((0, 1))
        dprobe = None if probe is None else of_memory[steps]
        weights = reading.of_weights()
        return dz, dV, *weights, of_given, dh, ds, dc, dm, dprobe, None, None, None


def _advance(
    z: Tensor, c: Tensor | None, m: Tensor | None, phi: Activation | None
) -> tuple[Tensor, Tensor | None]:
    """h_t and, for an LSTM, c_t."""
    if c is not None:
        return lstm_forward(z, c)
    assert phi is not None, "without c there is a nonlinearity"
    return phi(z, m), None


def _retreat(
    slopes: LstmSlopes | Tensor | None, t: int, dh: Tensor, dc: Tensor | None, out: Tensor
) -> Tensor | None:
    """dL/dz_t into `out`; for an LSTM, dL/dc_{t-1}."""
    if isinstance(slopes, LstmSlopes):
        assert dc is not None, "an LSTM has c"
        return lstm_backward(slopes, t, dh, dc, out)
    torch.mul(dh, 1 if slopes is None else slopes[t], out=out)
    return None
