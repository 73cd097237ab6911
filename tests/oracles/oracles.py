"""Every cell by its plain equation, one sequence and one step at a time: the reference for the fast scans."""

from __future__ import annotations

import torch
from oracle import Oracle
from oracle_attentive import MEM_LSTM, MEM_RNN, SPARSE_BACKTRACK, TRANSFORMER
from oracle_gated import DETACH, GORU_ORACLE, GRU_ORACLE, LSTM_ORACLE, MINIMAL
from oracle_plain import EXP, ORTHOGONAL, VANILLA
from oracle_relevance import REL_LSTM, REL_RNN
from torch import Tensor

from memspan.cells.base.cell import Cell

ORACLES: dict[str, Oracle] = {
    "rnn": VANILLA,
    "orthogonal-rnn": ORTHOGONAL,
    "exp-rnn": EXP,
    "goru": GORU_ORACLE,
    "minimal-rnn": MINIMAL,
    "lstm": LSTM_ORACLE,
    "gru": GRU_ORACLE,
    "detach-lstm": DETACH,
    "mem-rnn": MEM_RNN,
    "mem-lstm": MEM_LSTM,
    "sab-lstm": SPARSE_BACKTRACK,
    "rel-rnn": REL_RNN,
    "rel-lstm": REL_LSTM,
    "transformer": TRANSFORMER,
}


def plain(word: str, cell: Cell, inputs: Tensor, resets: Tensor | None = None) -> tuple[Tensor, list[list[Tensor]]]:
    """Outputs (time, batch, hidden), and h_t of the last layer for each sequence and step, as nodes of the graph."""
    oracle = ORACLES[word]
    columns, nodes = [], []
    for b in range(inputs.shape[1]):
        sequence, states = inputs[:, b], []
        for layer in cell.layers:
            state, states = oracle.start(layer), []
            for t, x in enumerate(sequence):
                if resets is not None and resets[t, b]:
                    state = oracle.start(layer)
                h, state = oracle.step(layer, x, state)
                states.append(h)
            sequence = torch.stack(states)
        columns.append(sequence)
        nodes.append(states)
    return torch.stack(columns, dim=1), nodes
