"""From a configuration to a network with its first weights."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from memspan import init
from memspan.cells.names import CELLS
from memspan.errors import InputError
from memspan.models.network import Network
from memspan.tasks import Task
from memspan.training.config import CellConfig, Config, InitConfig

SAMPLE = 100
"""Sequences whose inputs tell the variance that critical weights need."""
_MATRICES = {"orthogonal": init.orthogonal_, "henaff": init.henaff_, "cayley": init.cayley_}


def build(config: Config, *, device: torch.device | str = "cpu") -> Network:
    """The network before its first update: a function of the configuration alone."""
    with seeded(config.seed):
        cell = build_cell(config.cell, config.task.features)
        network = Network(cell, config.task.classes, symbols=config.task.symbols)
        start(network, config.init, config.task, config.seed)
    return network.to(device)


def build_cell(config: CellConfig, features: int) -> Any:
    """The cell of a configuration, which checks its own options."""
    make = cast(Any, CELLS[config.name])
    return make(features, config.hidden, config.layers, dropout=config.dropout, **config.options)


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Inside, torch's random numbers are those of `seed`; afterwards they are what they would have been."""
    devices = range(torch.cuda.device_count()) if torch.cuda.is_available() else ()
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield


def stream(seed: int, rank: int) -> int:
    """The seed of what a process draws while it trains (dropout): none of the weights' own, nor another process's."""
    return int(np.random.SeedSequence([seed, rank]).generate_state(1, np.uint64)[0])


def start(network: Network, config: InitConfig, task: Task, seed: int) -> None:
    """Draw recurrent weights as the configuration says, on top of the cell's own start."""
    match config.name:
        case "default" | "run":  # what another run has learnt is put there when the first training begins
            return
        case "critical" | "field":
            _mean_field(network, config, task, seed)
        case "chrono":
            longest = getattr(task, "delay", None) or getattr(task, "length", None)
            if longest is None:
                raise InputError(
                    "init.name is chrono, and this task has no delay or length to set gates for; choose default"
                )
            init.chrono_(network, float(longest))
        case _:
            _recurrent_matrices(network, config.name)


def _mean_field(network: Network, config: InitConfig, task: Task, seed: int) -> None:
    if config.name == "critical":
        sample = network.encoded(task.batch(0, SAMPLE, seed=seed).inputs)
        init.critical_(
            network.cell,
            bias_mean=config.bias_mean,
            sample=sample,
            weights=config.weights,
            sigma_v=config.sigma_v,
        )
    else:
        init.mean_field_(
            network.cell,
            sigma_w=config.sigma_w,
            sigma_v=config.sigma_v,
            bias_mean=config.bias_mean,
            weights=config.weights,
        )


def _recurrent_matrices(network: Network, name: str) -> None:
    """What multiplies h, of every layer that has one matrix for that."""
    found = [matrix for layer in network.cell.stack if (matrix := _recurrent_matrix(layer)) is not None]
    if not found:
        raise InputError(
            f"init.name is {name}, and {type(network.cell).__name__} has no recurrent matrix that can be drawn so; "
            "choose default"
        )
    for matrix in found:
        _MATRICES[name](matrix)
    for layer in network.cell.stack:
        if isinstance(layer, init.LongShortTerm):
            init.open_gates_(layer)


def _recurrent_matrix(layer: nn.Module) -> Tensor | None:
    """What multiplies h; in an LSTM, that of what its gates let in."""
    if isinstance(layer, init.LongShortTerm):
        return layer.candidate()
    matrix = getattr(layer, "W" if hasattr(layer, "W_x") else "V", None)
    square = isinstance(matrix, nn.Parameter) and matrix.shape[-1] == matrix.shape[-2]
    return matrix if square else None
