"""A training that begins with what another one has learnt, such as to recall over a shorter delay."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from torch import Tensor

from memspan.errors import InputError
from memspan.models.model import Model
from memspan.objectives import Objective
from memspan.training.best import load_best
from memspan.training.checkpoint import read_checkpoint
from memspan.training.config import Config
from memspan.training.state_tensors import below, load_module


def begin_with(network: Model, objectives: Mapping[str, Objective], config: Config) -> None:
    """Put the best weights of the run `init.run` into a network of the same cell and sizes.

    Objectives that the run had, too, begin with what they had learnt then.
    """
    if config.init.run is None:
        raise InputError(
            "init.name is run, and init.run names none; give the folder of a run by --set init.run=DIR"
        )
    best = load_best(Path(config.init.run))
    shapes, expected = (_shapes(one.state_dict()) for one in (best.network, network))
    if best.config.network != config.network or shapes != expected:
        theirs, ours = (
            f"{one.network} of {one.cell.hidden} units on {one.word}" for one in (best.config, config)
        )
        raise InputError(
            f"init.run {config.init.run} is a {theirs}, whose weights do not fit a {ours}; "
            "expected the same cell, sizes and symbols"
        )
    best.folder.check_text(config.task)
    network.load_state_dict(best.network.state_dict())
    path = best.folder.checkpoint(best.update)
    tensors, _ = read_checkpoint(path, config.network)
    for name, objective in objectives.items():
        learnt = below(f"objective.{name}", tensors)
        if learnt and _shapes(learnt) != _shapes(objective.state_dict()):
            raise InputError(
                f"init.run {config.init.run} has {name} of other sizes than this configuration asks for; expected the same "
                f"settings of {name}, or a run without it"
            )
        if learnt:
            load_module(f"objective.{name}", objective, tensors, path)


def _shapes(tensors: Mapping[str, Tensor]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(tensor.shape) for name, tensor in tensors.items()}
