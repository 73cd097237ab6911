"""TensorBoard is optional: what it would show is written if it is there, and asked for if it is not."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from memspan.errors import MissingExtraError
from memspan.training import resume, train
from memspan.training.run import journal

Scalars = list[tuple[str, float, int]]


@pytest.fixture
def scalars(monkeypatch: pytest.MonkeyPatch) -> Scalars:
    """What a stand-in for `torch.utils.tensorboard` is given."""
    written: Scalars = []

    class SummaryWriter:
        def __init__(self, folder: str, purge_step: int) -> None:
            written.append((folder, 0.0, purge_step))

        def add_scalar(self, tag: str, value: float, step: int) -> None:
            written.append((tag, value, step))

        def close(self) -> None:
            written.append(("closed", 0.0, 0))

    fake = ModuleType("torch.utils.tensorboard")
    fake.SummaryWriter = SummaryWriter  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", fake)
    monkeypatch.setattr(journal, "find_spec", lambda name: True)
    return written


def test_without_the_package_the_extra_is_named_before_there_is_a_folder(
    tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(journal, "find_spec", lambda name: None)
    with pytest.raises(
        MissingExtraError, match=r"training.tensorboard needs tensorboard; install memspan\[tensorboard\]"
    ):
        train(tiny(tensorboard=True), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_metrics_and_validations_are_written_by_update(tiny, scalars: Scalars, tmp_path: Path):
    run = train(tiny(tensorboard=True, updates=10), tmp_path / "run")
    assert scalars[0] == (str(tmp_path / "run/tensorboard"), 0.0, 1)
    assert ("training/loss", run.training_loss[0], 5) in scalars
    assert ("validation/loss", run.validation_loss[0], 10) in scalars
    assert {tag for tag, _, _ in scalars[1:-1]} == {
        *("training/loss", "training/norm", "training/rate", "validation/loss", "validation/accuracy")
    }
    assert scalars[-1][0] == "closed"
    resume(tmp_path / "run", updates=12)
    assert (str(tmp_path / "run/tensorboard"), 0.0, 11) in scalars


@pytest.mark.skipif(importlib.util.find_spec("tensorboard") is None, reason="tensorboard is not installed")
def test_the_real_package_writes_its_files(tiny, tmp_path: Path):
    train(tiny(tensorboard=True, updates=10), tmp_path / "run")
    assert list((tmp_path / "run/tensorboard").glob("events.out.tfevents*"))
