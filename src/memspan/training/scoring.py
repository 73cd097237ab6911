"""How well a network remembers, on sequences that it was not trained on."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from memspan.models.model import Model
from memspan.tasks import Task
from memspan.tasks.task import Split


@torch.no_grad()
def score(
    network: Model,
    task: Task,
    *,
    split: Split,
    batches: int,
    size: int,
    seed: int,
    done: Callable[[], None] | None = None,
) -> dict[str, float]:
    """`loss` in nats and the task's measures over `batches` of one split, at most once over a split that ends.

    Batches count by the sum of their weights, so that the last one of a split, which may be filled up, counts what it holds.
    Where batches go on from each other, so does the state. `done` is called after each.
    """
    device = next(network.parameters()).device
    was_training = network.training
    network.eval()
    sums: dict[str, float] = {}
    total = 0.0
    state: tuple[Tensor, ...] | None = None
    whole = task.batches(split, size)
    number = batches if whole is None else min(batches, whole)
    try:
        for index in range(number):
            batch = task.batch(index, size, seed=seed, split=split, device=device)
            output = network(batch.inputs, state, resets=batch.resets, scored=len(batch.targets))
            state = output.state if task.stateful else None
            found = {
                "loss": float(task.loss(output.logits, batch)),
                **task.measures(output.logits, batch),
            }
            weight = float(batch.weights.sum())
            total += weight
            for name, value in found.items():
                sums[name] = sums.get(name, 0.0) + weight * value
            if done is not None:
                done()
    finally:
        network.train(was_training)
    return {name: value / total for name, value in sums.items()}
