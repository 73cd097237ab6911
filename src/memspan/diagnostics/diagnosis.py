"""`diagnose`: all diagnostics of the best network of a run."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import Any, cast

from memspan.diagnostics.attention import attention_map, has_attention
from memspan.diagnostics.context import context_loss, has_context
from memspan.diagnostics.costs import training_costs
from memspan.diagnostics.gradients import Loss, gradient_norms
from memspan.diagnostics.jacobians import has_jacobian, jacobian_spectrum
from memspan.progress import SILENT, Progress
from memspan.results import Diagnosis, TrainingCosts
from memspan.tasks import Task
from memspan.training.run.machine import Device, resolve_device, thread_count, torch_threads
from memspan.training.supervised.config import Config, InitConfig
from memspan.training.supervised.trained_model import TrainedModel, load_best

# Sequences for products of Jacobians.
JACOBIAN_SEQUENCES = 4
# Lengths at which a training step is measured, as multiples of the sequence length or of `MIN_COST_LENGTH`.
COST_LENGTHS = (0.25, 0.5, 1.0, 2.0)
# Shorter sequences use too little memory to distinguish it from the rest of the process.
MIN_COST_LENGTH = 400
# Default window of a text, in symbols.
TEXT_WINDOW = 300
# Positions of a text for the context loss: more than for recall tasks, because the symbols of a text differ in
# difficulty.
TEXT_POSITIONS = 500


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
    """Gradients, attention, Jacobians, context loss and training cost of a run's network at its best weights.

    `delay` replaces that of the training; for texts it is the window in symbols. `costs` measures training steps in a
    separate process.
    """
    start = time.perf_counter()
    best = load_best(Path(run), device=resolve_device(device))
    with torch_threads(thread_count(best.config.training)):
        found = _diagnosis(best, delay, sequences=sequences, loss=loss, costs=costs, seed=seed, progress=progress)
    return dataclasses.replace(found, seconds=time.perf_counter() - start)


def _diagnosis(
    best: TrainedModel, delay: int | None, *, sequences: int, loss: Loss, costs: bool, seed: int, progress: Progress
) -> Diagnosis:
    config, network, task = best.config, best.around_cell(), best.task
    text = task.facts.is_text
    if text or delay is not None:
        task = task.with_delay(delay or TEXT_WINDOW)
    network.cell.announce_compilation(progress)
    gradients = gradient_norms(network, task, sequences=sequences, loss=loss, seed=seed, progress=progress)
    steps = len(gradients.distances)
    attention, relevant = None, None
    if has_attention(network):
        attention, relevant = attention_map(network, task, sequences=sequences, seed=seed, progress=progress)
    jacobian = None
    if has_jacobian(network) and steps > 1:
        jacobian = jacobian_spectrum(
            network,
            task,
            sequences=min(JACOBIAN_SEQUENCES, sequences),
            weights=_weight_kind(config.init),
            seed=seed,
            progress=progress,
        )
    context = None
    if has_context(network):
        positions = max(sequences, TEXT_POSITIONS) if text else sequences
        context = context_loss(network, task, sequences=positions, seed=seed, progress=progress)
    return Diagnosis(
        run=str(best.folder.path),
        task={"name": config.word, **dataclasses.asdict(cast(Any, task))},
        cell=config.cell.name,
        hidden=config.cell.hidden,
        update=best.update,
        steps=steps,
        answers_from=steps - task.recalled + 1,
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


def _weight_kind(init: InitConfig) -> str:
    """The kind of recurrent matrix that training started from, for the theory."""
    if init.name in ("orthogonal", "henaff", "cayley"):
        return "orthogonal"
    return init.weights if init.name in ("critical", "field") else "gaussian"


def _costs(config: Config, task: Task, steps: int, progress: Progress) -> TrainingCosts:
    """The cost at the multiples in `COST_LENGTHS`; networks with untied weights are limited to their own length."""
    # `steps` is the number of untied weight matrices, one per time step.
    most = config.cell.options.get("steps")
    lengths = sorted({max(2, round(max(steps, MIN_COST_LENGTH) * multiple)) for multiple in COST_LENGTHS})
    possible = [length for length in lengths if not isinstance(most, int) or length <= most]
    answers = len(task.batch(0, 1, seed=0).targets)
    return training_costs(
        config,
        possible,
        answers=answers if answers < steps else None,
        threads=thread_count(config.training),
        progress=progress,
    )


def _notes(found: int, requested: int, config: Config) -> tuple[str, ...]:
    notes = []
    if found < requested:
        notes.append(f"{requested:,} sequences were requested; the test split has {found:,}")
    if config.cell.layers > 1:
        notes.append("gradients, attention and Jacobians are those of the last layer")
    return tuple(notes)
