"""What the agents of a run achieve: rewards in the trained world and in others, next to those of memoryless agents."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

import numpy as np

from memspan.errors import CorruptError, InputError
from memspan.progress import SILENT, Progress
from memspan.results import AgentEvaluation, AgentRun, EvaluatedAgent, LearningCurve, Rewards
from memspan.tasks.gridworld import check_world
from memspan.training.agents.agent import Agent
from memspan.training.agents.config import NONE, WORD, AgentConfig, agent_json, read_agent_config
from memspan.training.agents.play import film, play, summarize
from memspan.training.run.checkpoint import load_module, newest_checkpoint, read_checkpoint
from memspan.training.run.folder import RunFolder
from memspan.training.run.machine import Device, torch_threads
from memspan.training.run.sweep import seed_folders

# Default number of episodes of each network in each world.
EPISODES = 100
# Default seed of the evaluation episodes: the same for all agents, so that they can be compared.
SEED = 0
# The subfolder of a run with the memoryless agent.
MEMORYLESS = "memoryless"


def run_result(run: Path, episodes: int, progress: Progress) -> AgentRun:
    """The result of a finished run."""
    agents = load_agents(run)
    first = agents.agents[0]
    config, world = first.config, first.config.task.world
    found = _evaluate(agents.agents, world, episodes, progress)
    baseline = _evaluate(agents.memoryless, world, episodes, progress) if agents.memoryless else None
    learning = tuple(_learning_curve(one.folder) for one in (*agents.agents, *agents.memoryless))
    with torch_threads(config.training.threads):
        episode = film(first.agent.policy, world, config.cell.name, seed=SEED)
    return AgentRun(
        task=WORD,
        world=world,
        cell=config.cell.name,
        parameter_count=first.agent.parameter_count(),
        updates=first.update,
        frames=first.update * config.training.frames,
        seconds=sum(one.seconds for one in learning),
        reward=found.reward,
        run=str(run),
        found=found,
        memoryless=baseline,
        learning=learning,
        episode=episode,
        config=agent_json(config),
        notes=_notes(agents, (found,), () if baseline is None else (baseline,)),
    )


def evaluate_agents(
    run: Path,
    worlds: Sequence[str] = (),
    *,
    episodes: int = EPISODES,
    seed: int = SEED,
    device: Device | None = None,
    progress: Progress = SILENT,
) -> AgentEvaluation:
    """Evaluate the newest weights of every seed in every world, by default in the trained one.

    All agents play the same episodes, which `seed` determines, with actions sampled from their policies. `device` is by
    default that of the run. The run may still be training.
    """
    if episodes < 1:
        raise InputError(f"the number of episodes is {episodes}; expected 1 or more")
    for world in worlds:
        check_world(world)
    begun = time.monotonic()
    agents = load_agents(run, device)
    first = agents.agents[0]
    names = tuple(worlds) or (first.config.task.world,)
    found, baseline = (
        tuple(_evaluate(some, world, episodes, progress, seed=seed) for world in names if some)
        for some in (agents.agents, agents.memoryless)
    )
    with torch_threads(first.config.training.threads):
        episode = film(first.agent.policy, names[-1], first.config.cell.name, seed=seed)
    return AgentEvaluation(
        task=WORD,
        trained_world=first.config.task.world,
        cell=first.config.cell.name,
        parameter_count=first.agent.parameter_count(),
        updates=first.update,
        reward=found[-1].reward,
        transfer=found,
        memoryless=baseline,
        episode=episode,
        run=str(run),
        seconds=time.monotonic() - begun,
        config=agent_json(first.config),
        notes=_notes(agents, found, baseline),
        networks=agents.networks,
    )


def _evaluate(
    agents: Sequence[TrainedAgent], world: str, episodes: int, progress: Progress, *, seed: int = SEED
) -> Rewards:
    """The networks of all seeds in one world."""
    cell, played = agents[0].config.cell.name, []
    with progress.stage(f"{cell} in {world}", len(agents) * episodes) as stage:
        for one in agents:
            with torch_threads(one.config.training.threads):
                played.append(play(one.agent.policy, world, episodes, seed=seed, stage=stage))
    return summarize(world, cell, played)


def _learning_curve(folder: RunFolder) -> LearningCurve:
    config, lines = read_agent_config(folder), folder.metrics()
    _, position = read_checkpoint(folder.checkpoint(folder.saved()[0]), config.cell.name)
    rewards = [float("nan") if line["reward"] is None else line["reward"] for line in lines]
    return LearningCurve(
        cell=config.cell.name,
        seed=config.seed,
        updates=position.update,
        seconds=folder.seconds(),
        stopped=position.stopped or "not over",
        frames=np.array([line["frames"] for line in lines], dtype=np.int64),
        rewards=np.array(rewards),
    )


@final
@dataclass(frozen=True)
class TrainedAgent:
    """An agent with its newest weights."""

    agent: Agent
    config: AgentConfig
    folder: RunFolder
    update: int
    over: bool
    """Whether its training has finished."""


def load_agent(folder: RunFolder, device: Device | None = None) -> TrainedAgent:
    """An agent with its newest readable weights, by default on the device of the run."""
    config = read_agent_config(folder)
    agent = Agent(replace(config, training=replace(config.training, device=device or config.training.device)))
    skipped: list[str] = []
    newest = newest_checkpoint(folder, config.cell.name, skipped.append)
    if newest is not None:
        tensors, position = newest
        load_module("policy", agent.policy, tensors, folder.checkpoint(position.update))
        return TrainedAgent(agent, config, folder, position.update, position.stopped is not None)
    if skipped:
        raise CorruptError(f"no checkpoint of {folder.path} can be read ({skipped[0]}); train again")
    raise InputError(
        f"{folder.path} has no checkpoint yet; wait for its first minute, or continue with memspan resume {folder.path}"
    )


@final
@dataclass(frozen=True)
class AgentPairs:
    """Agents and the memoryless agents of the same seeds; the latter are empty if there is nothing to compare."""

    agents: tuple[TrainedAgent, ...]
    memoryless: tuple[TrainedAgent, ...]
    notes: tuple[str, ...]
    """Which seeds are left out, and which are still training."""

    @property
    def networks(self) -> tuple[EvaluatedAgent, ...]:
        """All networks, for the result."""
        return tuple(
            EvaluatedAgent(one.config.cell.name, one.config.seed, one.update, one.over)
            for one in (*self.agents, *self.memoryless)
        )


def load_agents(run: Path, device: Device | None = None) -> AgentPairs:
    """The newest weights of every seed. If only some seeds have a memoryless agent yet, only those are used."""
    folders = seed_folders(run) or [RunFolder(run)]
    read_agent_config(folders[0])
    begun = [folder for folder in folders if folder.saved()] or folders[:1]  # its error says what to do
    both = [folder for folder in begun if _memoryless_folder(folder).saved()]
    chosen = both or begun
    agents = tuple(load_agent(folder, device) for folder in chosen)
    baselines = tuple(load_agent(_memoryless_folder(folder), device) for folder in both)
    left_out = [
        f"{folder.path.name} is left out: {'its memoryless agent' if folder in begun else 'it'} has no checkpoint yet"
        for folder in folders
        if folder not in chosen
    ]
    unfinished = [
        f"the {'memoryless ' if one.config.cell.name == NONE else ''}agent of seed {one.config.seed} has not finished; "
        f"it has done {one.update:,} updates"
        for one in (*agents, *baselines)
        if not one.over
    ]
    return AgentPairs(agents, baselines, (*left_out, *_missing_baseline(agents[0], chosen, baselines), *unfinished))


def _memoryless_folder(folder: RunFolder) -> RunFolder:
    return RunFolder(folder.path / MEMORYLESS)


def _missing_baseline(first: TrainedAgent, chosen: list[RunFolder], baselines: tuple[TrainedAgent, ...]) -> list[str]:
    if baselines or first.config.cell.name == NONE:
        return []
    if not first.config.training.memoryless and not _memoryless_folder(chosen[0]).config_file.is_file():
        return ["no memoryless agent was trained: whether memory was needed is unknown"]
    return ["the memoryless agent has no checkpoint yet: whether memory was needed is not known yet"]


def _notes(pairs: AgentPairs, found: tuple[Rewards, ...], baseline: tuple[Rewards, ...]) -> tuple[str, ...]:
    """What to know before an agent is compared with its memoryless baseline."""
    notes = [
        *pairs.notes,
        *(
            f"the agent of seed {one.config.seed} has done {one.update:,} updates, the memoryless one {other.update:,}: "
            "they were not trained alike"
            for one, other in zip(pairs.agents, pairs.memoryless, strict=False)
            if one.update != other.update
        ),
    ]
    worlds = [one.world for one, other in zip(found, baseline, strict=False) if not one.above(other)]
    if worlds:
        notes.append(
            f"in {', '.join(worlds)} the reward of the agent is not significantly above that of the memoryless agent: there "
            "is no evidence that memory was needed"
        )
    if len(pairs.agents) == 1:
        notes.append("a single network: other seeds may learn faster, slower or not at all; try --seeds 3")
    return tuple(notes)
