"""`memspan train TASK` and `memspan resume RUN`"""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import TYPE_CHECKING

from memspan.cli import gridworld, options
from memspan.cli import train_options as asked
from memspan.cli.output import CommandOutput, print_bytes
from memspan.cli.run_kept import RUNS, kept
from memspan.cli.train_settings import GRIDWORLD, Asked, resolved
from memspan.errors import check_models

if TYPE_CHECKING:
    from memspan.progress import Progress
    from memspan.results import TrainingRun
    from memspan.training import Config


def train(
    task: asked.Task,
    cell: asked.Cell = None,
    hidden: asked.Hidden = None,
    layers: asked.Layers = None,
    short_term: asked.ShortTerm = None,
    relevant: asked.Relevant = None,
    init: asked.Init = None,
    bmi: asked.Bmi = None,
    delay: asked.Delay = None,
    data: asked.Data = None,
    world: asked.World = None,
    mission: asked.Mission = None,
    updates: asked.Updates = None,
    batch: asked.Batch = None,
    seed: asked.Seed = None,
    seeds: asked.Seeds = 1,
    max_minutes: asked.MaxMinutes = None,
    device: asked.Device = None,
    threads: asked.Threads = None,
    config: asked.ConfigFile = None,
    settings: asked.Settings = None,
    show_config: asked.ShowConfig = False,
    out: asked.RunFolder = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """A network that learns to remember: trained, saved as it goes, judged on sequences that it never saw.

    Ctrl-C saves it and says how to go on; a run that was killed goes on by memspan resume.
    """
    check_models("training")
    given = Asked(
        task=task,
        cell=cell,
        hidden=hidden,
        layers=layers,
        short_term=short_term,
        relevant=relevant,
        init=init,
        bmi=bmi,
        delay=delay,
        data=data,
        world=world,
        mission=mission,
        updates=updates,
        batch=batch,
        seed=seed,
        max_minutes=max_minutes,
        device=device,
        threads=threads,
        config=config,
        settings=tuple(settings or ()),
    )
    if task == GRIDWORLD:
        gridworld.train(
            given, seeds, show_config, out, CommandOutput(command="train", json=json, quiet=quiet)
        )
        return
    whole = resolved(given)
    if show_config:
        _show(whole)
        return
    from memspan.training.machine import several_processes
    from memspan.training.run_folder import RunFolder, place_of

    whole.task.resolved()  # data that are missing are told before a folder is named
    with place_of(out, RUNS, whole.word, whole.cell.name, shared=several_processes()) as run:
        RunFolder(run).check_free()
        output = CommandOutput(command="train", json=json, quiet=quiet or not _first_process())
        with output.progress() as progress, kept(run):
            result = _trained(whole, run, seeds, progress)
            _give(output, run if seeds > 1 else Path(result.run), result)


def resume(
    run: asked.Run,
    updates: asked.MoreUpdates = None,
    max_minutes: asked.MaxMinutes = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Go on with a training that was stopped or killed, to the very weights that it would have reached.

    With a larger --updates or --max-minutes also one that was over.
    """
    check_models("training")
    output = CommandOutput(command="resume", json=json, quiet=quiet or not _first_process())
    with output.progress() as progress, kept(run):
        if gridworld.is_run(run):
            gridworld.resume(run, updates, max_minutes, output, progress)
            return
        from memspan.training import resume
        from memspan.training.seeds import holds_seeds, resume_seeds

        go_on = resume_seeds if holds_seeds(run) else resume
        _give(output, run, go_on(run, updates=updates, max_minutes=max_minutes, progress=progress))


def _trained(config: Config, run: Path, seeds: int, progress: Progress) -> TrainingRun:
    if seeds == 1:
        from memspan.training import train

        return train(config, run, progress=progress)
    from memspan.training.seeds import train_seeds

    return train_seeds(config, run, seeds, progress=progress)


def _show(config: Config) -> None:
    import json

    from memspan.training.config_json import to_json

    print_bytes(json.dumps(to_json(config), indent=2).encode() + b"\n")


def _first_process() -> bool:
    """Whether this is the one of torchrun's processes that writes and speaks."""
    return os.environ.get("RANK", "0") == "0"


def _give(output: CommandOutput, run: Path, result: TrainingRun) -> None:
    if not _first_process():
        return
    from memspan.cli.output import show_training

    place = dataclasses.replace(output, out=run)
    place.give(result, lambda console: show_training(console, result, run))
