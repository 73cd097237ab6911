"""Diagnostics of a Hugging Face model on a text: the loss by context length, and gradient norms."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from memspan.diagnostics.context import context_lengths, summarize_contexts
from memspan.diagnostics.gradients import summarize_norms
from memspan.errors import InputError
from memspan.models.hugging_face import HuggingFaceModel, HuggingFaceTokens, load_hugging_face
from memspan.progress import SILENT, Progress
from memspan.results import ContextLoss, Diagnosis, GradientNorms
from memspan.tasks.corpus import read_text
from memspan.training.run.machine import Device, resolve_device

# Default number of tokens to read, if the model has that many positions.
WINDOW = 300
# Positions of the text for the context loss.
POSITIONS = 200
# Tokens read at once.
MAX_TOKENS = 8_192


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
    """Diagnostics of the model in the folder `path` on windows of a text; the loss is that of the last token of each.

    Gradients are with respect to the embeddings x_t of the tokens, which every such model has, on `sequences` windows.
    """
    start = time.perf_counter()
    model = load_hugging_face(path, device=resolve_device(device))
    if not isinstance(model.spelling, HuggingFaceTokens):
        raise InputError(
            f"{path} has no tokenizer.json, so {text} cannot be tokenized; put the file next to the weights"
        )
    tokens = model.spelling.encode(read_text(text))
    steps = _window(window, model.context, len(tokens), text)
    windows = random_windows(tokens, steps, max(sequences, POSITIONS), seed)
    gradients = _gradient_norms(model, windows[:, :sequences], progress)
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
        context=_context_loss(model, windows, progress),
        costs=None,
        notes=(f"windows of {steps:,} tokens, at random positions of the {len(tokens):,} of {text.name}",),
        seconds=time.perf_counter() - start,
    )


def _window(window: int | None, positions: int | None, tokens: int, text: Path) -> int:
    """The number of tokens to read, which the model and the text must provide."""
    most = min(positions or tokens, tokens - 1)
    if most < 2:
        raise InputError(f"{text} has {tokens:,} tokens; expected three or more; use a longer text")
    if window is None:
        return min(WINDOW, most)
    if not 2 <= window <= most:
        bound = f"the model has {positions:,} positions" if most == positions else f"{text} has {tokens:,} tokens"
        raise InputError(f"--delay {window:,}: {bound}; expected 2 to {most:,} tokens to read before the answer")
    return window


def random_windows(tokens: NDArray[np.int64], steps: int, count: int, seed: int) -> Tensor:
    """Windows (steps + 1, count) of a text: the context and the token that follows."""
    begins = np.random.default_rng(seed).integers(len(tokens) - steps, size=count)
    return torch.from_numpy(tokens[np.arange(steps + 1)[:, None] + begins])


def _gradient_norms(model: HuggingFaceModel, windows: Tensor, progress: Progress) -> GradientNorms:
    """||dL/dx_t||, L the loss of the last token of a window."""
    steps, norms = len(windows) - 1, []
    with progress.stage("gradients", windows.shape[1]) as stage:
        for part in _parts(windows, steps, model):
            norms.append(_gradients(model, part).norm(dim=2))
            stage.advance(part.shape[1])
    return summarize_norms(torch.cat(norms, 1), loss="recalled", answers=1, of="x")


def _gradients(model: HuggingFaceModel, part: Tensor) -> Tensor:
    """dL_b/dx_t (time, batch, size): the gradient of zeros added to the embeddings."""
    probes: list[Tensor] = []

    def add_probe(_module: object, _inputs: object, vectors: Tensor) -> Tensor:
        probes.append(torch.zeros_like(vectors, requires_grad=True))
        return vectors + probes[-1]

    handle = model.network.get_input_embeddings().register_forward_hook(add_probe)  # type: ignore[union-attr]
    try:
        loss = _losses(model, part).sum()
    finally:
        handle.remove()
    return torch.autograd.grad(loss, probes[0])[0].transpose(0, 1)


def _context_loss(model: HuggingFaceModel, windows: Tensor, progress: Progress) -> ContextLoss:
    """The loss of the last token of a window after only the k + 1 preceding ones."""
    steps = len(windows) - 1
    # The last token read is always part of the context, so k = 0 means one token.
    contexts, losses = context_lengths(steps - 1), []
    with progress.stage("contexts", int(contexts.sum()) + len(contexts)) as stage, torch.no_grad():
        for context in contexts:
            read = windows[steps - 1 - context :]
            losses.append(torch.cat([_losses(model, part) for part in _parts(read, len(read), model)]))
            stage.advance(int(context) + 1)
    return summarize_contexts(contexts, torch.stack(losses), 1)


def _losses(model: HuggingFaceModel, part: Tensor) -> Tensor:
    """Loss of the last token of each window in nats, (batch,)."""
    logits = model(part[:-1], scored=1).logits[0]
    return functional.cross_entropy(logits, part[-1], reduction="none")


def _parts(windows: Tensor, steps: int, model: HuggingFaceModel) -> Iterator[Tensor]:
    device = next(model.parameters()).device
    for part in windows.split(max(1, MAX_TOKENS // steps), dim=1):
        yield part.to(device)
