"""`diagnose`: everything that can be said about a run's network."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import Any, cast

from memspan.diagnostics.answers import recalled_answers
from memspan.diagnostics.attention import attention_map, has_attention
from memspan.diagnostics.contexts import context_loss, has_context
from memspan.diagnostics.costs import training_costs
from memspan.diagnostics.gradients import Loss, gradient_norms
from memspan.diagnostics.jacobians import has_jacobian, jacobian_spectrum
from memspan.progress import SILENT, Progress
from memspan.results import Diagnosis, TrainingCosts
from memspan.tasks import Task
from memspan.tasks.text import TextTask
from memspan.training.run.machine import Device, resolve_device, thread_count, torch_threads
from memspan.training.supervised.config import Config, InitConfig, with_delay
from memspan.training.supervised.trained_model import TrainedModel, load_best

IN_CHAIN = 4
"""Sequences whose Jacobians are multiplied along all steps."""
LENGTHS = (0.25, 0.5, 1.0, 2.0)
"""At which a training step is measured, as multiples of the sequences' own, or of `LONG` where they are shorter."""
LONG = 400
"""Steps; of a shorter one the memory is too little to be told from what else a process does."""

WINDOW = 300
"""Symbols of a text that are looked at unless told."""
PLACES = 500
"""Of a text, whose next symbol is asked for after contexts of every length: symbols are not alike, as recalled ones are."""


def diagnose(
    run: str | Path,
    *,
    delay: int | None = None,
    sequences: int = 20,
    loss: Loss = "recalled",
    costs: bool = True,
    device: Device = "auto",
    seed: int = 0,
    progress: Progress = SILENT,
) -> Diagnosis:
    """Gradients, attention, Jacobians, context and costs of the network in a run folder, at its best weights.

    `delay` asks for another one than the training had, and of a text for windows of so many symbols. `costs` measures
    training steps in a process of their own.
    """
    start = time.perf_counter()
    best = load_best(Path(run), device=resolve_device(device))
    with torch_threads(thread_count(best.config.training)):
        found = _diagnosis(
            best, delay, sequences=sequences, loss=loss, costs=costs, seed=seed, progress=progress
        )
    return dataclasses.replace(found, seconds=time.perf_counter() - start)


def _diagnosis(
    best: TrainedModel,
    delay: int | None,
    *,
    sequences: int,
    loss: Loss,
    costs: bool,
    seed: int,
    progress: Progress,
) -> Diagnosis:
    config, network, task = best.config, best.around_cell(), best.task
    text = isinstance(task, TextTask)
    if text or delay is not None:
        task = with_delay(task, delay or WINDOW, config.word)
    gradients = gradient_norms(network, task, sequences=sequences, loss=loss, seed=seed, progress=progress)
    steps, answers = len(gradients.distances), recalled_answers(task)
    attention, relevant = None, None
    if has_attention(network):
        attention, relevant = attention_map(network, task, sequences=sequences, seed=seed, progress=progress)
    jacobian = None
    if has_jacobian(network) and steps > 1:
        jacobian = jacobian_spectrum(
            network,
            task,
            sequences=min(IN_CHAIN, sequences),
            weights=_kind(config.init),
            seed=seed,
            progress=progress,
        )
    context = None
    if has_context(network):
        judged = max(sequences, PLACES) if text else sequences
        context = context_loss(network, task, sequences=judged, seed=seed, progress=progress)
    return Diagnosis(
        run=str(best.folder.path),
        task={"name": config.word, **dataclasses.asdict(cast(Any, task))},
        cell=config.cell.name,
        hidden=config.cell.hidden,
        update=best.update,
        steps=steps,
        answers_from=steps - answers + 1,
        sequences=gradients.sequences,
        seed=seed,
        gradients=gradients,
        attention=attention,
        relevant=relevant,
        jacobian=jacobian,
        context=context,
        costs=_costs(config, task, steps, progress) if costs else None,
        notes=(*best.notes, *_notes(gradients.sequences, sequences, config)),
        seconds=0.0,
    )


def _kind(init: InitConfig) -> str:
    """Which recurrent matrix theory is asked about: the one that training began with."""
    drawn = init.weights if init.name in ("critical", "field") else "gaussian"
    return "orthogonal" if init.name in ("orthogonal", "henaff", "cayley") else drawn


def _costs(config: Config, task: Task, steps: int, progress: Progress) -> TrainingCosts:
    """At a quarter of a length, a half, the whole and twice of it; networks of untied weights cannot go beyond theirs."""
    most = config.cell.options.get("steps")
    lengths = sorted({max(2, round(max(steps, LONG) * multiple)) for multiple in LENGTHS})
    possible = [length for length in lengths if not isinstance(most, int) or length <= most]
    answers = len(task.batch(0, 1, seed=0).targets)
    return training_costs(
        config,
        possible,
        answers=answers if answers < steps else None,
        threads=thread_count(config.training),
        progress=progress,
    )


def _notes(found: int, asked: int, config: Config) -> tuple[str, ...]:
    notes = []
    if found < asked:
        notes.append(f"{asked:,} sequences were asked for; the test split has {found:,}")
    if config.cell.layers > 1:
        notes.append("gradients, attention and Jacobians are those of the last layer")
    return tuple(notes)
