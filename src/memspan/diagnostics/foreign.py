"""How far back a Hugging Face model looks in a text: the loss against its context, and where gradients arrive."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from memspan.diagnostics.contexts import by_context, contexts_of
from memspan.diagnostics.gradients import summed_up
from memspan.errors import InputError
from memspan.models.hugging_face import HuggingFaceModel, load_hugging_face
from memspan.models.hugging_face_tokens import HuggingFaceTokens
from memspan.progress import SILENT, Progress
from memspan.results import ContextLoss, Diagnosis, GradientNorms
from memspan.tasks.corpus import text_of
from memspan.training.run.machine import Device, resolve_device

WINDOW = 300
"""Tokens that are read unless told, where the model has as many positions."""
PLACES = 200
"""Of the text, whose token is asked for after contexts of every length."""
TOGETHER = 8_192
"""Tokens that are read at once."""


def diagnose_foreign(
    path: str,
    text: Path,
    *,
    window: int | None = None,
    sequences: int = 20,
    device: Device = "auto",
    seed: int = 0,
    progress: Progress = SILENT,
) -> Diagnosis:
    """The model in the folder `path` on windows of a text, each judged by its last token alone.

    Gradients are those with respect to the vectors x_t of the tokens, which every such model has, on `sequences` windows.
    """
    start = time.perf_counter()
    model = load_hugging_face(path, device=resolve_device(device))
    if not isinstance(model.spelling, HuggingFaceTokens):
        raise InputError(
            f"{path} has no tokenizer.json, so the tokens of {text} are not known; put the file beside the weights"
        )
    numbers = model.spelling.encode(text_of(text))
    steps = checked_window(window, model.context, len(numbers), text)
    windows = drawn(numbers, steps, max(sequences, PLACES), seed)
    gradients = gradient_norms(model, windows[:, :sequences], progress)
    return Diagnosis(
        run=f"hf:{path}",
        task={"name": "tokens", "data": str(text)},
        cell=model.kind,
        hidden=model.network.get_input_embeddings().weight.shape[1],  # type: ignore[union-attr]
        update=0,
        steps=steps,
        answers_from=steps,
        sequences=gradients.sequences,
        seed=seed,
        gradients=gradients,
        attention=None,
        relevant=None,
        jacobian=None,
        context=context_loss(model, windows, progress),
        costs=None,
        notes=(f"windows of {steps:,} tokens, at random places of the {len(numbers):,} of {text.name}",),
        seconds=time.perf_counter() - start,
    )


def checked_window(window: int | None, positions: int | None, tokens: int, text: Path) -> int:
    """As many tokens as are read: those asked for, which the model and the text must have."""
    most = min(positions or tokens, tokens - 1)
    if most < 2:
        raise InputError(f"{text} has {tokens:,} tokens; expected three or more; give a longer text")
    if window is None:
        return min(WINDOW, most)
    if not 2 <= window <= most:
        bound = (
            f"the model has positions for {positions:,}"
            if most == positions
            else f"{text} has {tokens:,} tokens"
        )
        raise InputError(
            f"--delay {window:,}: {bound}; expected 2 to {most:,} tokens to read before the answer"
        )
    return window


def drawn(numbers: NDArray[np.int64], steps: int, count: int, seed: int) -> Tensor:
    """Windows (steps + 1, count) of a text: what is read, and the token that follows."""
    begins = np.random.default_rng(seed).integers(len(numbers) - steps, size=count)
    return torch.from_numpy(numbers[np.arange(steps + 1)[:, None] + begins])


def gradient_norms(model: HuggingFaceModel, windows: Tensor, progress: Progress) -> GradientNorms:
    """||dL/dx_t||, L the loss of the token after a window."""
    steps, norms = len(windows) - 1, []
    with progress.stage("gradients", windows.shape[1]) as stage:
        for part in _parts(windows, steps, model):
            norms.append(_gradients(model, part).norm(dim=2))
            stage.advance(part.shape[1])
    return summed_up(torch.cat(norms, 1), loss="recalled", answers=1, of="x")


def _gradients(model: HuggingFaceModel, part: Tensor) -> Tensor:
    """dL_b/dx_t (time, batch, size): zeros are added to what the tokens stand for, and theirs is it."""
    read: list[Tensor] = []

    def probed(_module: object, _inputs: object, vectors: Tensor) -> Tensor:
        read.append(torch.zeros_like(vectors, requires_grad=True))
        return vectors + read[-1]

    handle = model.network.get_input_embeddings().register_forward_hook(probed)  # type: ignore[union-attr]
    try:
        loss = _losses(model, part).sum()
    finally:
        handle.remove()
    return torch.autograd.grad(loss, read[0])[0].transpose(0, 1)


def context_loss(model: HuggingFaceModel, windows: Tensor, progress: Progress) -> ContextLoss:
    """The loss of the token after a window of which only the last k + 1 are read."""
    steps = len(windows) - 1
    contexts, table = contexts_of(steps - 1), []
    with progress.stage("contexts", int(contexts.sum()) + len(contexts)) as stage, torch.no_grad():
        for context in contexts:
            read = windows[steps - 1 - context :]
            table.append(torch.cat([_losses(model, part) for part in _parts(read, len(read), model)]))
            stage.advance(int(context) + 1)
    return by_context(contexts, torch.stack(table), 1)


def _losses(model: HuggingFaceModel, part: Tensor) -> Tensor:
    """Nats of the last token of each window, (batch,)."""
    logits = model(part[:-1], scored=1).logits[0]
    return functional.cross_entropy(logits, part[-1], reduction="none")


def _parts(windows: Tensor, steps: int, model: HuggingFaceModel) -> Iterator[Tensor]:
    device = next(model.parameters()).device
    for part in windows.split(max(1, TOGETHER // steps), dim=1):
        yield part.to(device)
