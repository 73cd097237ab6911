"""Training steps of the cells and of what one would use instead, in turns."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import final

import torch
from torch import Tensor, nn

from memspan import cells
from memspan.bench.cells import CellSizes
from memspan.bench.plain_loops import PlainRelRNN
from memspan.bench.timing import beside, race
from memspan.reproductions.kerg2020.training_step import FEATURES, THREADS, PlainMemLSTM, train
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


def every_cell(steps: int, batch: int, hidden: int, *, squares: bool = True) -> list[Race]:
    """Each next to torch's nearest layer or a plain loop; `squares=False` leaves out loops that take T^2 memory."""

    def pair(
        ours: Callable[[int, int], nn.Module], peer: str, theirs: Callable[[int, int], nn.Module]
    ) -> Race:
        return Race(ours(FEATURES, hidden), peer, theirs(FEATURES, hidden), steps, batch, hidden)

    linear = [
        pair(cells.RelRNN, "a plain loop", PlainRelRNN),
        pair(cells.MinimalRNN, "torch.nn.GRU", nn.GRU),
        pair(cells.ExpRNN, "torch.nn.RNN", nn.RNN),
        pair(cells.VanillaRNN, "torch.nn.RNN", nn.RNN),
        pair(cells.OrthogonalRNN, "torch.nn.RNN", nn.RNN),
        pair(cells.GORU, "torch.nn.GRU", nn.GRU),
        pair(cells.GRU, "torch.nn.GRU", nn.GRU),
        pair(cells.LSTM, "torch.nn.LSTM", nn.LSTM),
        pair(cells.DetachLSTM, "torch.nn.LSTM", nn.LSTM),
        pair(cells.Transformer, "torch.nn.TransformerEncoderLayer", CausalEncoder),
    ]
    if not squares:
        return linear
    everything = partial(PlainRelRNN, short_term=steps, relevant=0)
    return [
        *linear,
        pair(cells.MemRNN, "a plain loop", everything),
        pair(cells.MemLSTM, "a plain loop", PlainMemLSTM),
        pair(cells.SparseBacktrackLSTM, "a plain MemLSTM", PlainMemLSTM),
        pair(cells.RelLSTM, "a plain MemLSTM", PlainMemLSTM),
    ]


def races(sizes: CellSizes) -> list[Race]:
    """Every cell once, RelRNN at two batches, the minimalRNN at sizes of its own."""
    relevant, _, *others = every_cell(sizes.steps, sizes.batch, sizes.hidden)
    larger = every_cell(sizes.steps, sizes.large_batch, sizes.hidden, squares=False)[0]
    minimal = every_cell(sizes.long, sizes.narrow_batch, sizes.narrow, squares=False)[1]
    return [relevant, larger, minimal, *others]


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
