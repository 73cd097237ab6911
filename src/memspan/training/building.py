"""From a configuration to a network with its first weights."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from memspan import init
from memspan.cells import CELLS
from memspan.errors import InputError
from memspan.models.awd_lstm import PENN_TREEBANK, AwdLstm
from memspan.models.cell_model import CellModel, ReadoutModel, SequenceModel
from memspan.models.model import Model
from memspan.tasks import Task
from memspan.training.config import CellConfig, Config, InitConfig

SAMPLE = 100
"""Sequences whose inputs tell the variance that critical weights need."""
SHORTEST = 3.0
"""Steps below which gates have nothing to last for."""
_MATRICES = {"orthogonal": init.orthogonal_, "henaff": init.henaff_, "cayley": init.cayley_}


def build(config: Config, *, device: torch.device | str = "cpu") -> CellModel:
    """As `build_model`, of a network around one cell."""
    network = build_model(config, device=device)
    if not isinstance(network, CellModel):
        raise InputError(f"{config.network} is no network around one cell; expected model.name=cell")
    return network


def build_model(config: Config, *, device: torch.device | str = "cpu") -> Model:
    """The network before its first update: a function of the configuration alone."""
    with seeded(config.seed):
        network = _model(config, None)
        if isinstance(network, CellModel):
            start(network, config.init, config.task, config.seed)
    return network.to(device)


def unlearnt(config: Config, symbols: int | None, *, device: torch.device | str = "cpu") -> Model:
    """A network of the same shape, for weights that were learnt; where `symbols` are told, no data are needed for it."""
    with seeded(config.seed):
        return _model(config, symbols).to(device)


def _model(config: Config, symbols: int | None) -> Model:
    task, model = config.task, config.model
    kinds = task.symbols if symbols is None else symbols
    classes = task.classes if symbols is None else symbols
    if model.name == "awd-lstm":
        return _awd_lstm(config, classes)
    if model.embedding is None:
        features = task.features if symbols is None else symbols
        return ReadoutModel(build_cell(config.cell, features), classes, symbols=kinds)
    cell = build_cell(config.cell, model.embedding)
    return SequenceModel(cell, classes, tied=model.tied, dropout=model.dropout)


def _awd_lstm(config: Config, classes: int) -> AwdLstm:
    model, cell = config.model, config.cell
    assert model.embedding is not None, "check_config asks for it"
    return AwdLstm(
        classes,
        embedding=model.embedding,
        hidden=cell.hidden,
        last=model.last or cell.hidden,
        layers=cell.layers,
        experts=model.experts,
        dropouts=PENN_TREEBANK.times(model.dropouts),
        tied=model.tied,
    )


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


def start(network: CellModel, config: InitConfig, task: Task, seed: int) -> None:
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
            init.chrono_(network, max(float(longest), SHORTEST))
        case _:
            _recurrent_matrices(network, config.name)


def _mean_field(network: CellModel, config: InitConfig, task: Task, seed: int) -> None:
    if config.name == "critical":
        sample = network.encode(task.batch(0, SAMPLE, seed=seed).inputs)
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


def _recurrent_matrices(network: CellModel, name: str) -> None:
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
