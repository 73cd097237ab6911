"""The weights of a run's best validation, in its network."""

from __future__ import annotations

from torch import Tensor

from memspan.errors import CorruptError
from memspan.models.model import Model
from memspan.training.checkpoint import read_checkpoint
from memspan.training.config import Config
from memspan.training.position import Position
from memspan.training.run_folder import RunFolder
from memspan.training.state_tensors import load_module


def load_best_weights(
    network: Model, config: Config, folder: RunFolder, position: Position
) -> tuple[int, tuple[str, ...]]:
    """Put the weights of the lowest validation loss into the network, or the next ones where these cannot be read.

    Returns whose weights they are, and what was passed over. Weights that were never validated come last.
    """
    there, wanted = folder.saved(), position.by_loss()
    best = wanted[0] if wanted else position.update
    passed = [] if best in there else [f"the checkpoint of update {best:,}, the best, is gone"]
    for update in dict.fromkeys((*(update for update in wanted if update in there), *there)):
        try:
            load_weights(network, config, folder, update)
        except CorruptError as error:
            passed.append(f"passed over: {error}")
            continue
        return update, tuple(passed)
    raise CorruptError(f"no checkpoint of {folder.path} can be read ({passed[0]}); train again")


def unreadable(config: Config, folder: RunFolder, updates: list[int]) -> dict[int, str]:
    """Those of the updates that have no sound checkpoint any more, and why."""
    found = {}
    for update in updates:
        try:
            read_checkpoint(folder.checkpoint(update), config.network)
        except CorruptError as error:
            found[update] = str(error)
    return found


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
