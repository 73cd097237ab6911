"""An objective nudges the network, learns by its own optimizer, and is saved and resumed exactly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, final

import pytest
import torch
from torch import Tensor, nn

from memspan.objectives import Objective
from memspan.tasks import Batch, Copy
from memspan.training import CellConfig, Config, TrainingConfig, resume, train
from memspan.training.run.checkpoint import read_checkpoint
from memspan.training.run.machine import Machine
from memspan.training.supervised.evaluation import score
from memspan.training.supervised.learner import SupervisedLearner
from memspan.training.supervised.trained_model import load_best


@final
class Mean(Objective):
    """weight * mean (h - m)^2: pulls states towards m, which it learns."""

    def __init__(self, weight: float = 0.1) -> None:
        super().__init__()
        self.weight = weight
        self.m = nn.Parameter(torch.zeros(()))
        self.register_buffer("seen", torch.zeros((), dtype=torch.int64))
        self.switches = 0

    @property
    def name(self) -> str:
        return "mean"

    @property
    def learning_rate(self) -> float:
        return 0.01

    def loss(self, model: nn.Module, batch: Batch, index: int) -> tuple[Tensor, dict[str, float]]:
        self.seen += 1
        return self.weight * (model(batch.inputs).hidden - self.m).square().mean(), {"m": self.m.item()}

    def on_switch(self) -> None:
        self.switches += 1


@final
class Quiet(Objective):
    """Adds nothing and has nothing to learn."""

    @property
    def name(self) -> str:
        return "quiet"

    @property
    def learning_rate(self) -> float:
        return 0.01

    def loss(self, model: nn.Module, batch: Batch, index: int) -> tuple[Tensor, dict[str, float]]:
        return torch.zeros(()), {"index": float(index)}


@final
class Late(Objective):
    """Tells of every third batch only."""

    @property
    def name(self) -> str:
        return "late"

    @property
    def learning_rate(self) -> float:
        return 0.01

    def loss(self, model: nn.Module, batch: Batch, index: int) -> tuple[Tensor, dict[str, float]]:
        return torch.zeros(()), {} if index % 3 else {"seven": 7.0}


def config_of(**settings: Any) -> Config:
    usual = {"updates": 20, "batch": 4, "validate_every": 5, "log_every": 5, "threads": 1, "device": "cpu"}
    usual |= {"validation_batches": 1, "validation_size": 10}
    return Config(
        word="copy",
        task=Copy(delay=3),
        cell=CellConfig(name="rnn", hidden=8),
        training=TrainingConfig(**{**usual, **settings}),
    )


def newest(run: Path) -> Path:
    return max((run / "checkpoints").glob("*.safetensors"))


def test_its_gradient_reaches_the_network_and_its_own_parameters():
    config = config_of(clip_norm=None)
    plain, nudged = (
        SupervisedLearner(config, Machine(config.training), objectives) for objectives in ((), (Mean(0.5),))
    )
    without, told = plain.step(0, 0.0), nudged.step(0, 0.0)
    assert told["loss"] == without["loss"]
    network, objective, batch = plain.network, Mean(0.5), config.task.batch(0, 4, seed=0)
    loss, _ = objective.loss(network, batch, 0)
    assert told["mean.loss"] == pytest.approx(loss.item(), rel=1e-6)
    loss.backward()  # on top of the gradients of the task
    for mine, theirs in zip(network.parameters(), nudged.network.parameters(), strict=True):
        assert mine.grad is not None
        assert theirs.grad is not None
        assert torch.allclose(mine.grad, theirs.grad, atol=1e-7)
    assert objective.m.grad is not None
    moved = nudged.objectives["mean"].get_parameter("m")
    assert moved.item() == pytest.approx(-0.01 * objective.m.grad.sign().item(), rel=1e-4)  # Adam's first step


def test_a_run_with_objectives_resumes_to_the_same_bytes(tmp_path: Path):
    whole, stopped, going_on = Mean(), Mean(), Mean()
    train(config_of(), tmp_path / "whole", objectives=(whole,))
    train(config_of(updates=10), tmp_path / "run", objectives=(stopped,))
    resume(tmp_path / "run", updates=20, objectives=(going_on,))
    assert newest(tmp_path / "run").read_bytes() == newest(tmp_path / "whole").read_bytes()
    assert (tmp_path / "run/metrics.jsonl").read_bytes() == (tmp_path / "whole/metrics.jsonl").read_bytes()
    assert going_on.m.item() == whole.m.item() != stopped.m.item()
    assert going_on.get_buffer("seen").item() == 20
    tensors, _ = read_checkpoint(newest(tmp_path / "run"), "rnn")
    assert {name for name in tensors if "mean" in name} >= {
        "objective.mean.m",
        "objective.mean.seen",
        "objective-optimizer.mean.0.exp_avg",
    }


def test_what_it_tells_is_in_the_metrics_as_a_mean(tmp_path: Path):
    train(config_of(accumulate=2), tmp_path / "run", objectives=(Quiet(), Mean()))
    lines = [json.loads(line) for line in (tmp_path / "run/metrics.jsonl").read_text().splitlines()]
    assert lines[0]["quiet.index"] == sum(range(10)) / 10
    assert lines[0]["mean.loss"] > 0


def test_the_switch_is_announced_when_averaging_starts_and_again_when_such_a_run_is_resumed(tmp_path: Path):
    config = config_of(optimizer="nt-asgd", learning_rate=3.0, nonmonotone=1, updates=60)
    objective, later = Mean(), Mean()
    train(config, tmp_path / "run", objectives=(objective,))
    assert objective.switches == 1
    resume(tmp_path / "run", updates=65, objectives=(later,))
    assert later.switches == 1
    never = Mean()
    train(config_of(), tmp_path / "plain", objectives=(never,))
    assert never.switches == 0


def test_a_metric_of_some_updates_only_is_a_mean_over_these(tmp_path: Path):
    """Also if stopped and resumed between two lines of the metrics."""
    train(config_of(updates=7, validate_every=20), tmp_path / "run", objectives=(Late(),))
    resume(tmp_path / "run", updates=20, objectives=(Late(),))
    train(config_of(validate_every=20), tmp_path / "whole", objectives=(Late(),))
    lines = [json.loads(line) for line in (tmp_path / "run/metrics.jsonl").read_text().splitlines()]
    assert [line["late.seven"] for line in lines if "late.loss" in line] == [7.0] * 4
    assert (tmp_path / "run/metrics.jsonl").read_bytes() == (tmp_path / "whole/metrics.jsonl").read_bytes()


def test_processes_have_numbers_of_their_own_for_every_batch():
    numbers = []
    for rank in range(2):
        config = config_of(accumulate=1)
        machine = Machine(config.training)
        machine.rank, machine.count = rank, 2
        trainer = SupervisedLearner(config, machine, (Quiet(),))
        numbers.append([trainer.step(update, 1.0)["quiet.index"] for update in range(3)])
    assert numbers == [[0, 2, 4], [1, 3, 5]]


def test_the_averaged_weights_of_asgd_are_the_ones_evaluated(tmp_path: Path):
    run = train(config_of(optimizer="asgd", learning_rate=0.5), tmp_path / "run")
    best = load_best(tmp_path / "run")
    tensors, _ = read_checkpoint(best.folder.checkpoint(best.update), "rnn")
    ordered = [each for group in best.network.parameter_groups(1.0) for each in group["params"]]
    for number, parameter in enumerate(ordered):
        assert torch.equal(parameter, tensors[f"optimizer.{number}.ax"])
    assert any(
        not torch.equal(parameter, tensors[f"network.{name}"]) for name, parameter in best.network.named_parameters()
    )
    found = score(best.network, best.config.task, split="test", batches=100, size=10, seed=0)
    assert found["loss"] == pytest.approx(run.loss, rel=1e-5)
