"""`python -m memspan.bench.mixture_step ours|plain TOKENS EXPERTS WORDS EMBEDDING`: the peak bytes of a loss.

Run in a process of its own, because the peak of a process is that of everything it has done.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from memspan.diagnostics.costs import peak_memory, reset_peak_memory
from memspan.models.softmax_mixture import mixed_log_softmax

THREADS = 2
WARM = 8
"""Tokens of a loss before those that count."""


def plain(log_priors: Tensor, latents: Tensor, embedding: Tensor, bias: Tensor) -> Tensor:
    """log sum_k pi_k softmax(E z_k + b), as one would write it."""
    q = (latents @ embedding.T + bias).softmax(dim=-1)
    return (log_priors.exp().unsqueeze(-1) * q).sum(dim=1).log()


SIDES = {"ours": mixed_log_softmax, "plain": plain}


def main() -> None:
    """The most bytes above what was held before."""
    side, sizes = sys.argv[1], [int(size) for size in sys.argv[2:]]
    torch.set_num_threads(THREADS)
    steps(side, WARM, *sizes[1:])()
    step = steps(side, *sizes)
    held = reset_peak_memory()
    step()
    sys.stdout.write(str(max(peak_memory() - held, 0.0)))


def steps(side: str, tokens: int, experts: int, words: int, size: int) -> Callable[[], None]:
    """Cross-entropy of the mixture and its gradients, for states and weights that stay."""
    generator = torch.Generator().manual_seed(0)
    shapes = (tokens, experts), (tokens, experts, size), (words, size), (words,)
    leaves = [torch.randn(shape, generator=generator).requires_grad_() for shape in shapes]
    targets = torch.arange(tokens) % words

    def step() -> None:
        priors, *rest = leaves
        log_p = SIDES[side](priors.log_softmax(dim=1), *rest)
        torch.autograd.grad(functional.nll_loss(log_p, targets), leaves)

    return step


if __name__ == "__main__":
    main()
