"""The agents of a recipe: several at once, each in a folder of its own, tried in their own world and in a larger one."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from memspan.engines import Processes, available_cores
from memspan.errors import InputError
from memspan.progress import Progress
from memspan.results import AgentEvaluation
from memspan.results.atomic import write_text
from memspan.training.agents.config import AgentConfig
from memspan.training.agents.config_json import agent_defaults, agent_from_json, agent_json
from memspan.training.agents.evaluating import evaluate_agents
from memspan.training.agents.folder import config_of
from memspan.training.agents.loop import train_one
from memspan.training.agents.training import Job, agent_jobs
from memspan.training.config_json import merged
from memspan.training.run_folder import RunFolder


@final
@dataclass(frozen=True)
class AgentGroup:
    """Agents that differ in their seed alone: where they learn, where they are then tried, and in how many episodes."""

    config: AgentConfig
    """Of the first."""
    folder: Path
    seeds: int
    worlds: tuple[str, ...]
    episodes: int

    @property
    def jobs(self) -> list[Job]:
        """The training of each."""
        return agent_jobs(self.config, self.folder, self.seeds)

    @property
    def result(self) -> Path:
        """The file of what they came to."""
        return self.folder / "result.json"


def agent_config(
    cell: str, world: str, seed: int, training: dict[str, Any], options: dict[str, Any]
) -> AgentConfig:
    """An agent of the default settings with some replaced; the one without memory is trained on its own."""
    settings = {
        "task": {"world": world},
        "cell": options,
        "training": {**training, "memoryless": False},
        "seed": seed,
    }
    return agent_from_json(merged(agent_defaults(cell), settings), "the recipe")


def try_agents(
    groups: list[AgentGroup], progress: Progress, *, workers: int | None = None
) -> list[AgentEvaluation]:
    """Every agent trained, then every group tried; what is finished is not done again."""
    for group in groups:
        _check_same(group)
    workers = workers or available_cores()
    jobs = [job for group in groups if not group.result.exists() for job in group.jobs]
    if jobs:
        with progress.stage(f"{len(jobs)} agents", len(jobs)) as stage:
            Processes(min(workers, len(jobs))).map(_trained, jobs, done=stage.advance)
    longest = sorted(groups, key=lambda group: -group.seeds)
    with progress.stage("trying them", len(groups)) as stage:
        found = Processes(min(workers, len(groups))).map(tried, longest, done=stage.advance)
    places = {group.folder: evaluation for group, evaluation in zip(longest, found, strict=True)}
    return [places[group.folder] for group in groups]


def _trained(job: Job) -> None:
    """Gone on with where it was stopped, else begun."""
    train_one(job.config, job.folder)


def tried(group: AgentGroup) -> AgentEvaluation:
    """What trained agents came to; read where it is written down."""
    if group.result.exists():
        read = AgentEvaluation.from_json(json.loads(group.result.read_text(encoding="utf-8")))
        return dataclasses.replace(read, run=str(group.folder))  # which may have been moved
    found = evaluate_agents(group.folder, group.worlds, episodes=group.episodes)
    spent = sum(RunFolder(job.folder).seconds() for job in group.jobs)
    found = dataclasses.replace(found, seconds=found.seconds + spent, notes=())
    write_text(group.result, json.dumps({"command": "evaluate", **found.to_json()}) + "\n")
    return found


def _check_same(group: AgentGroup) -> None:
    for job in group.jobs:
        folder = RunFolder(job.folder)
        if folder.config_file.exists() and agent_json(config_of(folder)) != agent_json(job.config):
            raise InputError(
                f"{folder.path} was trained with other settings than are wanted; give another --out, or remove it"
            )
