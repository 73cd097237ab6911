"""`evaluate_agents`: what was learnt in one world, tried in others."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from memspan.errors import InputError
from memspan.progress import SILENT, Progress
from memspan.results import AgentEvaluation
from memspan.tasks.gridworld import check_world
from memspan.training.agents.config import WORD
from memspan.training.agents.config_json import agent_json
from memspan.training.agents.filming import film
from memspan.training.agents.notes import notes_on
from memspan.training.agents.outcome import EPISODES, TRIED, tried
from memspan.training.agents.pairs import load_pairs
from memspan.training.devices import Device
from memspan.training.machine import with_threads


def evaluate_agents(
    run: Path,
    worlds: Sequence[str] = (),
    *,
    episodes: int = EPISODES,
    seed: int = TRIED,
    device: Device | None = None,
    progress: Progress = SILENT,
) -> AgentEvaluation:
    """The newest weights of every seed in every world, the trained one if none is given; the run may still go on.

    All agents are tried on the same episodes, with actions drawn by the policy's odds; another `seed` gives other episodes.
    `device` is the run's unless told.
    """
    if episodes < 1:
        raise InputError(f"the number of episodes is {episodes}; expected 1 or more")
    for world in worlds:
        check_world(world)
    begun = time.monotonic()
    pairs = load_pairs(run, device)
    first = pairs.agents[0]
    names = tuple(worlds) or (first.config.task.world,)
    found, without = (
        tuple(tried(some, world, episodes, progress, seed=seed) for world in names if some)
        for some in (pairs.agents, pairs.memoryless)
    )
    with with_threads(first.config.training.threads):
        shown = film(first.agent.policy, names[-1], first.config.cell.name, seed=seed)
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
        notes=notes_on(pairs, found, without),
        networks=pairs.networks,
    )
