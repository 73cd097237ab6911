"""Metrics for TensorBoard, beside those of `metrics.jsonl`."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any, final

from memspan.errors import MissingExtraError


def check_tensorboard() -> None:
    """TensorBoard is there, or the message which extra brings it; nothing is imported yet."""
    if find_spec("tensorboard") is None:
        raise MissingExtraError("training.tensorboard", "tensorboard", "tensorboard")


@final
class Events:
    """Scalars by update in a folder that `tensorboard --logdir` shows."""

    def __init__(self, folder: Path, update: int) -> None:
        """What an earlier session wrote after `update` is hidden."""
        from torch.utils.tensorboard import SummaryWriter

        self._writer = SummaryWriter(str(folder), purge_step=update + 1)

    def write(self, line: dict[str, Any]) -> None:
        """A line of metrics: what was measured in validation is in a group of its own."""
        group, numbers = ("validation", line["validation"]) if "validation" in line else ("training", line)
        for name, value in numbers.items():
            if name != "update":
                self._writer.add_scalar(f"{group}/{name}", value, line["update"])

    def close(self) -> None:
        """Everything is on disk."""
        self._writer.close()
