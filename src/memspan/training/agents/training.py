"""`train_agents` and `resume_agents`: an agent and its memoryless baseline for every seed, each in its own folder."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from memspan.progress import SILENT, Progress
from memspan.results import AgentRun
from memspan.training.agents.agent import Agent
from memspan.training.agents.config import (
    NONE,
    AgentConfig,
    agent_from_json,
    agent_json,
    check_agent,
    memoryless,
    read_agent_config,
)
from memspan.training.agents.evaluation import EPISODES, MEMORYLESS, load_agent, run_result
from memspan.training.run.checkpoint import Position, newest_checkpoint
from memspan.training.run.config import with_limits
from memspan.training.run.folder import RunFolder
from memspan.training.run.loop import TrainingInterrupted, run_learner
from memspan.training.run.machine import stream_seed, torch_seed, torch_threads
from memspan.training.run.sweep import (
    TrainingJob,
    check_same_seeds,
    check_seeds,
    holds_seeds,
    read_seeds,
    seed_jobs,
    train_many,
    write_seeds,
)

Job = TrainingJob[AgentConfig]
# Packages whose versions environment.json records in addition.
_PACKAGES = ("gymnasium", "minigrid", "stable-baselines3", "sb3-contrib")


def train_agents(
    config: AgentConfig,
    out: Path,
    *,
    seeds: int = 1,
    episodes: int = EPISODES,
    workers: int | None = None,
    progress: Progress = SILENT,
) -> AgentRun:
    """Train with the seeds config.seed, config.seed + 1, …, and evaluate every agent on `episodes` episodes.

    One seed is trained in `out` itself, several in out/seed-0, out/seed-1, …; each memoryless agent is in the folder
    memoryless below. If the training time is limited, the memoryless agent is trained afterwards for as many updates.
    `workers` run at a time, by default one for each core; results do not depend on it. Called again, it resumes.
    """
    check_seeds(seeds)
    check_agent(config)
    Agent(config).close()  # an impossible world or cell is reported before there is a folder
    _begin(config, out, seeds)
    try:
        for jobs in _stages(config, out, seeds):
            title = f"{config.task.world}, {len(jobs)} agents"
            train_many(_train, jobs, title=title, headline="reward", workers=workers, progress=progress)
    except KeyboardInterrupt as interrupt:
        raise TrainingInterrupted(
            f"the training so far is saved in {out}; continue with memspan resume {out}"
        ) from interrupt
    return run_result(out, episodes, progress)


def resume_agents(
    out: Path,
    *,
    updates: int | None = None,
    max_minutes: float | None = None,
    workers: int | None = None,
    progress: Progress = SILENT,
) -> AgentRun:
    """Continue a run that was stopped or killed, to the same weights and metrics that it would have reached.

    `updates` and `max_minutes` replace the limits of the run permanently. A finished run is only evaluated again.
    """
    seeds = 1
    if holds_seeds(out):
        seeds, plain = read_seeds(out)
        config = agent_from_json(plain, str(out / "seeds.json"))
    else:
        config = read_agent_config(RunFolder(out))
    config = with_limits(config, updates, max_minutes)
    return train_agents(config, out, seeds=seeds, workers=workers, progress=progress)


def train_agent(config: AgentConfig, out: Path, *, progress: Progress = SILENT) -> Position:
    """Train one agent, or continue it where its folder stands, until a limit is reached and everything is saved.

    The caller's random state and number of threads do not change.
    """
    check_agent(config)
    folder = RunFolder(out)
    with torch_threads(config.training.threads), torch_seed(stream_seed(config.seed, 0)):
        agent = Agent(config)
        with contextlib.closing(agent), folder.writing():
            if folder.config_file.exists():
                folder.resume(agent_json(config))
            else:
                folder.begin(agent_json(config), packages=_PACKAGES)
            agent.policy.cell.announce_compilation(progress)
            return run_learner(agent, folder, lambda: _restore(agent, folder, progress), progress=progress)


def _restore(agent: Agent, folder: RunFolder, progress: Progress) -> tuple[Position, float]:
    """Load the newest readable checkpoint; returns its position and the seconds spent until then."""
    newest = newest_checkpoint(folder, agent.name, progress.say, check_metrics=True)
    if newest is None:
        return Position(), folder.seconds()
    tensors, position = newest
    agent.load(tensors, folder.checkpoint(position.update))
    return position.reopened(), folder.seconds()


def agent_jobs(config: AgentConfig, out: Path, seeds: int) -> list[Job]:
    """The agent of every seed and its folder."""
    return [TrainingJob(config, out)] if seeds == 1 else seed_jobs(config, out, seeds)


def memoryless_jobs(agents: list[Job]) -> list[Job]:
    """The memoryless agent next to each agent, if one is to be trained."""
    return [
        TrainingJob(memoryless(job.config), job.folder / MEMORYLESS)
        for job in agents
        if job.config.training.memoryless and job.config.cell.name != NONE
    ]


def _stages(config: AgentConfig, out: Path, seeds: int) -> Iterator[list[Job]]:
    """What is trained at the same time. Agents with a time limit come first: they determine the number of updates."""
    agents = agent_jobs(config, out, seeds)
    if config.training.max_minutes is None:
        yield [*agents, *memoryless_jobs(agents)]
        return
    yield agents
    if baselines := [_with_same_updates(job) for job in memoryless_jobs(agents)]:
        yield baselines


def _with_same_updates(job: Job) -> Job:
    """The memoryless job with as many updates as its agent has done, however long that takes."""
    done = load_agent(RunFolder(job.folder.parent)).update
    training = replace(job.config.training, updates=max(done, 1), max_minutes=None)
    return TrainingJob(replace(job.config, training=training), job.folder)


def _train(job: Job, progress: Progress = SILENT) -> None:
    train_agent(job.config, job.folder, progress=progress)


def _begin(config: AgentConfig, out: Path, seeds: int) -> None:
    """Refuse a folder that holds another run before any work; record the seeds if there are several."""
    plain = agent_json(config)
    if holds_seeds(out):
        check_same_seeds(out, read_seeds(out), seeds, plain)
    elif RunFolder(out).config_file.exists():
        check_same_seeds(out, (1, RunFolder(out).config_json()), seeds, plain)
    if seeds > 1:
        write_seeds(out, seeds, plain)
