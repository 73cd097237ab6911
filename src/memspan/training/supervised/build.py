"""From a configuration to a network with its initial weights, and to its auxiliary objectives."""

from __future__ import annotations

import os

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from memspan import init
from memspan.errors import InputError
from memspan.models.awd_lstm import PENN_TREEBANK, AwdLstm
from memspan.models.model import CellModel, Model, ReadoutModel, SequenceModel
from memspan.models.vocabulary import END, UNKNOWN
from memspan.objectives import Bmi, Objective
from memspan.objectives.segments import Segments, lines, windows
from memspan.tasks import Task
from memspan.tasks.text import TextTask, encode_corpus
from memspan.training.run.config import build_cell
from memspan.training.run.machine import stream_seed, torch_seed
from memspan.training.supervised.config import Config, InitConfig

# Sequences from which the input variance for critical weights is estimated.
SAMPLE = 100
# Shortest delay in steps for chrono initialization.
SHORTEST = 3.0
_MATRICES = {"orthogonal": init.orthogonal_, "henaff": init.henaff_, "cayley": init.cayley_}
# The random stream of the discriminator's initial weights; no process has such a rank.
_DISCRIMINATOR = 2**32
_FLOAT_BYTES = 4


def build_model(config: Config, *, device: torch.device | str = "cpu") -> Model:
    """The network before its first update: a function of the configuration alone."""
    with torch_seed(config.seed):
        network = _model(config, None)
        if isinstance(network, CellModel):
            initialize(network, config.init, config.task, config.seed)
    return network.to(device)


def build(config: Config, *, device: torch.device | str = "cpu") -> CellModel:
    """`build_model` for a network around one cell."""
    network = build_model(config, device=device)
    if not isinstance(network, CellModel):
        raise InputError(f"{config.network} is not a network around one cell; expected model.name=cell")
    return network


def build_untrained(config: Config, symbols: int | None, *, device: torch.device | str = "cpu") -> Model:
    """A network of the same shape whose weights will be loaded. If `symbols` is given, the task's data are not read."""
    with torch_seed(config.seed):
        return _model(config, symbols).to(device)


def _model(config: Config, symbols: int | None) -> Model:
    task, model, cell = config.task, config.model, config.cell
    inputs, classes = (task.symbols, task.classes) if symbols is None else (symbols, symbols)
    if model.name == "awd-lstm":
        assert model.embedding is not None, "check_config requires it"
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
    if model.embedding is None:
        features = task.features if symbols is None else symbols
        return ReadoutModel(build_cell(cell, features), classes, symbols=inputs)
    return SequenceModel(build_cell(cell, model.embedding), classes, tied=model.tied, dropout=model.dropout)


def initialize(network: CellModel, config: InitConfig, task: Task, seed: int) -> None:
    """Draw the recurrent weights as configured, on top of the cell's own initialization."""
    match config.name:
        case "default" | "run":  # weights of another run are loaded when training begins
            return
        case "critical":
            init.critical_(
                network.cell,
                bias_mean=config.bias_mean,
                sample=network.encode(task.batch(0, SAMPLE, seed=seed).inputs),
                weights=config.weights,
                sigma_v=config.sigma_v,
            )
        case "field":
            init.mean_field_(
                network.cell,
                sigma_w=config.sigma_w,
                sigma_v=config.sigma_v,
                bias_mean=config.bias_mean,
                weights=config.weights,
            )
        case "chrono":
            longest = task.required_memory
            if longest is None:
                raise InputError(
                    "init.name is chrono, but this task has no delay or length to set the gates for; choose default"
                )
            init.chrono_(network, max(float(longest), SHORTEST))
        case "keras":
            init.keras_(network.cell)
        case _:
            _initialize_matrices(network, config.name)


def _initialize_matrices(network: CellModel, name: str) -> None:
    """Draw the recurrent matrix of every layer that has a single one."""
    found = [matrix for layer in network.cell.stack if (matrix := _recurrent_matrix(layer)) is not None]
    if not found:
        raise InputError(
            f"init.name is {name}, but {type(network.cell).__name__} has no recurrent matrix to initialize; choose default"
        )
    for matrix in found:
        _MATRICES[name](matrix)
    for layer in network.cell.stack:
        if isinstance(layer, init.LongShortTerm):
            init.open_gates_(layer)


def _recurrent_matrix(layer: nn.Module) -> Tensor | None:
    """The matrix that multiplies h; in an LSTM that of the candidate."""
    if isinstance(layer, init.LongShortTerm):
        return layer.candidate()
    # Cells that embed their input by W_x call the recurrent matrix W, the others V.
    matrix = getattr(layer, "W" if hasattr(layer, "W_x") else "V", None)
    square = isinstance(matrix, nn.Parameter) and matrix.shape[-1] == matrix.shape[-2]
    return matrix if square else None


def build_objectives(config: Config, network: Model) -> tuple[Objective, ...]:
    """The auxiliary objectives: none, or the BMI regularizer with weights that depend on the configuration alone."""
    if config.bmi.name == "none":
        return ()
    with torch_seed(stream_seed(config.seed, _DISCRIMINATOR)):
        return (Bmi(config.bmi, training_segments(config), network, config.seed),)


def training_segments(config: Config) -> Segments:
    """The training text cut into segments for the BMI regularizer."""
    task, bmi = config.task, config.bmi
    assert isinstance(task, TextTask), "check_config requires it"
    text = encode_corpus(task.identity).symbols["train"]
    if bmi.segments == "windows":
        return windows(text, bmi.length, bmi.gap)
    return text_lines(task, text, bmi.length)


def text_lines(task: TextTask, text: NDArray[np.int64], length: int) -> Segments:
    """Lines padded with the unknown symbol, as in the authors' program, or with the end symbol if there is none."""
    numbers = task.vocabulary.numbers
    return lines(text, numbers[END[task.kind]], length, filler=numbers.get(UNKNOWN[task.kind]))


def check_memory(config: Config) -> None:
    """Refuse a batch whose hidden states alone exceed the memory of this machine.

    The operating system kills a process that allocates more than there is, without a message.
    """
    training, cell, task = config.training, config.cell, config.task
    steps = training.truncate or task.window or 0
    required, available = steps * training.batch * cell.hidden * cell.layers * _FLOAT_BYTES, _machine_memory()
    if available is not None and required > available:
        raise InputError(
            f"a batch of {training.batch:,} sequences of {steps:,} steps has {required / 1e9:,.0f} GB of hidden states, but "
            f"this machine has {available / 1e9:,.0f} GB of memory; use shorter sequences, a smaller --batch or --hidden"
        )


def _machine_memory() -> int | None:
    """Bytes of memory; None if the system does not report it."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
