"""`evaluate_agents`: what was learnt in one world, tried in others."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from memspan.errors import InputError
from memspan.progress import SILENT, Progress
from memspan.results import AgentEvaluation
from memspan.tasks.gridworld import check_world
from memspan.training.agents.best import agent_folders, load_agent, memoryless_folders
from memspan.training.agents.config import WORD
from memspan.training.agents.config_json import agent_json
from memspan.training.agents.filming import film
from memspan.training.agents.outcome import EPISODES, TRIED, tried
from memspan.training.machine import with_threads


def evaluate_agents(
    run: Path, worlds: Sequence[str] = (), *, episodes: int = EPISODES, progress: Progress = SILENT
) -> AgentEvaluation:
    """The newest weights of every seed in every world, the trained one if none is given; the run may still go on.

    All agents are tried on the same episodes, with actions drawn by the policy's odds.
    """
    if episodes < 1:
        raise InputError(f"the number of episodes is {episodes}; expected 1 or more")
    for world in worlds:
        check_world(world)
    begun = time.monotonic()
    agents = [load_agent(folder) for folder in agent_folders(run)]
    beside = [load_agent(folder) for folder in memoryless_folders(run)]
    first = agents[0]
    names = tuple(worlds) or (first.config.task.world,)
    found = tuple(tried(agents, world, episodes, progress) for world in names)
    without = tuple(tried(beside, world, episodes, progress) for world in names) if beside else ()
    with with_threads(first.config.training.threads):
        shown = film(first.agent.policy, names[-1], first.config.cell.name, seed=TRIED)
    return AgentEvaluation(
        task=WORD,
        trained_world=first.config.task.world,
        cell=first.config.cell.name,
        parameter_count=first.agent.parameter_count(),
        updates=first.update,
        reward=found[-1].reward,
        transfer=found,
        memoryless=without,
        episode=shown,
        run=str(run),
        seconds=time.monotonic() - begun,
        config=agent_json(first.config),
        notes=_notes(run),
    )


def _notes(run: Path) -> tuple[str, ...]:
    """Which agents are missing."""
    agents, beside = agent_folders(run), memoryless_folders(run)
    if len(beside) < len(agents):
        return ("an agent without memory was not trained beside: whether memory was needed is not seen",)
    return ()
