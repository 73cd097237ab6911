"""Sequences in windows over which gradients go back."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor

from memspan.tasks import Batch


def windows(batch: Batch, truncate: int | None) -> Iterator[tuple[Batch, bool]]:
    """A batch in windows of `truncate` steps, each with the answers that fall into it, and whether it is the last."""
    steps, scored = len(batch.inputs), len(batch.targets)
    if truncate is None or truncate >= steps:
        yield batch, True
        return
    first = steps - scored
    for begin in range(0, steps, truncate):
        end = min(begin + truncate, steps)
        answers = slice(max(begin - first, 0), max(end - first, 0))
        yield (
            Batch(
                batch.inputs[begin:end],
                batch.targets[answers],
                batch.weights[answers],
                None if batch.resets is None else batch.resets[begin:end],
            ),
            end == steps,
        )


def without_gradient(state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """The same named tuple with gradients cut off."""
    return type(state)(*(tensor.detach() for tensor in state))
