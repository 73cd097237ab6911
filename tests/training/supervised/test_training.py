"""What a run leaves and when it is over: the same configuration gives the same bytes, limits can be raised."""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from memspan.errors import InputError
from memspan.results import TrainingRun
from memspan.results.encoding import dumps
from memspan.tasks import Copy
from memspan.training import DivergenceError, resume, train
from memspan.training.run import loop as loop_module
from memspan.training.run.checkpoint import Position
from memspan.training.run.config import CellConfig
from memspan.training.run.folder import RunFolder
from memspan.training.run.loop import stop_reason
from memspan.training.run.machine import torch_threads
from memspan.training.supervised.build import build
from memspan.training.supervised.config import Config, InitConfig, read_run_config
from memspan.training.supervised.evaluation import score
from memspan.training.supervised.trained_model import load_best, load_weights


def test_the_same_configuration_gives_the_same_bytes_whatever_the_caller_drew_before(tiny, written, tmp_path: Path):
    config = tiny("detach-lstm", of_cell={"layers": 2, "dropout": 0.5})
    torch.manual_seed(1)
    one = train(config, tmp_path / "one")
    torch.manual_seed(2)
    two = train(config, tmp_path / "two")
    assert written(tmp_path / "one") == written(tmp_path / "two")
    assert one.loss == two.loss
    other = train(replace(config, seed=1), tmp_path / "other")
    assert other.loss != one.loss


def test_random_numbers_and_threads_of_the_caller_stay_as_they_were(tiny, tmp_path: Path):
    torch.manual_seed(5)
    np.random.seed(5)
    before = torch.get_rng_state()
    with torch_threads(2):
        train(tiny("detach-lstm", threads=1), tmp_path / "run")
        assert torch.get_num_threads() == 2
    assert torch.equal(torch.get_rng_state(), before)
    assert np.random.random() == np.random.RandomState(5).random_sample()


def test_a_run_tells_its_curves_and_judges_its_best_weights_on_the_test_split(tiny, tmp_path: Path):
    config = tiny(learning_rate=0.03, updates=40)
    run = train(config, tmp_path / "run")
    assert run.logged.tolist() == [5, 10, 15, 20, 25, 30, 35, 40]
    assert run.validated.tolist() == [10, 20, 30, 40]
    assert run.best_update == run.validated[run.validation_loss.argmin()]
    network, folder = build(config), RunFolder(tmp_path / "run")
    load_weights(network, config, folder, run.best_update)
    again = score(network, config.task, split="test", batches=100, size=10, seed=config.seed)
    assert (run.loss, run.accuracy) == (again["loss"], again["accuracy"])
    back = TrainingRun.from_json(json.loads(dumps(run.to_json())))
    assert back.to_json() == run.to_json()
    assert run.config == json.loads(folder.config_file.read_text())
    assert run.config["cell"]["short_term"] == 10  # what was not said is written down


def test_validation_losses_of_the_journal_are_those_of_the_weights_at_that_update(tiny, tmp_path: Path):
    config = tiny(updates=20)
    run = train(config, tmp_path / "run")
    network = build(config)
    load_weights(network, config, RunFolder(tmp_path / "run"), 10)
    found = score(network, config.task, split="valid", batches=1, size=10, seed=0)
    assert found["loss"] == run.validation_loss[0]


@pytest.mark.parametrize("first", [10, 23])
def test_a_run_whose_updates_are_raised_is_the_run_that_had_them_from_the_start(first, tiny, written, tmp_path: Path):
    whole = train(tiny(updates=40), tmp_path / "whole")
    short = train(tiny(updates=first), tmp_path / "run")
    assert short.updates == first
    assert short.validated[-1] == first
    longer = resume(tmp_path / "run", updates=40)
    assert written(tmp_path / "run") == written(tmp_path / "whole")
    assert (longer.loss, longer.best_update) == (whole.loss, whole.best_update)
    assert resume(tmp_path / "run").updates == 40  # the new limit stays


def test_a_run_that_is_over_is_judged_again_and_not_trained(tiny, written, tmp_path: Path):
    config = tiny(updates=23)
    first = train(config, tmp_path / "run")
    before = written(tmp_path / "run")
    again = resume(tmp_path / "run")
    assert written(tmp_path / "run") == before
    assert again.to_json() == first.to_json()


def test_training_stops_at_the_wanted_accuracy(tiny, tmp_path: Path):
    config = tiny("lstm", stop_accuracy=0.05, learning_rate=0.1, optimizer="adam", updates=200)
    run = train(config, tmp_path / "run")
    assert run.stopped.endswith("reached")
    assert run.updates < 200
    assert run.validation_accuracy[-1] >= 0.05
    assert (run.validation_accuracy[:-1] < 0.05).all()


def test_a_run_that_was_good_enough_goes_on_when_it_gets_more_updates(tiny, written, tmp_path: Path):
    run = train(tiny(stop_accuracy=0.0), tmp_path / "run")
    assert (run.updates, run.stopped) == (10, f"validation accuracy {run.validation_accuracy[0]:.2%} reached")
    assert resume(tmp_path / "run").updates == 10
    assert resume(tmp_path / "run", updates=30).updates == 10  # no more than it had
    further = resume(tmp_path / "run", updates=40)
    assert (further.updates, further.config["training"]["stop_accuracy"]) == (40, None)
    train(tiny(updates=40), tmp_path / "whole")
    assert written(tmp_path / "run") == written(tmp_path / "whole")


def test_a_run_that_no_longer_improved_goes_on_when_it_gets_more_updates(tiny, tmp_path: Path):
    run = train(tiny(patience=1, learning_rate=10.0, optimizer="sgd", clip_norm=None), tmp_path / "run")
    assert run.updates < 30
    assert resume(tmp_path / "run", updates=40).updates == 40


def test_a_raised_limit_that_changes_the_rate_is_told_and_a_lower_one_than_is_done_refused(tiny, tmp_path: Path):
    train(tiny(schedule="cosine"), tmp_path / "run")
    run = resume(tmp_path / "run", updates=40)
    assert "the limit was 30 updates until update 30" in run.notes[0]
    assert resume(tmp_path / "run").notes == run.notes
    with pytest.raises(InputError, match="--updates 20: the run has already done 40"):
        resume(tmp_path / "run", updates=20)
    assert read_run_config(RunFolder(tmp_path / "run")).training.updates == 40


def test_a_raised_limit_that_moves_the_phase_of_full_gradients_is_told(tiny, tmp_path: Path):
    train(tiny(full_gradient=0.5), tmp_path / "run")
    run = resume(tmp_path / "run", updates=40)
    assert "the phase with full gradients ends at the limit: training for 40 from the start" in run.notes[0]
    train(tiny(full_gradient=0.0), tmp_path / "other")
    assert resume(tmp_path / "other", updates=40).notes == ()


def test_training_stops_when_validation_has_not_improved_for_long(tiny, tmp_path: Path):
    run = train(tiny(learning_rate=0.5, clip_norm=None, patience=2, updates=300), tmp_path / "run")
    assert run.stopped == "no better validation in 2"
    assert run.validation_loss.argmin() == len(run.validation_loss) - 3


def test_the_weights_of_the_best_validation_are_kept_and_two_more_checkpoints(tiny, tmp_path: Path):
    run = train(tiny(learning_rate=0.5, clip_norm=None, patience=4, updates=300), tmp_path / "run")
    last = [run.updates, run.updates - 10]
    assert RunFolder(tmp_path / "run").saved() == [*last, run.best_update]


def test_a_run_stops_when_its_minutes_are_spent_and_goes_on_when_it_gets_more(
    tiny, written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    train(tiny(updates=25), tmp_path / "whole")

    class Clock:
        """One second for every look."""

        now = 0.0

        @classmethod
        def monotonic(cls) -> float:
            cls.now += 1.0
            return cls.now

    monkeypatch.setattr(loop_module, "time", Clock)
    run = train(tiny(updates=25, max_minutes=0.5), tmp_path / "run")
    assert run.stopped == "0.5 minutes spent"
    assert 0 < run.updates < 25
    assert run.validated[-1] == run.updates
    monkeypatch.setattr(loop_module, "time", time)
    assert resume(tmp_path / "run").updates == run.updates
    shutil.copytree(tmp_path / "run", tmp_path / "untimed")
    resume(tmp_path / "run", max_minutes=1e6)
    assert resume(tmp_path / "untimed", updates=25).config["training"]["max_minutes"] is None
    of_run, whole = written(tmp_path / "run"), written(tmp_path / "whole")
    untimed = written(tmp_path / "untimed")
    assert untimed.pop("config.json") != of_run.pop("config.json")
    assert untimed == of_run
    assert of_run["metrics.jsonl"] == whole["metrics.jsonl"]
    assert of_run["00000025.safetensors"] == whole["00000025.safetensors"]


def test_why_a_training_is_over_follows_from_where_it_stands(tiny):
    config = tiny(updates=30, stop_accuracy=0.9, patience=2, max_minutes=1.0).training.loop
    assert stop_reason(config, Position(update=29), 59.9) is None
    assert stop_reason(config, Position(update=30), 0.0) == "all updates done"
    assert stop_reason(config, Position(update=1), 60.0) == "1 minutes spent"
    reached = Position(update=20, validated=[10, 20], losses=[2.0, 1.0], accuracies=[0.0, 0.95])
    assert stop_reason(config, reached, 0.0) == "validation accuracy 95.00% reached"
    stuck = Position(update=30, validated=[10, 20, 30], losses=[1.0, 2.0, 2.0], accuracies=[None] * 3)
    assert stop_reason(config, stuck, 0.0) == "no better validation in 2"


@pytest.mark.parametrize("until", [0, 25])
def test_divergence_keeps_the_last_good_state_and_advises(
    until, tiny, written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    real, trained = Copy.loss, []

    def exploding(task, logits, batch):
        loss = real(task, logits, batch)
        if torch.is_grad_enabled():
            trained.append(loss)
        return loss * float("nan") if torch.is_grad_enabled() and len(trained) > until else loss

    monkeypatch.setattr(Copy, "loss", exploding)
    saved = "the checkpoint of update 20 is saved" if until else "no checkpoint was saved"
    with pytest.raises(
        DivergenceError,
        match=rf"the loss or its gradient is NaN or infinite at update {until + 1}; {saved} in .*learning_rate=0.0003",
    ):
        train(tiny(), tmp_path / "run")
    monkeypatch.setattr(Copy, "loss", real)
    train(tiny(), tmp_path / "whole")
    resume(tmp_path / "run")  # nothing was spoilt
    assert written(tmp_path / "run") == written(tmp_path / "whole")


def test_weights_that_are_no_numbers_are_never_saved(tiny, tmp_path: Path):
    config = tiny("rnn", optimizer="sgd", learning_rate=1e38, clip_norm=None, checkpoint_minutes=1e-9)
    with pytest.raises(DivergenceError):
        train(config, tmp_path / "run")
    folder = RunFolder(tmp_path / "run")
    for update in folder.saved():
        network = build(config)
        load_weights(network, config, folder, update)
        assert all(parameter.isfinite().all() for parameter in network.parameters())


def test_a_step_that_spoils_the_weights_after_a_finite_loss_is_not_saved(tiny, tmp_path: Path):
    """The loss and its gradient of update 1 are finite; what the step makes of the weights is not."""
    config = tiny("rnn", optimizer="sgd", learning_rate=3e38, clip_norm=None, updates=1, validate_every=100)
    with pytest.raises(DivergenceError):
        train(config, tmp_path / "run")
    assert RunFolder(tmp_path / "run").saved() == []


def test_chrono_gates_need_no_long_delay(tiny, tmp_path: Path):
    config = replace(tiny("lstm", init=InitConfig(name="chrono"), updates=1), task=Copy(delay=1))
    assert train(config, tmp_path / "run").updates == 1


def test_what_cannot_be_trained_is_told_before_there_is_a_folder(tiny, tmp_path: Path):
    bad = {
        "cell.hidden is 0; expected a whole number of 1 or more": tiny(hidden=0),
        "training.batch is 0; expected a whole number of 1 or more": tiny(batch=0),
        "there is no cell 'lstn'; did you mean lstm": tiny("lstn"),
        "there is no cell.short_tern; did you mean short_term": tiny(options={"short_tern": 3}),
        "optimizer is 'adan'; did you mean adam": tiny(optimizer="adan"),
        "init.name is chrono": tiny("lstm", init=replace(tiny().init, name="chronos")),
    }
    bad["init.name is 'chronos'; did you mean chrono"] = bad.pop("init.name is chrono")
    for words, config in bad.items():
        with pytest.raises(InputError, match=words):
            train(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_training_begins_with_the_best_weights_of_another(tiny, tmp_path):
    train(tiny(), tmp_path / "first")
    best = load_best(tmp_path / "first").network
    further = tiny(init=InitConfig(name="run", run=str(tmp_path / "first")), updates=1, learning_rate=1e-12)
    train(further, tmp_path / "second")
    found = load_best(tmp_path / "second").network
    assert all(map(torch.allclose, found.parameters(), best.parameters()))
    shutil.rmtree(tmp_path / "first")
    assert resume(tmp_path / "second", updates=2).updates == 2


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            {"hidden": 9},
            "is a rel-rnn of hidden size 8 on copy, whose weights do not fit a rel-rnn of hidden size 9 on copy",
        ),
        ({"cell": "rnn"}, "do not fit a rnn of hidden size 8 on copy"),
    ],
)
def test_weights_of_a_run_that_do_not_fit_are_refused(tiny, tmp_path, change, told):
    train(tiny(updates=1), tmp_path / "first")
    with pytest.raises(InputError, match=told):
        train(tiny(init=InitConfig(name="run", run=str(tmp_path / "first")), **change), tmp_path / "second")
    assert not (tmp_path / "second").exists()
    with pytest.raises(InputError, match=r"init\.run names no folder"):
        train(tiny(init=InitConfig(name="run")), tmp_path / "second")


def test_a_batch_that_cannot_fit_into_this_machine_is_told(tmp_path: Path):
    config = Config(word="copy", task=Copy(delay=10**9), cell=CellConfig(name="rel-rnn", hidden=100))
    with pytest.raises(
        InputError, match=r"sequences of 1,000,000,000 steps has .* GB of hidden states, but this machine"
    ):
        train(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()
