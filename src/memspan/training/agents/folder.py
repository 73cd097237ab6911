"""The folder of an agent's run: laid out as that of any run, with an agent's configuration."""

from __future__ import annotations

import json
from importlib.metadata import version

from memspan.errors import InputError
from memspan.results.files import write_text
from memspan.training.agents.config import AgentConfig
from memspan.training.agents.config_json import agent_from_json, agent_json
from memspan.training.run_folder import RunFolder, environment, read_json

_PACKAGES = ("gymnasium", "minigrid", "stable-baselines3", "sb3-contrib")


def begin(folder: RunFolder, config: AgentConfig) -> None:
    """Write the configuration into a folder that has none."""
    if folder.config_file.exists() or folder.saved():
        raise InputError(
            f"{folder.path} holds a run already; go on with it by memspan resume {folder.path}, or give another --out"
        )
    made_with = environment() | {name: version(name) for name in _PACKAGES}
    write_text(folder.path / "environment.json", json.dumps(made_with, indent=2) + "\n")
    keep(folder, config)  # last, because with it the folder is a run


def go_on(folder: RunFolder, config: AgentConfig) -> None:
    """Write the configuration, whose limits may be new; remove what a killed process left half-written."""
    for path in folder.checkpoints.glob(".*.part"):
        path.unlink(missing_ok=True)
    keep(folder, config)


def keep(folder: RunFolder, config: AgentConfig) -> None:
    """config.json, which also works as `--config`."""
    write_text(folder.config_file, json.dumps(agent_json(config), indent=2) + "\n")


def config_of(folder: RunFolder) -> AgentConfig:
    """The configuration of the run."""
    if not folder.config_file.is_file():
        raise InputError(
            f"{folder.path} is not a run (it has no config.json); give the folder that memspan train named"
        )
    return agent_from_json(read_json(folder.config_file), str(folder.config_file))
