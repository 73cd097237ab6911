"""Agents of a recipe: trained in parallel, each in its own folder, and evaluated in their own world and in a larger one."""

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
from memspan.results.files import write_text
from memspan.training.agents.config import AgentConfig, agent_defaults, agent_from_json, agent_json, read_agent_config
from memspan.training.agents.evaluation import evaluate_agents
from memspan.training.agents.training import agent_jobs, train_agent
from memspan.training.run.config import merge
from memspan.training.run.folder import RunFolder
from memspan.training.run.sweep import TrainingJob


@final
@dataclass(frozen=True)
class AgentGroup:
    """Agents that differ only in their seed, the worlds in which they are evaluated, and the number of episodes."""

    config: AgentConfig
    """Configuration of the first seed."""
    folder: Path
    seeds: int
    worlds: tuple[str, ...]
    episodes: int

    @property
    def jobs(self) -> list[TrainingJob[AgentConfig]]:
        """One training job per seed."""
        return agent_jobs(self.config, self.folder, self.seeds)

    @property
    def result(self) -> Path:
        """File of the evaluation."""
        return self.folder / "result.json"


def agent_config(cell: str, world: str, seed: int, training: dict[str, Any], options: dict[str, Any]) -> AgentConfig:
    """Default settings with some replaced. The memoryless baseline is trained as its own group."""
    settings = {"task": {"world": world}, "cell": options, "training": {**training, "memoryless": False}, "seed": seed}
    return agent_from_json(merge(agent_defaults(cell), settings), "the recipe")


def evaluate_groups(
    groups: list[AgentGroup], progress: Progress, *, workers: int | None = None
) -> list[AgentEvaluation]:
    """Train all agents, then evaluate all groups; finished work is loaded."""
    for group in groups:
        _check_settings(group)
    workers = workers or available_cores()
    jobs = [job for group in groups if not group.result.exists() for job in group.jobs]
    if jobs:
        with progress.stage(f"{len(jobs)} agents", len(jobs)) as stage:
            Processes(min(workers, len(jobs))).map(_train, jobs, done=stage.advance)
    # Groups with more seeds take longer and start first.
    ordered = sorted(groups, key=lambda group: -group.seeds)
    with progress.stage("evaluation of agents", len(groups)) as stage:
        evaluations = Processes(min(workers, len(groups))).map(evaluate_group, ordered, done=stage.advance)
    by_folder = {group.folder: one for group, one in zip(ordered, evaluations, strict=True)}
    return [by_folder[group.folder] for group in groups]


def _train(job: TrainingJob[AgentConfig]) -> None:
    """Train one agent, or resume its training."""
    train_agent(job.config, job.folder)


def evaluate_group(group: AgentGroup) -> AgentEvaluation:
    """Evaluate trained agents, or load the stored evaluation."""
    if group.result.exists():
        stored = AgentEvaluation.from_json(json.loads(group.result.read_text(encoding="utf-8")))
        return dataclasses.replace(stored, run=str(group.folder))  # the folder may have been moved
    evaluation = evaluate_agents(group.folder, group.worlds, episodes=group.episodes)
    training_seconds = sum(RunFolder(job.folder).seconds() for job in group.jobs)
    evaluation = dataclasses.replace(evaluation, seconds=evaluation.seconds + training_seconds, notes=())
    write_text(group.result, json.dumps({"command": "evaluate", **evaluation.to_json()}) + "\n")
    return evaluation


def _check_settings(group: AgentGroup) -> None:
    for job in group.jobs:
        folder = RunFolder(job.folder)
        if folder.config_file.exists() and agent_json(read_agent_config(folder)) != agent_json(job.config):
            raise InputError(
                f"{folder.path} holds a training with different settings; give another --out, or delete the folder"
            )
