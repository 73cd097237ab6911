"""The agents of a run: the newest weights of each seed, and of the one without memory beside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final

from memspan.errors import CorruptError, InputError
from memspan.training.agents.agent import Agent
from memspan.training.agents.config import AgentConfig
from memspan.training.agents.folder import config_of
from memspan.training.best import seed_folders
from memspan.training.checkpoint import read_checkpoint
from memspan.training.run_folder import RunFolder
from memspan.training.state_tensors import load_module

MEMORYLESS = "memoryless"
"""The folder, in that of a run, of the agent that remembers nothing."""


@final
@dataclass(frozen=True)
class Trained:
    """An agent with its newest weights."""

    agent: Agent
    config: AgentConfig
    folder: RunFolder
    update: int


def agent_folders(run: Path) -> list[RunFolder]:
    """One for each seed, in order."""
    folders = seed_folders(run) or [RunFolder(run)]
    config_of(folders[0])
    return folders


def memoryless_folders(run: Path) -> list[RunFolder]:
    """Those of the agents without memory, where they have been trained."""
    beside = [RunFolder(folder.path / MEMORYLESS) for folder in agent_folders(run)]
    return [folder for folder in beside if folder.config_file.is_file()]


def load_agent(folder: RunFolder) -> Trained:
    """The newest weights that can be read."""
    config = config_of(folder)
    agent = Agent(config)
    trouble: CorruptError | None = None
    for update in folder.saved():
        path = folder.checkpoint(update)
        try:
            tensors, position = read_checkpoint(path, config.cell.name)
        except CorruptError as error:
            trouble = trouble or error
            continue
        load_module("policy", agent.policy, tensors, path)
        return Trained(agent, config, folder, position.update)
    if trouble is not None:
        raise CorruptError(f"no checkpoint of {folder.path} can be read ({trouble}); train again")
    raise InputError(
        f"{folder.path} has no checkpoint yet; wait for the first minute of it, or go on by memspan resume {folder.path}"
    )
