"""How well a network remembers: `score` on a split, and `evaluate_run` at the trained delay and at others."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from memspan.errors import InputError
from memspan.models.model import CellModel, Model
from memspan.progress import SILENT, Progress, Stage
from memspan.results import Evaluation, Transfer
from memspan.statistics import wilson_interval
from memspan.tasks import Batch, Task
from memspan.tasks.task import Split, check_split
from memspan.training.run.machine import Device, resolve_device, thread_count, torch_threads
from memspan.training.supervised.config import to_json
from memspan.training.supervised.trained_model import TrainedModel, load_best

# Default number of batches and sequences per batch.
BATCHES, SIZE = 10, 100
# Default number of pieces that a text is read in: fewer take longer, more start from an empty state more often.
TEXT_STREAMS = 10
# Numbers in the states of one batch; batches of long sequences are made smaller to stay below.
LARGEST = 2**23


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
    """`loss` in nats and the task's measures over `batches` of a split, at most one pass over a finite one.

    Batches are weighted by the sum of their weights, so that a padded last batch counts for what it holds. The state is
    carried where batches continue each other. `done` is called after each batch.
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
            found = {"loss": float(task.loss(output.logits, batch)), **task.measures(output.logits, batch)}
            weight = float(batch.weights.sum())
            total += weight
            for name, value in found.items():
                sums[name] = sums.get(name, 0.0) + weight * value
            if done is not None:
                done()
    finally:
        network.train(was_training)
    return {name: value / total for name, value in sums.items()}


def evaluate_run(
    run: Path,
    delays: Sequence[int] = (),
    *,
    split: Split = "test",
    batches: int | None = None,
    size: int | None = None,
    device: Device = "auto",
    progress: Progress = SILENT,
) -> Evaluation:
    """Loss and accuracy of a run's best weights at every delay, by default at the trained one.

    Uses `batches` x `size` sequences at each delay; by default 10 batches, or all of a finite split. A text is read in
    `size` pieces in parallel. The run may still be training.
    """
    check_split(split)
    for name, value in (("batches", batches), ("size", size)):
        if value is not None and value < 1:
            raise InputError(f"{name} is {value}; expected a whole number of 1 or more")
    begun = time.monotonic()
    best = load_best(run, device=resolve_device(device))
    word, task = best.config.word, best.task
    size = size or (TEXT_STREAMS if task.stateful else SIZE)
    tasks = [task.with_delay(delay) for delay in delays] or [task]
    if isinstance(best.network, CellModel):
        best.network.cell.announce_compilation(progress)
    with torch_threads(thread_count(best.config.training)):
        found = tuple(_evaluate_task(best, one, split, batches, size, progress) for one in tasks)
    return Evaluation(
        task=word,
        cell=best.config.network,
        parameter_count=best.network.parameter_count(),
        updates=best.updates,
        best_update=best.update,
        split=split,
        loss=found[-1].loss,
        accuracy=found[-1].accuracy,
        chance=task.chance,
        distance="context" if task.facts.is_text and delays else task.delay_option(),
        trained_delay=task.delay_value,
        transfer=found,
        run=str(best.folder.path),
        seconds=time.monotonic() - begun,
        config=to_json(best.config),
        notes=best.notes,
    )


def _evaluate_task(
    best: TrainedModel, task: Task, split: Split, batches: int | None, size: int, progress: Progress
) -> Transfer:
    """One task, whose sequences may be longer than those of training."""
    if task.stateful:
        return _evaluate_text(best, task, split, batches, size, progress)
    seed, word = best.config.seed, best.config.word
    length = len(task.batch(0, 1, seed=seed, split=split).inputs)
    small = max(1, min(size, LARGEST // (length * best.config.cell.hidden)))
    sequences = (batches or BATCHES) * size
    number, whole = math.ceil(sequences / small), task.batches(split, small)
    if whole is not None:
        number = whole if batches is None else min(number, whole)
        sequences = number * small
    delay = task.window if task.facts.is_text else task.delay_value
    title = word if delay is None else f"{word}, {task.delay_option() or 'windows of'} {delay:,}"
    with progress.stage(title, number) as stage:
        losses, weights, shares, most = _by_sequence(best.network, task, split, range(number), small, seed, stage)
    losses, weights, shares = losses[:sequences], weights[:sequences], shares[:sequences]
    accuracy = float(shares.mean()) if shares.size else None
    return Transfer(
        delay=delay,
        loss=float(np.average(losses, weights=weights)),
        accuracy=accuracy,
        interval=None if accuracy is None else accuracy_interval(shares, most),
        sequences=losses.size,
        baseline=task.baseline,
    )


def _evaluate_text(
    best: TrainedModel, task: Task, split: Split, batches: int | None, size: int, progress: Progress
) -> Transfer:
    """A text in `size` parallel pieces: every symbol counts once, with all symbols before it in its piece as context."""
    whole = task.batches(split, size) or BATCHES
    number = min(batches or whole, whole)
    with progress.stage(best.config.word, number) as stage:
        found = score(
            best.network, task, split=split, batches=number, size=size, seed=best.config.seed, done=stage.advance
        )
    return Transfer(
        delay=None,
        loss=found["loss"],
        accuracy=found.get("accuracy"),
        interval=None,
        sequences=size,
        baseline=task.baseline,
    )


@torch.no_grad()
def _by_sequence(
    network: Model, task: Task, split: Split, indices: range, size: int, seed: int, stage: Stage
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], int]:
    """Loss, weight and accuracy of every sequence (no accuracies if the task has none), and the most targets of one.

    A sequence's weight is the sum over its targets: the last window of a text has fewer.
    """
    device = next(network.parameters()).device
    losses: list[float] = []
    weights: list[float] = []
    shares: list[float] = []
    most = 1
    for index in indices:
        batch = task.batch(index, size, seed=seed, split=split, device=device)
        logits = network(batch.inputs, scored=len(batch.targets)).logits
        most = max(most, int((batch.weights > 0).sum(0).max()))
        for column in _sequences(batch):
            one, answers = batch.columns(column), logits[:, column]
            losses.append(float(task.loss(answers, one)))
            weights.append(float(one.weights.sum()))
            measures = task.measures(answers, one)
            if "accuracy" in measures:
                shares.append(measures["accuracy"])
        stage.advance()
    return np.array(losses), np.array(weights), np.array(shares), most


def _sequences(batch: Batch) -> list[slice]:
    """The columns of a batch that are not padding."""
    counted = torch.nonzero(batch.weights.sum(0) > 0).flatten().tolist()
    return [slice(column, column + 1) for column in counted]


def accuracy_interval(shares: NDArray[np.float64], most: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a mean of shares, with the effective number of independent answers.  Wilson 1927.

    Answers of one sequence tend to be right or wrong together, so that they carry less information than independent ones.
    n sequences whose shares have variance v count as n p (1 - p) / v answers, at least n and at most n x `most`.

    >>> low, high = accuracy_interval(np.ones(1000), 10)
    >>> round(low, 4), high
    (0.9962, 1.0)
    """
    p, n, variance = float(shares.mean()), shares.size, float(shares.var())
    answers = n * p * (1 - p) / variance if variance > 0 else n
    answers = min(max(answers, n), n * most)
    return wilson_interval(p, answers)
