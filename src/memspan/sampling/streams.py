"""`sample`: sequences drawn from a model, in many streams at once, block by block."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple, final

import numpy as np
import torch
from torch import Tensor, nn

from memspan.errors import InputError
from memspan.models.hugging_face import HuggingFaceModel
from memspan.models.model import CellModel, Model, State
from memspan.progress import SILENT, Progress
from memspan.sampling.decoding import Choice
from memspan.sequences.store import Symbols, narrow_dtype

# Default number of streams that are sampled in parallel.
GROUP = 64
# Steps of a block.
STEPS = 1024


class Block(NamedTuple):
    """Consecutive symbols of a group of streams. All blocks of a group come before those of the next one."""

    stream: int
    """Index of its first stream"""
    step: int
    """Index of its first step"""
    symbols: Symbols
    """(streams, steps), in the smallest unsigned type that holds all classes"""


def sample(
    model: Model,
    *,
    streams: int,
    length: int,
    first: int | Tensor,
    seed: int,
    choice: Choice | None = None,
    context: int | None = None,
    kept: int | None = None,
    group: int = GROUP,
    progress: Progress = SILENT,
) -> Iterator[Block]:
    """`streams` sequences of `length` symbols, each drawn from the model's prediction given all previous ones.

        x_0 = first,    x_t ~ choice(logits after x_0 … x_{t-1}),    t = 1 … length

    `first` is read but not part of the output: one symbol for all streams, one per stream (streams), or a prompt
    (time, streams). If the state grows with every step, like the keys and values of a Transformer, `context` limits
    how far the model looks back: at most `context` symbols and, once the context is full, at least `kept`, half of it
    by default (`ContextWindow`).

    Streams are sampled in groups of `group`, each from the first to the last step, so memory holds one block and the
    states of one group. Stream s uses the random numbers of (seed, s): it does not depend on the number or grouping of
    other streams, except for the rounding of matrix products of another size.

    The model is in evaluation mode without gradients while a block is computed, and as before between blocks.
    """
    for name, value in (("streams", streams), ("length", length), ("group", group)):
        _check_integer(name, value, least=1)
    _check_integer("seed", seed, least=0)
    _check_context(context, kept, model)
    prompt = _prompt(first, streams, model)
    rule = choice or Choice()

    def blocks() -> Iterator[Block]:
        with progress.stage("sampling", streams * length) as stage:
            for stream in range(0, streams, group):
                window = ContextWindow(model, context, kept)
                sampler = StreamSampler(
                    model, window, rule, prompt[:, stream : stream + group], first=stream, seed=seed
                )
                for step in range(0, length, STEPS):
                    symbols = sampler.draw(min(STEPS, length - step))
                    stage.advance(symbols.size)
                    yield Block(stream, step, symbols)

    return blocks()


@final
class StreamSampler:
    """Streams `first` to `first + batch - 1`, sampled in parallel after a prompt (time, batch)."""

    def __init__(
        self, model: Model, window: ContextWindow, choice: Choice, prompt: Tensor, *, first: int, seed: int
    ) -> None:
        self._model, self._window, self._choice, self._unread = model, window, choice, prompt
        # A spawn key cannot collide with the lists of integers that seed other generators of this package.
        own = (np.random.SeedSequence(seed, spawn_key=(first + row,)) for row in range(prompt.shape[1]))
        self._random = [np.random.default_rng(sequence) for sequence in own]

    def draw(self, steps: int) -> Symbols:
        """The next symbols of every stream, (batch, steps)."""
        # Drawn ahead for the whole block: one call per stream instead of one per step gives the same numbers.
        uniform = torch.from_numpy(np.stack([stream.random(steps) for stream in self._random], axis=1))
        drawn, classes = [], 0
        with evaluation_mode(self._model):
            for numbers in uniform:
                logits = self._window(self._unread)
                self._unread = self._choice.at(logits, numbers).unsqueeze(0)
                drawn.append(self._unread)
                classes = logits.shape[1]
        # Row-major, because blocks are stored stream by stream.
        return torch.cat(drawn).T.cpu().numpy().astype(narrow_dtype(classes), order="C")


@final
class ContextWindow:
    """z = window(x): the logits after all symbols read so far, within a limited context.

    The model takes one step per symbol and passes its state on. If its state has seen `context` symbols, it starts
    from an empty state and reads the last `kept` symbols in one call. With context 4 and kept 2:

        read     a   b   c   d    e   f    g     h
        context  a   ab  abc abcd de  def  defg  gh

    With `kept` equal to `context` this is the sliding window: every prediction uses the last `context` symbols, at
    `context` times the cost.
    """

    def __init__(self, model: Model, context: int | None = None, kept: int | None = None) -> None:
        """`kept` defaults to half of `context`."""
        self._model, self._context = model, context
        half = 0 if context is None else max(1, context // 2)
        self._last: deque[Tensor] = deque(maxlen=half if kept is None else kept)
        self._state: State | None = None
        self._read = 0

    def __call__(self, symbols: Tensor) -> Tensor:
        """Logits (batch, classes) after `symbols` (time, batch)."""
        self._last.extend(symbols)  # the deque drops all but the last `kept`
        if self._context is not None and self._read + len(symbols) > self._context:
            symbols, self._state, self._read = torch.stack(tuple(self._last)), None, 0
        output = self._model(symbols, self._state, scored=1)
        self._state, self._read = output.state, self._read + len(symbols)
        return output.logits[0]


@contextlib.contextmanager
def evaluation_mode(model: nn.Module, *, gradients: bool = False) -> Iterator[None]:
    """Evaluation mode for the model and its submodules, by default without gradients; restores each module's mode."""
    # Submodules may differ in mode, for example a frozen embedding, so each mode is restored.
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with contextlib.nullcontext() if gradients else torch.no_grad():
            yield
    finally:
        for module, training in modes:
            module.training = training


def _check_context(context: int | None, kept: int | None, model: Model) -> None:
    if context is not None:
        _check_integer("context", context, least=1)
        positions = model.context if isinstance(model, HuggingFaceModel) else None
        if positions is not None and context > positions:
            raise InputError(
                f"context is {context:,}; the model has {positions:,} positions; use {positions:,} or fewer, or omit it"
            )
    if kept is None:
        return
    _check_integer("kept", kept, least=1)
    if context is None or kept > context:
        raise InputError(
            f"kept is {kept} and context {context}; expected at most the context; omit kept for half of it, or set both"
        )


def _prompt(first: int | Tensor, streams: int, model: Model) -> Tensor:
    """`first` as (time, streams), on the device of the model."""
    symbols = torch.as_tensor(first)
    shape = tuple(symbols.shape)
    if symbols.dtype == torch.bool or symbols.is_floating_point() or symbols.is_complex():
        raise InputError(f"first holds {symbols.dtype} values; expected the numbers of symbols; use .long()")
    if symbols.dim() > 2 or 0 in shape or (shape and shape[-1] != streams):
        raise InputError(
            f"first has shape {shape}; expected one symbol, one for each of {streams} streams, or (time, {streams})"
        )
    kinds = None
    if isinstance(model, CellModel | HuggingFaceModel):
        kinds = model.symbols
        if kinds != model.classes:
            reads = "features" if kinds is None else f"{kinds} symbols"
            raise InputError(
                f"the model reads {reads} and predicts {model.classes} classes; expected a model that predicts what "
                "it reads; train it on characters or words"
            )
    least, most = int(symbols.min()), int(symbols.max())
    if least < 0 or (kinds is not None and most >= kinds):
        known = "numbers from 0" if kinds is None else f"numbers from 0 to {kinds - 1}"
        raise InputError(f"first holds the symbol {least if least < 0 else most}; expected {known}")
    like = next(model.parameters(), symbols)
    return torch.atleast_2d(symbols.long()).expand(-1, streams).to(like.device)


def _check_integer(name: str, value: int, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{name} is {value!r}; expected a whole number of {least} or more")
