"""Everything that decides a training: what is to be remembered, by which cell, from which start, and how it learns."""

from __future__ import annotations

import math
import typing
from dataclasses import dataclass, field
from typing import Any, Literal, final

from memspan.errors import InputError, suggestion
from memspan.objectives.bmi import BmiConfig, check_bmi
from memspan.tasks import Task
from memspan.tasks.text import TextTask
from memspan.training.devices import Device

Optimizer = Literal["rmsprop", "adam", "sgd", "nt-asgd", "asgd"]
Schedule = Literal["constant", "cosine", "anneal", "stairs"]
Precision = Literal["float32", "bfloat16"]
Start = Literal["default", "critical", "field", "orthogonal", "henaff", "cayley", "chrono", "run"]

Option = bool | int | float | str | None


@final
@dataclass(frozen=True, kw_only=True)
class CellConfig:
    """Which cell, how large, and its own options."""

    name: str = "rel-rnn"
    hidden: int = 128
    layers: int = 1
    dropout: float = 0.0
    """Between layers."""
    options: dict[str, Option] = field(default_factory=dict)
    """What the cell's constructor takes besides, all of it."""


@final
@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """What is around the cell."""

    name: Literal["cell", "awd-lstm"] = "cell"
    """cell: what it reads and gives, with no more around it; awd-lstm: the language model of Merity 2018 and Yang 2018, of
    cell.layers LSTMs of cell.hidden units."""
    embedding: int | None = None
    """Width of the vectors that stand for symbols; None: they are one-hot codes."""
    tied: bool = False
    """Whether embedding and head are one matrix; the cell is then as wide as the embedding."""
    dropout: float = 0.0
    """Of what the cell reads and gives."""
    last: int | None = None
    """Units of the last layer of awd-lstm; None: as many as the others have."""
    experts: int = 15
    """Softmaxes that awd-lstm mixes."""
    dropouts: float = 1.0
    """What the published dropouts of awd-lstm are multiplied by."""


@final
@dataclass(frozen=True, kw_only=True)
class InitConfig:
    """How the recurrent weights start."""

    name: Start = "default"
    """default: the cell's own; critical: chi_1 = 1; field: the sigmas below; orthogonal, henaff, cayley: of the recurrent
    matrix, in an LSTM that of the candidate, with gates that let it begin as an RNN without them; chrono: biases of gates
    for the task's delay; run: the best weights of another run."""
    run: str | None = None
    """The folder of that run."""
    weights: Literal["gaussian", "orthogonal"] = "gaussian"
    """The recurrent matrix of critical and field."""
    bias_mean: float = 0.0
    sigma_w: float = 1.0
    sigma_v: float = 1.0


@final
@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """How it learns, and when it stops."""

    updates: int = 10_000
    """At the most."""
    batch: int = 10
    """Sequences of an update, in each process."""
    accumulate: int = 1
    """Batches whose gradients are added up before an update."""
    truncate: int | None = None
    """Steps over which gradients go back; None: all."""
    optimizer: Optimizer = "rmsprop"
    """nt-asgd: SGD until validation no longer improves, then asgd, SGD whose weights are averaged (Merity 2018)."""
    learning_rate: float = 1e-3
    smoothing: float = 0.99
    """Of RMSprop's mean square."""
    momentum: float = 0.0
    """Of SGD and RMSprop; Adam's beta_1 is 0.9."""
    weight_decay: float = 0.0
    schedule: Schedule = "constant"
    lowest_rate: float = 1 / 32
    """Where cosine ends, as a share of the learning rate."""
    anneal: float = 0.25
    """What the rate is multiplied by: with anneal whenever validation did not improve, with stairs at every stair."""
    hold: int = 0
    """Updates before the first of the stairs begins to lower the rate."""
    stair: int = 1_000
    """Updates from one of the stairs to the next."""
    nonmonotone: int = 5
    """Validations back whose best must be missed before nt-asgd averages."""
    clip_norm: float | None = 1.0
    clip_value: float | None = None
    validate_every: int = 250
    """Updates."""
    validation_batches: int = 10
    validation_size: int = 100
    """Sequences of a validation batch."""
    patience: int | None = None
    """Validations without a better loss after which training stops."""
    stop_accuracy: float | None = None
    """Validation accuracy at which training stops."""
    log_every: int = 50
    """Updates."""
    checkpoint_minutes: float = 1.0
    """At the latest after so many; also at every validation."""
    max_minutes: float | None = None
    device: Device = "auto"
    precision: Precision = "float32"
    threads: int | None = None
    """Of the processor; None: as many as there are, written down when the run begins."""
    tensorboard: bool = False


@final
@dataclass(frozen=True, kw_only=True)
class Config:
    """One training, complete: the same configuration and seed give the same weights."""

    word: str
    """Of the task, as on the command line."""
    task: Task
    cell: CellConfig
    model: ModelConfig = ModelConfig()
    init: InitConfig = InitConfig()
    training: TrainingConfig = TrainingConfig()
    bmi: BmiConfig = field(default_factory=BmiConfig)
    seed: int = 0

    @property
    def network(self) -> str:
        """What learns, in one word."""
        return self.cell.name if self.model.name == "cell" else self.model.name


COUNTS = (
    *("updates", "batch", "accumulate", "truncate", "nonmonotone", "validate_every", "validation_batches"),
    *("validation_size", "patience", "log_every", "threads", "stair"),
)
"""Settings of training that are whole numbers from 1, or off."""
POSITIVE = ("learning_rate", "anneal", "clip_norm", "clip_value", "checkpoint_minutes", "max_minutes")


def check_config(config: Config) -> None:
    """Numbers and words that can have no meaning are told before anything is built. A cell checks its own options."""
    training, init = config.training, config.init
    for section, part in (
        ("training", training),
        ("init", init),
        ("model", config.model),
        ("bmi", config.bmi),
    ):
        _check_words(section, part)
    for name in COUNTS:
        value = getattr(training, name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            raise InputError(f"training.{name} is {value}; expected a whole number of 1 or more")
    for name in POSITIVE:
        value = getattr(training, name)
        if value is not None:
            _check_range(f"training.{name}", value, 0 < value < math.inf, "a finite number above 0")
    for name in ("smoothing", "momentum"):
        value = getattr(training, name)
        _check_range(f"training.{name}", value, 0 <= value < 1, "0 or more and below 1")
    for name in ("lowest_rate", "stop_accuracy"):
        value = getattr(training, name)
        if value is not None:
            _check_range(f"training.{name}", value, 0 <= value <= 1, "a share from 0 to 1")
    hold = training.hold
    _check_range("training.hold", hold, isinstance(hold, int) and hold >= 0, "a whole number of 0 or more")
    decay = training.weight_decay
    _check_range("training.weight_decay", decay, 0 <= decay < math.inf, "a finite number of 0 or more")
    for name in ("sigma_w", "sigma_v"):
        value = getattr(init, name)
        _check_range(f"init.{name}", value, 0 <= value < math.inf, "a finite number of 0 or more")
    _check_range("init.bias_mean", init.bias_mean, math.isfinite(init.bias_mean), "a finite number")
    if init.run is not None and init.name != "run":
        raise InputError(
            f"init.run is {init.run}, and init.name is {init.name}, which does not read it; set init.name=run, too"
        )
    _check_model(config)
    _check_goal(config)
    seed = config.seed
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise InputError(f"seed is {seed}; expected a whole number of 0 or more, below 2^63")


def _check_goal(config: Config) -> None:
    """The second goal, beside what it is added to."""
    check_bmi(config.bmi)
    if config.bmi.name != "none" and not isinstance(config.task, TextTask):
        raise InputError(
            f"bmi.name is {config.bmi.name}, and {config.word} is no text; bmi is for characters and words"
        )
    switch_at = config.bmi.switch_at
    begun = config.init.name == "run"  # whose switch may have been made
    never = switch_at is not None and switch_at >= config.training.updates
    if config.bmi.name == "full" and never and not begun:
        raise InputError(
            f"bmi.switch_at is {switch_at:,}, and training ends after {config.training.updates:,} updates; expected less; "
            "set it lower, leave it out for half of the updates, or train for longer (--updates)"
        )


def _check_model(config: Config) -> None:
    model = config.model
    width = model.embedding
    if width is not None and (isinstance(width, bool) or not isinstance(width, int) or width < 1):
        raise InputError(
            f"model.embedding is {width}; expected a whole number of 1 or more, or null for one-hot codes"
        )
    _check_range("model.dropout", model.dropout, 0 <= model.dropout < 1, "0 or more and below 1")
    if model.name == "awd-lstm":
        _check_awd_lstm(config)
    if width is None and (model.tied or model.dropout):
        raise InputError("model.tied and model.dropout are about an embedding; set model.embedding, too")
    if width is not None and not config.task.symbolic:
        raise InputError(
            f"model.embedding is {width}, and {config.word} has no symbols to embed; leave it out"
        )


def _check_awd_lstm(config: Config) -> None:
    model, cell, init = config.model, config.cell, config.init
    if model.embedding is None:
        raise InputError("model.name is awd-lstm, which reads vectors; set model.embedding, such as 280")
    if cell.name != "lstm" or init.name not in ("default", "run") or model.dropout or cell.dropout:
        raise InputError(
            "model.name is awd-lstm, which has LSTMs, a start and dropouts of its own; expected cell.name=lstm, "
            "init.name=default or run, model.dropout=0 and cell.dropout=0; model.dropouts scales its own"
        )
    for name, value in (("last", model.last), ("experts", model.experts)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            raise InputError(f"model.{name} is {value}; expected a whole number of 1 or more")
    _check_range("model.dropouts", model.dropouts, 0 <= model.dropouts < 2, "0 or more and below 2")


def _check_words(section: str, part: Any) -> None:
    for name, kind in typing.get_type_hints(type(part)).items():
        words, value = typing.get_args(kind), getattr(part, name)
        if typing.get_origin(kind) is Literal and value not in words:
            raise InputError(f"{section}.{name} is {value!r}; {suggestion(str(value), words)}")


def _check_range(name: str, value: float, holds: bool, expected: str) -> None:
    if not holds:
        raise InputError(f"{name} is {value}; expected {expected}")
