"""A configuration with nothing left open, as `config.json` holds it."""

from __future__ import annotations

from dataclasses import replace

from memspan.training.config import Config
from memspan.training.config_json import completed
from memspan.training.machine import threads_of


def resolved(config: Config, processes: int = 1) -> Config:
    """With the data that there are, all options of the cell, the switch, and the number of threads of each process."""
    return replace(
        config,
        task=config.task.resolved(),
        cell=completed(config.cell),
        training=replace(config.training, threads=threads_of(config.training, processes)),
        bmi=replace(config.bmi, switch_at=switch_of(config)),
    )


def switch_of(config: Config) -> int | None:
    """The update of the switch, half of all unless another is set; None: that of nt-asgd, or none at all."""
    bmi, training = config.bmi, config.training
    if bmi.name != "full" or bmi.switch_at is not None or training.optimizer == "nt-asgd":
        return bmi.switch_at
    return training.updates // 2 or None
