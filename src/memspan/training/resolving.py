"""A configuration with nothing left open, as `config.json` holds it."""

from __future__ import annotations

from dataclasses import replace

from memspan.training.config import Config
from memspan.training.config_json import completed
from memspan.training.machine import threads_of


def resolved(config: Config, processes: int = 1) -> Config:
    """With the data that there are, all options of the cell, and the number of threads of each process."""
    return replace(
        config,
        task=config.task.resolved(),
        cell=completed(config.cell),
        training=replace(config.training, threads=threads_of(config.training, processes)),
    )
