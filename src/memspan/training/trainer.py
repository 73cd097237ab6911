"""One training, update by update: network, optimizers, random numbers and carried state."""

from __future__ import annotations

import math
from pathlib import Path
from typing import final

import torch
from torch import Tensor, nn
from torch.optim import Adam, Optimizer

from memspan.errors import InputError
from memspan.objectives import Objective
from memspan.tasks import Batch
from memspan.training.ahead import Ahead
from memspan.training.building import build_model
from memspan.training.config import Config
from memspan.training.machine import Machine
from memspan.training.objectives import configured_objectives
from memspan.training.optimizers import averages, make_optimizer, set_rate
from memspan.training.state_tensors import (
    Tensors,
    below,
    load_module,
    load_optimizer,
    module_tensors,
    optimizer_tensors,
)
from memspan.training.windows import windows, without_gradient


@final
class Trainer:
    """What changes with every update. Everything about it is in `tensors` or follows from the configuration."""

    def __init__(self, config: Config, machine: Machine, objectives: tuple[Objective, ...] = ()) -> None:
        self.config, self.machine = config, machine
        self.network = build_model(config, device=machine.device)
        self.averaging = False
        self.optimizer = self._optimizer()
        objectives = (*objectives, *configured_objectives(config, self.network))
        self.objectives = {objective.name: objective.to(machine.device) for objective in objectives}
        self.own = {
            name: Adam(objective.parameters(), objective.learning_rate, weight_decay=objective.weight_decay)
            for name, objective in self.objectives.items()
            if list(objective.parameters())
        }
        self.state: tuple[Tensor, ...] | None = None
        modules = (self.network, *self.objectives.values())
        self._learnt = [learnt for module in modules if (learnt := list(module.parameters()))]
        self._batches = Ahead(
            config.task, machine.count * config.training.batch, seed=config.seed, device=machine.device
        )

    def step(self, update: int, rate: float) -> dict[str, float]:
        """Update number `update`, counted from 0, at `rate` times the learning rate; returns what is to be told of it.

        Where `loss` or `norm` is not finite, nothing was updated.
        """
        batches = self.config.training.accumulate
        optimizers = (self.optimizer, *self.own.values())
        set_rate(self.optimizer, rate)
        for optimizer in optimizers:
            optimizer.zero_grad()
        told: dict[str, float] = {}
        for number in range(batches):
            for name, value in self._gather(update * batches + number).items():
                told[name] = told.get(name, 0.0) + value / batches
        self.machine.average_gradients([parameter for learnt in self._learnt for parameter in learnt])
        told = self.machine.means(told)
        told["norm"] = self._clip()
        if math.isfinite(told["loss"]) and math.isfinite(told["norm"]):
            for optimizer in optimizers:
                optimizer.step()
        return told

    def switch(self) -> None:
        """Begin to average the weights (nt-asgd), and tell the objectives that have no time of their own."""
        if self.config.training.optimizer == "nt-asgd":
            self.averaging = True
            self.optimizer = self._optimizer()
        for objective in self.objectives.values():
            if objective.switch_at is None:
                objective.on_switch()

    def switch_objectives(self, update: int) -> None:
        """Tell the objectives whose time it is after so many updates."""
        for objective in self.objectives.values():
            if objective.switch_at == update:
                objective.on_switch()

    @property
    def waiting(self) -> bool:
        """Whether something is to change when validation no longer improves."""
        objectives = any(objective.switch_at is None for objective in self.objectives.values())
        return objectives or self.config.training.optimizer == "nt-asgd"

    def swap_averages(self) -> None:
        """Exchange weights and their averages; a second call exchanges them back."""
        for parameter, average in averages(self.optimizer).items():
            held = parameter.detach().clone()
            parameter.data.copy_(average)
            average.copy_(held)

    def sound(self) -> bool:
        """Whether every weight is a finite number."""
        return all(bool(parameter.isfinite().all()) for learnt in self._learnt for parameter in learnt)

    def tensors(self) -> Tensors:
        """Everything that a checkpoint needs, of all processes."""
        found = {**module_tensors("network", self.network), **optimizer_tensors("optimizer", self.optimizer)}
        for name, objective in self.objectives.items():
            found |= module_tensors(f"objective.{name}", objective)
        for name, optimizer in self.own.items():
            found |= optimizer_tensors(f"objective-optimizer.{name}", optimizer)
        for number, tensor in enumerate(self.state or ()):
            found[f"state.{number}"] = torch.cat(self.machine.every(tensor), dim=1)
        for rank, state in enumerate(self.machine.every(torch.get_rng_state())):
            found[f"random.{rank}"] = state
        if self.machine.device.type == "cuda":
            states = self.machine.every(torch.cuda.get_rng_state(self.machine.device))
            found |= {f"cuda-random.{rank}": state for rank, state in enumerate(states)}
        return found

    def load(self, tensors: Tensors, path: Path, *, averaging: bool) -> None:
        """Put back what `tensors` gave; `path` is where it comes from."""
        processes = len(below("random", tensors))
        if processes != self.machine.count:
            raise InputError(
                f"{path} was written by {processes} processes, and this is {self.machine.count}; "
                "resume with as many, or train again"
            )
        if averaging:
            self.switch()
        load_module("network", self.network, tensors, path)
        load_optimizer("optimizer", self.optimizer, tensors)
        for name, objective in self.objectives.items():
            load_module(f"objective.{name}", objective, tensors, path)
        for name, optimizer in self.own.items():
            load_optimizer(f"objective-optimizer.{name}", optimizer, tensors)
        self._load_state(below("state", tensors))
        rank, device = self.machine.rank, self.machine.device
        torch.set_rng_state(tensors[f"random.{rank}"])
        if device.type == "cuda" and f"cuda-random.{rank}" in tensors:
            torch.cuda.set_rng_state(tensors[f"cuda-random.{rank}"], device)

    def _load_state(self, parts: Tensors) -> None:
        if not parts:
            return
        share = self.machine.share(self.config.training.batch)
        mine = [
            parts[str(number)][:, share].to(self.machine.device, copy=True) for number in range(len(parts))
        ]
        self.state = self.network.as_state(mine)

    def _optimizer(self) -> Optimizer:
        config = self.config.training
        return make_optimizer(
            config, self.network.parameter_groups(config.learning_rate), averaging=self.averaging
        )

    def _gather(self, index: int) -> dict[str, float]:
        """Gradients of one batch, added to those that are there, and its losses."""
        task, training, machine = self.config.task, self.config.training, self.machine
        whole = self._batches.batch(index)
        batch = whole if machine.count == 1 else whole.columns(machine.share(training.batch))
        # The mean over processes of (their loss times their weights) over this is the loss of the whole batch.
        counted = whole.weights.sum() / machine.count
        state, told = self.state, {"loss": 0.0}
        for part, last in windows(batch, training.truncate):
            # Gradients end at a window's first step, so one that asks for no answers needs none.
            with machine.autocast(), torch.set_grad_enabled(len(part.targets) > 0):
                output = self.network(part.inputs, state, resets=part.resets, scored=len(part.targets))
                state = without_gradient(output.state)
                if not len(part.targets):
                    continue
                loss = self._loss(output.logits, part, counted)
                penalty = self.network.regularization(output)  # before an objective calls the network again
                total = loss if penalty is None else loss + penalty
                if last and self.objectives:
                    total = total + self._nudge(batch, machine.count * index + machine.rank, told)
            (total / training.accumulate).backward()
            told["loss"] += loss.item()
        self.state = state if task.stateful else None
        return told

    def _loss(self, logits: Tensor, part: Batch, counted: Tensor) -> Tensor:
        weights = part.weights.sum()
        if not weights:  # where nothing counts, a weighted mean would be no number
            return 0.0 * logits.float().sum()
        return self.config.task.loss(logits.float(), part) * (weights / counted)

    def _nudge(self, batch: Batch, index: int, told: dict[str, float]) -> Tensor:
        """The sum of the objectives; what is to be told of each goes into `told`."""
        extra = torch.zeros((), device=self.machine.device)
        for name, objective in self.objectives.items():
            loss, metrics = objective.loss(self.network, batch, index)
            extra = extra + loss
            told |= {f"{name}.{key}": value for key, value in {"loss": loss.item(), **metrics}.items()}
        return extra

    def _clip(self) -> float:
        """Clip as configured, the network and every objective for itself; the network's norm before."""
        of_network, *_ = [self._clipped(learnt) for learnt in self._learnt]
        return of_network

    def _clipped(self, learnt: list[nn.Parameter]) -> float:
        config = self.config.training
        gradients = [parameter.grad for parameter in learnt if parameter.grad is not None]
        if not gradients:
            return 0.0
        norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(part) for part in gradients]))
        if config.clip_norm is not None and norm > config.clip_norm:
            # As torch's clip_grad_norm_ does it, whose own bookkeeping takes longer than a small network's clipping.
            factor = config.clip_norm / (norm + 1e-6)
            for gradient in gradients:
                gradient.mul_(factor)
        if config.clip_value is not None:
            nn.utils.clip_grad_value_(learnt, config.clip_value)
        return float(norm)
