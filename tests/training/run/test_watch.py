"""Trainings in other processes: every update that they have written down counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import final

from memspan.progress import Stage
from memspan.training.run.folder import RunFolder
from memspan.training.run.sweep import watch_metrics


@final
class Counting(Stage):
    def __init__(self) -> None:
        self.done, self.told = 0.0, ""

    def advance(self, amount: float = 1.0) -> None:
        self.done += amount

    def tell(self, now: str) -> None:
        self.told = now

    def close(self) -> None:
        pass


def test_updates_without_the_measure_are_counted_too(tmp_path: Path):
    folders = [RunFolder(tmp_path / name) for name in ("one", "two", "three")]
    rewards = ((0.5, None, None), (None, None), ())
    stage = Counting()
    with watch_metrics(folders, stage, "reward"):
        for folder, found in zip(folders, rewards, strict=True):
            folder.path.mkdir()
            lines = [json.dumps({"update": place, "reward": one}) for place, one in enumerate(found, 1)]
            folder.metrics_file.write_text("".join(f"{line}\n" for line in lines))
    assert stage.done == 5
    assert stage.told == "reward 0.5000 - -"
