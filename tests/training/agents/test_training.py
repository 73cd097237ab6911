"""Runs of agents: what is in the folder, and that whatever stops one, it ends with the same bytes."""

from __future__ import annotations

import json
import os
import random
import signal
from pathlib import Path

import numpy as np
import pytest
import torch

from memspan.errors import InputError
from memspan.results import AgentRun
from memspan.training.agents.agent import Agent
from memspan.training.agents.config import agent_from_json, agent_json, is_agent_run
from memspan.training.agents.evaluation import evaluate_agents
from memspan.training.agents.training import resume_agents, train_agent, train_agents
from memspan.training.run.config import with_limits
from memspan.training.run.folder import RunFolder
from memspan.training.run.loop import TrainingInterrupted


@pytest.fixture(scope="module")
def run(tiny_agent, tmp_path_factory) -> tuple[Path, AgentRun]:
    folder = tmp_path_factory.mktemp("agents") / "run"
    return folder, train_agents(tiny_agent(), folder, episodes=4, workers=1)


def written(folder: Path) -> dict[str, bytes]:
    """The weights and metrics of a run."""
    of_run = RunFolder(folder)
    return {path.name: path.read_bytes() for path in (of_run.checkpoint(of_run.saved()[0]), of_run.metrics_file)}


def test_a_run_has_the_files_of_any_run_and_one_without_memory_beside(run):
    folder, result = run
    for place in (folder, folder / "memoryless"):
        names = {path.name for path in place.iterdir()}
        assert {"config.json", "metrics.jsonl", "timing.jsonl", "environment.json", "checkpoints"} <= names
        assert [path.name for path in (place / "checkpoints").iterdir()] == ["00000002.safetensors"]
        lines = [json.loads(line) for line in (place / "metrics.jsonl").read_text().splitlines()]
        assert [line["frames"] for line in lines] == [48, 96]
    configs = [json.loads((place / "config.json").read_text()) for place in (folder, folder / "memoryless")]
    assert [config.pop("cell")["name"] for config in configs] == ["rel-lstm", "none"]
    assert configs[0] == configs[1]
    assert is_agent_run(folder)
    assert "minigrid" in json.loads((folder / "environment.json").read_text())
    assert (result.frames, result.updates, result.cell, result.world) == (96, 2, "rel-lstm", "GoToDoor-5x5")


def test_a_result_tells_of_both_agents_and_survives_json(run):
    _, result = run
    assert result.memoryless is not None
    assert (result.found.episodes, result.memoryless.episodes) == (4, 4)
    low, high = result.found.interval
    assert low <= result.reward <= high
    assert [one.cell for one in result.learning] == ["rel-lstm", "none"]
    text = json.dumps(result.to_json(), allow_nan=False)
    assert json.dumps(AgentRun.from_json(json.loads(text)).to_json(), allow_nan=False) == text


def test_an_episode_has_a_picture_and_attention_for_every_shown_step(run):
    _, result = run
    episode = result.episode
    assert episode is not None
    assert episode.shown == min(episode.steps, 120)
    assert episode.attention.shape == (episode.shown, episode.shown)
    rows = episode.attention[1:]
    assert np.allclose(np.tril(rows, 0).sum(axis=1), 1, atol=1e-5)
    assert not np.triu(episode.attention, 0).any()  # neither the future nor itself


@pytest.mark.parametrize("cell", ["rel-lstm", "mem-lstm"])
def test_a_run_that_was_stopped_and_resumed_ends_with_the_same_bytes(cell, tiny_agent, tmp_path):
    config = tiny_agent(cell, updates=4, memoryless=False)
    train_agent(config, tmp_path / "whole")
    train_agent(with_limits(config, 1, None), tmp_path / "parts")
    train_agent(with_limits(config, 3, None), tmp_path / "parts")
    train_agent(config, tmp_path / "parts")
    assert written(tmp_path / "parts") == written(tmp_path / "whole")


def test_a_run_whose_last_checkpoint_is_damaged_goes_on_from_the_one_before(tiny_agent, tmp_path):
    config = tiny_agent(updates=3, checkpoint_minutes=1e-9)
    train_agent(config, tmp_path / "run")
    whole = written(tmp_path / "run")
    folder = RunFolder(tmp_path / "run")
    folder.checkpoint(3).write_bytes(folder.checkpoint(3).read_bytes()[:-5])
    train_agent(config, tmp_path / "run")
    assert written(tmp_path / "run") == whole


def test_an_interrupt_saves_what_was_done_and_says_how_to_go_on(tiny_agent, tmp_path, monkeypatch):
    config, out = tiny_agent(updates=3, memoryless=False), tmp_path / "run"
    train_agent(config, tmp_path / "whole")
    step = Agent.step

    def interrupted(agent):
        os.kill(os.getpid(), signal.SIGINT)
        return step(agent)

    with monkeypatch.context() as patch:
        patch.setattr(Agent, "step", interrupted)
        with pytest.raises(TrainingInterrupted, match=f"saved in {out}; continue with memspan resume {out}"):
            train_agents(config, out, workers=1)
    assert RunFolder(out).saved() == [1]
    resumed = resume_agents(out, workers=1)
    assert resumed.updates == 3
    assert written(out) == written(tmp_path / "whole")


def test_random_numbers_and_threads_of_the_caller_stay_as_they_are(tiny_agent, tmp_path):
    np.random.seed(1)
    random.seed(1)
    torch.manual_seed(1)
    before = (str(np.random.get_state()), random.getstate(), torch.get_rng_state().tolist(), torch.get_num_threads())
    train_agents(tiny_agent(updates=1), tmp_path / "run", episodes=2, workers=1)
    after = (str(np.random.get_state()), random.getstate(), torch.get_rng_state().tolist(), torch.get_num_threads())
    assert after == before


def test_several_seeds_have_folders_of_their_own_and_are_told_together(tiny_agent, tmp_path):
    config, out = tiny_agent(updates=1), tmp_path / "run"
    result = train_agents(config, out, seeds=2, episodes=3, workers=1)
    assert (len(result.found.seeds), result.found.episodes) == (2, 6)
    assert [(one.cell, one.seed) for one in result.learning] == [
        *(("rel-lstm", 0), ("rel-lstm", 1)),
        *(("none", 0), ("none", 1)),
    ]
    assert np.isclose(result.reward, np.mean(result.found.seeds))
    more = resume_agents(out, updates=2, workers=1)
    assert more.updates == 2
    assert is_agent_run(out)


def test_evaluation_tries_all_agents_on_the_same_episodes(run):
    folder, result = run
    found = evaluate_agents(folder, ["GoToDoor-5x5", "GoToDoor-6x6"], episodes=4)
    assert [one.world for one in found.transfer] == ["GoToDoor-5x5", "GoToDoor-6x6"]
    assert found.transfer[0].reward == result.reward
    assert [one.cell for one in found.memoryless] == ["none", "none"]
    assert (found.trained_world, found.reward) == ("GoToDoor-5x5", found.transfer[-1].reward)


def test_a_folder_of_another_run_is_not_written_to(run, tiny_agent):
    folder, _ = run
    with pytest.raises(InputError, match="holds a run of another configuration"):
        train_agents(tiny_agent("lstm"), folder, workers=1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cell": {"name": "transformer"}}, "the transformer cannot act step by step: it has no recurrent state"),
        ({"cell": {"name": "rel-lst"}}, "did you mean rel-lstm"),
        ({"cell": {"name": "lstm", "dropout": 0.1}}, "expected 0: PPO must compute the same probabilities"),
        ({"task": {"world": "DoorKey-5x7"}}, "did you mean DoorKey-5x5"),
        ({"training": {"steps": 100}}, "expected steps to be a multiple"),
        ({"training": {"discount": 1.5}}, "training.discount is 1.5; expected a number from 0 to 1"),
        ({"training": {"rate": 1.5}}, "there is no training.rate"),
        ({"training": {"worlds": 0}}, "training.worlds is 0; expected a whole number of 1 or more"),
        ({"training": {"recurrence": 1, "batch": 1}}, "leaves a batch of one frame; expected two or more"),
        ({"training": {"recurrence": 1, "batch": 47}}, "an update has 48 frames, which leaves a batch of one frame"),
    ],
)
def test_settings_without_a_meaning_are_refused(change, message, tiny_agent):
    plain = agent_json(tiny_agent("lstm"))
    plain = {
        name: {**section, **change.get(name, {})} if isinstance(section, dict) else section
        for name, section in plain.items()
    }
    if change.get("cell", {}).get("name", "lstm") != "lstm":
        plain["cell"] = change["cell"]
    with pytest.raises(InputError, match=message):
        agent_from_json(plain)
