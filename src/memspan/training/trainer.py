"""One training, update by update: network, optimizers, random numbers and carried state."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import final

import torch
from torch import Tensor, nn
from torch.optim import Adam

from memspan.objectives import Objective
from memspan.tasks import Batch
from memspan.training.building import build
from memspan.training.checkpoint import load_module, load_optimizer, module_tensors, optimizer_tensors
from memspan.training.config import Config
from memspan.training.machine import Machine
from memspan.training.optimizers import averages, make_optimizer


@final
class Trainer:
    """What changes with every update. Everything about it is in `tensors` or follows from the configuration."""

    def __init__(self, config: Config, machine: Machine, objectives: tuple[Objective, ...] = ()) -> None:
        self.config, self.machine, self.objectives = config, machine, objectives
        self.network = build(config, device=machine.device)
        self.model = machine.prepare(self.network)
        self.averaging = False
        self.optimizer = self._optimizer()
        self.own = {
            objective.name: Adam(objective.to(machine.device).parameters(), lr=objective.learning_rate)
            for objective in objectives
        }
        self.state: tuple[Tensor, ...] | None = None

    def step(self, update: int, rate: float) -> dict[str, float]:
        """Update number `update`, counted from 0, at a learning rate; returns what is to be told of it."""
        config = self.config.training
        for group, base in zip(self.optimizer.param_groups, self.bases, strict=True):
            group["lr"] = base * rate
        self.optimizer.zero_grad()
        for optimizer in self.own.values():
            optimizer.zero_grad()
        told: dict[str, float] = {}
        for number in range(config.accumulate):
            index = update * config.accumulate + number
            if number < config.accumulate - 1:
                with self.machine.alone(self.model):
                    self._gather(index, told)
            else:
                self._gather(index, told)
        told["norm"] = self._clip()
        if math.isfinite(told["loss"]):
            self.optimizer.step()
            for optimizer in self.own.values():
                optimizer.step()
        return told

    def switch(self) -> None:
        """Begin to average the weights (nt-asgd), and tell the objectives."""
        self.averaging = True
        self.optimizer = self._optimizer()
        for objective in self.objectives:
            objective.on_switch()

    def swap_averages(self) -> None:
        """Exchange weights and their averages; a second call exchanges them back."""
        for parameter, average in averages(self.optimizer).items():
            held = parameter.detach().clone()
            parameter.data.copy_(average)
            average.copy_(held)

    def tensors(self) -> dict[str, Tensor]:
        """Everything that a checkpoint needs."""
        found = {
            **module_tensors("network", self.network),
            **optimizer_tensors("optimizer", self.optimizer),
        }
        for objective in self.objectives:
            found |= module_tensors(f"objective.{objective.name}", objective)
            found |= optimizer_tensors(f"objective-optimizer.{objective.name}", self.own[objective.name])
        for number, tensor in enumerate(self.state or ()):
            found[f"state.{number}"] = tensor
        for rank, state in enumerate(self.machine.every(torch.get_rng_state().to(self.machine.device))):
            found[f"random.{rank}"] = state
        if self.machine.device.type == "cuda":
            found["random.cuda"] = torch.cuda.get_rng_state(self.machine.device)
        return found

    def load(self, tensors: dict[str, Tensor], path: Path, *, averaging: bool) -> None:
        """Put back what `tensors` gave."""
        load_module("network", self.network, tensors, path)
        if averaging:
            self.switch()
        load_optimizer("optimizer", self.optimizer, tensors)
        for objective in self.objectives:
            load_module(f"objective.{objective.name}", objective, tensors, path)
            load_optimizer(f"objective-optimizer.{objective.name}", self.own[objective.name], tensors)
        carried = [name for name in tensors if name.startswith("state.")]
        if carried:
            parts = [tensors[f"state.{number}"] for number in range(len(carried))]
            self.state = self.network.cell.first.State(*(part.to(self.machine.device) for part in parts))
        torch.set_rng_state(tensors[f"random.{self.machine.rank}"])
        if "random.cuda" in tensors:
            torch.cuda.set_rng_state(tensors["random.cuda"], self.machine.device)

    def _optimizer(self) -> torch.optim.Optimizer:
        groups = self.network.parameter_groups(self.config.training.learning_rate)
        self.bases = [group["lr"] for group in groups]
        return make_optimizer(self.config.training, groups, averaging=self.averaging)

    def _gather(self, index: int, told: dict[str, float]) -> None:
        """Gradients of one batch, added to those that are there."""
        config, machine = self.config, self.machine
        size = config.training.batch
        whole = config.task.batch(index, machine.count * size, seed=config.seed, device=machine.device)
        batch = whole if machine.count == 1 else whole.columns(machine.share(size))
        share = 1 / config.training.accumulate
        total = batch.weights.sum()
        loss = 0.0
        state = self.state if config.task.carried else None
        for part, last in _windows(batch, config.training.truncate):
            with machine.autocast():
                output = self._forward(part, state, last)
                state = without_gradient(output.state)
                if not len(part.targets):
                    continue
                piece = config.task.loss(output.logits.float(), part) * (part.weights.sum() / total)
                if last:
                    piece = piece + self._nudged(batch, index, told)
            (share * piece).backward()
            loss += piece.item()
        self.state = state if config.task.carried else None
        told["loss"] = told.get("loss", 0.0) + share * loss

    def _forward(self, part: Batch, state: tuple[Tensor, ...] | None, last: bool):
        """Steps whose answers do not count need no gradient unless later ones of the same window do."""
        with torch.set_grad_enabled(bool(len(part.targets)) or last):
            return self.model(part.inputs, state, scored=len(part.targets))

    def _nudged(self, batch: Batch, index: int, told: dict[str, float]) -> Tensor:
        extra = torch.zeros((), device=self.machine.device)
        for objective in self.objectives:
            loss, metrics = objective.loss(self.network, batch, index)
            extra = extra + loss
            told |= {f"{objective.name}.{name}": value for name, value in metrics.items()}
        return extra

    def _clip(self) -> float:
        """Clip as configured; the norm is that of the task's gradients before."""
        config = self.config.training
        parameters = list(self.network.parameters())
        if config.clip_value is not None:
            nn.utils.clip_grad_value_(parameters, config.clip_value)
        limit = math.inf if config.clip_norm is None else config.clip_norm
        for objective in self.objectives:
            nn.utils.clip_grad_norm_(list(objective.parameters()), limit)
        return float(nn.utils.clip_grad_norm_(parameters, limit))


def _windows(batch: Batch, truncate: int | None) -> Iterator[tuple[Batch, bool]]:
    """A batch in windows of `truncate` steps, each with the answers that fall into it, and whether it is the last."""
    steps, scored = len(batch.inputs), len(batch.targets)
    if truncate is None or truncate >= steps:
        yield batch, True
        return
    first = steps - scored
    for begin in range(0, steps, truncate):
        end = min(begin + truncate, steps)
        answers = slice(max(begin - first, 0), max(end - first, 0))
        yield (
            Batch(batch.inputs[begin:end], batch.targets[answers], batch.weights[answers]),
            end == steps,
        )


def without_gradient(state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """The same named tuple with gradients cut off."""
    return type(state)(*(tensor.detach() for tensor in state))
