"""Training that never loses work: configurations, checkpoints, and runs that resume to the same bytes.

`run` is the engine, `supervised` and `agents` are the two kinds of learners that it drives.
"""

from typing import Any

from memspan.training.run.config import CellConfig as CellConfig
from memspan.training.run.loop import DivergenceError as DivergenceError
from memspan.training.run.loop import TrainingInterrupted as TrainingInterrupted
from memspan.training.supervised.config import Config as Config
from memspan.training.supervised.config import InitConfig as InitConfig
from memspan.training.supervised.config import ModelConfig as ModelConfig
from memspan.training.supervised.config import TrainingConfig as TrainingConfig
from memspan.training.supervised.config import supervised_schema
from memspan.training.supervised.sweep import resume_seeds as resume_seeds
from memspan.training.supervised.sweep import train_configs as train_configs
from memspan.training.supervised.sweep import train_seeds as train_seeds
from memspan.training.supervised.training import resume as resume
from memspan.training.supervised.training import train as train


def config_schema() -> dict[str, Any]:
    """The JSON schema of a run's `config.json` and of the files that `memspan train --config` accepts."""
    from memspan.training.agents.config import agent_schema

    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "memspan run configuration",
        "anyOf": [supervised_schema(), agent_schema()],
    }
