"""Over how many steps a task wants something remembered: the one of its options that says so."""

from __future__ import annotations

import dataclasses
from typing import Any, cast

from memspan.errors import InputError
from memspan.tasks import Task
from memspan.tasks.text import TextTask

_NAMES = ("delay", "length")


def distance_name(task: Task | type[Task]) -> str | None:
    """`delay` of most tasks, `length` of those that have no single delay, None where the data decide.

    >>> from memspan.tasks import TASKS
    >>> [distance_name(TASKS[word]) for word in ("copy", "adding", "digits")]
    ['delay', 'length', None]
    """
    fields = {field.name for field in dataclasses.fields(cast(Any, task))}
    return next((name for name in _NAMES if name in fields), None)


def distance_of(task: Task) -> int | None:
    """How many steps that is."""
    name = distance_name(task)
    return None if name is None else getattr(task, name)


def at_distance(task: Task, steps: int, word: str) -> Task:
    """The same task over another number of steps; of a text, windows of so many symbols that begin from nothing."""
    if isinstance(task, TextTask):
        return dataclasses.replace(task, steps=steps, carry=False)
    name = distance_name(task)
    if name is None:
        raise InputError(
            f"--delay {steps}: the task {word} has none, its data say how long a sequence is; leave --delay out"
        )
    return dataclasses.replace(cast(Any, task), **{name: steps})
