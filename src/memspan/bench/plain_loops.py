"""A network that looks back at its past, written down as the equations stand: lists of states, stacked at every step.

It is what one would write from the paper, for a batch of sequences, and what the scans of `memspan.cells` are set beside.
"""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor, nn

from memspan.reproductions.kerg2020.training_step import AdditiveAttention


@final
class PlainRelRNN(nn.Module):
    """h_t = tanh(U x_t + V s_t + b), s_t = (h_{t-1} + c_t) / 2, c_t over nu recent and rho relevant states.

    Kerg 2020, Algorithm 1, with errata 12 and 13. `relevant` is a list for each sequence, as relevance differs between them.
    """

    def __init__(self, input_size: int, hidden_size: int, short_term: int = 10, relevant: int = 10) -> None:
        super().__init__()
        self.hidden_size, self.short_term, self.relevant = hidden_size, short_term, relevant
        self.U, self.V = nn.Linear(input_size, hidden_size), nn.Linear(hidden_size, hidden_size, bias=False)
        self.attention = AdditiveAttention(hidden_size)

    def forward(self, inputs: Tensor) -> Tensor:
        """(time, batch, features) -> (time, batch, hidden)"""
        batch = inputs.shape[1]
        h = s = inputs.new_zeros(batch, self.hidden_size)
        states: list[Tensor] = []
        scores: list[Tensor] = []
        relevant: list[list[tuple[float, Tensor]]] = [[] for _ in range(batch)]
        for x in inputs:
            if states:
                recent = states[-self.short_term :]
                memory, missing = self._memory(recent, relevant)
                context, alpha = self.attention(s, memory, missing)
                s = (h + context) / 2
                for score, weight in zip(scores[-self.short_term :], alpha.detach(), strict=False):
                    score += weight
            h = torch.tanh(self.U(x) + self.V(s))
            if len(states) >= self.short_term:
                self._promote(states[-self.short_term], scores[-self.short_term], relevant)
            states.append(h)
            scores.append(inputs.new_zeros(batch))
        return torch.stack(states)

    def _memory(
        self, recent: list[Tensor], relevant: list[list[tuple[float, Tensor]]]
    ) -> tuple[Tensor, Tensor]:
        """(held, batch, hidden), and where (held, batch) a sequence has fewer relevant states than another."""
        most = max(len(events) for events in relevant)
        nothing = torch.zeros_like(recent[0][0])
        rows = [
            torch.stack([events[k][1] if k < len(events) else nothing for events in relevant])
            for k in range(most)
        ]
        missing = torch.tensor(
            [[False] * len(relevant)] * len(recent)
            + [[k >= len(events) for events in relevant] for k in range(most)],
            device=nothing.device,
        )
        return torch.stack(recent + rows), missing

    def _promote(self, state: Tensor, score: Tensor, relevant: list[list[tuple[float, Tensor]]]) -> None:
        for b, events in enumerate(relevant):
            its = score[b].item()
            if len(events) < self.relevant:
                events.append((its, state[b]))
            elif events:
                least = min(range(len(events)), key=lambda k: events[k][0])
                if its > events[least][0]:
                    events[least] = (its, state[b])
