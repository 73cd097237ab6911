"""The configuration of an agent in a grid world: the world, its memory, and the settings of PPO."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, final

from memspan.cells import CELLS
from memspan.errors import InputError, suggestion
from memspan.tasks.gridworld import check_world
from memspan.training.run.config import (
    AGENTS,
    CellConfig,
    Count,
    Positive,
    Share,
    cell_json,
    cell_options,
    cell_schema,
    check_section,
    check_seed,
    named_schema,
    read_cell,
    read_section,
    read_top,
    section_schema,
    top_schema,
)
from memspan.training.run.folder import RunFolder
from memspan.training.run.loop import LoopSettings
from memspan.training.run.machine import Device

# The task's name on the command line and in config.json.
WORD = AGENTS
# The cell of an agent without memory.
NONE = "none"
# Default hidden size.
HIDDEN = 64
# Default short-term and relevant states of rel cells: nu and rho of Kerg 2020, section 5.3.
MEMORY = 5


@final
@dataclass(frozen=True, kw_only=True)
class WorldConfig:
    """The environment."""

    world: str = "DoorKey-5x5"
    mission: bool = False
    """Whether the agent observes the words of its mission in addition to its view and direction."""


@final
@dataclass(frozen=True, kw_only=True)
class PpoConfig:
    """Proximal policy optimization (Schulman 2017), with the values of the published program of Kerg 2020.

    The update is that of stable-baselines3; docs/gridworld.md lists the differences. One update collects `worlds` x
    `steps` frames and trains on them for `epochs` passes.
    """

    updates: Count = 300
    """Maximum number of updates."""
    worlds: Count = 16
    """Worlds simulated in parallel."""
    steps: Count = 128
    """Steps in each world per update."""
    epochs: Count = 4
    """Passes over the frames of an update."""
    batch: Count = 256
    """Frames per optimizer step."""
    recurrence: Count = 16
    """Steps of truncated backpropagation; states are stored at this interval."""
    learning_rate: Positive = 1e-3
    """Learning rate of Adam."""
    discount: Share = 0.99
    """Discount factor gamma."""
    smoothing: Share = 0.95
    """Lambda of generalized advantage estimation (Schulman 2016)."""
    entropy: Share = 0.01
    """Weight of the entropy bonus."""
    value: Share = 0.5
    """Weight of the value loss."""
    clip: Positive = 0.2
    """Clipping range of the probability ratio."""
    clip_norm: Positive = 0.5
    """Maximum gradient norm."""
    memoryless: bool = True
    """Whether to train an agent without memory as the baseline."""
    checkpoint_minutes: Positive = 1.0
    """Maximum minutes between checkpoints."""
    max_minutes: Positive | None = None
    """Stop after this many minutes of training, in all sessions."""
    device: Device = "cpu"
    """Worlds are small and simulated step by step: the CPU is the fastest device for nearly all of them."""
    threads: Count = 1

    @property
    def frames(self) -> int:
        """Frames per update."""
        return self.worlds * self.steps

    @property
    def loop(self) -> LoopSettings:
        """The settings that the loop reads."""
        return LoopSettings(
            updates=self.updates, checkpoint_minutes=self.checkpoint_minutes, max_minutes=self.max_minutes
        )


@final
@dataclass(frozen=True, kw_only=True)
class AgentConfig:
    """A complete training of one agent: the same configuration and seed give the same weights."""

    task: WorldConfig = WorldConfig()
    cell: CellConfig = field(default_factory=lambda: CellConfig(name="rel-lstm", hidden=HIDDEN))
    training: PpoConfig = PpoConfig()
    seed: int = 0


def agent_defaults(cell: str) -> dict[str, Any]:
    """The default settings of an agent with a cell, as a configuration object."""
    own = {} if cell == NONE or cell not in agent_cells() else cell_options(cell)
    memory = {name: MEMORY for name in ("short_term", "relevant") if name in own}
    return {
        "task": {"name": WORD, **dataclasses.asdict(WorldConfig())},
        "cell": {"name": cell, "hidden": HIDDEN, **memory},
        "training": dataclasses.asdict(PpoConfig()),
        "seed": 0,
    }


def agent_json(config: AgentConfig) -> dict[str, Any]:
    """The object of `config.json`, which also works as `--config`."""
    return {
        "task": {"name": WORD, **dataclasses.asdict(config.task)},
        "cell": cell_json(config.cell),
        "training": dataclasses.asdict(config.training),
        "seed": config.seed,
    }


def agent_from_json(plain: dict[str, Any], where: str = "the configuration") -> AgentConfig:
    """The inverse of `agent_json`. What is left out gets its default; `where` is for error messages."""
    top = read_top(plain, ("task", "cell", "training"), where)
    task = {name: value for name, value in top["task"].items() if name != "name"}
    config = AgentConfig(
        task=read_section(WorldConfig, task, "task", where),
        cell=_read_agent_cell(top["cell"], where),
        training=read_section(PpoConfig, top["training"], "training", where),
        seed=top["seed"],
    )
    _check_together(config)
    return config


def _read_agent_cell(plain: dict[str, Any], where: str) -> CellConfig:
    """A cell with all its options; the cell without memory has none."""
    name = str(plain.get("name", "rel-lstm"))
    if name == NONE:
        return read_section(CellConfig, plain, "cell", where)
    if name not in agent_cells() and name not in CELLS:
        raise InputError(f"there is no cell {name!r} for agents; {suggestion(name, agent_cells())}")
    return read_cell({"name": name, **plain}, where)


def read_agent_config(folder: RunFolder) -> AgentConfig:
    """The configuration of an agent's run."""
    return agent_from_json(folder.config_json(), str(folder.config_file))


def is_agent_run(run: Path) -> bool:
    """Whether a folder holds the run of an agent, or several seeds of one."""
    for file in (run / "config.json", run / "seeds.json"):
        if file.is_file():
            try:
                plain = json.loads(file.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                return False
            plain = plain.get("config", plain) if isinstance(plain, dict) else {}
            task = plain.get("task", {})
            return isinstance(task, dict) and task.get("name") == WORD
    return False


def memoryless(config: AgentConfig) -> AgentConfig:
    """The same agent with a cell that has no state."""
    cell = CellConfig(name=NONE, hidden=config.cell.hidden, layers=config.cell.layers)
    return replace(config, cell=cell)


def agent_cells() -> list[str]:
    """The names of the cells that agents can have."""
    return [*(word for word, cell in CELLS.items() if cell.recurrent), NONE]


def check_agent(config: AgentConfig) -> None:
    """Refuse a configuration built in Python that makes no sense, before anything else is built."""
    check_section(config.training, "training")
    check_seed(config.seed)
    _check_together(config)


def _check_together(config: AgentConfig) -> None:
    """Settings that are valid one by one but not together."""
    training, cell = config.training, config.cell
    for name, whole in (("steps", training.steps), ("batch", training.batch)):
        if whole % training.recurrence:
            raise InputError(
                f"training.{name} is {whole} and training.recurrence {training.recurrence}; expected {name} to be a "
                "multiple of it"
            )
    # Advantages are normalized by their standard deviation in a batch, which a single frame does not have.
    if min(training.batch, training.frames % training.batch or training.batch) < 2:
        raise InputError(
            f"training.batch is {training.batch} and an update has {training.frames:,} frames, which leaves a batch of one "
            "frame; expected two or more in every batch; set another training.batch"
        )
    cells = agent_cells()
    if cell.name in CELLS and cell.name not in cells:
        raise InputError(
            f"the {cell.name} cannot act step by step: it has no recurrent state; choose one of " + ", ".join(cells)
        )
    if cell.name not in cells:
        raise InputError(f"there is no cell {cell.name!r} for agents; {suggestion(cell.name, cells)}")
    if cell.dropout:
        raise InputError(
            f"cell.dropout is {cell.dropout:g}; expected 0: PPO must compute the same probabilities as those acted on"
        )
    check_world(config.task.world)


def agent_schema() -> dict[str, Any]:
    """The JSON schema of `config.json` of an agent."""
    cells = cell_schema(word for word in agent_cells() if word != NONE)
    cells["anyOf"].append(named_schema(NONE, section_schema(CellConfig)))
    return top_schema(
        "Agent in a grid world",
        {"task": named_schema(WORD, section_schema(WorldConfig)), "cell": cells, "training": section_schema(PpoConfig)},
    )
