"""A folder has one run and one writer; damaged checkpoints are passed over, foreign ones refused."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
import torch
from safetensors import SafetensorError

from memspan.errors import CorruptError, InputError
from memspan.progress import Progress, Silent
from memspan.training import resume, train
from memspan.training.run import checkpoint as checkpoint_module
from memspan.training.run.checkpoint import Position, read_checkpoint, write_checkpoint
from memspan.training.run.folder import RunFolder, new_run_folder
from memspan.training.supervised.sweep import train_seeds
from memspan.training.supervised.trained_model import load_best


class Remarks(Progress):
    def __init__(self) -> None:
        self.said: list[str] = []

    def stage(self, name: str, total: float, done: float = 0.0):
        return Silent().stage(name, total)

    def say(self, remark: str) -> None:
        self.said.append(remark)


def test_a_folder_that_holds_a_run_is_refused_and_resume_is_named(tiny, tmp_path: Path):
    train(tiny(updates=3), tmp_path / "run")
    with pytest.raises(InputError, match=r"already holds a run; continue it with memspan resume .*run, or give"):
        train(tiny(updates=3), tmp_path / "run")


def test_a_folder_that_is_no_run_cannot_be_resumed(tmp_path: Path):
    with pytest.raises(InputError, match=r"is not a run \(it has no config.json\)"):
        resume(tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(CorruptError, match="cannot be read as JSON"):
        resume(tmp_path)


def test_two_processes_cannot_write_one_folder(tiny, processes, tmp_path: Path):
    train(tiny(updates=3), tmp_path / "run")
    folder = RunFolder(tmp_path / "run")
    other = processes.Process(target=resume, args=(folder.path,))
    with folder.lock():
        with pytest.raises(InputError, match=r"another process is writing to .*run; wait until it ends, or give"):
            resume(folder.path)
        with pytest.raises(InputError, match="another process is writing to"):
            train(tiny(updates=3), folder.path)
        other.start()
        other.join()
    assert other.exitcode == 1
    assert resume(folder.path).updates == 3


def test_a_place_where_nothing_can_be_written_is_told(tiny, tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot write to .*; free space or choose another --out"):
        train(tiny(updates=3), tmp_path / "file" / "run")


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "text"])
def test_a_damaged_checkpoint_is_passed_over_for_the_one_before_and_that_is_said(damage, tiny, written, tmp_path: Path):
    train(tiny(), tmp_path / "whole")
    train(tiny(), tmp_path / "run")
    newest = RunFolder(tmp_path / "run").checkpoint(30)
    content = newest.read_bytes()
    middle = len(content) // 2
    flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
    newest.write_bytes({"cut": content[:-9], "flipped": flipped, "empty": b"", "text": b"no weights"}[damage])
    remarks = Remarks()
    resume(tmp_path / "run", progress=remarks)
    assert len(remarks.said) == 1
    assert remarks.said[0].startswith(f"skipped: {newest} ")
    assert "\n" not in remarks.said[0]
    assert written(tmp_path / "run") == written(tmp_path / "whole")


def test_a_run_with_no_sound_checkpoint_begins_again_and_says_so(tiny, written, tmp_path: Path):
    train(tiny(), tmp_path / "whole")
    train(tiny(), tmp_path / "run")
    for path in (tmp_path / "run/checkpoints").iterdir():
        path.write_bytes(b"")
    remarks = Remarks()
    resume(tmp_path / "run", progress=remarks)
    assert remarks.said[-1].endswith("can be read; starting over at the first update")
    assert written(tmp_path / "run") == written(tmp_path / "whole")


def test_a_damaged_best_checkpoint_is_passed_over_for_the_best_that_is_left(tiny, tmp_path: Path):
    run = train(tiny(learning_rate=0.03, updates=40), tmp_path / "run")
    folder = RunFolder(tmp_path / "run")
    losses = dict(zip(run.validated.tolist(), run.validation_loss.tolist(), strict=True))
    left = [update for update in folder.saved() if update != run.best_update]
    next_best = min(left, key=losses.__getitem__)
    folder.checkpoint(run.best_update).write_bytes(b"")
    found = load_best(tmp_path / "run")
    assert found.update == next_best
    assert f"skipped: {folder.checkpoint(run.best_update)} cannot be read" in found.notes[0]
    remarks = Remarks()
    judged = resume(tmp_path / "run", updates=60, progress=remarks)
    assert remarks.said[0].endswith("which was the best validation so far")
    assert judged.best_update != run.best_update
    assert judged.best_update == min(
        (update for update in (*left, 50, 60)),
        key=dict(zip(judged.validated, judged.validation_loss, strict=True)).get,  # type: ignore[arg-type]
    )
    folder.checkpoint(judged.best_update).unlink()
    assert "the best one, is missing" in load_best(tmp_path / "run").notes[0]


def test_a_full_disk_is_told_and_what_was_saved_stays(tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    real, calls = checkpoint_module.save_file, []

    def full(*parts):
        calls.append(parts)
        if len(calls) > 1:
            raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")
        real(*parts)

    monkeypatch.setattr(checkpoint_module, "save_file", full)
    with pytest.raises(InputError, match=r"cannot write .*No space left on device .*; free space or choose"):
        train(tiny(), tmp_path / "run")
    assert RunFolder(tmp_path / "run").saved() == [10]
    monkeypatch.setattr(checkpoint_module, "save_file", real)
    assert resume(tmp_path / "run").updates == 30


def test_lines_that_are_no_json_are_told_or_where_they_tell_only_of_time_passed_over(tiny, tmp_path: Path):
    train(tiny(), tmp_path / "run")
    timing, metrics = tmp_path / "run/timing.jsonl", tmp_path / "run/metrics.jsonl"
    timing.write_text("garbage\n" + timing.read_text())
    resume(tmp_path / "run", updates=40)
    metrics.write_text("{[\n" + metrics.read_text()[3:])
    with pytest.raises(CorruptError, match=r"metrics\.jsonl has a line that is not a JSON object: '\{\['"):
        resume(tmp_path / "run")


def test_a_folder_that_holds_seeds_is_refused(tiny, tmp_path: Path):
    train_seeds(tiny(updates=3), tmp_path / "run", 1, workers=1)
    with pytest.raises(InputError, match="already holds a run"):
        train(tiny(updates=3), tmp_path / "run")


def test_metrics_that_were_lost_take_the_run_back_to_where_they_end(tiny, written, tmp_path: Path):
    train(tiny(), tmp_path / "whole")
    train(tiny(), tmp_path / "run")
    metrics = tmp_path / "run/metrics.jsonl"
    metrics.write_bytes(metrics.read_bytes()[:-20])
    remarks = Remarks()
    resume(tmp_path / "run", progress=remarks)
    assert "is shorter than 00000030.safetensors says" in remarks.said[0]
    metrics.unlink()
    resume(tmp_path / "run")
    assert written(tmp_path / "run") == written(tmp_path / "whole")


def test_half_a_line_of_times_is_cut_off(tiny, tmp_path: Path):
    train(tiny(updates=3), tmp_path / "run")
    timing = tmp_path / "run/timing.jsonl"
    timing.write_text(timing.read_text() + '{"session": 0, "upda')
    resume(tmp_path / "run", updates=6)
    lines = [json.loads(line) for line in timing.read_text().splitlines()]
    assert [(line["session"], line["update"]) for line in lines] == [(0, 3), (1, 6)]
    assert RunFolder(tmp_path / "run").seconds() == pytest.approx(sum(line["seconds"] for line in lines))


def test_checkpoints_of_another_cell_format_or_size_are_refused(tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    train(tiny(updates=3), tmp_path / "run")
    folder = RunFolder(tmp_path / "run")
    sound = folder.config_file.read_text()
    plain = json.loads(sound)
    plain["cell"] = {"name": "lstm", "hidden": 8}
    folder.config_file.write_text(json.dumps(plain))
    with pytest.raises(InputError, match=r"belongs to rel-rnn, but config.json says lstm; restore rel-rnn"):
        resume(folder.path)
    plain = json.loads(sound)
    plain["cell"]["hidden"] = 9
    folder.config_file.write_text(json.dumps(plain))
    with pytest.raises(InputError, match=r"does not match config.json: size mismatch for .*; restore config.json"):
        resume(folder.path)
    folder.config_file.write_text(sound)
    monkeypatch.setattr(checkpoint_module, "FORMAT", 2)
    with pytest.raises(InputError, match="has format 1; this version of memspan reads format 2; use the version that"):
        resume(folder.path)


def test_a_checkpoint_gives_back_what_was_written_and_equal_states_are_equal_bytes(tmp_path: Path):
    shared = torch.arange(6.0).view(2, 3)
    tensors = {"a": shared, "b": shared, "c": torch.tensor(3.0), "d": torch.arange(4, dtype=torch.uint8)}
    tensors |= {"e": torch.zeros(2, dtype=torch.bfloat16), "f": shared.T}
    position = Position(update=4, validated=[2], losses=[1 / 3], accuracies=[None], pending={"loss": 0.1})
    for number in range(4):
        write_checkpoint(tmp_path / f"{number}", tensors, position, "rnn")
    assert len({(tmp_path / f"{number}").read_bytes() for number in range(4)}) == 1
    back, at = read_checkpoint(tmp_path / "0", "rnn")
    assert at == position
    assert back.keys() == tensors.keys()
    assert all(torch.equal(back[name], tensors[name]) for name in tensors)


def test_a_last_look_is_forgotten_where_the_training_goes_on():
    over = Position(
        update=23,
        validated=[10, 20, 23],
        losses=[3.0, 2.0, 1.0],
        accuracies=[0.1, 0.2, 0.3],
        metrics_bytes=100,
        last_look=30,
        stopped="all updates done",
    )
    assert over.best == 23
    on = over.reopened()
    assert (on.best, on.validated, on.losses, on.metrics_bytes) == (20, [10, 20], [3.0, 2.0], 70)
    assert on.stopped is None
    assert on.reopened() == on


def test_new_runs_get_the_next_free_number(tmp_path: Path):
    (tmp_path / "copy-lstm-1").mkdir()
    with new_run_folder(None, tmp_path, "copy", "lstm") as place:
        assert place == tmp_path / "copy-lstm-2"
        assert place.is_dir()
    assert not place.exists(), "nothing was written"
    with new_run_folder(None, tmp_path / "new", "copy", "lstm") as place:
        (place / "config.json").touch()
    assert (tmp_path / "new/copy-lstm-1/config.json").is_file()
    with new_run_folder(tmp_path / "mine", tmp_path, "copy", "lstm") as place:
        assert (place, place.exists()) == (tmp_path / "mine", False)


def test_runs_that_begin_at_once_get_folders_of_their_own(tmp_path: Path):
    with ExitStack() as open_places, ThreadPoolExecutor(8) as people:

        def begun(_: int) -> Path:
            return open_places.enter_context(new_run_folder(None, tmp_path, "copy", "lstm"))

        found = list(people.map(begun, range(40)))
    assert {path.name for path in found} == {f"copy-lstm-{number}" for number in range(1, 41)}


def test_processes_that_share_a_run_get_the_same_folder(tmp_path: Path):
    with (
        new_run_folder(None, tmp_path, "copy", "lstm", shared=True) as first,
        new_run_folder(None, tmp_path, "copy", "lstm", shared=True) as second,
    ):
        assert first == second == tmp_path / "copy-lstm-1"
