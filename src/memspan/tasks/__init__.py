"""Tasks that require memory: batches as pure functions of an index, a loss, metrics and baselines.

`TASKS` maps the words of the command line to classes. `memspan.tasks.catalog` knows each task's description and units
without loading PyTorch. A new task is one class and one entry of the catalog.

>>> from memspan.tasks import Copy
>>> task = Copy(delay=100)
>>> tuple(task.batch(7, 10, seed=0).inputs.shape)
(120, 10)
>>> task.required_memory
100
"""

import importlib
from typing import TYPE_CHECKING, Any

from memspan.errors import MissingExtraError
from memspan.tasks.catalog import CATALOG as CATALOG
from memspan.tasks.catalog import TASKS as TASKS

if TYPE_CHECKING:
    from memspan.tasks.digits import NoisyDigits as NoisyDigits
    from memspan.tasks.digits import PermutedDigits as PermutedDigits
    from memspan.tasks.digits import SequentialDigits as SequentialDigits
    from memspan.tasks.synthetic import Adding as Adding
    from memspan.tasks.synthetic import BinarySequences as BinarySequences
    from memspan.tasks.synthetic import Copy as Copy
    from memspan.tasks.synthetic import Denoise as Denoise
    from memspan.tasks.task import Batch as Batch
    from memspan.tasks.task import Task as Task
    from memspan.tasks.text import CharacterText as CharacterText
    from memspan.tasks.text import WordText as WordText

_MODULES = {"Batch": "memspan.tasks.task", "Task": "memspan.tasks.task"} | {
    name: module for module, name in (facts.location for facts in CATALOG.values() if facts.implementation)
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'memspan.tasks' has no attribute {name!r}")
    try:
        return getattr(importlib.import_module(_MODULES[name]), name)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingExtraError(f"memspan.tasks.{name}", "PyTorch", "models") from error


def __dir__() -> list[str]:
    return sorted([*_MODULES, "CATALOG", "TASKS"])
