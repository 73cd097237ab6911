"""`memspan train gridworld` as typed, what can be done with such a run, and what is refused."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from PIL import Image

from memspan import errors
from memspan.cli import main
from memspan.training.run import machine, sweep

SMALL = ("worlds=2", "steps=16", "batch=16", "recurrence=8", "epochs=1")
SETTINGS = tuple(word for setting in SMALL for word in ("--set", f"training.{setting}"))
WORLD = ("--world", "GoToDoor-5x5", "--hidden", "8")


@pytest.fixture(autouse=True)
def one_core(monkeypatch):
    """Everything in this process: starting others takes longer than these trainings."""
    monkeypatch.setattr(sweep, "available_cores", lambda: 1)


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("gridworld") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweep, "available_cores", lambda: 1)
        words = ("train", "gridworld", *WORLD, *SETTINGS, "--updates", "1", "--out", str(out), "--quiet")
        assert main(words) == 0
    return out


@pytest.fixture
def run(made, tmp_path) -> Path:
    shutil.copytree(made, tmp_path / "run")
    return tmp_path / "run"


def test_a_run_is_trained_shown_resumed_and_tried_in_another_world(memspan, run):
    page = (run / "report.html").read_text()
    assert "data:image/gif;base64" in page
    assert "without memory" in page
    with Image.open(run / "figures" / "episode.gif") as film:
        assert getattr(film, "n_frames", 1) >= 1
    assert {"learning.svg", "attention.svg"} <= {path.name for path in (run / "figures").iterdir()}

    resumed = memspan("resume", run, "--updates", "2", "--json", "--quiet").plain
    assert (resumed["command"], resumed["updates"], resumed["frames"]) == ("resume", 2, 64)
    assert resumed["memoryless"]["cell"] == "none"

    tried = memspan("evaluate", run, "--world", "GoToDoor-6x6", "--episodes", "2", "--quiet")
    assert tried.out.startswith("GoToDoor-6x6, rel-lstm trained in GoToDoor-5x5: reward 0.")
    assert "; without memory 0." in tried.out.splitlines()[0]
    assert (run / "evaluation" / "report.html").is_file()

    assert memspan("report", run).status == 0
    assert (run / "report.html").read_text().count("<section") == 2


def test_the_configuration_is_shown_and_can_be_given_back(memspan, tmp_path):
    shown = json.loads(memspan("train", "gridworld", *WORLD, "--mission", "--show-config").out)
    assert shown["task"] == {"name": "gridworld", "world": "GoToDoor-5x5", "mission": True}
    assert (shown["cell"]["short_term"], shown["cell"]["relevant"]) == (5, 5)
    file = tmp_path / "config.json"
    file.write_text(json.dumps(shown))
    assert json.loads(memspan("train", "gridworld", "--config", file, "--show-config").out) == shown
    other = json.loads(memspan("train", "gridworld", "--config", file, "--cell", "none", "--show-config").out)
    assert other["cell"] == {"name": "none", "hidden": 64, "layers": 1, "dropout": 0.0}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--world", "DoorKey5x5"), "there is no world 'DoorKey5x5'; did you mean DoorKey-5x5?"),
        (("--cell", "transformer"), "the transformer cannot act step by step"),
        (("--delay", "5"), "--delay: the task gridworld does not use it"),
        (("--cell", "lstm", "--short-term", "5"), "--short-term 5: the cell lstm does not have it"),
        (("--set", "training.wordls=3"), "there is no training.wordls; did you mean worlds?"),
    ],
)
def test_bad_input_is_refused_in_one_line(memspan, words, message):
    assert message in memspan("train", "gridworld", *words).error


def test_worlds_that_show_something_else_are_refused(memspan, run):
    assert "CartPole-v1 is not a grid world" in memspan("evaluate", run, "--world", "CartPole-v1", "--quiet").error
    assert "did you mean Fetch-8x8" in memspan("evaluate", run, "--world", "Fetch-8x9", "--quiet").error
    few = "MiniGrid-Dynamic-Obstacles-5x5-v0"
    assert f"{few} has 3 actions" in memspan("evaluate", run, "--world", few, "--quiet").error
    others = (
        ("--delay", "5"),
        ("--split", "valid"),
        ("--batches", "2"),
        ("--reverse-perplexity",),
        ("--length", "1000"),
    )
    for words in others:
        error = memspan("evaluate", run, *words).error
        assert error.startswith(f"error: {words[0]}: ")
        assert "omit it; --world NAME evaluates other worlds" in error
    assert "is the run of an agent in a grid world" in memspan("diagnose", run, "--quiet").error


def test_the_seed_of_an_evaluation_chooses_other_episodes_and_the_device_is_used(memspan, run, monkeypatch):
    def tried(*words: str) -> int:
        return memspan("evaluate", run, "--episodes", "1", "--quiet", "--json", *words).plain["episode"]["seed"]

    usual = tried()
    assert tried("--seed", "0", "--device", "cpu") == usual
    assert tried("--seed", "5") != usual
    monkeypatch.setattr(machine, "accelerators", lambda: {"cuda": False, "mps": False})
    assert "--device cuda: PyTorch finds no such device" in memspan("evaluate", run, "--device", "cuda").error
    told = memspan("evaluate", run, "--episodes", "1", "--quiet").out
    assert "(no interval) over one episode of one network" in told.splitlines()[0]
    assert "nan" not in told


@pytest.mark.parametrize("seeds", ["1", "2"])
def test_a_world_that_is_refused_leaves_no_folder(memspan, tmp_path, seeds):
    out = tmp_path / "run"
    refused = memspan("train", "gridworld", "--world", "CartPole-v1", "--seeds", seeds, "--out", out, "--quiet")
    assert "CartPole-v1 is not a grid world" in refused.error
    assert not out.exists()


def test_several_networks_are_told_one_by_one(memspan, tmp_path):
    done = memspan(
        *("train", "gridworld", *WORLD, *SETTINGS, "--updates", "1", "--seeds", "2"),
        *("--out", tmp_path / "run", "--quiet"),
    )
    lines = dict(re.findall(r"^(.+?)  +(.+?) *$", done.out, flags=re.MULTILINE))
    assert "over 200 episodes of 2 networks after 32 frames" in done.out.splitlines()[0]
    assert len(lines["of each seed"].split()) == len(lines["of each seed, without memory"].split()) == 2
    assert "one network" not in done.out


def test_worlds_are_for_agents_only(memspan):
    assert "--world is for gridworld" in memspan("train", "copy", "--world", "MemoryS7").error


@pytest.mark.parametrize("module", ["gymnasium", "minigrid", "stable_baselines3", "sb3_contrib"])
def test_a_missing_extra_is_told(memspan, monkeypatch, module):
    found = errors.find_spec
    monkeypatch.setattr(errors, "find_spec", lambda name: None if name == module else found(name))
    message = memspan("train", "gridworld").error
    assert message.startswith("error: training in grid worlds needs ")
    assert message.endswith("; install memspan[rl]")
