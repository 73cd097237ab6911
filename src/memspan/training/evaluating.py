"""`evaluate_run`: what a trained network still remembers, at the delay it was trained at and at others."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.models.model import Model
from memspan.progress import SILENT, Progress, Stage
from memspan.results import Evaluation, Transfer
from memspan.tasks import Batch, Task
from memspan.tasks.task import Split, check_split
from memspan.tasks.text import TextTask
from memspan.training.best import Best, load_best
from memspan.training.config_json import to_json
from memspan.training.devices import Device, device_of
from memspan.training.distances import at_distance, distance_name, distance_of
from memspan.training.machine import threads_of, with_threads
from memspan.training.scoring import score

BATCHES, SIZE = 10, 100
"""1,000 sequences unless told."""
PIECES = 10
"""Of a text unless told: fewer take longer, more begin from nothing more often."""
LARGEST = 2**23
"""Numbers of the states of one batch: batches of long sequences are made smaller, and more."""
Z = 1.959964
"""Standard deviations of a 95 % interval."""


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
    """Loss and accuracy of a run's best weights at every delay, the trained one if none is given.

    `batches` times `size` sequences at each; without `batches` 10, and all of a split that ends. A text is read in `size`
    pieces side by side. The run may still go on.
    """
    check_split(split)
    for name, value in (("batches", batches), ("size", size)):
        if value is not None and value < 1:
            raise InputError(f"{name} is {value}; expected a whole number of 1 or more")
    begun = time.monotonic()
    best = load_best(run, device=device_of(device))
    word, task = best.config.word, best.task
    size = size or (PIECES if task.stateful else SIZE)
    tasks = [at_distance(task, delay, word) for delay in delays] or [task]
    with with_threads(threads_of(best.config.training)):
        found = tuple(transfer(best, one, split, batches, size, progress) for one in tasks)
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
        distance="context" if isinstance(task, TextTask) and delays else distance_name(task),
        trained_delay=distance_of(task),
        transfer=found,
        run=str(best.folder.path),
        seconds=time.monotonic() - begun,
        config=to_json(best.config),
        notes=best.notes,
    )


def transfer(
    best: Best, task: Task, split: Split, batches: int | None, size: int, progress: Progress
) -> Transfer:
    """One task, which may be longer than the one that was trained on."""
    if task.stateful:
        return _read_through(best, task, split, batches, size, progress)
    length = len(task.batch(0, 1, seed=best.config.seed, split=split).inputs)
    small = max(1, min(size, LARGEST // (length * best.config.cell.hidden)))
    wanted = (batches or BATCHES) * size
    number, whole = math.ceil(wanted / small), task.batches(split, small)
    if whole is not None:
        number = whole if batches is None else min(number, whole)
        wanted = number * small
    delay = task.steps if isinstance(task, TextTask) else distance_of(task)
    name = (
        best.config.word
        if delay is None
        else f"{best.config.word}, {distance_name(task) or 'windows of'} {delay:,}"
    )
    with progress.stage(name, number) as stage:
        losses, weights, shares, most = _answered(
            best.network, task, split, range(number), small, best.config.seed, stage
        )
    losses, weights, shares = losses[:wanted], weights[:wanted], shares[:wanted]
    accuracy = float(shares.mean()) if shares.size else None
    return Transfer(
        delay=delay,
        loss=float(np.average(losses, weights=weights)),
        accuracy=accuracy,
        interval=None if accuracy is None else interval(shares, most),
        sequences=losses.size,
        baseline=task.baseline,
    )


def _read_through(
    best: Best, task: Task, split: Split, batches: int | None, size: int, progress: Progress
) -> Transfer:
    """A text, in `size` pieces side by side: every symbol counts once, with all that came before it in its piece."""
    whole = task.batches(split, size) or BATCHES
    number = min(batches or whole, whole)
    with progress.stage(best.config.word, number) as stage:
        found = score(
            best.network,
            task,
            split=split,
            batches=number,
            size=size,
            seed=best.config.seed,
            done=stage.advance,
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
def _answered(
    network: Model, task: Task, split: Split, indices: range, size: int, seed: int, stage: Stage
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], int]:
    """Loss, weight and accuracy of every sequence (no accuracy where the task has none), and the most answers of one.

    Weights are those of its answers together: the window that a text ends in has fewer.
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
        for column in _counted(batch):
            one, answers = batch.columns(column), logits[:, column]
            losses.append(float(task.loss(answers, one)))
            weights.append(float(one.weights.sum()))
            measures = task.measures(answers, one)
            if "accuracy" in measures:
                shares.append(measures["accuracy"])
        stage.advance()
    return np.array(losses), np.array(weights), np.array(shares), most


def _counted(batch: Batch) -> list[slice]:
    """The columns of a batch that are not only there to fill it up."""
    counted = torch.nonzero(batch.weights.sum(0) > 0).flatten().tolist()
    return [slice(column, column + 1) for column in counted]


def interval(shares: NDArray[np.float64], most: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a mean of shares, for as many independent answers as scatter alike.  Wilson 1927.

    Answers of one sequence succeed and fail together, so that they count for fewer than they are: for n p (1 - p) / var
    where n sequences scatter with variance var, at least for n and at most for n times `most`.

    >>> low, high = interval(np.ones(1000), 10)
    >>> round(low, 4), high
    (0.9962, 1.0)
    """
    p, n, variance = float(shares.mean()), shares.size, float(shares.var())
    answers = n * p * (1 - p) / variance if variance > 0 else n
    answers = min(max(answers, n), n * most)
    middle = (p + Z**2 / (2 * answers)) / (1 + Z**2 / answers)
    half = Z / (1 + Z**2 / answers) * math.sqrt(p * (1 - p) / answers + Z**2 / (4 * answers**2))
    return max(0.0, middle - half), min(1.0, middle + half)
