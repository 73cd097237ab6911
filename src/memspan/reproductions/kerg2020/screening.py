"""Kerg 2020, Algorithm 1, step by step for one sequence, promoting h_{t-age} for any age: nu is right, rho is printed."""

from __future__ import annotations

from typing import NamedTuple, cast

import torch
from torch import Tensor

from memspan.cells import RelRNN
from memspan.cells.rel_rnn import RelRNNLayer


class Screened(NamedTuple):
    """What one sequence gave."""

    outputs: Tensor
    """(time, hidden)"""
    copies: Tensor
    """(time, time): [t, i] is how often h_i was in the memory that step t looked at."""


@torch.no_grad()
def screened(cell: RelRNN, inputs: Tensor, age: int) -> Screened:
    """Outputs (time, hidden) for inputs (time, features) with the weights of a tanh cell of one layer.

    A state is `age` steps old when it may enter the relevant set; its score is the attention that it has received in the
    short-term buffer until then.
    """
    layer, steps = cast(RelRNNLayer, cell.first), len(inputs)
    nu, rho = layer.screening.short_term, layer.screening.relevant
    factor = {"mean": 0.5, "sum": 1.0}[layer.combine]
    copies = torch.zeros(steps, steps, dtype=torch.int64)
    h = s = inputs.new_zeros(layer.hidden_size)
    states, scores = inputs.new_zeros(steps, layer.hidden_size), inputs.new_zeros(steps)
    relevant: list[int] = []
    for t, x in enumerate(inputs):
        recent = list(range(max(t - nu, 0), t))
        held = recent + relevant
        if held:
            memory = states[held]
            alpha = torch.softmax(torch.tanh(layer.W_a @ s + memory @ layer.U_a.T) @ layer.v, 0)
            s = factor * (h + alpha @ memory)
            scores[recent] += alpha[: len(recent)]
            copies[t] = torch.bincount(torch.tensor(held), minlength=steps)
        h = states[t] = torch.tanh(layer.U @ x + layer.V @ s + layer.b)
        if t >= age:
            _promote(t - age, relevant, scores, rho)
    return Screened(states, copies)


def _promote(candidate: int, relevant: list[int], scores: Tensor, rho: int) -> None:
    """Into a free place, or into that of the least relevant (the first of several) if strictly more relevant."""
    if len(relevant) < rho:
        relevant.append(candidate)
        return
    least = int(scores[relevant].argmin())
    if scores[candidate] > scores[relevant[least]]:
        relevant[least] = candidate
