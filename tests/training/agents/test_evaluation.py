"""An agent beside the one without memory: trained as long, compared seed by seed, and what is told of both."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from memspan.errors import InputError
from memspan.results import AgentEvaluation
from memspan.training.agents.agent import Agent
from memspan.training.agents.config import read_agent_config
from memspan.training.agents.evaluation import evaluate_agents, load_agent
from memspan.training.agents.training import train_agent, train_agents
from memspan.training.run import loop
from memspan.training.run.checkpoint import read_checkpoint, write_checkpoint
from memspan.training.run.config import with_limits
from memspan.training.run.folder import RunFolder
from memspan.training.run.loop import DivergenceError

ONE = "a single network: other seeds may learn faster, slower or not at all; try --seeds 3"


@pytest.fixture(scope="module")
def made(tiny_agent, tmp_path_factory) -> Path:
    """Three seeds after one update."""
    folder = tmp_path_factory.mktemp("comparing") / "run"
    train_agents(tiny_agent(updates=1), folder, seeds=3, episodes=1, workers=1)
    return folder


@pytest.fixture
def run(made, tmp_path) -> Path:
    shutil.copytree(made, tmp_path / "run")
    return tmp_path / "run"


def forget(folder: Path) -> None:
    shutil.rmtree(folder / "checkpoints")


def seconds_of_a_step(monkeypatch: pytest.MonkeyPatch, cost) -> None:
    """A clock that stands still but for updates, which take what `cost(config)` says."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(loop, "time", SimpleNamespace(monotonic=lambda: clock.now))
    step = Agent.step

    def timed(agent: Agent) -> dict:
        clock.now += cost(agent.config)
        return step(agent)

    monkeypatch.setattr(Agent, "step", timed)


def updates(folder: Path) -> int:
    return load_agent(RunFolder(folder)).update


def test_where_minutes_end_a_training_the_agent_without_memory_does_as_many_updates(tiny_agent, tmp_path, monkeypatch):
    seconds_of_a_step(monkeypatch, lambda config: 1.0 if config.cell.name == "none" else 30.0 - 5 * config.seed)
    config = tiny_agent(updates=50, max_minutes=1)
    found = train_agents(config, tmp_path / "run", seeds=2, episodes=2, workers=1)
    done = {(one.cell, one.seed): one.updates for one in found.learning}
    assert done == {("rel-lstm", 0): 2, ("none", 0): 2, ("rel-lstm", 1): 3, ("none", 1): 3}
    assert not any("not trained alike" in note for note in found.notes)
    longer = with_limits(config, None, 2)
    more = train_agents(longer, tmp_path / "run", seeds=2, episodes=2, workers=1)
    assert [one.updates for one in more.learning] == [4, 5, 4, 5]


def test_a_run_tells_who_is_better_seen_and_of_how_many_networks(made, tiny_agent, tmp_path):
    found = evaluate_agents(made, ["GoToDoor-5x5", "GoToDoor-6x6"], episodes=2)
    assert [(one.cell, one.seed, one.updates, one.over) for one in found.networks] == [
        *(("rel-lstm", seed, 1, True) for seed in range(3)),
        *(("none", seed, 1, True) for seed in range(3)),
    ]
    assert found.notes == (
        "in GoToDoor-5x5, GoToDoor-6x6 the reward of the agent is not significantly above that of the memoryless agent: "
        "there is no evidence that memory was needed",
    )
    again = AgentEvaluation.from_json(found.to_json())
    assert again.notes == found.notes
    assert again.networks[0].updates == 1
    alone = train_agents(tiny_agent(updates=1), tmp_path / "run", episodes=2, workers=1)
    assert alone.notes[-1] == ONE
    assert alone.to_json()["notes"] == list(alone.notes)
    assert evaluate_agents(tmp_path / "run", episodes=2).notes == alone.notes


def test_seeds_without_a_pair_are_left_out_and_updates_that_differ_are_told(run, monkeypatch):
    first = read_agent_config(RunFolder(run / "seed-0"))
    train_agent(with_limits(first, 2, None), run / "seed-0")
    forget(run / "seed-1" / "memoryless")
    forget(run / "seed-2")
    found = evaluate_agents(run, episodes=2)
    assert [(one.cell, one.seed, one.updates) for one in found.networks] == [("rel-lstm", 0, 2), ("none", 0, 1)]
    assert (len(found.transfer[0].seeds), len(found.memoryless[0].seeds)) == (1, 1)
    assert found.notes[:3] == (
        "seed-1 is left out: its memoryless agent has no checkpoint yet",
        "seed-2 is left out: it has no checkpoint yet",
        "the agent of seed 0 has done 2 updates, the memoryless one 1: they were not trained alike",
    )


def test_where_no_agent_without_memory_has_weights_all_agents_are_tried_alone(run):
    for number in range(3):
        forget(run / f"seed-{number}" / "memoryless")
    found = evaluate_agents(run, episodes=2)
    assert (len(found.networks), found.memoryless) == (3, ())
    assert found.notes == ("the memoryless agent has no checkpoint yet: whether memory was needed is not known yet",)
    shutil.rmtree(run / "seed-0" / "memoryless")
    assert evaluate_agents(run, episodes=2).notes == found.notes


def test_that_none_was_wanted_is_told(tiny_agent, tmp_path):
    train_agents(tiny_agent(updates=1, memoryless=False), tmp_path / "run", episodes=1, workers=1)
    assert evaluate_agents(tmp_path / "run", episodes=2).notes == (
        "no memoryless agent was trained: whether memory was needed is unknown",
        ONE,
    )
    train_agents(tiny_agent("none", updates=1), tmp_path / "none", episodes=1, workers=1)
    assert evaluate_agents(tmp_path / "none", episodes=2).notes == (ONE,)


def test_that_a_training_goes_on_is_told(run):
    path = RunFolder(run / "seed-0").checkpoint(1)
    tensors, position = read_checkpoint(path, "rel-lstm")
    position.stopped = None
    write_checkpoint(path, tensors, position, "rel-lstm")
    found = evaluate_agents(run, episodes=2)
    assert found.notes[0] == "the agent of seed 0 has not finished; it has done 1 updates"
    assert [one.over for one in found.networks] == [False, True, True, True, True, True]


def test_a_run_without_any_weights_says_what_to_do(run):
    for number in range(3):
        forget(run / f"seed-{number}")
    with pytest.raises(InputError, match="seed-0 has no checkpoint yet; wait for its first minute"):
        evaluate_agents(run)


def test_a_rate_that_is_too_large_ends_in_advice(tiny_agent, tmp_path):
    with pytest.raises(DivergenceError) as raised:
        train_agent(tiny_agent(learning_rate=1e30, epochs=2), tmp_path / "run")
    assert str(raised.value) == (
        f"an action probability is NaN or infinite at update 1; no checkpoint was saved in {tmp_path / 'run'}; train again "
        "into another --out with a smaller learning rate (--set training.learning_rate=3e+29)"
    )


@pytest.mark.parametrize(("before_it", "what"), [(True, "an action probability"), (False, "a weight")])
def test_what_was_good_is_kept_where_a_training_diverges(before_it, what, tiny_agent, tmp_path, monkeypatch):
    train_agent(tiny_agent(updates=1), tmp_path / "run")
    before = RunFolder(tmp_path / "run").checkpoint(1).read_bytes()
    step = Agent.step

    def spoilt(agent: Agent) -> dict:
        weight = next(agent.policy.action_net.parameters()).data
        if before_it:
            weight.fill_(torch.nan)
        told = step(agent)
        weight.fill_(torch.nan)
        return told

    monkeypatch.setattr(Agent, "step", spoilt)
    with pytest.raises(
        DivergenceError, match=f"{what} is NaN or infinite at update 2; the checkpoint of update 1 is saved"
    ):
        train_agent(tiny_agent(updates=2), tmp_path / "run")
    assert RunFolder(tmp_path / "run").saved() == [1]
    assert RunFolder(tmp_path / "run").checkpoint(1).read_bytes() == before
