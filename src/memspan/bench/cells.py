"""The benchmarks `cells` and `cell-sizes`: training steps and memory next to torch's layers and to plain loops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import final

import torch
from torch import Tensor, nn

from memspan import cells as layers
from memspan.bench.timing import THREADS, cost_benchmark, race, run_all
from memspan.progress import SILENT, Progress
from memspan.reproductions.kerg2020.training_memory import training_costs
from memspan.reproductions.kerg2020.training_step import FEATURES, AdditiveAttention, PlainMemLSTM, train
from memspan.results import Benchmark
from memspan.training.run.machine import torch_threads

# Multiples of the first length at which the memory of RelLSTM is measured.
GROWTH = (2, 4, 8)
# Multiple of the first length at which the memory of MemLSTM is measured; that of its plain loop grows with the
# square.
SQUARE = 4


@final
@dataclass(frozen=True, kw_only=True)
class CellSizes:
    """Sizes of the benchmark `cells`."""

    steps: int = 100
    hidden: int = 128
    batch: int = 10
    large_batch: int = 64
    """The second batch size of RelRNN."""
    long: int = 512
    narrow: int = 64
    narrow_batch: int = 50
    """Steps, hidden size and batch size of the minimalRNN."""
    short: int = 500
    """Steps at which the memory of a plain loop is measured; that of RelLSTM also at 2, 4 and 8 times, of MemLSTM at 4."""
    rounds: int = 5


@final
@dataclass(frozen=True, kw_only=True)
class CellVariations:
    """Sizes of the benchmark `cell-sizes`: the base of `cells`, with one size varied at a time."""

    steps: int = 100
    hidden: int = 128
    batch: int = 10
    hiddens: tuple[int, ...] = (16, 64, 256)
    batches: tuple[int, ...] = (64,)
    lengths: tuple[int, ...] = (500, 2_000)
    square: int = 500
    """The longest run of plain loops with O(T^2) memory: 1.3 GB; at 2,000 steps it would be 21 GB."""
    rounds: int = 3

    def sizes(self) -> list[tuple[int, int, int]]:
        """(steps, batch, hidden) of every variation."""
        return [
            *((self.steps, self.batch, hidden) for hidden in self.hiddens),
            *((self.steps, batch, self.hidden) for batch in self.batches),
            *((steps, self.batch, self.hidden) for steps in self.lengths),
        ]


FULL = CellSizes()
ALL_VARIATIONS = CellVariations()


def cells(progress: Progress = SILENT, sizes: CellSizes = FULL) -> tuple[Benchmark, ...]:
    """Forward and backward of the sum of squares, two threads; memory of each cell in a separate process."""
    work = (partial(speed, pair, sizes.rounds) for pair in races(sizes))
    return (*run_all("timing cells next to their peers", work, progress), *memory(sizes, progress))


def cell_sizes(progress: Progress = SILENT, variations: CellVariations = ALL_VARIATIONS) -> tuple[Benchmark, ...]:
    """Forward and backward of the sum of squares, two threads."""
    done: list[Benchmark] = []
    with progress.stage("timing cells at other sizes", len(variations.sizes())) as stage:
        for steps, batch, hidden in variations.sizes():
            pairs = every_cell(steps, batch, hidden, squares=steps <= variations.square)
            done += [speed(pair, variations.rounds) for pair in pairs]
            stage.advance()
    return tuple(done)


@final
@dataclass(frozen=True)
class CellRace:
    """Two networks on the same inputs of (time, batch, features)."""

    ours: nn.Module
    peer: str
    theirs: nn.Module
    steps: int
    batch: int
    hidden: int


def races(sizes: CellSizes) -> list[CellRace]:
    """Every cell once, RelRNN at two batch sizes, the minimalRNN at its own sizes."""
    # `every_cell` lists RelRNN first and the minimalRNN second.
    relevant, _, *others = every_cell(sizes.steps, sizes.batch, sizes.hidden)
    larger = every_cell(sizes.steps, sizes.large_batch, sizes.hidden, squares=False)[0]
    minimal = every_cell(sizes.long, sizes.narrow_batch, sizes.narrow, squares=False)[1]
    return [relevant, larger, minimal, *others]


def every_cell(steps: int, batch: int, hidden: int, *, squares: bool = True) -> list[CellRace]:
    """Each cell next to torch's closest layer or a plain loop; `squares=False` omits loops with O(T^2) memory."""

    def pair(ours: Callable[[int, int], nn.Module], peer: str, theirs: Callable[[int, int], nn.Module]) -> CellRace:
        return CellRace(ours(FEATURES, hidden), peer, theirs(FEATURES, hidden), steps, batch, hidden)

    linear = [
        pair(layers.RelRNN, "a plain loop", PlainRelRNN),
        pair(layers.MinimalRNN, "torch.nn.GRU", nn.GRU),
        pair(layers.ExpRNN, "torch.nn.RNN", nn.RNN),
        pair(layers.VanillaRNN, "torch.nn.RNN", nn.RNN),
        pair(layers.OrthogonalRNN, "torch.nn.RNN", nn.RNN),
        pair(layers.GORU, "torch.nn.GRU", nn.GRU),
        pair(layers.GRU, "torch.nn.GRU", nn.GRU),
        pair(layers.LSTM, "torch.nn.LSTM", nn.LSTM),
        pair(layers.DetachLSTM, "torch.nn.LSTM", nn.LSTM),
        pair(layers.Transformer, "torch.nn.TransformerEncoderLayer", CausalEncoder),
    ]
    # The peers below hold every past state, and autograd every step's copy of them.
    if not squares:
        return linear
    everything = partial(PlainRelRNN, short_term=steps, relevant=0)
    return [
        *linear,
        pair(layers.MemRNN, "a plain loop", everything),
        pair(layers.MemLSTM, "a plain loop", PlainMemLSTM),
        pair(layers.SparseBacktrackLSTM, "a plain MemLSTM", PlainMemLSTM),
        pair(layers.RelLSTM, "a plain MemLSTM", PlainMemLSTM),
    ]


def speed(pair: CellRace, rounds: int) -> Benchmark:
    """Milliseconds of a training step."""
    inputs = torch.randn(pair.steps, pair.batch, FEATURES, generator=torch.Generator().manual_seed(0))
    with torch_threads(THREADS):
        ours, theirs = race(lambda: train(pair.ours, inputs), lambda: train(pair.theirs, inputs), rounds)
    return cost_benchmark(
        f"training step of {type(pair.ours).__name__}, {pair.hidden} units, T = {pair.steps}, batch {pair.batch}",
        pair.peer,
        1e3 * ours,
        1e3 * theirs,
        "ms",
    )


def memory(sizes: CellSizes, progress: Progress) -> tuple[Benchmark, ...]:
    """Peak memory of a training step in MB, next to a plain loop's and to linear growth."""
    with progress.stage("memory of training steps", 3) as stage:

        def megabytes(network: str, *multiples: int) -> dict[int, float]:
            lengths = [multiple * sizes.short for multiple in multiples]
            costs = training_costs(network, lengths=lengths, batch=sizes.batch, hidden=sizes.hidden)
            stage.advance()
            return {multiple: costs[multiple * sizes.short].peak / 1e6 for multiple in multiples}

        plain = megabytes("plain-mem-lstm", 1)[1]
        relevant = megabytes("rel-lstm", 1, *GROWTH)
        attentive = megabytes("mem-lstm", SQUARE)[SQUARE]
    of = f"{sizes.hidden} units, batch {sizes.batch}, T = "
    loop = f"a plain MemLSTM at T = {sizes.short}"
    return (
        cost_benchmark(f"training memory of RelLSTM, {of}{sizes.short}", loop, relevant[1], plain, "MB"),
        *(
            cost_benchmark(
                f"training memory of RelLSTM, {of}{multiple * sizes.short}",
                f"twice its own at T = {multiple // 2 * sizes.short}",
                relevant[multiple],
                2 * relevant[multiple // 2],
                "MB",
            )
            for multiple in GROWTH
        ),
        cost_benchmark(
            f"training memory of MemLSTM, {of}{SQUARE * sizes.short}",
            f"{SQUARE**2} times {loop}",
            attentive,
            SQUARE**2 * plain,
            "MB",
        ),
    )


@final
class CausalEncoder(nn.Module):
    """torch's post-norm encoder layer with a causal mask, after a linear map of the inputs."""

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.embed = nn.Linear(input_size, hidden_size, bias=False)
        self.layer = nn.TransformerEncoderLayer(hidden_size, 4, 4 * hidden_size, 0.0, "gelu")

    def forward(self, inputs: Tensor) -> Tensor:
        """(time, batch, features) -> (time, batch, hidden)"""
        mask = nn.Transformer.generate_square_subsequent_mask(len(inputs))
        return self.layer(self.embed(inputs), src_mask=mask, is_causal=True)


@final
class PlainRelRNN(nn.Module):
    """h_t = tanh(U x_t + V s_t + b), s_t = (h_{t-1} + c_t) / 2, c_t over nu recent and rho relevant states.

    Kerg 2020, Algorithm 1, with errata 12 and 13, as one would write it from the paper: lists of states, stacked at every
    step. `relevant` is one list per sequence of the batch, because relevance differs between them.
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

    def _memory(self, recent: list[Tensor], relevant: list[list[tuple[float, Tensor]]]) -> tuple[Tensor, Tensor]:
        """The memory (held, batch, hidden), and a mask (held, batch) of the padding of shorter relevant lists."""
        longest = max(len(events) for events in relevant)
        padding = torch.zeros_like(recent[0][0])
        rows = [
            torch.stack([events[k][1] if k < len(events) else padding for events in relevant]) for k in range(longest)
        ]
        missing = torch.tensor(
            [[False] * len(relevant)] * len(recent)
            + [[k >= len(events) for events in relevant] for k in range(longest)],
            device=padding.device,
        )
        return torch.stack(recent + rows), missing

    def _promote(self, state: Tensor, score: Tensor, relevant: list[list[tuple[float, Tensor]]]) -> None:
        """Move a state into the relevant set if there is space or if it beats the least relevant one."""
        for b, events in enumerate(relevant):
            own = score[b].item()
            if len(events) < self.relevant:
                events.append((own, state[b]))
            elif events:
                least = min(range(len(events)), key=lambda k: events[k][0])
                if own > events[least][0]:
                    events[least] = (own, state[b])
