"""The words of the command line for tasks."""

from __future__ import annotations

from memspan.tasks.copying import Copy
from memspan.tasks.task import Task

TASKS: dict[str, type[Task]] = {
    "copy": Copy,
}
