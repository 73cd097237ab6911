"""The benchmark of training at tiny sizes: both sides do the same updates, and both are timed."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from memspan.bench import BENCHMARKS, training_loops
from memspan.bench.train import TrainSizes, train
from memspan.bench.training_loops import ENDLESS, bare, looping
from memspan.errors import MissingExtraError
from memspan.experiments import needing_torch
from memspan.progress import SILENT
from memspan.tasks import Copy
from memspan.training import CellConfig, Config, TrainingConfig
from memspan.training.checkpoint import read_checkpoint
from memspan.training.journal import FileJournal
from memspan.training.run_folder import RunFolder

TINY = TrainSizes(delay=2, hidden=4, batch=2, updates=3, rounds=2)
SAME = 1e-6
"""Single precision: a few updates, one of them with a mean taken in another order."""


def test_every_cell_is_timed_in_the_loop_and_bare():
    before = torch.get_num_threads()
    found = train(SILENT, TINY)
    assert [benchmark.name.split()[2] for benchmark in found] == ["rel-rnn", "minimal-rnn"]
    assert all(benchmark.ours > 0 and benchmark.theirs > 0 for benchmark in found)
    assert BENCHMARKS["train"] is train
    assert torch.get_num_threads() == before


def test_the_loop_and_the_bare_updates_reach_the_same_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    config = Config(
        word="copy",
        task=Copy(delay=2),
        cell=CellConfig(name="rel-rnn", hidden=4),
        training=TrainingConfig(
            updates=ENDLESS, validate_every=ENDLESS, batch=2, device="cpu", clip_norm=None
        ),
    )
    built = []
    real = training_loops.build
    monkeypatch.setattr(training_loops, "build", lambda given: built.append(real(given)) or built[-1])
    journal, folder = FileJournal(RunFolder(tmp_path), 0), RunFolder(tmp_path)
    turn = looping(config, tmp_path, journal, 3)
    turn()
    bare(config, 3)()
    tensors, position = read_checkpoint(folder.checkpoint(3), "rel-rnn")
    assert position.update == 3
    for name, weights in built[0].state_dict().items():
        assert torch.allclose(weights, tensors[f"network.{name}"], atol=SAME), name
    turn()
    journal.close()
    assert folder.saved() == [6, 3]


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(needing_torch, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"this benchmark needs torch; install memspan\[models\]"):
        train(SILENT, TINY)
