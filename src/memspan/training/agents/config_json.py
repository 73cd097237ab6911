"""The configuration of an agent as a JSON object, and back; and the settings that each cell has unless told."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from memspan.errors import InputError, suggestion
from memspan.training.agents.config import (
    NONE,
    WORD,
    AgentConfig,
    PpoConfig,
    WorldConfig,
    acting_cells,
    check_agent,
)
from memspan.training.config import CellConfig
from memspan.training.config_json import (
    cell_json,
    cell_of,
    cell_options,
    check_known,
    converted,
    dataclass_of,
    section_of,
)

SECTIONS = ("task", "cell", "training", "seed")
HIDDEN = 64
REMEMBERED = 5
"""nu and rho of Kerg 2020, section 5.3."""


def agent_defaults(cell: str) -> dict[str, Any]:
    """The settings of an agent, unless told others."""
    own = {} if cell == NONE or cell not in acting_cells() else cell_options(cell)
    kept = {name: REMEMBERED for name in ("short_term", "relevant") if name in own}
    return {
        "task": {"name": WORD, **dataclasses.asdict(WorldConfig())},
        "cell": {"name": cell, "hidden": HIDDEN, **kept},
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
    """The inverse of `agent_json`; what is left out has the default of its type."""
    check_known(plain, SECTIONS, where, "")
    sections = {name: section_of(plain, name, where) for name in SECTIONS[:-1]}
    sections["task"].pop("name", None)
    config = AgentConfig(
        task=dataclass_of(WorldConfig, sections["task"], where, "task"),
        cell=_cell(sections["cell"], where),
        training=dataclass_of(PpoConfig, sections["training"], where, "training"),
        seed=converted(plain.get("seed", 0), int, f"{where}: seed"),
    )
    check_agent(config)
    return config


def is_agent(run: Path) -> bool:
    """Whether a folder is of an agent, or of several seeds of one."""
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


def _cell(plain: dict[str, Any], where: str) -> CellConfig:
    """A cell with all its options; that without memory has none."""
    name = str(plain.get("name", "rel-lstm"))
    if name != NONE:
        if name not in acting_cells() and name != "transformer":
            raise InputError(f"there is no cell {name!r} for agents; {suggestion(name, acting_cells())}")
        return cell_of(plain, where)
    known = [field.name for field in dataclasses.fields(CellConfig) if field.name != "options"]
    check_known(plain, known, where, "cell.")
    return dataclass_of(CellConfig, plain, where, "cell")


def without_memory(config: AgentConfig) -> AgentConfig:
    """The same agent with nothing to remember with."""
    cell = CellConfig(name=NONE, hidden=config.cell.hidden, layers=config.cell.layers)
    return dataclasses.replace(config, cell=cell)
