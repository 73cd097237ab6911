"""Training steps of the cells and of what one would use instead, in turns."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor, nn

from memspan import cells
from memspan.bench.cells import CellSizes
from memspan.bench.plain_loops import PlainMemLSTM, PlainRelRNN
from memspan.bench.timing import beside, race
from memspan.experiments.one_step import FEATURES, THREADS, train
from memspan.results import Benchmark


@final
@dataclass(frozen=True)
class Race:
    """Two networks on the same inputs of (time, batch, features)."""

    ours: nn.Module
    peer: str
    theirs: nn.Module
    steps: int
    batch: int
    hidden: int


@final
class CausalEncoder(nn.Module):
    """torch's own post-norm layer behind a linear map of the inputs, each step seeing those before it."""

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.embed = nn.Linear(input_size, hidden_size, bias=False)
        self.layer = nn.TransformerEncoderLayer(hidden_size, 4, 4 * hidden_size, 0.0, "gelu")

    def forward(self, inputs: Tensor) -> Tensor:
        """(time, batch, features) -> (time, batch, hidden)"""
        mask = nn.Transformer.generate_square_subsequent_mask(len(inputs))
        return self.layer(self.embed(inputs), src_mask=mask, is_causal=True)


def races(sizes: CellSizes) -> list[Race]:
    """Every cell once, RelRNN at two batches; a cell that torch has not got runs next to the nearest layer that it has."""
    hidden = sizes.hidden

    def usual(ours: Callable[..., nn.Module], peer: str, theirs: nn.Module) -> Race:
        return Race(ours(FEATURES, hidden), peer, theirs, sizes.steps, sizes.batch, hidden)

    relevance = [
        Race(
            cells.RelRNN(FEATURES, hidden),
            "a plain loop",
            PlainRelRNN(FEATURES, hidden),
            sizes.steps,
            batch,
            hidden,
        )
        for batch in (sizes.batch, sizes.large_batch)
    ]
    minimal = Race(
        cells.MinimalRNN(FEATURES, sizes.narrow),
        "torch.nn.GRU",
        nn.GRU(FEATURES, sizes.narrow),
        sizes.long,
        sizes.narrow_batch,
        sizes.narrow,
    )
    everything = PlainRelRNN(FEATURES, hidden, short_term=sizes.steps, relevant=0)
    return [
        *relevance,
        minimal,
        usual(cells.ExpRNN, "torch.nn.RNN", nn.RNN(FEATURES, hidden)),
        usual(cells.VanillaRNN, "torch.nn.RNN", nn.RNN(FEATURES, hidden)),
        usual(cells.OrthogonalRNN, "torch.nn.RNN", nn.RNN(FEATURES, hidden)),
        usual(cells.GORU, "torch.nn.GRU", nn.GRU(FEATURES, hidden)),
        usual(cells.GRU, "torch.nn.GRU", nn.GRU(FEATURES, hidden)),
        usual(cells.LSTM, "torch.nn.LSTM", nn.LSTM(FEATURES, hidden)),
        usual(cells.DetachLSTM, "torch.nn.LSTM", nn.LSTM(FEATURES, hidden)),
        usual(cells.MemRNN, "a plain loop", everything),
        usual(cells.MemLSTM, "a plain loop", PlainMemLSTM(FEATURES, hidden)),
        usual(cells.SparseBacktrackLSTM, "a plain MemLSTM", PlainMemLSTM(FEATURES, hidden)),
        usual(cells.RelLSTM, "a plain MemLSTM", PlainMemLSTM(FEATURES, hidden)),
        usual(cells.Transformer, "torch.nn.TransformerEncoderLayer", CausalEncoder(FEATURES, hidden)),
    ]


def speed(pair: Race, rounds: int) -> Benchmark:
    """Milliseconds of a training step."""
    inputs = torch.randn(pair.steps, pair.batch, FEATURES, generator=torch.Generator().manual_seed(0))
    with two_threads():
        ours, theirs = race(lambda: train(pair.ours, inputs), lambda: train(pair.theirs, inputs), rounds)
    return beside(
        f"training step of {type(pair.ours).__name__}, {pair.hidden} units, T = {pair.steps}, batch {pair.batch}",
        pair.peer,
        1e3 * ours,
        1e3 * theirs,
        "ms",
    )


@contextlib.contextmanager
def two_threads() -> Iterator[None]:
    """Inside, torch has two threads, afterwards as many as before."""
    before = torch.get_num_threads()
    torch.set_num_threads(THREADS)
    try:
        yield
    finally:
        torch.set_num_threads(before)
