"""The agents of a run that can be compared: those of each seed with and without memory, as far as they have weights."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final

from memspan.results import EvaluatedAgent
from memspan.training.agents.best import Trained, agent_folders, beside, load_agent
from memspan.training.agents.config import NONE
from memspan.training.devices import Device
from memspan.training.run_folder import RunFolder


@final
@dataclass(frozen=True)
class Pairs:
    """Agents, and those without memory of the same seeds; these are none where nothing can be compared."""

    agents: tuple[Trained, ...]
    memoryless: tuple[Trained, ...]
    notes: tuple[str, ...]
    """Who is left out, and whose training goes on."""

    @property
    def networks(self) -> tuple[EvaluatedAgent, ...]:
        """All of them, as a result tells them."""
        return tuple(
            EvaluatedAgent(one.config.cell.name, one.config.seed, one.update, one.over)
            for one in (*self.agents, *self.memoryless)
        )


def load_pairs(run: Path, device: Device | None = None) -> Pairs:
    """The newest weights of every seed; where some have an agent without memory and others not yet, of the first only."""
    folders = agent_folders(run)
    begun = [folder for folder in folders if folder.saved()] or folders[:1]  # whose error says what to do
    both = [folder for folder in begun if beside(folder).saved()]
    chosen = both or begun
    agents = tuple(load_agent(folder, device) for folder in chosen)
    memoryless = tuple(load_agent(beside(folder), device) for folder in both)
    left_out = [_left_out(folder, begun) for folder in folders if folder not in chosen]
    going_on = [_going_on(one) for one in (*agents, *memoryless) if not one.over]
    return Pairs(agents, memoryless, (*left_out, *_missing(agents[0], chosen, memoryless), *going_on))


def _left_out(folder: RunFolder, begun: list[RunFolder]) -> str:
    who = "its agent without memory" if folder in begun else "it"
    return f"{folder.path.name} is left out: {who} has no checkpoint yet"


def _missing(first: Trained, chosen: list[RunFolder], memoryless: tuple[Trained, ...]) -> list[str]:
    """Why nothing is compared."""
    if memoryless or first.config.cell.name == NONE:
        return []
    if not first.config.training.memoryless and not beside(chosen[0]).config_file.is_file():
        return ["an agent without memory was not trained beside: whether memory was needed is not seen"]
    return ["the agent without memory has no checkpoint yet: whether memory was needed is not seen yet"]


def _going_on(one: Trained) -> str:
    kind = "the agent without memory" if one.config.cell.name == NONE else "the agent"
    return f"{kind} of seed {one.config.seed} is not over; it had done {one.update:,} updates"
