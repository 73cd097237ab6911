"""`train_agents` and `resume_agents`: an agent and one without memory beside it, for every seed, each in its folder."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

from memspan.engines import Processes, available_cores
from memspan.errors import InputError
from memspan.progress import SILENT, Progress
from memspan.results import AgentRun
from memspan.results.atomic import write_text
from memspan.training.agents.best import MEMORYLESS
from memspan.training.agents.config import NONE, AgentConfig, check_agent
from memspan.training.agents.config_json import agent_from_json, agent_json, without_memory
from memspan.training.agents.folder import config_of
from memspan.training.agents.loop import train_one, with_limits
from memspan.training.agents.outcome import EPISODES, outcome
from memspan.training.run_folder import RunFolder, read_json
from memspan.training.seeds import FILE, holds_seeds
from memspan.training.training import TrainingInterrupted
from memspan.training.watching import watching


@final
@dataclass(frozen=True)
class Job:
    """The training of one agent."""

    config: AgentConfig
    folder: Path


def train_agents(
    config: AgentConfig,
    out: Path,
    *,
    seeds: int = 1,
    episodes: int = EPISODES,
    workers: int | None = None,
    progress: Progress = SILENT,
) -> AgentRun:
    """Train with the seeds config.seed, config.seed + 1, …, and judge every agent on `episodes` episodes.

    One seed is trained in `out` itself, several in out/seed-0, out/seed-1, …; the agent without memory of each is in the
    folder memoryless below it. `workers` are at work at once, unless told one for each core; what comes out does not depend
    on how many. Called again after it was stopped or killed, it goes on.
    """
    if isinstance(seeds, bool) or seeds < 1:
        raise InputError(f"--seeds is {seeds}; expected a whole number of 1 or more")
    check_agent(config)
    _begin(config, out, seeds)
    jobs = jobs_of(config, out, seeds)
    try:
        _all_of(jobs, min(len(jobs), workers or available_cores()), progress)
    except KeyboardInterrupt as interrupt:
        raise TrainingInterrupted(
            f"what was done is saved in {out}; go on by memspan resume {out}"
        ) from interrupt
    return outcome(out, episodes, progress)


def resume_agents(
    out: Path,
    *,
    updates: int | None = None,
    max_minutes: float | None = None,
    workers: int | None = None,
    progress: Progress = SILENT,
) -> AgentRun:
    """Go on where a run stopped or was killed, to the same weights and metrics that it would have reached.

    `updates` and `max_minutes` replace the limits of the run, for good. Of a run that is over the agents are judged again.
    """
    seeds = 1
    if holds_seeds(out):
        plain = read_json(out / FILE)
        config, seeds = agent_from_json(plain["config"], str(out / FILE)), int(plain["seeds"])
    else:
        config = config_of(RunFolder(out))
    config = with_limits(config, updates, max_minutes)
    return train_agents(config, out, seeds=seeds, workers=workers, progress=progress)


def jobs_of(config: AgentConfig, out: Path, seeds: int) -> list[Job]:
    """Every agent that is to be trained, and where."""
    jobs = []
    for number in range(seeds):
        one = replace(config, seed=config.seed + number)
        folder = out if seeds == 1 else out / f"seed-{number}"
        jobs.append(Job(one, folder))
        if config.training.memoryless and config.cell.name != NONE:
            jobs.append(Job(without_memory(one), folder / MEMORYLESS))
    return jobs


def _all_of(jobs: list[Job], workers: int, progress: Progress) -> None:
    if workers == 1:
        for job in jobs:
            train_one(job.config, job.folder, progress=progress)
        return
    total = len(jobs) * jobs[0].config.training.updates
    name = f"{jobs[0].config.task.world}, {len(jobs)} agents"
    with watching([RunFolder(job.folder) for job in jobs], progress.stage(name, total), "reward"):
        Processes(workers).map(_one, jobs)


def _one(job: Job) -> None:
    train_one(job.config, job.folder)


def _begin(config: AgentConfig, out: Path, seeds: int) -> None:
    """A folder that holds another run is refused before any work; that of several seeds says of how many."""
    held = None
    if holds_seeds(out):
        held = read_json(out / FILE)
    elif RunFolder(out).config_file.exists():
        held = {"seeds": 1, "config": read_json(RunFolder(out).config_file)}
    wanted = {"seeds": seeds, "config": agent_json(config)}
    if held is not None and _without_limits(held) != _without_limits(wanted):
        raise InputError(
            f"{out} holds another run; go on with it by memspan resume {out}, or give another --out"
        )
    if seeds > 1:
        write_text(out / FILE, json.dumps(wanted, indent=2) + "\n")


def _without_limits(held: dict) -> dict:
    training = {
        name: value
        for name, value in held["config"].get("training", {}).items()
        if name not in ("updates", "max_minutes")
    }
    return {"seeds": held["seeds"], "config": {**held["config"], "training": training}}
