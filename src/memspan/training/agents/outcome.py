"""What the agents of a run came to: their rewards on episodes from seeds that training never had, and how they learnt."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from memspan.progress import Progress
from memspan.results import AgentRun, LearningCurve, Rewards
from memspan.training.agents.best import Trained
from memspan.training.agents.config import WORD
from memspan.training.agents.config_json import agent_json
from memspan.training.agents.filming import film
from memspan.training.agents.folder import config_of
from memspan.training.agents.notes import notes_on
from memspan.training.agents.pairs import load_pairs
from memspan.training.agents.playing import play, rewards_of
from memspan.training.checkpoint import read_checkpoint
from memspan.training.machine import with_threads
from memspan.training.run_folder import RunFolder

EPISODES = 100
"""Of each network, in each world."""
TRIED = 0
"""The seed of episodes that agents are tried on unless told: the same for all, so that they can be compared."""


def outcome(run: Path, episodes: int, progress: Progress) -> AgentRun:
    """The result of a run that is over."""
    pairs = load_pairs(run)
    first = pairs.agents[0]
    config, world = first.config, first.config.task.world
    found = tried(pairs.agents, world, episodes, progress)
    without = tried(pairs.memoryless, world, episodes, progress) if pairs.memoryless else None
    learning = tuple(_learning(one.folder) for one in (*pairs.agents, *pairs.memoryless))
    with with_threads(config.training.threads):
        shown = film(first.agent.policy, world, config.cell.name, seed=TRIED)
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
        memoryless=without,
        learning=learning,
        episode=shown,
        config=agent_json(config),
        notes=notes_on(pairs, (found,), () if without is None else (without,)),
    )


def tried(
    agents: Sequence[Trained], world: str, episodes: int, progress: Progress, *, seed: int = TRIED
) -> Rewards:
    """The networks of all seeds in one world."""
    cell, played = agents[0].config.cell.name, []
    with progress.stage(f"{cell} in {world}", len(agents) * episodes) as stage:
        for one in agents:
            with with_threads(one.config.training.threads):
                played.append(play(one.agent.policy, world, episodes, seed=seed, stage=stage))
    return rewards_of(world, cell, played)


def _learning(folder: RunFolder) -> LearningCurve:
    config, lines = config_of(folder), folder.metrics()
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
