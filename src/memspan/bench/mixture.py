"""The benchmark `mixture`: memory and time of the loss of a mixture of softmaxes, next to the plain equation.

`python -m memspan.bench.mixture ours|plain TOKENS EXPERTS WORDS EMBEDDING` prints the peak memory of one loss in bytes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import final

import torch
from torch import Tensor
from torch.nn import functional

from memspan.bench.timing import THREADS, cost_benchmark, race, run_process
from memspan.diagnostics.costs import ALLOCATOR, peak_memory, reset_peak_memory
from memspan.models.softmax_mixture import mixed_log_softmax
from memspan.progress import SILENT, Progress
from memspan.results import Benchmark

ROUNDS = 3
# Tokens of the loss before the one that is measured.
WARM_UP = 8


@final
@dataclass(frozen=True)
class MixtureSizes:
    """A batch of the published AWD-LSTM with a mixture of softmaxes on the Penn Treebank: 12 times 70 words."""

    tokens: int = 840
    experts: int = 15
    words: int = 10_000
    embedding: int = 280


FULL = MixtureSizes()


def mixture(progress: Progress = SILENT, sizes: MixtureSizes = FULL) -> tuple[Benchmark, ...]:
    """Loss and gradients, two threads; the memory of each side in a separate process, times in turns."""
    # Imported here: the processes that measure memory do not need the training package.
    from memspan.training.run.machine import torch_threads

    with progress.stage("a loss of a mixture of softmaxes", 3) as stage:
        peaks: list[float] = []
        for side in ("ours", "plain"):
            task = f"the loss ({side}) of {sizes.tokens:,} words"
            output = run_process("memspan.bench.mixture", (side, *astuple(sizes)), task, environment=ALLOCATOR)
            peaks.append(float(output) / 1e6)
            stage.advance()
        with torch_threads(THREADS):
            ours, plain = (loss_step(side, *astuple(sizes)) for side in ("ours", "plain"))
            times = race(ours, plain, ROUNDS)
        stage.advance()
    of = f"{sizes.tokens:,} words, {sizes.experts} softmaxes over {sizes.words:,}"
    peer = f"the plain equation, {sizes.tokens:,} x {sizes.experts} x {sizes.words:,} at once"
    return (
        cost_benchmark(f"peak memory of a loss, {of}", peer, peaks[0], peaks[1], "MB"),
        cost_benchmark(f"time of a loss, {of}", peer, *times, "s"),
    )


def plain_log_softmax(log_priors: Tensor, latents: Tensor, embedding: Tensor, bias: Tensor) -> Tensor:
    """log sum_k pi_k softmax(E z_k + b), written as the equation."""
    q = (latents @ embedding.T + bias).softmax(dim=-1)
    return (log_priors.exp().unsqueeze(-1) * q).sum(dim=1).log()


SIDES = {"ours": mixed_log_softmax, "plain": plain_log_softmax}


def loss_step(side: str, tokens: int, experts: int, words: int, size: int) -> Callable[[], None]:
    """A function that computes the cross-entropy of the mixture and its gradients, for fixed states and weights."""
    generator = torch.Generator().manual_seed(0)
    shapes = (tokens, experts), (tokens, experts, size), (words, size), (words,)
    leaves = [torch.randn(shape, generator=generator).requires_grad_() for shape in shapes]
    targets = torch.arange(tokens) % words

    def step() -> None:
        priors, *rest = leaves
        log_p = SIDES[side](priors.log_softmax(dim=1), *rest)
        torch.autograd.grad(functional.nll_loss(log_p, targets), leaves)

    return step


def main() -> None:
    """Print the peak memory of one loss above the memory held before it."""
    side, sizes = sys.argv[1], [int(size) for size in sys.argv[2:]]
    torch.set_num_threads(THREADS)
    loss_step(side, WARM_UP, *sizes[1:])()
    step = loss_step(side, *sizes)
    held = reset_peak_memory()
    step()
    sys.stdout.write(str(max(peak_memory() - held, 0.0)))


if __name__ == "__main__":
    main()
