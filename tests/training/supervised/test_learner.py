"""One update is what it says: gradients of windows and of accumulated batches, clipping, rates of groups, precision."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import final

import numpy as np
import pytest
import torch
from torch import Tensor

import memspan
from memspan.errors import InputError
from memspan.progress import Progress, Stage
from memspan.tasks import Batch, Task
from memspan.training import resume, train
from memspan.training.run.checkpoint import Position
from memspan.training.run.folder import RunFolder
from memspan.training.run.journal import NullJournal
from memspan.training.run.loop import Loop, StopRequest
from memspan.training.run.machine import Machine
from memspan.training.supervised.build import build
from memspan.training.supervised.config import Config, from_json, to_json
from memspan.training.supervised.defaults import defaults
from memspan.training.supervised.learner import PREFETCH, BatchPrefetcher, SupervisedLearner, truncation_windows
from memspan.training.supervised.schedule import weight_averages

MOST_FILES = 12
"""Files that one update of `memspan train copy --cell rel-rnn` may pass through; the cell alone has six of them."""
SAME = 1e-6
"""Single precision: sums of a few numbers below 1 in another order."""


def trainer_of(config: Config) -> SupervisedLearner:
    return SupervisedLearner(config, Machine(config.training))


def gradients(trainer: SupervisedLearner) -> list[Tensor]:
    return [parameter.grad.clone() for parameter in trainer.network.parameters() if parameter.grad is not None]


def near(some: list[Tensor], others: list[Tensor]) -> bool:
    return len(some) == len(others) > 0 and all(
        torch.allclose(one, other, atol=SAME, rtol=0) for one, other in zip(some, others, strict=True)
    )


@final
@dataclass(frozen=True, kw_only=True)
class Stream(Task):
    """One endless noisy wave in each column, to be told one step ahead; batch i + 1 goes on where batch i ended."""

    weighted: bool = False

    @property
    def stateful(self) -> bool:
        return True

    @property
    def symbols(self) -> None:
        return None

    @property
    def features(self) -> int:
        return 1

    @property
    def classes(self) -> int:
        return 2

    @property
    def chance(self) -> float:
        return 0.5

    @property
    def baseline(self) -> float:
        return math.log(2)

    def batch(self, index: int, size: int, *, seed: int, split="train", device="cpu") -> Batch:
        steps = index * 6 + np.arange(7)[:, None] + 5 * np.arange(size)
        wave = np.sin(0.7 * steps + seed).astype(np.float32)
        weights = np.ones((6, size), np.float32)
        if self.weighted:
            weights[:, 0] = 0
            weights[:2] = 0
        return Batch(
            torch.from_numpy(wave[:-1, :, None]).to(device),
            torch.from_numpy((wave[1:] > 0).astype(np.int64)).to(device),
            torch.from_numpy(weights).to(device),
        )


def test_batches_drawn_ahead_are_the_tasks_own_in_any_order():
    task, drawn = Stream(), []

    def batch(index: int, *args, **options) -> Batch:
        drawn.append(index)
        return Stream.batch(task, index, *args, **options)

    object.__setattr__(task, "batch", batch)
    ahead = BatchPrefetcher(task, 3, seed=5, device=torch.device("cpu"))
    for index in (4, 5, 4 + PREFETCH, 0):
        assert torch.equal(ahead.batch(index).inputs, Stream().batch(index, 3, seed=5).inputs)
    assert drawn == [*range(4, 4 + 2 * PREFETCH), *range(PREFETCH)]


def test_accumulated_gradients_are_those_of_one_larger_batch(tiny):
    config = tiny(accumulate=3, batch=4, clip_norm=None)
    trainer = trainer_of(config)
    trainer.step(2, 0.0)
    network = build(config)
    parts = [config.task.batch(index, 4, seed=0) for index in (6, 7, 8)]
    whole = Batch(*(torch.cat(tensors, dim=1) for tensors in zip(*(part[:3] for part in parts), strict=True)))
    config.task.loss(network(whole.inputs).logits, whole).backward()
    assert near(gradients(trainer), [p.grad for p in network.parameters() if p.grad is not None])


@pytest.mark.parametrize("truncate", [1, 5, 12, 23, 100])
@pytest.mark.parametrize("cell", ["lstm", "rel-rnn"])
def test_truncated_gradients_are_those_of_windows_with_the_state_cut_between_them(truncate, cell, tiny):
    config = tiny(cell, truncate=truncate, clip_norm=None)
    trainer = trainer_of(config)
    told = trainer.step(0, 0.0)
    network, batch = build(config), config.task.batch(0, 4, seed=0)
    total, state = torch.zeros(()), None
    for begin in range(0, len(batch.inputs), truncate):
        output = network(batch.inputs[begin : begin + truncate], state)
        state = type(output.state)(*(tensor.detach() for tensor in output.state))
        targets = batch.targets[begin : begin + truncate]
        losses = torch.nn.functional.cross_entropy(output.logits.flatten(0, 1), targets.flatten(), reduction="sum")
        total = total + losses / batch.targets.numel()
    total.backward()
    assert told["loss"] == pytest.approx(total.item(), abs=SAME)
    assert near(gradients(trainer), [p.grad for p in network.parameters() if p.grad is not None])


def test_windows_hold_every_step_and_every_answer_once():
    batch = Batch(torch.arange(20).view(10, 2), torch.arange(6).view(3, 2), torch.ones(3, 2))
    parts = list(truncation_windows(batch, 4))
    assert torch.equal(torch.cat([part.inputs for part, _ in parts]), batch.inputs)
    assert torch.equal(torch.cat([part.targets for part, _ in parts]), batch.targets)
    assert [len(part.targets) for part, _ in parts] == [0, 1, 2]
    assert [last for _, last in parts] == [False, False, True]


def test_the_state_is_carried_from_batch_to_batch_where_batches_go_on(tiny):
    config = replace(tiny("lstm", batch=3, clip_norm=None), task=Stream())
    trainer = trainer_of(config)
    assert trainer.step(0, 0.0)["loss"] > 0
    told = trainer.step(1, 0.0)["loss"]
    network = build(config)
    one, two = (Stream().batch(index, 3, seed=0) for index in (0, 1))
    output = network(two.inputs, network(one.inputs).state)
    assert told == pytest.approx(Stream().loss(output.logits, two).item(), abs=SAME)
    saved = trainer.tensors()
    again = trainer_of(config)
    again.load(saved, Path("checkpoint"), averaging=False)
    assert again.step(2, 1.0) == trainer.step(2, 1.0)


def test_windows_in_which_nothing_counts_add_nothing(tiny):
    config = replace(tiny("lstm", batch=3, truncate=2, clip_norm=None), task=Stream(weighted=True))
    trainer = trainer_of(config)
    told = trainer.step(0, 0.0)
    network, batch = build(config), config.task.batch(0, 3, seed=0)
    assert told["loss"] == pytest.approx(config.task.loss(network(batch.inputs).logits, batch).item(), abs=SAME)
    assert all(gradient.isfinite().all() for gradient in gradients(trainer))


def test_gradients_are_clipped_by_norm_and_the_norm_before_is_told(tiny):
    free, bound = trainer_of(tiny(clip_norm=None)), trainer_of(tiny(clip_norm=0.01))
    told = free.step(0, 0.0)["norm"]
    assert bound.step(0, 0.0)["norm"] == told > 0.01
    norm = torch.cat([gradient.flatten() for gradient in gradients(bound)]).norm()
    assert norm.item() == pytest.approx(0.01, rel=1e-3)
    whole = torch.cat([gradient.flatten() for gradient in gradients(free)]).norm()
    assert whole.item() == pytest.approx(told, rel=1e-5)
    assert told == torch.nn.utils.clip_grad_norm_(free.network.parameters(), 0.01).item()
    assert all(torch.equal(*pair) for pair in zip(gradients(free), gradients(bound), strict=True))


def test_gradients_are_clipped_by_value(tiny):
    free, bound = trainer_of(tiny(clip_norm=None)), trainer_of(tiny(clip_norm=None, clip_value=0.003))
    free.step(0, 0.0)
    bound.step(0, 0.0)
    assert near(gradients(bound), [gradient.clamp(-0.003, 0.003) for gradient in gradients(free)])
    assert any(gradient.abs().max() > 0.003 for gradient in gradients(free))


def test_orthogonal_weights_learn_at_a_tenth_of_the_rate_under_every_factor(tiny):
    config = tiny("exp-rnn", optimizer="sgd", learning_rate=0.1, clip_norm=None)
    trainer = trainer_of(config)
    for update, factor in enumerate((1.0, 0.25)):
        before = {name: p.detach().clone() for name, p in trainer.network.named_parameters()}
        trainer.step(update, factor)
        for name, parameter in trainer.network.named_parameters():
            assert parameter.grad is not None
            own = 0.1 if "parametrizations" in name else 1.0
            moved = before[name] - factor * own * 0.1 * parameter.grad
            assert torch.allclose(parameter, moved, atol=SAME), name


@pytest.mark.parametrize("cell", ["rel-rnn", "lstm", "minimal-rnn", "transformer"])
def test_half_precision_gives_almost_the_same_update_in_single_precision_weights(cell, tiny):
    single, half = trainer_of(tiny(cell)), trainer_of(tiny(cell, precision="bfloat16"))
    told, of_half = single.step(0, 1.0), half.step(0, 1.0)
    # bfloat16 has 8 bits: products are right to about 0.4 %, and the loss is a mean of many.
    assert of_half["loss"] == pytest.approx(told["loss"], rel=0.02)
    assert of_half["loss"] != told["loss"]
    assert all(parameter.dtype == torch.float32 for parameter in half.network.parameters())
    assert math.isfinite(of_half["norm"])
    assert half.step(1, 1.0)["loss"] < 3


def test_nothing_is_updated_where_the_loss_or_its_gradient_is_no_number(tiny):
    trainer = trainer_of(tiny())
    with torch.no_grad():
        next(trainer.network.parameters())[0, 0] = float("inf")
    before = [parameter.detach().clone() for parameter in trainer.network.parameters()]
    told = trainer.step(0, 1.0)
    assert not (math.isfinite(told["loss"]) and math.isfinite(told["norm"]))
    assert all(map(torch.equal, before, trainer.network.parameters()))
    assert not trainer.is_finite()


def test_averages_are_the_mean_of_the_weights_since_the_second_averaged_update(tiny):
    trainer = trainer_of(tiny("rnn", optimizer="nt-asgd", learning_rate=0.5))
    trainer.step(0, 1.0)
    trainer.switch()
    assert weight_averages(trainer.optimizer) == {}
    seen = []
    for update in range(1, 6):
        trainer.step(update, 1.0)
        seen.append(torch.cat([p.detach().flatten() for p in trainer.network.parameters()]))
    latest = seen[-1]
    trainer.swap_averages()
    averaged = torch.cat([p.detach().flatten() for p in trainer.network.parameters()])
    assert torch.allclose(averaged, torch.stack(seen[1:]).mean(0), atol=SAME)  # torch's ASGD leaves out the first
    trainer.swap_averages()
    assert torch.equal(torch.cat([p.detach().flatten() for p in trainer.network.parameters()]), latest)


def test_averaged_updates_follow_the_rate_of_their_own_update(tiny):
    trainer = trainer_of(tiny("rnn", optimizer="nt-asgd", learning_rate=0.1, clip_norm=None))
    trainer.switch()
    for update, factor in enumerate((1.0, 0.5, 0.0)):
        before = [parameter.detach().clone() for parameter in trainer.network.parameters()]
        trainer.step(update, factor)
        for old, parameter in zip(before, trainer.network.parameters(), strict=True):
            assert parameter.grad is not None
            assert torch.allclose(parameter, old - factor * 0.1 * parameter.grad, atol=SAME)


@final
class SecondUpdate(Progress, Stage):
    """Records the files of memspan that run between the ends of the first and the second update, and stops there."""

    def __init__(self, request: StopRequest) -> None:
        self.request, self.files = request, set[str]()
        self.updates = 0
        self._root = f"{Path(memspan.__file__).parent}{os.sep}"

    def stage(self, name: str, total: float, done: float = 0.0) -> Stage:
        return self

    def say(self, remark: str) -> None:
        pass

    def close(self) -> None:
        pass

    def advance(self, amount: float = 1.0) -> None:
        self.updates += 1
        sys.setprofile(self._record if self.updates == 1 else None)
        self.request.stop = self.updates == 2

    def _record(self, frame: FrameType, event: str, argument: object) -> None:
        path = frame.f_code.co_filename
        if path.startswith(self._root):
            self.files.add(path.removeprefix(self._root).replace(os.sep, "/"))


def test_an_update_passes_through_few_files(tmp_path: Path):
    config, request = from_json(defaults("copy", "rel-rnn")), StopRequest()
    learner, progress = SupervisedLearner(config, Machine(config.training)), SecondUpdate(request)
    Loop(learner, RunFolder(tmp_path), Position(), NullJournal(), request, 0.0).run(progress)
    ours = {path for path in progress.files if path.startswith("training/")}
    assert ours == {
        "training/run/loop.py",
        "training/run/machine.py",
        "training/supervised/learner.py",
        "training/supervised/schedule.py",
    }
    others = sorted(progress.files - ours)
    assert len(progress.files) <= MOST_FILES, others


SAME_LOSS = 1e-4
"""Single precision after fifty updates with gradients that are summed in another order."""
UPDATES = 50
SCRIPT = """
import json, os, sys
from pathlib import Path
from memspan.training import DivergenceError, resume, train
from memspan.training.run.config import apply_setting
from memspan.training.supervised.config import from_json

def say(*words):
    os.write(1, (json.dumps([os.environ["RANK"], *words]) + "\\n").encode())  # at once, so that lines stay whole

plain, out = json.loads(sys.argv[1]), Path(sys.argv[2])
if os.environ["RANK"] == "1":
    out = out / "what the other process says is what counts"
train(from_json(apply_setting(plain, "training.updates=23")), out)
run = resume(Path(sys.argv[2]), updates=50)
say(run.loss, run.updates)
averaged = apply_setting(apply_setting(plain, "cell.name=detach-lstm"), "training.optimizer=nt-asgd")
try:
    train(from_json(apply_setting(averaged, "training.learning_rate=1e38")), Path(sys.argv[2]) / "diverging")
except DivergenceError:
    say("diverged")
os._exit(0)  # gloo's own threads sometimes abort when the interpreter takes them down, after all is written
"""


def losses_of(run: Path) -> list[float]:
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [line["loss"] if "loss" in line else line["validation"]["loss"] for line in lines]


def test_two_processes_have_the_losses_of_one_with_the_doubled_batch(tiny, tmp_path: Path):
    config = tiny(updates=UPDATES, batch=4, log_every=1, learning_rate=0.01, device="auto")
    (tmp_path / "script.py").write_text(SCRIPT)
    told = subprocess.run(
        [
            *(sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"),
            *("script.py", json.dumps(to_json(config)), "both"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert told.returncode == 0, told.stderr
    said = [json.loads(line) for line in told.stdout.splitlines() if line.startswith("[")]
    whole = train(tiny(updates=UPDATES, batch=8, log_every=1, learning_rate=0.01), tmp_path / "one")
    both, one = losses_of(tmp_path / "both"), losses_of(tmp_path / "one")
    assert both == pytest.approx(one, abs=SAME_LOSS)
    assert len(one) == UPDATES + UPDATES // 10
    assert sorted(rank for rank, *_ in said) == ["0", "0", "1", "1"]
    ended = [line for line in said if line[1] != "diverged"]
    assert ended[0][1:] == ended[1][1:] == [pytest.approx(whole.loss, abs=SAME_LOSS), UPDATES]
    sessions = [json.loads(line) for line in (tmp_path / "both/timing.jsonl").read_text().splitlines()]
    assert [(line["session"], line["update"]) for line in sessions] == [
        *((0, 10), (0, 20), (0, 23)),
        *((1, 30), (1, 40), (1, 50)),
    ]
    with pytest.raises(InputError, match="was written by 2 processes, but this training has 1; resume with as many"):
        resume(tmp_path / "both")
