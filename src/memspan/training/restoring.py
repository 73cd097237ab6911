"""The weights of a run's best validation, in its network."""

from __future__ import annotations

from torch import Tensor

from memspan.models.model import Model
from memspan.training.checkpoint import read_checkpoint
from memspan.training.config import Config
from memspan.training.position import Position
from memspan.training.run_folder import RunFolder
from memspan.training.state_tensors import load_module


def load_weights(network: Model, config: Config, folder: RunFolder, update: int) -> Position:
    """Put the weights of one update into the network: their averages where the training had begun to average."""
    path = folder.checkpoint(update)
    tensors, position = read_checkpoint(path, config.network)
    load_module("network", network, tensors, path)
    _load_averages(network, tensors)
    return position


def _load_averages(network: Model, tensors: dict[str, Tensor]) -> None:
    ordered = [parameter for group in network.parameter_groups(1.0) for parameter in group["params"]]
    for number, parameter in enumerate(ordered):
        average = tensors.get(f"optimizer.{number}.ax")
        if average is not None:  # only asgd has them, after its first update
            parameter.data.copy_(average)
