"""Trainings of a second or less."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

import pytest

from memspan.tasks import Copy
from memspan.training import CellConfig, Config, InitConfig, TrainingConfig

Tiny = Callable[..., Config]


@pytest.fixture(scope="session")
def tiny() -> Tiny:
    """A configuration of the copy task over three steps; settings of training by their names."""

    def config(
        cell: str = "rel-rnn",
        *,
        hidden: int = 8,
        seed: int = 0,
        init: InitConfig | None = None,
        of_cell: dict[str, Any] | None = None,
        options: dict[str, Any] | None = None,
        **settings: Any,
    ) -> Config:
        usual = {"updates": 30, "batch": 4, "validate_every": 10, "log_every": 5, "threads": 1, "device": "cpu"}
        usual |= {"validation_batches": 1, "validation_size": 10}
        return Config(
            word="copy",
            task=Copy(delay=3),
            cell=CellConfig(name=cell, hidden=hidden, options=options or {}, **(of_cell or {})),
            init=init or InitConfig(),
            training=TrainingConfig(**{**usual, **settings}),
            seed=seed,
        )

    return config


@pytest.fixture(scope="session")
def processes() -> ForkServerContext:
    """Real processes that have torch loaded already."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["memspan.training", "accelerate", "torch._dynamo"])
    return context


@pytest.fixture(scope="session")
def written() -> Callable[[Path], dict[str, bytes]]:
    """The bytes that a run must reach however it got there: metrics, configuration and the latest checkpoint."""

    def files(run: Path) -> dict[str, bytes]:
        newest = max((run / "checkpoints").glob("*.safetensors"))
        return {path.name: path.read_bytes() for path in (run / "metrics.jsonl", run / "config.json", newest)}

    return files
