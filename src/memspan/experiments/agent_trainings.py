"""The agents of a recipe: several at once, each in a folder of its own, tried in its own world and in a larger one."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from memspan.engines import Processes, available_cores
from memspan.errors import InputError
from memspan.progress import SILENT, Progress
from memspan.results import AgentEvaluation, Rewards
from memspan.results.atomic import write_text
from memspan.training.agents.config import AgentConfig
from memspan.training.agents.config_json import agent_defaults, agent_from_json, agent_json
from memspan.training.agents.evaluating import evaluate_agents
from memspan.training.agents.folder import config_of
from memspan.training.agents.loop import train_one
from memspan.training.config_json import merged
from memspan.training.run_folder import RunFolder


@final
@dataclass(frozen=True)
class AgentJob:
    """One agent: where it learns, where it is then tried, and in how many episodes."""

    config: AgentConfig
    folder: Path
    worlds: tuple[str, ...]
    episodes: int


def agent_job(
    cell: str, world: str, larger: str, folder: Path, seed: int, episodes: int, training: dict[str, Any]
) -> AgentJob:
    """An agent of the default settings with some replaced; the one without memory is a job of its own."""
    settings = {"task": {"world": world}, "training": {**training, "memoryless": False}, "seed": seed}
    config = agent_from_json(merged(agent_defaults(cell), settings), "the recipe")
    return AgentJob(config, folder, (world, larger), episodes)


def try_agents(
    jobs: list[AgentJob], progress: Progress, *, workers: int | None = None
) -> list[AgentEvaluation]:
    """Every agent trained and tried; what is finished is not done again."""
    engine = Processes(min(workers or available_cores(), len(jobs)))
    with progress.stage(f"{len(jobs)} agents", len(jobs)) as stage:
        return engine.map(tried, jobs, done=stage.advance)


def tried(job: AgentJob) -> AgentEvaluation:
    """One agent: read where it is finished, gone on with where it was stopped, else begun."""
    folder, result = RunFolder(job.folder), job.folder / "result.json"
    if folder.config_file.exists():
        _check_same(job, folder)
        if result.exists():
            read = AgentEvaluation.from_json(json.loads(result.read_text(encoding="utf-8")))
            return dataclasses.replace(read, run=str(job.folder))  # which may have been moved
    train_one(job.config, job.folder, progress=SILENT)
    found = evaluate_agents(job.folder, job.worlds, episodes=job.episodes)
    found = dataclasses.replace(found, seconds=found.seconds + folder.seconds(), notes=())
    write_text(result, json.dumps({"command": "evaluate", **found.to_json()}) + "\n")
    return found


def rewards_in(evaluation: AgentEvaluation, world: str) -> Rewards:
    """What was earned in one of the worlds."""
    return next(one for one in evaluation.transfer if one.world == world)


def _check_same(job: AgentJob, folder: RunFolder) -> None:
    if agent_json(config_of(folder)) != agent_json(job.config):
        raise InputError(
            f"{folder.path} was trained with other settings than are wanted; give another --out, or remove it"
        )
