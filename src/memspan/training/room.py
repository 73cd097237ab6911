"""Whether this machine has room for a training step, as far as that can be told before it is tried."""

from __future__ import annotations

import os

from memspan.errors import InputError
from memspan.training.config import Config

_NUMBER = 4
"""Bytes of one, in single precision."""


def check_room(config: Config) -> None:
    """Refuses sequences whose hidden states alone, of one batch, are more than all memory there is.

    A system that is asked for more than it has kills the process, and no message is left.
    """
    training, cell, task = config.training, config.cell, config.task
    steps = training.truncate or next(
        (getattr(task, name) for name in ("delay", "length", "steps") if getattr(task, name, None)), 0
    )
    least, there = steps * training.batch * cell.hidden * cell.layers * _NUMBER, memory()
    if there is not None and least > there:
        raise InputError(
            f"a batch of {training.batch:,} sequences of {steps:,} steps has {least / 1e9:,.0f} GB of hidden states, and "
            f"this machine {there / 1e9:,.0f} GB of memory; give a shorter sequence, a smaller --batch, or fewer --hidden"
        )


def memory() -> int | None:
    """Bytes of this machine; None where it does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
