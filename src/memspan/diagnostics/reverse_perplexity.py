"""What a fresh language model foretells of the real text after it has read only what a network writes.

Zhao 2018 (ARAE); Cao and Xu 2020, section 5.1: text that says little, or the same again and again, teaches little.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional
from torch.optim.lr_scheduler import CosineAnnealingLR

from memspan.cells import LSTM
from memspan.errors import InputError
from memspan.models.model import Model
from memspan.models.sequence_model import SequenceModel
from memspan.progress import SILENT, Progress
from memspan.results import ReversePerplexity
from memspan.sampling.writing import at_rest
from memspan.tasks.task import Split
from memspan.tasks.text import TextTask
from memspan.training.run.machine import torch_seed
from memspan.training.supervised.evaluation import score

KEPT = 10
"""One in so many of the texts is kept from the fresh model, to tell when it has learnt enough."""
PIECES, WINDOW = 10, 100
"""Of a real text, read side by side, each with all that came before in it; symbols that are read at a time."""


@final
@dataclass(frozen=True, kw_only=True)
class PlainModel:
    """The fresh language model: one LSTM with tied embeddings, the same whoever wrote what it reads."""

    hidden: int = 128
    dropout: float = 0.2
    batch: int = 20
    """Pieces that the text is cut into."""
    steps: int = 35
    """Symbols of a window; the state is carried from window to window."""
    passes: int = 5
    """Through the text; after each it is looked at what was kept from it."""
    learning_rate: float = 4e-3
    """Of Adam; it falls to a 32nd by a cosine."""
    clip_norm: float = 1.0


def reverse_perplexity(
    texts: NDArray[np.integer],
    task: TextTask,
    *,
    seed: int,
    plain: PlainModel = PlainModel(),  # noqa: B008 - frozen
    device: torch.device | str = "cpu",
    progress: Progress = SILENT,
) -> ReversePerplexity:
    """exp(-mean log Q'(x_t | x_<t)) of the real text, Q' a fresh model that learnt from `texts` (streams, length) only.

    Texts are in numbers of the vocabulary of `task`, whose validation and test texts are the real ones. They are read one
    behind the other.
    """
    learnt, kept = _parted(texts, plain)
    updates = plain.passes * len(_windows(learnt, plain))
    with torch_seed(seed), progress.stage("a fresh model reads what was written", updates) as stage:
        cell = LSTM(plain.hidden, plain.hidden)
        model = SequenceModel(cell, task.symbols, tied=True, dropout=plain.dropout).to(device)
        best = _learn(model, learnt, kept, plain, stage.advance)
    model.load_state_dict(best.weights)
    losses = {split: _real_loss(model, task, split) for split in ("valid", "test")}
    return ReversePerplexity(
        valid_loss=losses["valid"],
        test_loss=losses["test"],
        written_loss=best.loss,
        valid_perplexity=_perplexity(losses["valid"]),
        test_perplexity=_perplexity(losses["test"]),
        symbols=texts.size,
        updates=updates,
        best_update=best.update,
        parameter_count=model.parameter_count(),
        seed=seed,
    )


class _Best(NamedTuple):
    loss: float
    update: int
    weights: dict[str, Tensor]


class _Window(NamedTuple):
    inputs: NDArray[np.int64]
    """(steps, batch)"""
    answers: NDArray[np.int64]


def _parted(texts: NDArray[np.integer], plain: PlainModel) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What is learnt from and what is kept: the last of the texts, or the end of a single one."""
    streams = len(texts)
    cut = (
        (streams - math.ceil(streams / KEPT)) * texts.shape[1]
        if streams > 1
        else texts.size * (KEPT - 1) // KEPT
    )
    whole = texts.astype(np.int64).reshape(-1)
    least = KEPT * (plain.batch * plain.steps + 1)
    if whole.size < least:
        raise InputError(
            f"{whole.size:,} symbols were written, too few to learn a language model from; expected {least:,} or more; "
            "give a larger --length"
        )
    return whole[:cut], whole[cut:]


def _windows(text: NDArray[np.int64], plain: PlainModel) -> list[_Window]:
    piece = (len(text) - 1) // plain.batch
    columns = np.arange(plain.batch) * piece
    places = [
        np.arange(first, min(first + plain.steps, piece))[:, None] + columns
        for first in range(0, piece, plain.steps)
    ]
    return [_Window(text[place], text[place + 1]) for place in places]


def _learn(
    model: Model,
    learnt: NDArray[np.int64],
    kept: NDArray[np.int64],
    plain: PlainModel,
    done: Callable[[], None],
) -> _Best:
    """The weights after the pass that foretold what was kept best."""
    windows = _windows(learnt, plain)
    optimizer = torch.optim.Adam(model.parameters(), lr=plain.learning_rate)
    rates = CosineAnnealingLR(optimizer, plain.passes * len(windows), plain.learning_rate / 32)
    best = _Best(math.inf, 0, model.state_dict())
    for number in range(1, plain.passes + 1):
        state = None
        for window in windows:
            optimizer.zero_grad()
            loss, state = _loss(model, window, state)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), plain.clip_norm)
            optimizer.step()
            rates.step()
            done()
        with at_rest(model):
            found = _mean_loss(model, _windows(kept, plain))
        if found < best.loss:
            best = _Best(found, number * len(windows), copy.deepcopy(model.state_dict()))
    return best


def _loss(
    model: Model, window: _Window, state: tuple[Tensor, ...] | None
) -> tuple[Tensor, tuple[Tensor, ...]]:
    device = next(model.parameters()).device
    inputs, answers = (torch.from_numpy(part).to(device) for part in window)
    output = model(inputs, state)
    loss = functional.cross_entropy(output.logits.flatten(0, 1), answers.flatten())
    return loss, tuple(part.detach() for part in output.state)


def _mean_loss(model: Model, windows: list[_Window]) -> float:
    total, count, state = 0.0, 0, None
    for window in windows:
        loss, state = _loss(model, window, state)
        total, count = total + float(loss) * window.answers.size, count + window.answers.size
    return total / count


def _real_loss(model: Model, task: TextTask, split: Split) -> float:
    read = replace(task, carry=True, steps=WINDOW)
    return score(model, read, split=split, batches=read.batches(split, PIECES), size=PIECES, seed=0)["loss"]


def _perplexity(loss: float) -> float:
    return math.exp(loss) if loss < math.log(np.finfo(np.float64).max) else math.inf
