"""`train_agents` and `resume_agents`: an agent and one without memory beside it, for every seed, each in its folder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

from memspan.engines import Processes, available_cores
from memspan.errors import InputError
from memspan.progress import SILENT, Progress
from memspan.results import AgentRun
from memspan.results.files import write_text
from memspan.training.agents.agent import Agent
from memspan.training.agents.best import MEMORYLESS, load_agent
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
    folder memoryless below it. Where minutes end a training, the agent without memory follows, to as many updates.
    `workers` are at work at once, unless told one for each core; what comes out does not depend on how many. Called again
    after it was stopped or killed, it goes on.
    """
    if isinstance(seeds, bool) or seeds < 1:
        raise InputError(f"--seeds is {seeds}; expected a whole number of 1 or more")
    check_agent(config)
    Agent(config).close()  # a world or a cell that cannot be made is told before there is a folder
    _begin(config, out, seeds)
    try:
        for jobs in _in_turn(config, out, seeds):
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


def agent_jobs(config: AgentConfig, out: Path, seeds: int) -> list[Job]:
    """The agent of every seed, and where it is trained."""
    folders = [out] if seeds == 1 else [out / f"seed-{number}" for number in range(seeds)]
    return [Job(replace(config, seed=config.seed + number), folder) for number, folder in enumerate(folders)]


def memoryless_jobs(agents: list[Job]) -> list[Job]:
    """The agents without memory, each beside its own, where they are wanted."""
    return [
        Job(without_memory(job.config), job.folder / MEMORYLESS)
        for job in agents
        if job.config.training.memoryless and job.config.cell.name != NONE
    ]


def _in_turn(config: AgentConfig, out: Path, seeds: int) -> Iterator[list[Job]]:
    """What is trained at the same time. Where minutes end it, agents come first: they say how many updates there are."""
    agents = agent_jobs(config, out, seeds)
    if config.training.max_minutes is None:
        yield [*agents, *memoryless_jobs(agents)]
        return
    yield agents
    if others := [_as_long(job) for job in memoryless_jobs(agents)]:
        yield others


def _as_long(job: Job) -> Job:
    """The same with as many updates as the agent beside has done, whatever time it takes."""
    done = load_agent(RunFolder(job.folder.parent)).update
    training = replace(job.config.training, updates=max(done, 1), max_minutes=None)
    return Job(replace(job.config, training=training), job.folder)


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
