"""`memspan train TASK` and `memspan resume RUN`"""

from __future__ import annotations

import dataclasses
import json as json_text
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memspan.cli import options
from memspan.cli import train_options as train_option
from memspan.cli.interrupts import RUNS, run_saved
from memspan.cli.output import CommandOutput, print_bytes
from memspan.cli.train_config import GRIDWORLD, TrainRequest, agent_config, train_config
from memspan.errors import check_models, check_rl

if TYPE_CHECKING:
    from memspan.progress import Progress
    from memspan.results import AgentRun, TrainingRun


def train(
    task: train_option.Task,
    cell: train_option.Cell = None,
    hidden: train_option.Hidden = None,
    layers: train_option.Layers = None,
    short_term: train_option.ShortTerm = None,
    relevant: train_option.Relevant = None,
    init: train_option.Init = None,
    bmi: train_option.Bmi = None,
    delay: train_option.Delay = None,
    data: train_option.Data = None,
    world: train_option.World = None,
    mission: train_option.Mission = None,
    updates: train_option.Updates = None,
    batch: train_option.Batch = None,
    seed: train_option.Seed = None,
    seeds: train_option.Seeds = 1,
    max_minutes: train_option.MaxMinutes = None,
    device: train_option.Device = None,
    threads: train_option.Threads = None,
    preset: train_option.Preset = None,
    config: train_option.ConfigFile = None,
    settings: train_option.Settings = None,
    show_config: train_option.ShowConfig = False,
    out: train_option.RunFolder = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Train a network on a memory task, save it along the way, and evaluate it on unseen sequences.

    Ctrl-C saves it and prints how to continue; memspan resume also continues a run that was killed.
    """
    given = locals()  # the fields of a request have the names of the options
    check_models("training")
    request = TrainRequest(**{field.name: given[field.name] for field in dataclasses.fields(TrainRequest)})
    output = CommandOutput(command="train", json=json, quiet=quiet or not _is_main_process())
    if task == GRIDWORLD:
        _train_agents(request, seeds, show_config, out, output)
        return
    whole = train_config(request)
    if show_config:
        from memspan.training.supervised.config import to_json

        _print_config(to_json(whole))
        return
    from memspan.training import train, train_seeds
    from memspan.training.run.folder import RunFolder, new_run_folder
    from memspan.training.run.machine import is_distributed

    whole.task.resolved()  # missing data are reported before a folder is created
    with new_run_folder(out, RUNS, whole.word, whole.cell.name, shared=is_distributed()) as run:
        RunFolder(run).check_free()
        with output.progress() as progress, run_saved(run):
            if seeds == 1:
                result = train(whole, run, progress=progress)
                run = Path(result.run)
            else:
                result = train_seeds(whole, run, seeds, progress=progress)
            _show_training(output, run, result)


def resume(
    run: train_option.Run,
    updates: train_option.MoreUpdates = None,
    max_minutes: train_option.MaxMinutes = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Continue a training that was stopped or killed, to exactly the weights that it would have reached.

    A larger --updates or --max-minutes also continues a finished one.
    """
    check_models("training")
    output = CommandOutput(command="resume", json=json, quiet=quiet or not _is_main_process())
    with output.progress() as progress, run_saved(run):
        from memspan.training.agents.config import is_agent_run

        if is_agent_run(run):
            _resume_agents(run, updates, max_minutes, output, progress)
            return
        from memspan.training import resume, resume_seeds
        from memspan.training.run.sweep import holds_seeds

        resume_any = resume_seeds if holds_seeds(run) else resume
        result = resume_any(run, updates=updates, max_minutes=max_minutes, progress=progress)
        _show_training(output, run, result)


def _train_agents(
    request: TrainRequest, seeds: int, show_config: bool, out: Path | None, output: CommandOutput
) -> None:
    check_rl("training in grid worlds")
    config = agent_config(request)
    if show_config:
        from memspan.training.agents.config import agent_json

        _print_config(agent_json(config))
        return
    from memspan.training.agents.training import train_agents
    from memspan.training.run.folder import new_run_folder

    with new_run_folder(out, RUNS, GRIDWORLD, config.cell.name) as run, output.progress() as progress, run_saved(run):
        progress.say(f"saving the run in {run}")
        _show_agents(output, run, train_agents(config, run, seeds=seeds, progress=progress))


def _resume_agents(
    run: Path, updates: int | None, max_minutes: float | None, output: CommandOutput, progress: Progress
) -> None:
    check_rl("training in grid worlds")
    from memspan.training.agents.training import resume_agents

    result = resume_agents(run, updates=updates, max_minutes=max_minutes, progress=progress)
    _show_agents(output, run, result)


def _print_config(plain: dict[str, Any]) -> None:
    print_bytes(json_text.dumps(plain, indent=2).encode() + b"\n")


def _is_main_process() -> bool:
    """Whether this is the process of torchrun that writes files and output."""
    return os.environ.get("RANK", "0") == "0"


def _show_training(output: CommandOutput, run: Path, result: TrainingRun) -> None:
    if not _is_main_process():
        return
    from memspan.cli.output import show_training

    output = dataclasses.replace(output, out=run)
    output.give(result, lambda console: show_training(console, result, run))


def _show_agents(output: CommandOutput, run: Path, result: AgentRun) -> None:
    from memspan.cli.output import show_agent

    output = dataclasses.replace(output, out=run)
    output.give(result, lambda console: show_agent(console, result))
