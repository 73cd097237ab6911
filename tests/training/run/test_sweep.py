"""Best of k seeds: the runs are those of each seed alone, the best is returned, and nothing finished is repeated."""

from __future__ import annotations

import json
import os
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import final

import pytest

from memspan.errors import InputError
from memspan.progress import Progress, Stage
from memspan.training import DivergenceError, TrainingInterrupted, resume_seeds, train, train_configs, train_seeds
from memspan.training.run.folder import RunFolder
from memspan.training.run.sweep import holds_seeds, watch_metrics
from memspan.training.supervised import sweep as seeds_module
from memspan.training.supervised.config import read_run_config


class Heard(Progress, Stage):
    """What a person who waits would see."""

    def __init__(self) -> None:
        self.stages: list[tuple[str, float]] = []
        self.done = 0.0
        self.told = ""

    def stage(self, name: str, total: float, done: float = 0.0) -> Stage:
        self.stages.append((name, total))
        return self

    def say(self, remark: str) -> None:
        pass

    def advance(self, amount: float = 1.0) -> None:
        self.done += amount

    def tell(self, now: str) -> None:
        self.told = now

    def close(self) -> None:
        pass


def final_weights(run: Path) -> bytes:
    return max((run / "checkpoints").glob("*.safetensors")).read_bytes()


def test_every_seed_is_the_training_of_that_seed_and_the_best_validation_wins(tiny, tmp_path: Path):
    heard = Heard()
    best = train_seeds(tiny(seed=5), tmp_path / "all", 2, workers=2, progress=heard)
    alone = [train(tiny(seed=5 + number), tmp_path / f"alone-{number}") for number in (0, 1)]
    for number in (0, 1):
        folder = tmp_path / f"all/seed-{number}"
        assert final_weights(folder) == final_weights(tmp_path / f"alone-{number}")
        assert read_run_config(RunFolder(folder)).seed == 5 + number
    winner = min((0, 1), key=lambda number: alone[number].validation_loss.min())
    assert best.run == str(tmp_path / f"all/seed-{winner}")
    assert best.loss == alone[winner].loss
    told = json.loads((tmp_path / "all/seeds.json").read_text())
    assert told["best"] == f"seed-{winner}"
    assert [run["seed"] for run in told["runs"]] == [5, 6]
    assert [run["validation_loss"] for run in told["runs"]] == [run.validation_loss.min() for run in alone]
    assert heard.stages == [("copy by rel-rnn, 2 seeds", 60)]
    assert heard.done == 60
    assert heard.told.startswith("loss 2.") or heard.told.startswith("loss 1.")


def test_finished_seeds_are_not_repeated_and_others_are_gone_on_with(
    tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    whole = train_seeds(tiny(), tmp_path / "whole", 3, workers=1)
    begun: list[str] = []
    real_train, real_resume = seeds_module.train, seeds_module.resume

    def stopped(config, folder, *, progress):
        begun.append(folder.name)
        run = real_train(config, folder, progress=progress)
        if folder.name == "seed-1":  # as if it had been stopped before its last checkpoint
            max((folder / "checkpoints").iterdir()).unlink()
            raise TrainingInterrupted("stopped")
        return run

    def resumed(folder, *, updates, max_minutes, progress):
        begun.append(f"{folder.name} again")
        return real_resume(folder, updates=updates, max_minutes=max_minutes, progress=progress)

    monkeypatch.setattr(seeds_module, "train", stopped)
    monkeypatch.setattr(seeds_module, "resume", resumed)
    with pytest.raises(
        TrainingInterrupted,
        match=r"1 of 3 seeds are finished and the others are saved in .*; continue with memspan resume",
    ):
        train_seeds(tiny(), tmp_path / "run", 3, workers=1)
    assert holds_seeds(tmp_path / "run")
    best = resume_seeds(tmp_path / "run", workers=1)
    assert begun == ["seed-0", "seed-1", "seed-1 again", "seed-2"]
    assert best.loss == whole.loss
    for number in range(3):
        assert final_weights(tmp_path / f"run/seed-{number}") == final_weights(tmp_path / f"whole/seed-{number}")
    resume_seeds(tmp_path / "run", workers=1)
    assert len(begun) == 4
    assert resume_seeds(tmp_path / "run", updates=40, workers=1).updates == 40
    assert begun[4:] == ["seed-0 again", "seed-1 again", "seed-2 again"]


def test_a_seed_that_diverges_does_not_stop_the_others(tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    real = seeds_module.train

    def diverging(config, folder, *, progress):
        if config.seed in bad:
            raise DivergenceError("the loss is NaN")
        return real(config, folder, progress=progress)

    monkeypatch.setattr(seeds_module, "train", diverging)
    bad = {0}
    best = train_seeds(tiny(), tmp_path / "some", 2, workers=1)
    assert best.run.endswith("seed-1")
    told = json.loads((tmp_path / "some/seeds.json").read_text())
    assert told["runs"][0] == {"run": "seed-0", "seed": 0, "stopped": "the loss is NaN"}
    bad = {0, 1}
    with pytest.raises(DivergenceError, match="none of 2 seeds finished; the first: the loss is NaN"):
        train_seeds(tiny(), tmp_path / "none", 2, workers=1)


def test_what_cannot_be_is_told(tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(InputError, match="--seeds is 0; expected a whole number of 1 or more"):
        train_seeds(tiny(), tmp_path / "run", 0)
    config = tiny(updates=2)
    train(config, tmp_path / "single")
    with pytest.raises(InputError, match="holds a run of a single seed; give another --out"):
        train_seeds(config, tmp_path / "single", 2, workers=1)
    train_seeds(config, tmp_path / "run", 1, workers=1)
    for other, seeds in ((replace(config, seed=9), 1), (config, 2)):
        with pytest.raises(
            InputError, match="holds a run of another configuration; continue that one with memspan resume"
        ):
            train_seeds(other, tmp_path / "run", seeds, workers=1)
    with RunFolder(tmp_path / "run").lock(), pytest.raises(InputError, match="another process is writing to"):
        train_seeds(config, tmp_path / "run", 1, workers=1)
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(InputError, match="several seeds cannot be combined with torchrun"):
        train_seeds(config, tmp_path / "run", 1)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_when_it_is_killed_or_interrupted_so_are_its_processes_and_called_again_it_goes_on(
    number, tiny, processes, tmp_path: Path
):
    config = tiny(updates=100_000, validate_every=20, checkpoint_minutes=1e-3)
    process = processes.Process(target=train_seeds, args=(config, tmp_path / "run", 2), kwargs={"workers": 2})
    process.start()
    folders = [RunFolder(tmp_path / f"run/seed-{seed}") for seed in (0, 1)]
    while process.is_alive() and not all(folder.saved() for folder in folders):
        time.sleep(0.05)
    process_id = process.pid
    assert process_id is not None
    os.kill(process_id, number)
    process.join()
    assert process.exitcode == (-signal.SIGKILL if number == signal.SIGKILL else 1)
    for folder in folders:  # the locks are let go of: nobody writes any more
        _until_free(folder)
    reached = max(folder.saved()[0] for folder in folders)
    best = resume_seeds(tmp_path / "run", updates=reached + 1, workers=1)
    assert best.updates == reached + 1


def _until_free(folder: RunFolder) -> None:
    while True:
        try:
            with folder.lock():
                return
        except InputError:
            time.sleep(0.05)


def test_named_configurations_are_trained_once_resumed_and_read_back(tiny, tmp_path: Path):
    configs = {"one": tiny(updates=3), "two": tiny("gru", updates=3)}
    first = train_configs(configs, tmp_path, workers=1)
    assert set(first) == {"one", "two"}
    times = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/metrics.jsonl")}
    assert len(times) == 2
    (tmp_path / "two/result.json").unlink()  # as if it had been killed before it was evaluated
    again = train_configs(configs, tmp_path, workers=1)
    assert {name: run.to_json() for name, run in again.items()} == {name: run.to_json() for name, run in first.items()}
    assert json.loads((tmp_path / "two/result.json").read_text())["command"] == "train"
    with pytest.raises(InputError, match="one was trained with other settings than requested; give another --out"):
        train_configs({"one": tiny(updates=4)}, tmp_path, workers=1)


def test_configurations_that_diverge_are_left_out_on_request(tiny, tmp_path: Path):
    configs = {
        "good": tiny(updates=2),
        "bad": tiny("rnn", optimizer="sgd", learning_rate=3e38, clip_norm=None, updates=1),
    }
    assert set(train_configs(configs, tmp_path / "some", skip_diverged=True, workers=1)) == {"good"}
    with pytest.raises(DivergenceError, match="NaN or infinite at update 1"):
        train_configs(configs, tmp_path / "all", workers=1)


@final
class Counting(Stage):
    def __init__(self) -> None:
        self.done, self.told = 0.0, ""

    def advance(self, amount: float = 1.0) -> None:
        self.done += amount

    def tell(self, now: str) -> None:
        self.told = now

    def close(self) -> None:
        pass


def test_updates_without_the_measure_are_counted_too(tmp_path: Path):
    folders = [RunFolder(tmp_path / name) for name in ("one", "two", "three")]
    rewards = ((0.5, None, None), (None, None), ())
    stage = Counting()
    with watch_metrics(folders, stage, "reward"):
        for folder, found in zip(folders, rewards, strict=True):
            folder.path.mkdir()
            lines = [json.dumps({"update": place, "reward": one}) for place, one in enumerate(found, 1)]
            folder.metrics_file.write_text("".join(f"{line}\n" for line in lines))
    assert stage.done == 5
    assert stage.told == "reward 0.5000 - -"
