"""Trainings on texts: the state is carried, every symbol of a validation counts, and AWD-LSTMs learn like cells do."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import pytest
import torch
from torch.nn import functional

from memspan.diagnostics import diagnose
from memspan.errors import InputError
from memspan.models.awd_lstm import PENN_TREEBANK, AwdLstm
from memspan.tasks import CharacterText, WordText
from memspan.tasks.text import encode_corpus
from memspan.training import CellConfig, Config, InitConfig, TrainingConfig, resume, train
from memspan.training.run.config import Option
from memspan.training.run.machine import Machine
from memspan.training.supervised.build import build_model
from memspan.training.supervised.config import ModelConfig, check_config
from memspan.training.supervised.evaluation import evaluate_run
from memspan.training.supervised.generation import load_generator
from memspan.training.supervised.learner import SupervisedLearner
from memspan.training.supervised.trained_model import load_best

TEXT = "the cat sat on the mat\nthe dog sat on the cat\n" * 30
AWD = ModelConfig(name="awd-lstm", embedding=6, last=5, experts=2, tied=True, dropouts=0.5)


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (tmp_path / "texts").mkdir()
    for split in ("train", "valid", "test"):
        (tmp_path / f"texts/{split}.txt").write_text(TEXT)
    return str(tmp_path / "texts")


def config_of(folder: str, model: ModelConfig = ModelConfig(embedding=6), **training: object) -> Config:  # noqa: B008
    return Config(
        word="words",
        task=WordText(data=folder, steps=5),
        cell=CellConfig(name="lstm", hidden=8, layers=2),
        model=model,
        training=TrainingConfig(
            **{
                "updates": 6,
                "batch": 3,
                "validate_every": 3,
                "validation_size": 2,
                "log_every": 1,
                "device": "cpu",
                "threads": 1,
                "optimizer": "adam",
                **training,
            }  # type: ignore[arg-type]
        ),
    )


def test_an_evaluation_is_the_mean_loss_of_all_symbols_read_one_by_one(folder: str, tmp_path: Path):
    train(config_of(folder), tmp_path / "run")
    found = evaluate_run(tmp_path / "run", size=1)
    best = load_best(tmp_path / "run")
    task = best.config.task
    assert isinstance(task, WordText)
    words = [word for line in TEXT.splitlines() for word in (*line.split(), "<eos>")]
    numbers = torch.from_numpy(task.vocabulary.encode(words))
    end = task.vocabulary.numbers["<eos>"]
    with torch.no_grad():
        inputs = torch.cat([torch.tensor([end]), numbers[:-1]])
        logits = best.network(inputs[:, None]).logits[:, 0]
    expected = float(functional.cross_entropy(logits, numbers))
    assert math.isclose(found.loss, expected, rel_tol=1e-5)
    assert found.accuracy is None


def test_a_shorter_context_is_asked_for_by_windows_that_begin_from_nothing(folder: str, tmp_path: Path):
    train(config_of(folder), tmp_path / "run")
    found = evaluate_run(tmp_path / "run", (2, 10), batches=3, size=4)
    assert [one.delay for one in found.transfer] == [2, 10]
    assert found.distance == "context"
    assert [one.sequences for one in found.transfer] == [12, 12]


def test_windows_count_every_symbol_once_also_those_that_the_text_ends_in(folder: str, tmp_path: Path):
    train(config_of(folder), tmp_path / "run")
    best = load_best(tmp_path / "run")
    task = best.task
    assert isinstance(task, WordText)
    numbers = torch.from_numpy(encode_corpus(task.identity).symbols["test"].copy())
    inputs = torch.cat([torch.tensor([task.vocabulary.end]), numbers[:-1]])
    window, total = 100, len(numbers)
    assert total % window
    found = evaluate_run(tmp_path / "run", (window, 10 * total), size=4)
    with torch.no_grad():
        losses = [
            functional.cross_entropy(best.network(part[:, None]).logits[:, 0], answers, reduction="sum")
            for part, answers in zip(inputs.split(window), numbers.split(window), strict=True)
        ]
        whole = functional.cross_entropy(best.network(inputs[:, None]).logits[:, 0], numbers)
    assert [one.sequences for one in found.transfer] == [math.ceil(total / window), 1]
    assert found.transfer[0].loss == pytest.approx(float(sum(losses)) / total, rel=1e-5)
    assert found.transfer[1].loss == pytest.approx(float(whole), rel=1e-5)


def test_a_text_that_has_changed_is_told_by_whoever_reads_it(folder: str, tmp_path: Path):
    run = tmp_path / "run"
    train(config_of(folder), run)
    (Path(folder) / "train.txt").write_text(TEXT + "mat\n" * 100)  # the same words, by another order of frequency
    told = "run was trained on has changed: its symbols differ from vocabulary.json"
    tried = (
        lambda: evaluate_run(run),
        lambda: resume(run, updates=8),
        lambda: diagnose(run, costs=False),
        lambda: train(
            dataclasses.replace(config_of(folder), init=InitConfig(name="run", run=str(run))), tmp_path / "second"
        ),
    )
    encode_corpus.cache_clear()
    for one in tried:
        with pytest.raises(InputError, match=told):
            one()
    assert load_generator(f"run:{run}")  # which needs no text


def test_a_test_text_shorter_than_a_window_is_told(folder: str, tmp_path: Path):
    train(config_of(folder), tmp_path / "run")
    with pytest.raises(InputError, match="shorter than one window of 2,000 symbols; use a smaller --delay"):
        diagnose(tmp_path / "run", delay=2_000, costs=False)


def test_an_awd_lstm_is_built_as_configured_and_learns(folder: str, tmp_path: Path):
    config = config_of(folder, AWD, updates=60, learning_rate=1e-2, validate_every=30)
    network = build_model(config)
    assert isinstance(network, AwdLstm)
    assert [layer.hidden_size for layer in network.stack] == [8, 5]
    assert network.dropouts == PENN_TREEBANK.times(0.5)
    run = train(config, tmp_path / "run")
    assert run.cell == "awd-lstm"
    assert run.loss < run.baseline
    assert evaluate_run(tmp_path / "run").loss == pytest.approx(run.loss, rel=0.05)
    author = load_generator(f"run:{tmp_path / 'run'}")
    assert author.context is None
    (block,) = author.generate(streams=2, length=4, seed=0)
    assert block.symbols.shape == (2, 4)


@pytest.mark.parametrize(("cell", "context"), [("sab-lstm", 5), ("mem-lstm", 5), ("rel-lstm", None), ("gru", None)])
def test_what_stores_its_past_looks_back_as_far_as_a_window(
    folder: str, tmp_path: Path, cell: str, context: int | None
):
    options: dict[str, Option] = {"every": 4} if cell == "sab-lstm" else {}
    config = config_of(folder, updates=1)
    train(dataclasses.replace(config, cell=CellConfig(name=cell, hidden=8, options=options)), tmp_path / "run")
    assert load_generator(f"run:{tmp_path / 'run'}").context == context


def test_validations_of_a_part_of_the_text_are_told(folder: str, tmp_path: Path):
    (note,) = train(config_of(folder, validation_batches=7), tmp_path / "part").notes
    assert "used the first 17% of the validation split; --set training.validation_batches=42" in note
    assert not train(config_of(folder, validation_batches=42), tmp_path / "whole").notes


def test_what_an_awd_lstm_asks_for_besides_is_learnt_from_and_not_told_as_loss(folder: str):
    quiet = dataclasses.replace(AWD, dropouts=0.0)
    config = config_of(folder, quiet, clip_norm=None)
    trainer = SupervisedLearner(config, Machine(config.training))
    network = build_model(config)
    assert isinstance(network, AwdLstm)
    batch = config.task.batch(0, 3, seed=0)
    output = network(batch.inputs, resets=batch.resets)
    loss = config.task.loss(output.logits, batch)
    (loss + network.regularization(output)).backward()
    told = trainer.step(0, 0.0)
    assert math.isclose(told["loss"], loss.item(), rel_tol=1e-6)
    for mine, theirs in zip(trainer.network.parameters(), network.parameters(), strict=True):
        assert mine.grad is not None
        assert theirs.grad is not None
        assert torch.allclose(mine.grad, theirs.grad, atol=1e-6)


def test_a_stopped_training_of_an_awd_lstm_goes_on_to_the_same_weights(folder: str, tmp_path: Path):
    config = config_of(folder, AWD, updates=8, validate_every=4)
    train(config, tmp_path / "whole")
    half = dataclasses.replace(config, training=dataclasses.replace(config.training, updates=4))
    train(half, tmp_path / "halves")
    resume(tmp_path / "halves", updates=8)
    one, two = (load_best(tmp_path / name).network.state_dict() for name in ("whole", "halves"))
    assert all(torch.equal(tensor, two[name]) for name, tensor in one.items())


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"model": dataclasses.replace(AWD, embedding=None)}, "set model.embedding"),
        ({"cell": CellConfig(name="gru", hidden=8)}, "expected cell.name=lstm"),
        ({"init": InitConfig(name="chrono")}, "init.name=default"),
        ({"model": dataclasses.replace(AWD, experts=0)}, "model.experts is 0; expected a whole number of 1 or more"),
        (
            {"model": dataclasses.replace(AWD, dropouts=3.0)},
            "model.dropouts is 3.0; expected a number of 0 or more and below 2",
        ),
        ({"model": dataclasses.replace(AWD, name="awd")}, "model.name is 'awd'"),
    ],
)
def test_what_makes_no_awd_lstm_is_told(folder: str, change: dict, told: str):
    with pytest.raises(InputError, match=told):
        check_config(dataclasses.replace(config_of(folder, AWD), **change))


def test_only_networks_around_a_cell_can_be_looked_into(folder: str, tmp_path: Path):
    train(config_of(folder, AWD), tmp_path / "run")
    with pytest.raises(InputError, match="is a training of awd-lstm, but only networks around one cell"):
        load_best(tmp_path / "run").around_cell()


def test_a_state_is_carried_over_batches_and_cleared_where_the_text_begins(folder: str):
    config = dataclasses.replace(
        config_of(folder), word="characters", task=CharacterText(data=folder, steps=7, restart=0.0)
    )
    trainer = SupervisedLearner(config, Machine(config.training))
    trainer.step(0, 0.0)
    first = config.task.batch(0, 3, seed=0)
    assert trainer.state is not None
    expected = trainer.network(first.inputs, resets=first.resets).state
    assert all(torch.allclose(mine, theirs) for mine, theirs in zip(trainer.state, expected, strict=True))
    trainer.step(1, 0.0)
    second = config.task.batch(1, 3, seed=0)
    assert second.resets is None
    after = trainer.network(second.inputs, expected).state
    assert all(torch.allclose(mine, theirs) for mine, theirs in zip(trainer.state, after, strict=True))
