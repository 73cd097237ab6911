"""The benchmark of training at tiny sizes: both sides do the same updates, and both are timed."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from memspan import errors
from memspan.bench import BENCHMARKS
from memspan.bench.train import ENDLESS, TrainSizes, bare_update, timed_updates, train
from memspan.errors import MissingExtraError
from memspan.progress import SILENT
from memspan.tasks import Copy
from memspan.training import CellConfig, Config, TrainingConfig
from memspan.training.run.checkpoint import read_checkpoint
from memspan.training.run.folder import RunFolder
from memspan.training.supervised.build import build

TINY = TrainSizes(delay=2, hidden=4, batch=2, updates=3, validate_every=2)
SAME = 1e-6
"""Single precision: a few updates, one of them with a mean taken in another order."""


def test_every_cell_is_timed_in_the_loop_and_bare():
    before = torch.get_num_threads()
    found = train(SILENT, TINY)
    assert [benchmark.name.split()[2] for benchmark in found] == ["rel-rnn"] * 2 + ["minimal-rnn"] * 2
    validated = [benchmark.name.endswith(", with a validation by 200 sequences every 2") for benchmark in found]
    assert validated == [False, True] * 2
    assert all(benchmark.ours > 0 and benchmark.theirs > 0 for benchmark in found)
    assert BENCHMARKS["train"].function() is train
    assert torch.get_num_threads() == before


def test_the_loop_and_the_bare_updates_are_in_turns_and_reach_the_same_weights(tmp_path: Path):
    config = Config(
        word="copy",
        task=Copy(delay=2),
        cell=CellConfig(name="rel-rnn", hidden=4),
        training=TrainingConfig(updates=ENDLESS, validate_every=ENDLESS, batch=2, device="cpu", clip_norm=None),
    )
    network = build(config)
    turns = timed_updates(config, bare_update(config, network), tmp_path, 3)
    assert len(turns.ours) == len(turns.theirs) == 3
    tensors, position = read_checkpoint(RunFolder(tmp_path).checkpoint(3), "rel-rnn")
    assert position.update == 3
    for name, weights in network.state_dict().items():
        assert torch.allclose(weights, tensors[f"network.{name}"], atol=SAME), name


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(errors, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"this benchmark needs PyTorch; install memspan\[models\]"):
        BENCHMARKS["train"](SILENT)
