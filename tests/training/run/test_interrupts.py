"""Ctrl-C finishes the update, saves, and says how to go on; signals of others are left as they were."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import pytest

from memspan.progress import Progress, Stage
from memspan.training import InitConfig, TrainingInterrupted, resume, train
from memspan.training.run.folder import RunFolder
from memspan.training.supervised import training


class SignalAt(Progress, Stage):
    """Sends this process a signal after some updates."""

    def __init__(self, update: int, *numbers: signal.Signals) -> None:
        self.left, self.numbers = update, numbers

    def stage(self, name: str, total: float, done: float = 0.0) -> Stage:
        self.advance(0)
        return self

    def say(self, remark: str) -> None:
        pass

    def close(self) -> None:
        pass

    def advance(self, amount: float = 1.0) -> None:
        self.left -= amount
        if self.left == 0:
            for number in self.numbers:
                os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_saves_that_very_update_and_the_run_goes_on_to_the_same_bytes(
    number, tiny, written, tmp_path: Path
):
    train(tiny(), tmp_path / "whole")
    before = signal.getsignal(number)
    with pytest.raises(TrainingInterrupted, match=r"update 7 is saved in .*run; continue with memspan resume .*run"):
        train(tiny(), tmp_path / "run", progress=SignalAt(7, number))
    assert signal.getsignal(number) is before
    assert RunFolder(tmp_path / "run").saved() == [7]
    resume(tmp_path / "run")
    assert written(tmp_path / "run") == written(tmp_path / "whole")


def test_a_second_interrupt_stops_at_once_and_a_request_to_terminate_after_it_does_not(tiny, tmp_path: Path):
    with pytest.raises(TrainingInterrupted):
        train(tiny(), tmp_path / "a", progress=SignalAt(7, signal.SIGINT, signal.SIGTERM))
    with pytest.raises(KeyboardInterrupt) as raised:
        train(tiny(), tmp_path / "b", progress=SignalAt(7, signal.SIGINT, signal.SIGINT))
    assert not isinstance(raised.value, TrainingInterrupted)
    assert RunFolder(tmp_path / "b").saved() == []


def test_an_interrupt_before_the_first_update_loses_nothing(tiny, written, tmp_path: Path):
    train(tiny(), tmp_path / "whole")
    with pytest.raises(TrainingInterrupted):
        train(tiny(), tmp_path / "run", progress=SignalAt(0, signal.SIGINT))
    resume(tmp_path / "run")
    assert written(tmp_path / "run") == written(tmp_path / "whole")


def test_an_interrupt_during_the_last_update_is_not_forgotten(tiny, written, tmp_path: Path):
    whole = train(tiny(), tmp_path / "whole")
    with pytest.raises(TrainingInterrupted, match=r"all updates are saved in .*run; continue with memspan resume"):
        train(tiny(), tmp_path / "run", progress=SignalAt(whole.updates, signal.SIGINT))
    assert resume(tmp_path / "run").loss == whole.loss
    assert written(tmp_path / "run") == written(tmp_path / "whole")


def test_judging_a_finished_run_can_be_interrupted(tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    whole = train(tiny(), tmp_path / "run")

    def interrupted(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patched:
        patched.setattr(training, "run_result", interrupted)
        with pytest.raises(KeyboardInterrupt):
            resume(tmp_path / "run")
    assert resume(tmp_path / "run").loss == whole.loss


UPDATES = 120
OFTEN = 3e-4
"""Minutes: a checkpoint every few updates, so that kills fall into the writing of some."""
CASES = {
    "rel-rnn": {"cell": "rel-rnn", "validate_every": 30},
    "averaged": {
        "cell": "detach-lstm",
        "of_cell": {"layers": 2, "dropout": 0.3},
        "optimizer": "nt-asgd",
        "learning_rate": 3.0,
        "nonmonotone": 1,
        "validate_every": 10,
        "patience": None,
    },
}


def killed_at(process, folder: RunFolder, update: int, wait: float) -> bool:
    """Kill a process a moment after it has saved an update; whether it was still running."""
    while process.is_alive() and (folder.saved() or [0])[0] < update:
        time.sleep(0.001)
    time.sleep(wait)
    process.kill()
    process.join()
    return process.exitcode == -signal.SIGKILL


@pytest.mark.parametrize(
    ("case", "kills"),
    [
        ("rel-rnn", 3),
        ("averaged", 3),
        pytest.param("rel-rnn", 10, marks=pytest.mark.slow),
        pytest.param("averaged", 10, marks=pytest.mark.slow),
    ],
)
def test_a_run_that_is_killed_and_resumed_ends_with_the_same_bytes(
    case, kills, tiny, processes, written, tmp_path: Path
):
    config = tiny(**{**CASES[case], "updates": UPDATES, "checkpoint_minutes": OFTEN})
    whole = train(config, tmp_path / "whole")
    folder, chance = RunFolder(tmp_path / "killed"), random.Random(kills)
    times = 0
    for at in sorted(chance.randrange(UPDATES * 3 // 4) for _ in range(kills)):
        begun = folder.config_file.exists()
        process = processes.Process(
            target=resume if begun else train, args=(folder.path,) if begun else (config, folder.path)
        )
        process.start()
        times += killed_at(process, folder, at, chance.uniform(0, 0.02))
    resumed = resume(folder.path) if folder.config_file.exists() else train(config, folder.path)
    assert times > kills // 2  # a busy machine may have let some finish first
    assert written(folder.path) == written(tmp_path / "whole")
    assert (resumed.loss, resumed.accuracy) == (whole.loss, whole.accuracy)
    assert resumed.best_update == whole.best_update
    assert not list(folder.path.rglob("*.part"))


def test_a_run_that_began_with_another_and_is_killed_before_its_first_update_begins_with_it_again(
    tiny, processes, written, tmp_path: Path
):
    train(tiny(seed=5), tmp_path / "first")
    config = tiny(init=InitConfig(name="run", run=str(tmp_path / "first")), validate_every=30)
    train(config, tmp_path / "whole")
    for name, saved in (("before", False), ("after", True)):
        folder = RunFolder(tmp_path / name)
        process = processes.Process(target=train, args=(config, folder.path))
        process.start()
        while not (folder.saved() if saved else folder.config_file.exists()):
            time.sleep(0.001)
        process.kill()
        process.join()
        if not saved:  # as if it had been killed a moment earlier
            for update in folder.saved():
                folder.checkpoint(update).unlink()
        resume(folder.path)
        assert written(folder.path) == written(tmp_path / "whole")


def test_the_second_case_above_really_averages(tiny, tmp_path: Path):
    config = tiny(**{**CASES["averaged"], "updates": UPDATES})
    train(config, tmp_path / "run")
    newest = max((tmp_path / "run/checkpoints").glob("*.safetensors"))
    assert b'\\"averaging\\": true' in newest.read_bytes()
