"""`memspan train` and `memspan resume`: what they answer, write, print as configuration, and refuse."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memspan.cli import main
from memspan.results import TrainingRun
from memspan.training.supervised.defaults import defaults

SMALL = (
    *("--cell", "gru", "--hidden", 8, "--delay", 3, "--updates", 20, "--batch", 4, "--threads", 1),
    *("--set", "training.validate_every=10", "--set", "training.validation_size=10"),
    *("--set", "training.validation_batches=1"),
)
SECONDS_TO_BEGIN = 120.0


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("train") / "run"
    assert main([str(word) for word in ("train", "copy", *SMALL, "--out", run, "--quiet")]) == 0
    return run


@pytest.fixture
def run(made, tmp_path, monkeypatch) -> Path:
    """A finished run, `run` in an empty folder."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(made, tmp_path / "run")
    return Path("run")


def shown(memspan, *words) -> dict:
    ran = memspan("train", *words, "--show-config")
    assert (ran.status, ran.err) == (0, "")
    return json.loads(ran.out)


def test_the_first_line_is_a_sentence_and_the_rest_says_what_to_do_next(memspan, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs/copy-gru-1").mkdir(parents=True)
    ran = memspan("train", "copy", *SMALL)
    first, *rest = ran.out.splitlines()
    assert first.startswith("copy, delay 3, gru: ")
    assert first.endswith(" updates (chance 12.5 %)")
    told = "\n".join(rest)
    for words in ("parameters", "best update", "stopped", "without memory", "all updates done"):
        assert words in told
    assert "memspan evaluate runs/copy-gru-2 --delay 6 --delay 30" in told
    assert "memspan diagnose runs/copy-gru-2" in told


def test_the_run_folder_holds_everything(made):
    names = {path.name for path in made.iterdir()}
    assert names >= {
        *("config.json", "metrics.jsonl", "timing.jsonl", "environment.json", "checkpoints"),
        *("result.json", "figures", "report.html"),
    }
    assert {path.name for path in (made / "figures").iterdir()} == {"training.svg", "training.png"}


def test_json_is_one_object_and_the_result_comes_back(memspan, made, tmp_path):
    ran = memspan("train", "copy", *SMALL, "--out", tmp_path / "run", "--json")
    assert ran.plain["run"] == str(tmp_path / "run")
    assert (tmp_path / "run/result.json").read_text() == ran.out
    result, before = TrainingRun.from_json(ran.plain), json.loads((made / "result.json").read_text())
    assert result.updates == 20
    assert (result.loss, result.training_loss.tolist()) == (before["loss"], before["training_loss"])


def test_resume_goes_on_with_more_updates(memspan, run):
    ran = memspan("resume", run, "--updates", 30, "--json")
    assert (ran.plain["command"], ran.plain["updates"]) == ("resume", 30)
    assert json.loads((run / "result.json").read_text())["updates"] == 30


def test_of_several_seeds_the_best_is_told_and_all_can_be_gone_on_with(memspan, tmp_path, monkeypatch):
    monkeypatch.setattr("memspan.training.run.sweep.available_cores", lambda: 1)  # one after the other, in this process
    ran = memspan("train", "copy", *SMALL, "--seeds", 2, "--out", tmp_path / "run")
    assert ran.status == 0
    told = re.search(r"^run +(\S+) *$", ran.out, flags=re.MULTILINE)
    assert told is not None
    assert Path(told[1]).parent == tmp_path / "run"
    assert f"note: the best of the seeds in {tmp_path / 'run'} by validation loss" in ran.out
    assert {path.name for path in (tmp_path / "run").glob("seed-*")} == {"seed-0", "seed-1"}
    assert (tmp_path / "run/report.html").exists()
    assert memspan("resume", tmp_path / "run", "--updates", 30, "--json").plain["updates"] == 30


def test_resume_falls_back_from_a_damaged_checkpoint_and_says_so(memspan, run):
    newest = max((run / "checkpoints").iterdir())
    newest.write_bytes(newest.read_bytes()[:100])
    ran = memspan("resume", run)
    assert ran.status == 0
    assert f"skipped: {newest} cannot be read as a checkpoint" in ran.err
    assert ran.out.startswith("copy, delay 3, gru: ")


def test_every_layer_of_settings_overrules_the_one_before(memspan, tmp_path):
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"task": {"delay": 7}, "cell": {"hidden": 20}, "training": {"batch": 3, "updates": 50}}))
    config = shown(memspan, *("copy", "--config", file, "--hidden", 30, "--batch", 5, "--set", "training.batch=6"))
    assert config["task"] == {"name": "copy", "delay": 7}
    assert (config["cell"]["name"], config["cell"]["hidden"]) == ("rel-rnn", 30)
    assert (config["training"]["updates"], config["training"]["batch"]) == (50, 6)
    tried = defaults("copy", "rel-rnn")["training"]
    assert shown(memspan, "copy")["training"].items() >= tried.items()


def test_what_show_config_prints_works_as_config(memspan, tmp_path):
    words = ("denoise", "--cell", "rel-lstm", "--delay", 9, "--short-term", 4, "--relevant", 2, "--init", "chrono")
    config = shown(memspan, *words, "--seed", 5, "--max-minutes", 3, "--device", "cpu", "--layers", 2)
    assert (config["cell"]["short_term"], config["cell"]["relevant"], config["cell"]["layers"]) == (4, 2, 2)
    assert (config["init"]["name"], config["seed"], config["task"]["delay"]) == ("chrono", 5, 9)
    assert (config["training"]["max_minutes"], config["training"]["device"]) == (3.0, "cpu")
    (tmp_path / "c.json").write_text(json.dumps(config))
    assert shown(memspan, "denoise", "--config", tmp_path / "c.json") == config


def test_another_cell_takes_the_sizes_of_a_configuration_and_leaves_what_only_the_first_has(memspan, tmp_path):
    (tmp_path / "c.json").write_text(json.dumps(shown(memspan, "copy", "--hidden", 33)))
    config = shown(memspan, "copy", "--config", tmp_path / "c.json", "--cell", "lstm")
    assert (config["cell"]["name"], config["cell"]["hidden"]) == ("lstm", 33)
    assert "short_term" not in config["cell"]


def test_delay_is_the_length_of_tasks_that_have_no_other(memspan):
    assert shown(memspan, "adding", "--delay", 40)["task"]["length"] == 40
    assert shown(memspan, "digits", "--data", "digits")["task"]["data"] == "digits"


def test_showing_the_configuration_makes_no_folder(memspan, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown(memspan, "copy", "--out", "run")
    assert list(tmp_path.iterdir()) == []


REFUSED = {
    "unknown task": (("coppy",), "there is no task 'coppy'; did you mean copy? (There are copy, denoise, "),
    "unknown cell": (("copy", "--cell", "rel-rn"), "there is no cell 'rel-rn'; did you mean rel-rnn?"),
    "delay 0": (
        ("copy", "--delay", 0),
        "Invalid value for '--delay': Input should be greater than or equal to 1, got 0; see",
    ),
    "hidden 0": (("copy", "--hidden", 0), "Invalid value for '--hidden'"),
    "a delay of images": (("digits", "--delay", 5), "--delay 5: the task digits has no delay"),
    "data of copy": (("copy", "--data", "mnist"), "--data mnist: the task copy generates its sequences; --data is for"),
    "unknown data": (("digits", "--data", "mnits"), "digits: data is 'mnits'; did you mean mnist?"),
    "short term of lstm": (
        ("copy", "--cell", "lstm", "--short-term", 5),
        "--short-term 5: the cell lstm does not have it; --short-term is for rel-rnn, rel-lstm",
    ),
    "unknown start": (("copy", "--init", "kritical"), "Invalid value for '--init'"),
    "unknown setting": (
        ("copy", "--set", "training.learning_rat=1"),
        "--set training.learning_rat=1: there is no training.learning_rat; did you mean learning_rate?",
    ),
    "setting of another kind": (
        ("copy", "--set", "training.batch=many"),
        "--set training.batch=many: training.batch is 'many'; expected a whole number of 1 or more",
    ),
    "malformed setting": (("copy", "--set", "training.batch"), "--set training.batch: expected SECTION.NAME=VALUE"),
    "missing file": (("copy", "--config", "none.json"), "no such file: none.json; write one with --show-config"),
    "negative time": (
        ("copy", "--max-minutes", -1),
        "the options: training.max_minutes is -1.0; expected a finite number above 0, or null",
    ),
    "another task": (
        ("copy", "--set", "task.name=adding"),
        "--set task.name=adding is for the task adding, but the command for copy; type memspan train adding",
    ),
    "no theory": (
        ("copy", "--cell", "lstm", "--init", "critical"),
        "mean-field theory does not describe LSTM; use VanillaRNN or MinimalRNN (--cell rnn or minimal-rnn)",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_told_in_one_line_and_makes_no_folder(memspan, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    words, told = REFUSED[name]
    error = memspan("train", *words).error
    assert error.startswith(f"error: {told}")
    assert list(tmp_path.iterdir()) == []


def test_what_is_wrong_in_a_file_is_told_with_its_name(memspan, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("bad.json").write_text('{"training": {"bacth": 3}}')
    Path("other.json").write_text('{"task": {"name": "denoise"}}')
    Path("text.json").write_text("batch: 3")
    Path("folder").mkdir()
    told = {
        "folder": "folder is a folder; expected a file written by --show-config",
        "bad.json": "bad.json: there is no training.bacth; did you mean batch?",
        "other.json": "other.json is for the task denoise, but the command for copy; type memspan train denoise",
        "text.json": "text.json cannot be read as JSON",
    }
    for file, message in told.items():
        assert memspan("train", "copy", "--config", file).error.startswith(f"error: {message}")


def test_a_run_folder_that_exists_is_not_written_over(memspan, run):
    before = {path: path.stat().st_mtime_ns for path in run.rglob("*.*")}
    error = memspan("train", "copy", *SMALL, "--out", run).error
    assert error.startswith("error: run already holds a run; continue it with memspan resume run")
    assert {path: path.stat().st_mtime_ns for path in run.rglob("*.*")} == before


def test_a_file_is_no_place_for_a_run(memspan, tmp_path):
    (tmp_path / "notes").write_text("mine")
    error = memspan("train", "copy", *SMALL, "--out", tmp_path / "notes").error
    assert error.startswith(f"error: {tmp_path / 'notes'} is a file; expected a folder for the run")
    assert (tmp_path / "notes").read_text() == "mine"


def test_a_folder_that_is_no_run_cannot_be_resumed(memspan, tmp_path):
    error = memspan("resume", tmp_path).error
    assert error.startswith(f"error: {tmp_path} is not a run (it has no config.json)")


def test_a_training_that_diverges_ends_with_one_line_and_advice(memspan, tmp_path):
    settings = ("cell.nonlinearity=relu", "training.learning_rate=1e6", "training.optimizer=sgd")
    words = [word for setting in (*settings, "training.clip_norm=null") for word in ("--set", setting)]
    error = memspan("train", "copy", *SMALL, "--cell", "rnn", *words, "--out", tmp_path / "run").error
    assert "is NaN or infinite at update" in error
    assert "--set training.learning_rate=" in error


def test_an_interrupted_training_is_saved_and_says_how_to_go_on(tmp_path):
    words = [str(word) for word in SMALL]
    command = [sys.executable, "-m", "memspan", "train", "copy", *words, "--updates", "1000000", "--out", "run"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    )
    limit = time.monotonic() + SECONDS_TO_BEGIN
    while not list(tmp_path.glob("run/checkpoints/*.safetensors")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < limit
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=SECONDS_TO_BEGIN)
    assert (process.returncode, out) == (130, "")
    last = err.splitlines()[-1]
    assert last.startswith("interrupted: update ")
    assert last.endswith("is saved in run; continue with memspan resume run")


def test_without_torch_the_missing_extra_is_named(tmp_path):
    code = "import sys; sys.modules['torch'] = None; from memspan.cli import main; sys.exit(main(sys.argv[1:]))"
    for words, what in ((("train", "copy"), "training"), (("evaluate", "run"), "evaluating")):
        ran = subprocess.run([sys.executable, "-c", code, *words], cwd=tmp_path, capture_output=True, text=True)
        assert (ran.returncode, ran.stderr) == (2, f"error: {what} needs PyTorch; install memspan[models]\n")


@pytest.mark.parametrize(
    ("words", "setting", "told"),
    [
        ((), "bmi.weight=0.2", "bmi.weight has no effect without --bmi; add --bmi base or full"),
        (("--bmi", "base"), "bmi.second=policy", "bmi.second applies after the switch"),
        (("--bmi", "full", "--set", "bmi.second=policy"), "bmi.proposal=0.5", "set bmi.second=raml"),
        (("--bmi", "full", "--set", "bmi.second=policy"), "bmi.weights=uniform", "set bmi.second=raml"),
        (("--bmi", "full", "--set", "bmi.weights=uniform"), "bmi.temperature=2", "set bmi.weights=importance"),
        (("--bmi", "base", "--set", "bmi.segments=windows"), "bmi.padding=true", "set bmi.segments=lines"),
        (("--bmi", "base"), "bmi.gap=5", "set bmi.segments=windows"),
    ],
)
def test_settings_of_the_second_goal_that_nothing_reads_are_refused(memspan, words, setting, told):
    ran = memspan("train", "words", *words, "--set", setting, "--show-config")
    assert ran.error.startswith(f"error: --set {setting}: ")
    assert told in ran.error
    assert ran.error.endswith(", or omit it")


def test_settings_of_the_second_goal_that_are_read_are_taken(memspan):
    for words in (
        ("--bmi", "base", "--set", "bmi.segments=windows", "--set", "bmi.gap=5"),
        ("--bmi", "full", "--set", "bmi.switch_at=7", "--set", "bmi.padding=true"),
        ("--set", "bmi.name=none"),
    ):
        assert memspan("train", "words", *words, "--show-config").status == 0


def test_show_config_has_the_bmi_settings_of_the_text(memspan):
    shown = {}
    for data in ("ptb", "wikitext-2"):
        ran = memspan("train", "words", "--data", data, "--bmi", "base", "--show-config")
        assert ran.status == 0
        shown[data] = json.loads(ran.out)["bmi"]
    names = ("weight", "pairs", "learning_rate")
    assert [shown["ptb"][name] for name in names] == [0.1, 12, 0.0002]
    assert [shown["wikitext-2"][name] for name in names] == [0.02, 10, 0.0002]
    assert shown["wikitext-2"]["second_weight"] == pytest.approx(0.005)
