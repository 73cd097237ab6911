"""Agents of a second or less."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memspan.training.agents.config import AgentConfig, agent_defaults, agent_from_json
from memspan.training.run.config import merge

SMALL = {"worlds": 3, "steps": 16, "batch": 16, "recurrence": 8, "epochs": 1, "updates": 2}
TinyAgent = Callable[..., AgentConfig]


@pytest.fixture(scope="session")
def tiny_agent() -> TinyAgent:
    """An agent of eight units in a world whose episodes end soon: one of its actions ends them."""

    def config(cell: str = "rel-lstm", *, world: str = "GoToDoor-5x5", seed: int = 0, **training: Any) -> AgentConfig:
        settings = {"task": {"world": world}, "cell": {"hidden": 8}, "training": {**SMALL, **training}, "seed": seed}
        return agent_from_json(merge(agent_defaults(cell), settings))

    return config
