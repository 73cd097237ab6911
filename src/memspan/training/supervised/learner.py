"""A network that is trained on the batches of a task: one update after the other."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, final

import torch
from torch import Tensor, nn
from torch.optim import Adam, Optimizer

from memspan.errors import InputError
from memspan.models.model import CellModel
from memspan.objectives import Objective
from memspan.tasks import Batch, Task
from memspan.training.run.checkpoint import (
    Position,
    Tensors,
    load_module,
    load_optimizer,
    module_tensors,
    optimizer_tensors,
    strip_prefix,
)
from memspan.training.run.folder import RunFolder
from memspan.training.run.loop import Learner, LoopSettings, NonFiniteError
from memspan.training.run.machine import Machine
from memspan.training.supervised.build import build_model, build_objectives
from memspan.training.supervised.config import Config
from memspan.training.supervised.evaluation import score
from memspan.training.supervised.schedule import (
    averaging_triggered,
    full_gradient_start,
    make_optimizer,
    rate_factor,
    set_rate,
    weight_averages,
)

# Batches drawn at a time. Drawn singly, a small one takes five times as long: an update evicts the caches it needs.
PREFETCH = 8


@final
class SupervisedLearner(Learner):
    """Network, optimizers, random numbers and recurrent state; all of it is in `tensors` or follows from `config`."""

    def __init__(self, config: Config, machine: Machine, objectives: tuple[Objective, ...] = ()) -> None:
        self.config, self.machine = config, machine
        self.network = build_model(config, device=machine.device)
        self.averaging = False
        self.optimizer = self._optimizer()
        objectives = (*objectives, *build_objectives(config, self.network))
        self.objectives = {objective.name: objective.to(machine.device) for objective in objectives}
        self.objective_optimizers = {
            name: Adam(objective.parameters(), objective.learning_rate, weight_decay=objective.weight_decay)
            for name, objective in self.objectives.items()
            if list(objective.parameters())
        }
        self.state: tuple[Tensor, ...] | None = None
        modules = (self.network, *self.objectives.values())
        self._parameters = [found for module in modules if (found := list(module.parameters()))]
        # Every process draws the whole batch and takes its share, so that results do not depend on their number.
        size = machine.count * config.training.batch
        self._batches = BatchPrefetcher(config.task, size, seed=config.seed, device=machine.device)

    @property
    def name(self) -> str:
        return self.config.network

    @property
    def title(self) -> str:
        return f"{self.config.word} by {self.config.network}"

    @property
    def headline(self) -> str:
        return "loss"

    @property
    def settings(self) -> LoopSettings:
        return self.config.training.loop

    @property
    def main(self) -> bool:
        return self.machine.main

    def any(self, *flags: bool) -> list[bool]:
        return self.machine.any(*flags)

    def update(self, position: Position) -> dict[str, Any] | None:
        training = self.config.training
        factor = rate_factor(training, position.update, position.losses)
        metrics = self.step(position.update, factor)
        self._check_finite(metrics)
        position.update += 1
        for objective in self.objectives.values():
            if objective.switch_at == position.update:
                objective.on_switch()
        for key, value in metrics.items():
            position.pending[key] = position.pending.get(key, 0.0) + value
            position.counted[key] = position.counted.get(key, 0) + 1
        if position.update % training.log_every:
            return None
        # Sorted, because a checkpoint does not preserve the order of the sums.
        means = {name: position.pending[name] / position.counted[name] for name in sorted(position.pending)}
        position.pending, position.counted = {}, {}
        return {"update": position.update, **means, "rate": training.learning_rate * factor}

    def step(self, update: int, factor: float) -> dict[str, float]:
        """Update number `update`, counted from 0, at `factor` times the learning rate; returns its metrics.

        If `loss` or `norm` is not finite, nothing was updated.
        """
        batches = self.config.training.accumulate
        optimizers = (self.optimizer, *self.objective_optimizers.values())
        # Objectives have their own constant rate; the schedule applies to the network alone.
        set_rate(self.optimizer, factor)
        if isinstance(self.network, CellModel):
            # A function of the update alone, so that a resumed run continues in the same phase.
            self.network.cell.set_detaching(update < full_gradient_start(self.config.training))
        for optimizer in optimizers:
            optimizer.zero_grad()
        metrics: dict[str, float] = {}
        for number in range(batches):
            for name, value in self._backward(update * batches + number).items():
                metrics[name] = metrics.get(name, 0.0) + value / batches
        self.machine.average_gradients([parameter for group in self._parameters for parameter in group])
        metrics = self.machine.means(metrics)
        # The network and every objective are clipped on their own; the network's norm is the one to report.
        metrics["norm"], *_ = [self._clip(group) for group in self._parameters]
        if math.isfinite(metrics["loss"]) and math.isfinite(metrics["norm"]):
            for optimizer in optimizers:
                optimizer.step()
        return metrics

    def _backward(self, index: int) -> dict[str, float]:
        """Add the gradients of one batch to the accumulated ones; returns its losses."""
        task, training, machine = self.config.task, self.config.training, self.machine
        whole = self._batches.batch(index)
        batch = whole if machine.count == 1 else whole.columns(machine.share(training.batch))
        # The mean over processes of (their loss x their weights) / this is the loss of the whole batch.
        total_weight = whole.weights.sum() / machine.count
        state, metrics = self.state, {"loss": 0.0}
        for window, last in truncation_windows(batch, training.truncate):
            # Gradients end at a window's first step, so a window without targets needs none.
            with machine.autocast(), torch.set_grad_enabled(len(window.targets) > 0):
                output = self.network(window.inputs, state, resets=window.resets, scored=len(window.targets))
                state = type(output.state)(*(tensor.detach() for tensor in output.state))
                if not len(window.targets):
                    continue
                loss = self._loss(output.logits, window, total_weight)
                penalty = self.network.regularization(output)  # before an objective calls the network again
                total = loss if penalty is None else loss + penalty
                if last and self.objectives:
                    total = total + self._objective_loss(batch, machine.count * index + machine.rank, metrics)
            (total / training.accumulate).backward()
            metrics["loss"] += loss.item()
        self.state = state if task.stateful else None
        return metrics

    def _loss(self, logits: Tensor, window: Batch, total_weight: Tensor) -> Tensor:
        weight = window.weights.sum()
        if not weight:  # the weighted mean over nothing would be NaN
            return 0.0 * logits.float().sum()
        return self.config.task.loss(logits.float(), window) * (weight / total_weight)

    def _objective_loss(self, batch: Batch, index: int, metrics: dict[str, float]) -> Tensor:
        """The sum of the auxiliary losses; adds their metrics to `metrics`."""
        total = torch.zeros((), device=self.machine.device)
        for name, objective in self.objectives.items():
            loss, found = objective.loss(self.network, batch, index)
            total = total + loss
            metrics |= {f"{name}.{key}": value for key, value in {"loss": loss.item(), **found}.items()}
        return total

    def _clip(self, parameters: list[nn.Parameter]) -> float:
        """Clip gradients as configured; returns their norm before that."""
        config = self.config.training
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        if not gradients:
            return 0.0
        norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(part) for part in gradients]))
        if config.clip_norm is not None and norm > config.clip_norm:
            # As torch's clip_grad_norm_, whose bookkeeping takes longer than clipping a small network; 1e-6 is its guard.
            factor = config.clip_norm / (norm + 1e-6)
            for gradient in gradients:
                gradient.mul_(factor)
        if config.clip_value is not None:
            nn.utils.clip_grad_value_(parameters, config.clip_value)
        return float(norm)

    def _check_finite(self, metrics: dict[str, float]) -> None:
        if math.isfinite(metrics["loss"]) and math.isfinite(metrics["norm"]):
            return
        for name, objective in self.objectives.items():
            if math.isfinite(metrics["loss"]) and not math.isfinite(metrics[f"{name}.loss"]):
                raise NonFiniteError(
                    f"the loss of {name} is NaN or infinite, while that of the task is {metrics['loss']:.4g},",
                    objective.remedy,
                )
        raise NonFiniteError("the loss or its gradient is NaN or infinite")

    def is_finite(self) -> bool:
        return all(bool(parameter.isfinite().all()) for group in self._parameters for parameter in group)

    def advice(self, folder: RunFolder) -> str:
        lower = f"--set training.learning_rate={self.config.training.learning_rate / 3:.1g}"
        restart = f"--set init.name=run --set init.run={folder.path}"
        return f"a smaller learning rate ({lower}) or stronger clipping (--set training.clip_norm=…)" + (
            f", starting from the saved weights with {restart}" if folder.saved() else ""
        )

    def validate(self) -> dict[str, float]:
        """Measures of the weights, or of their averages, on the validation split."""
        training = self.config.training
        self.swap_averages()
        try:
            found = score(
                self.network,
                self.config.task,
                split="valid",
                batches=training.validation_batches,
                size=training.validation_size,
                seed=self.config.seed,
            )
        finally:
            self.swap_averages()
        return self.machine.means(found)

    def after_validation(self, position: Position) -> None:
        waiting = self.config.training.optimizer == "nt-asgd" or any(
            objective.switch_at is None for objective in self.objectives.values()
        )
        if waiting and not position.averaging:
            position.averaging = averaging_triggered(position.losses, self.config.training.nonmonotone)
            if position.averaging:
                self.switch()

    def switch(self) -> None:
        """Start to average the weights (nt-asgd), and switch the objectives that have no update of their own for it."""
        if self.config.training.optimizer == "nt-asgd":
            self.averaging = True
            self.optimizer = self._optimizer()
        for objective in self.objectives.values():
            if objective.switch_at is None:
                objective.on_switch()

    def swap_averages(self) -> None:
        """Exchange the weights and their averages; a second call restores them."""
        for parameter, average in weight_averages(self.optimizer).items():
            held = parameter.detach().clone()
            parameter.data.copy_(average)
            average.copy_(held)

    @property
    def warnings(self) -> list[str]:
        found = (objective.warning for objective in self.objectives.values())
        return [warning for warning in found if warning is not None]

    def tensors(self) -> Tensors:
        found = {**module_tensors("network", self.network), **optimizer_tensors("optimizer", self.optimizer)}
        for name, objective in self.objectives.items():
            found |= module_tensors(f"objective.{name}", objective)
        for name, optimizer in self.objective_optimizers.items():
            found |= optimizer_tensors(f"objective-optimizer.{name}", optimizer)
        for number, tensor in enumerate(self.state or ()):
            # Dimension 1 holds the sequences, of which each process has its share.
            found[f"state.{number}"] = torch.cat(self.machine.every(tensor), dim=1)
        for rank, state in enumerate(self.machine.every(torch.get_rng_state())):
            found[f"random.{rank}"] = state
        if self.machine.device.type == "cuda":
            states = self.machine.every(torch.cuda.get_rng_state(self.machine.device))
            found |= {f"cuda-random.{rank}": state for rank, state in enumerate(states)}
        return found

    def load(self, tensors: Tensors, path: Path, *, averaging: bool) -> None:
        """Restore what `tensors` returned; `path` is for error messages."""
        processes = len(strip_prefix("random", tensors))
        if processes != self.machine.count:
            raise InputError(
                f"{path} was written by {processes} processes, but this training has {self.machine.count}; resume with as "
                "many, or train again"
            )
        if averaging:
            self.switch()
        load_module("network", self.network, tensors, path)
        load_optimizer("optimizer", self.optimizer, tensors)
        for name, objective in self.objectives.items():
            load_module(f"objective.{name}", objective, tensors, path)
        for name, optimizer in self.objective_optimizers.items():
            load_optimizer(f"objective-optimizer.{name}", optimizer, tensors)
        self._load_state(strip_prefix("state", tensors))
        rank, device = self.machine.rank, self.machine.device
        torch.set_rng_state(tensors[f"random.{rank}"])
        if device.type == "cuda" and f"cuda-random.{rank}" in tensors:
            torch.cuda.set_rng_state(tensors[f"cuda-random.{rank}"], device)

    def _load_state(self, parts: Tensors) -> None:
        if parts:
            share, device = self.machine.share(self.config.training.batch), self.machine.device
            mine = [parts[str(number)][:, share].to(device, copy=True) for number in range(len(parts))]
            self.state = self.network.as_state(mine)

    def _optimizer(self) -> Optimizer:
        config = self.config.training
        groups = self.network.parameter_groups(config.learning_rate)
        return make_optimizer(config, groups, averaging=self.averaging)


@final
class BatchPrefetcher:
    """Draws the training batches of a task several at a time. A batch depends on its index alone, so nothing changes."""

    def __init__(self, task: Task, size: int, *, seed: int, device: torch.device) -> None:
        self._task, self._size, self._seed, self._device = task, size, seed, device
        self._drawn: dict[int, Batch] = {}

    def batch(self, index: int) -> Batch:
        """Batch number `index`."""
        if index not in self._drawn:
            self._drawn = {
                number: self._task.batch(number, self._size, seed=self._seed, device=self._device)
                for number in range(index, index + PREFETCH)
            }
        return self._drawn[index]


def truncation_windows(batch: Batch, truncate: int | None) -> Iterator[tuple[Batch, bool]]:
    """A batch in windows of `truncate` steps with the targets that fall into each, and whether it is the last."""
    steps, scored = len(batch.inputs), len(batch.targets)
    if truncate is None or truncate >= steps:
        yield batch, True
        return
    first = steps - scored
    for begin in range(0, steps, truncate):
        end = min(begin + truncate, steps)
        targets = slice(max(begin - first, 0), max(end - first, 0))
        window = Batch(
            batch.inputs[begin:end],
            batch.targets[targets],
            batch.weights[targets],
            None if batch.resets is None else batch.resets[begin:end],
        )
        yield window, end == steps
