"""Ctrl-C finishes the update, saves, and says how to go on; signals of others are left as they were."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from memspan.progress import Progress, Stage
from memspan.training import TrainingInterrupted, resume, train
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
    with pytest.raises(
        TrainingInterrupted, match=r"update 7 is saved in .*run; continue with memspan resume .*run"
    ):
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
    with pytest.raises(
        TrainingInterrupted, match=r"all updates are saved in .*run; continue with memspan resume"
    ):
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
