"""The newest weights of an agent, and where those of a run lie."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

from memspan.errors import CorruptError, InputError
from memspan.training.agents.agent import Agent
from memspan.training.agents.config import AgentConfig
from memspan.training.agents.folder import config_of
from memspan.training.best import seed_folders
from memspan.training.checkpoint import read_checkpoint
from memspan.training.devices import Device
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
    over: bool
    """Whether its training is."""


def agent_folders(run: Path) -> list[RunFolder]:
    """One for each seed, in order."""
    folders = seed_folders(run) or [RunFolder(run)]
    config_of(folders[0])
    return folders


def beside(folder: RunFolder) -> RunFolder:
    """That of the agent without memory, whether there is one or not."""
    return RunFolder(folder.path / MEMORYLESS)


def load_agent(folder: RunFolder, device: Device | None = None) -> Trained:
    """The newest weights that can be read, on a device: that of the run unless told."""
    config = config_of(folder)
    agent = Agent(replace(config, training=replace(config.training, device=device or config.training.device)))
    trouble: CorruptError | None = None
    for update in folder.saved():
        path = folder.checkpoint(update)
        try:
            tensors, position = read_checkpoint(path, config.cell.name)
        except CorruptError as error:
            trouble = trouble or error
            continue
        load_module("policy", agent.policy, tensors, path)
        return Trained(agent, config, folder, position.update, position.stopped is not None)
    if trouble is not None:
        raise CorruptError(f"no checkpoint of {folder.path} can be read ({trouble}); train again")
    raise InputError(
        f"{folder.path} has no checkpoint yet; wait for the first minute of it, or go on by memspan resume {folder.path}"
    )
