"""On what the times were taken."""

from __future__ import annotations

import platform
from importlib.metadata import version
from pathlib import Path

from memspan.engines import available_cores


def machine() -> str:
    """Processor, cores, system and versions in one line."""
    return (
        f"{_processor()}, {available_cores()} cores, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, numpy {version('numpy')}, numba {version('numba')}"
    )


def _processor() -> str:
    """The model's name as Linux tells it, or what the platform calls it."""
    told = Path("/proc/cpuinfo")
    lines = told.read_text(encoding="utf-8").splitlines() if told.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()
