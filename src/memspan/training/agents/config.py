"""Everything that decides how an agent learns in a grid world: where, with which memory, and by which steps of PPO."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, final

from memspan.errors import InputError, suggestion
from memspan.tasks.gridworld import check_world
from memspan.training.config import CellConfig
from memspan.training.devices import Device

WORD = "gridworld"
"""Of the task, on the command line and in config.json."""
NONE = "none"
"""The cell of an agent that remembers nothing."""


@final
@dataclass(frozen=True, kw_only=True)
class WorldConfig:
    """Where the agent lives."""

    world: str = "DoorKey-5x5"
    mission: bool = False
    """Whether it is told the words of its mission; without, only what it sees and where it looks."""


@final
@dataclass(frozen=True, kw_only=True)
class PpoConfig:
    """Proximal policy optimization (Schulman 2017), with the numbers of the published program of Kerg 2020.

    The update is that of stable-baselines3, which differs from that program's; docs/gridworld.md lists in what.

    An update is one round: `worlds` x `steps` frames are lived through, then learnt from `epochs` times.
    """

    updates: int = 300
    """Rounds, at the most."""
    worlds: int = 16
    """Lived in at the same time."""
    steps: int = 128
    """In each world, for a round."""
    epochs: int = 4
    """Times that the frames of a round are learnt from."""
    batch: int = 256
    """Frames of one step of the optimizer."""
    recurrence: int = 16
    """Steps over which gradients go back; also how far apart states are kept to begin again from."""
    learning_rate: float = 1e-3
    """Of Adam."""
    discount: float = 0.99
    """What a reward is worth one step earlier: gamma."""
    smoothing: float = 0.95
    """Of advantages: lambda (Schulman 2016)."""
    entropy: float = 0.01
    """Weight of the policy's entropy."""
    value: float = 0.5
    """Weight of the error of foretold returns."""
    clip: float = 0.2
    """How far the odds of an action may move in a round."""
    clip_norm: float = 0.5
    """Of the gradient."""
    memoryless: bool = True
    """Whether an agent without memory is trained beside, as the measure of whether memory was needed."""
    checkpoint_minutes: float = 1.0
    max_minutes: float | None = None
    device: Device = "cpu"
    """Worlds are small and lived in step by step: the processor is the fastest place for nearly all of them."""
    threads: int = 1

    @property
    def frames(self) -> int:
        """Of a round."""
        return self.worlds * self.steps


@final
@dataclass(frozen=True, kw_only=True)
class AgentConfig:
    """One agent, complete: the same configuration and seed give the same weights."""

    task: WorldConfig = WorldConfig()
    cell: CellConfig = field(default_factory=lambda: CellConfig(name="rel-lstm", hidden=64))
    training: PpoConfig = PpoConfig()
    seed: int = 0


_COUNTS = ("updates", "worlds", "steps", "epochs", "batch", "recurrence", "threads")
_POSITIVE = ("learning_rate", "clip", "clip_norm", "checkpoint_minutes", "max_minutes")
_SHARES = ("discount", "smoothing", "entropy", "value")


def check_agent(config: AgentConfig) -> None:
    """What can have no meaning is told before anything is made; the world's name is, too."""
    training = config.training
    for name in _COUNTS:
        _check(f"training.{name}", getattr(training, name), 1, math.inf, "a whole number of 1 or more")
    for name in _POSITIVE:
        value = getattr(training, name)
        if value is not None and not 0 < value < math.inf:
            raise InputError(f"training.{name} is {value}; expected a finite number above 0")
    for name in _SHARES:
        _check(f"training.{name}", getattr(training, name), 0, 1, "a number from 0 to 1")
    for name, whole in (("steps", training.steps), ("batch", training.batch)):
        if whole % training.recurrence:
            raise InputError(
                f"training.{name} is {whole}, training.recurrence {training.recurrence}; expected {name} to be a multiple "
                "of it"
            )
    _check_batches(training)
    _check("seed", config.seed, 0, 2**63 - 1, "a whole number of 0 or more, below 2^63")
    check_cell(config.cell)
    check_world(config.task.world)


def _check_batches(training: PpoConfig) -> None:
    """Advantages are measured by their scatter in a batch, so that a batch of one frame has none."""
    smallest = min(training.batch, training.frames % training.batch or training.batch)
    if smallest < 2:
        raise InputError(
            f"training.batch is {training.batch}, and a round has {training.frames:,} frames, which leaves a batch of one "
            "frame; expected two or more in every batch; set another training.batch"
        )


def check_cell(cell: CellConfig) -> None:
    """A cell that acts step by step with a state to carry, and computes the same when it acts as when it learns."""
    words = acting_cells()
    if cell.name == "transformer":
        raise InputError(
            "the transformer cannot act step by step: it has no recurrent state to carry, only all that it has read; "
            f"choose one of {', '.join(words)}"
        )
    if cell.name not in words:
        raise InputError(f"there is no cell {cell.name!r} for agents; {suggestion(cell.name, words)}")
    if cell.dropout:
        raise InputError(
            f"cell.dropout is {cell.dropout:g}; expected 0: an agent must learn from the very odds by which it acted"
        )


def acting_cells() -> list[str]:
    """The words for cells that agents can have."""
    from memspan.cells import CELLS

    return [*(word for word in CELLS if word != "transformer"), NONE]


def _check(name: str, value: Any, least: float, most: float, expected: str) -> None:
    if isinstance(value, bool) or not least <= value <= most:
        raise InputError(f"{name} is {value}; expected {expected}")
