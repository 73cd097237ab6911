"""`memspan train gridworld`, and `resume` and `evaluate` of such runs: words to an agent's configuration, and back."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memspan.cli.output import CommandOutput, print_bytes
from memspan.cli.run_kept import RUNS, kept
from memspan.cli.train_settings import GRIDWORLD, Asked
from memspan.errors import InputError, check_rl
from memspan.progress import Progress

if TYPE_CHECKING:
    from memspan.results import AgentRun
    from memspan.training.agents.config import AgentConfig
    from memspan.training.devices import Device

CELL = "rel-lstm"
"""Unless another is named."""
_CELL_OPTIONS = {"short_term": "--short-term", "relevant": "--relevant"}


def is_run(run: Path) -> bool:
    """Whether a folder is of an agent."""
    from memspan.training.agents.config_json import is_agent

    return is_agent(run)


def train(asked: Asked, seeds: int, show_config: bool, out: Path | None, output: CommandOutput) -> None:
    """An agent, and one without memory beside it."""
    check_rl("training in grid worlds")
    from memspan.training.agents.config_json import agent_json

    config = agent_of(asked)
    if show_config:
        print_bytes(json.dumps(agent_json(config), indent=2).encode() + b"\n")
        return
    from memspan.training.agents.training import train_agents
    from memspan.training.run_folder import place_of

    with (
        place_of(out, RUNS, GRIDWORLD, config.cell.name) as run,
        output.progress() as progress,
        kept(run),
    ):
        progress.say(f"the run is kept in {run}")
        result = train_agents(config, run, seeds=seeds, progress=progress)
        _give(output, run, result)


def resume(
    run: Path, updates: int | None, max_minutes: float | None, output: CommandOutput, progress: Progress
) -> None:
    """Go on with the agents of a run."""
    check_rl("training in grid worlds")
    from memspan.training.agents.training import resume_agents

    _give(output, run, resume_agents(run, updates=updates, max_minutes=max_minutes, progress=progress))


def check_unused(run: Path, others: list[str]) -> None:
    """Refuse options of `evaluate` that were given and are for other runs."""
    if others:
        raise InputError(
            f"{others[0]}: {run} is of an agent in a grid world, which has no use for it; leave it out, and give --world "
            "NAME for other worlds"
        )


def evaluate(
    run: Path,
    worlds: list[str],
    episodes: int | None,
    seed: int,
    device: Device,
    output: CommandOutput,
    out: Path | None,
) -> None:
    """The agents of a run in other worlds; `auto` is the device that they were trained on."""
    check_rl("evaluating in grid worlds")
    from memspan.training.agents.evaluating import evaluate_agents
    from memspan.training.agents.outcome import EPISODES

    with output.progress() as progress:
        result = evaluate_agents(
            run,
            worlds,
            episodes=episodes or EPISODES,
            seed=seed,
            device=None if device == "auto" else device,
            progress=progress,
        )
    from memspan.presentation.terminal import show_result

    place = dataclasses.replace(output, out=out or run / "evaluation")
    place.give(result, lambda console: show_result(console, result))


def agent_of(asked: Asked) -> AgentConfig:
    """The defaults, then `--config`, then named options, then `--set`."""
    from memspan.training.agents.config_json import agent_defaults, agent_from_json
    from memspan.training.config_json import merged, read_config, with_setting

    _check_options(asked)
    file = {} if asked.config is None else read_config(asked.config)
    section = file.get("cell")
    word = asked.cell or (section.get("name") if isinstance(section, dict) else None) or CELL
    if isinstance(section, dict) and section.get("name", word) != word:
        file = {**file, "cell": {}}  # settings of another cell mean nothing to this one
    plain = merged(merged(agent_defaults(str(word)), file), _named(asked, str(word)))
    for setting in asked.settings:
        plain = with_setting(plain, setting)
    return agent_from_json(plain)


def _check_options(asked: Asked) -> None:
    for name in ("delay", "data", "init", "bmi"):
        if getattr(asked, name) is not None:
            raise InputError(f"--{name}: the task {GRIDWORLD} has no use for it; leave it out")


def _named(asked: Asked, word: str) -> dict[str, Any]:
    sections = {
        "task": _given({"world": asked.world, "mission": asked.mission}),
        "cell": {
            "name": word,
            **_given({"hidden": asked.hidden, "layers": asked.layers}),
            **_remembered(asked, word),
        },
        "training": _given(
            {
                "updates": asked.updates,
                "batch": asked.batch,
                "max_minutes": asked.max_minutes,
                "device": asked.device,
                "threads": asked.threads,
            }
        ),
    }
    return {**sections, **_given({"seed": asked.seed})}


def _remembered(asked: Asked, word: str) -> dict[str, int]:
    """Options that only some cells have."""
    from memspan.training.agents.config_json import agent_defaults

    found: dict[str, int] = {}
    for name, option in _CELL_OPTIONS.items():
        value = getattr(asked, name)
        if value is None:
            continue
        if name not in agent_defaults(word)["cell"]:
            raise InputError(
                f"{option} {value}: the cell {word} has no use for it; {option} is for rel-rnn, rel-lstm"
            )
        found[name] = value
    return found


def _given(values: dict[str, Any]) -> dict[str, Any]:
    """Those of the options that were given."""
    return {name: value for name, value in values.items() if value is not None}


def _give(output: CommandOutput, run: Path, result: AgentRun) -> None:
    from memspan.cli.output import show_agent

    place = dataclasses.replace(output, out=run)
    place.give(result, lambda console: show_agent(console, result))
