"""The second goal in a training: attached by its configuration, switched on, resumed, and carried into a second stage."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import final

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from memspan.errors import InputError
from memspan.models.hugging_face import HuggingFaceModel
from memspan.objectives import Bmi, BmiConfig, Objective
from memspan.objectives.segments import Segments
from memspan.progress import SILENT, Progress, Stage
from memspan.tasks import Batch, Copy, WordText
from memspan.training import CellConfig, Config, DivergenceError, InitConfig, TrainingConfig, resume, train
from memspan.training.run.checkpoint import read_checkpoint
from memspan.training.run.machine import Machine, torch_seed
from memspan.training.supervised.build import training_segments
from memspan.training.supervised.config import ModelConfig, check_config, resolve
from memspan.training.supervised.learner import SupervisedLearner

LINES = "the cat sat on the mat\nthe mat was red\na dog ran far away\nthe dog was brown\n" * 20
FULL = BmiConfig(name="full", pairs=4, hidden=6, length=8)


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (tmp_path / "texts").mkdir()
    for split in ("train", "valid", "test"):
        (tmp_path / f"texts/{split}.txt").write_text(LINES)
    return str(tmp_path / "texts")


def config_of(folder: str, bmi: BmiConfig = FULL, **training: object) -> Config:
    usual = {"updates": 12, "batch": 3, "validate_every": 3, "validation_size": 2, "log_every": 1}
    usual |= {"device": "cpu", "threads": 1, "optimizer": "adam"}
    return Config(
        word="words",
        task=WordText(data=folder, steps=5),
        cell=CellConfig(name="lstm", hidden=8),
        model=ModelConfig(embedding=6, dropout=0.1),
        training=TrainingConfig(**{**usual, **training}),  # type: ignore[arg-type]
        bmi=bmi,
    )


def metrics(run: Path) -> list[dict]:
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [line for line in lines if "bmi.loss" in line]


@final
class Listener(Progress):
    """Remembers what is said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def stage(self, name: str, total: float, done: float = 0.0) -> Stage:
        return SILENT.stage(name, total, done)

    def say(self, remark: str) -> None:
        self.said.append(remark)


def newest(run: Path) -> Path:
    return max((run / "checkpoints").glob("*.safetensors"))


@pytest.mark.parametrize("second", ["raml", "policy", "policy-program"])
def test_it_switches_at_its_update_and_is_resumed_to_the_same_bytes(folder, tmp_path, second):
    config = config_of(folder, replace(FULL, switch_at=5, second=second))
    train(config, tmp_path / "whole")
    train(replace(config, training=replace(config.training, updates=7)), tmp_path / "run")
    resume(tmp_path / "run", updates=12)
    assert newest(tmp_path / "run").read_bytes() == newest(tmp_path / "whole").read_bytes()
    told = metrics(tmp_path / "whole")
    key = "bmi.effective" if second == "raml" else "bmi.reward"
    assert [key in line for line in told] == [False] * 5 + [True] * 7
    assert all({"bmi.bound", "bmi.accuracy", "bmi.spread"} <= set(line) for line in told)


def test_without_a_time_of_its_own_it_switches_after_half_of_the_updates(folder, tmp_path):
    train(config_of(folder), tmp_path / "run")
    assert ["bmi.effective" in line for line in metrics(tmp_path / "run")] == [False] * 6 + [True] * 6
    kept = json.loads((tmp_path / "run/config.json").read_text())["bmi"]
    assert kept["switch_at"] == 6
    for bmi, training, at in (
        (replace(FULL, switch_at=4), {}, 4),
        (FULL, {"optimizer": "nt-asgd"}, None),
        (replace(FULL, name="base"), {}, None),
        (FULL, {"updates": 1}, None),
    ):
        assert resolve(config_of(folder, bmi, **training)).bmi.switch_at == at


def test_a_run_tells_how_its_second_goal_went(folder, tmp_path):
    told = train(config_of(folder, replace(FULL, switch_at=5)), tmp_path / "full").second_goal
    assert told is not None
    lines = metrics(tmp_path / "full")
    assert told.bound.tolist() == [line["bmi.bound"] for line in lines]
    assert told.accuracy.tolist() == [line["bmi.accuracy"] for line in lines]
    assert np.isnan(told.effective).tolist() == [True] * 5 + [False] * 7
    assert (told.name, told.pairs, told.switched) == ("full", 4, 5)
    begun = replace(config_of(folder), init=InitConfig(name="run", run=str(tmp_path / "full")))
    again = train(begun, tmp_path / "again").second_goal
    assert again is not None
    assert again.switched == 0
    base = train(config_of(folder, replace(FULL, name="base")), tmp_path / "base").second_goal
    assert base is not None
    assert (base.switched, np.isnan(base.effective).all()) == (None, True)
    assert train(config_of(folder, BmiConfig()), tmp_path / "none").second_goal is None


def test_with_nt_asgd_it_switches_when_validation_no_longer_improves(folder, tmp_path):
    late = config_of(folder, optimizer="nt-asgd", learning_rate=50.0, nonmonotone=1, updates=60)
    run = train(late, tmp_path / "full")
    switched = ["bmi.effective" in line for line in metrics(tmp_path / "full")]
    assert run.second_goal is not None
    assert run.second_goal.switched == switched.index(True)
    assert switched[0] is False
    assert switched[-1] is True
    train(replace(late, bmi=replace(FULL, name="base")), tmp_path / "base")
    assert not any("bmi.effective" in line for line in metrics(tmp_path / "base"))


def test_a_second_stage_begins_with_the_network_and_the_discriminator_of_the_first(folder, tmp_path):
    config = config_of(folder, replace(FULL, switch_at=5))
    first = train(config, tmp_path / "first")
    tuned = replace(
        config,
        init=InitConfig(name="run", run=str(tmp_path / "first")),
        training=replace(config.training, optimizer="asgd", learning_rate=1e-12, updates=3),
        bmi=replace(config.bmi, learning_rate=1e-12),
    )
    train(tuned, tmp_path / "second")
    (path,) = (tmp_path / "first/checkpoints").glob(f"*{first.best_update}.safetensors")
    ours, theirs = (read_checkpoint(each, "lstm")[0] for each in (newest(tmp_path / "second"), path))
    names = [name for name in ours if name.startswith(("network.", "objective.bmi.discriminator"))]
    assert len(names) > 6
    assert all(torch.allclose(ours[name], theirs[name], atol=1e-6) for name in names)
    assert "bmi.effective" in metrics(tmp_path / "second")[0]  # the switch had been made


def test_flat_scores_are_reported_once(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("memspan.objectives.bmi.PATIENCE", 2)
    monkeypatch.setattr("memspan.objectives.bmi.FLAT", 1e9)

    listener = Listener()
    run = train(config_of(folder, replace(FULL, switch_at=5)), tmp_path / "run", progress=listener)
    for told in (listener.said, run.notes):
        assert sum("same score for 2 updates" in remark for remark in told) == 1


@pytest.mark.parametrize("segments", ["lines", "windows"])
def test_every_model_of_texts_can_have_it(folder, tmp_path, segments):
    bmi = replace(FULL, segments=segments, gap=2, switch_at=1)
    base = config_of(folder, bmi, updates=3)
    awd = ModelConfig(name="awd-lstm", embedding=6, last=5, experts=2, tied=True, dropouts=0.5)
    for name, config in {
        "rel-rnn": replace(base, cell=CellConfig(name="rel-rnn", hidden=8)),
        "transformer": replace(base, cell=CellConfig(name="transformer", hidden=8, layers=2)),
        "awd": replace(base, model=awd),
    }.items():
        train(config, tmp_path / name)
        assert all(np.isfinite(list(line.values())).all() for line in metrics(tmp_path / name))


def awd_of(folder: str, **training: object) -> Config:
    model = ModelConfig(name="awd-lstm", embedding=6, last=5, experts=2, tied=True)
    return replace(config_of(folder, FULL, **training), model=model)


def test_an_awd_lstm_can_start_from_another_run(folder, tmp_path):
    first = train(awd_of(folder, updates=6), tmp_path / "first")
    begun = InitConfig(name="run", run=str(tmp_path / "first"))
    rest = awd_of(folder, updates=1, learning_rate=1e-12)
    train(replace(rest, init=begun, bmi=replace(rest.bmi, learning_rate=1e-12)), tmp_path / "second")
    path = tmp_path / f"first/checkpoints/{first.best_update:08d}.safetensors"
    ours, theirs = (read_checkpoint(each, "awd-lstm")[0] for each in (newest(tmp_path / "second"), path))
    names = [name for name in theirs if name.startswith("network.")]
    assert len(names) > 5
    assert all(torch.allclose(ours[name], theirs[name], atol=1e-6) for name in names)


@final
class Calls(Objective):
    """Has the network read something else, which draws other dropout masks, and adds nothing."""

    @property
    def name(self) -> str:
        return "calls"

    @property
    def learning_rate(self) -> float:
        return 0.01

    def loss(self, model: nn.Module, batch: Batch, index: int) -> tuple[Tensor, dict[str, float]]:
        return 0.0 * model(batch.inputs).hidden.sum(), {}


def test_the_penalty_of_a_network_is_that_of_its_own_reading_whatever_an_objective_has_it_read(folder):
    config = replace(awd_of(folder, clip_norm=None), bmi=BmiConfig())
    gradients = []
    for objectives in ((), (Calls(),)):
        trainer = SupervisedLearner(config, Machine(config.training), objectives)
        with torch_seed(1):
            trainer.step(0, 0.0)
        gradients.append([each.grad for each in trainer.network.parameters()])
    for alone, beside in zip(*gradients, strict=True):
        assert torch.allclose(alone, beside, atol=1e-7)


def test_short_lines_are_filled_up_with_the_unknown_word_or_else_with_their_end(folder):
    for most, filler in ((5, "<unk>"), (None, "<eos>")):
        config = replace(config_of(folder), task=WordText(data=folder, steps=5, most=most))
        vocabulary = config.task.vocabulary
        assert vocabulary is not None
        words = [vocabulary.symbols[number] for number in training_segments(config).symbols[1]]
        assert words[-4:] == ["<eos>", filler, filler, filler]


def test_a_non_finite_objective_is_reported_with_a_remedy(folder, tmp_path, monkeypatch):
    plain = Bmi.loss

    def broken(self, model, batch, index):
        loss, told = plain(self, model, batch, index)
        return (loss * float("nan") if index == 4 else loss), told

    monkeypatch.setattr(Bmi, "loss", broken)
    with pytest.raises(DivergenceError) as raised:
        train(config_of(folder), tmp_path / "run")
    assert re.fullmatch(
        r"the loss of bmi is NaN or infinite, while that of the task is \d.*, at update 5; the checkpoint of update 3 "
        r"is saved in .*run; train again into another --out with a smaller learning rate of its discriminator "
        r"\(--set bmi\.learning_rate=7e-05\) or a smaller bmi\.weight",
        str(raised.value),
    )


def test_a_model_that_gives_no_states_is_rejected(folder):
    with pytest.raises(InputError, match=r"Linear has no outputs\(symbols\) or no answered\(hidden\); expected"):
        Bmi(FULL, training_segments(config_of(folder)), torch.nn.Linear(1, 1), 0)  # pyright: ignore[reportArgumentType]


def test_what_is_no_text_has_no_segments(folder):
    config = config_of(folder)
    with pytest.raises(
        InputError, match=r"bmi\.name is full, but the task copy is not a text; bmi works with characters"
    ):
        check_config(replace(config, word="copy", task=Copy(delay=3), model=ModelConfig()))
    with pytest.raises(InputError, match=r"bmi\.weight is -1"):
        check_config(replace(config, bmi=replace(FULL, weight=-1)))


def test_an_unreachable_switch_is_rejected_and_a_missed_one_is_reported(folder, tmp_path):
    with pytest.raises(InputError, match=r"bmi\.switch_at is 30, but training ends after 30 updates"):
        check_config(config_of(folder, replace(FULL, switch_at=30), updates=30))
    run = train(config_of(folder, updates=4, optimizer="nt-asgd"), tmp_path / "run")
    assert sum("the switch was never reached" in note for note in run.notes) == 1


def test_a_second_stage_with_another_discriminator_is_rejected(folder, tmp_path):
    config = config_of(folder, replace(FULL, switch_at=5))
    train(config, tmp_path / "first")
    begun = replace(config, init=InitConfig(name="run", run=str(tmp_path / "first")))
    with pytest.raises(InputError, match=r"init\.run .*first has bmi of other sizes than this configuration"):
        train(replace(begun, bmi=replace(config.bmi, hidden=9)), tmp_path / "second")


def test_windows_that_are_longer_than_the_text_are_rejected(folder, tmp_path):
    long = config_of(folder, replace(FULL, segments="windows", length=400))
    with pytest.raises(InputError, match=r"segments of 400 symbols; .*a smaller bmi\.length"):
        train(long, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_text_of_one_line_is_refused_before_there_is_a_folder(tmp_path):
    (tmp_path / "texts").mkdir()
    for split in ("train", "valid", "test"):
        (tmp_path / f"texts/{split}.txt").write_text("one line of words " * 20 + "\n")
    with pytest.raises(InputError, match="has 1 non-empty lines; expected two or more"):
        train(config_of(str(tmp_path / "texts")), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_it_attaches_to_a_model_of_hugging_face_and_its_bound_rises():
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    network = transformers.GPT2LMHeadModel(
        transformers.GPT2Config(vocab_size=9, n_positions=32, n_embd=16, n_layer=2, n_head=2)
    )
    model = HuggingFaceModel(network)
    runs = np.repeat(np.random.default_rng(1).integers(0, 8, 40), 2)
    segments = Segments(np.repeat(runs[:, None], 5, axis=1), np.random.default_rng(2).integers(3, 6, 80))
    bmi = Bmi(BmiConfig(name="full", pairs=16, hidden=20), segments, model, 0)
    optimizer = torch.optim.Adam([*model.parameters(), *bmi.parameters()], lr=3e-3)
    nothing = torch.zeros(1, 1, dtype=torch.int64)
    told: list[dict[str, float]] = []
    for index in range(50):
        if index == 40:
            bmi.on_switch()
        optimizer.zero_grad()
        loss, metrics = bmi.loss(model, Batch(nothing, nothing, torch.ones(1, 1)), index)
        loss.backward()
        optimizer.step()
        told.append(metrics)
    bounds = [each["bound"] for each in told]
    assert np.mean(bounds[-10:]) > np.mean(bounds[:5]) + 0.2
    assert told[-1]["effective"] > 1
