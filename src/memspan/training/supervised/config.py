"""The configuration of a supervised training: the task, the network, its initialization, and how it is trained.

>>> config = from_json({"task": {"name": "copy", "delay": 30}, "cell": {"name": "lstm", "hidden": 64}})
>>> config.task.delay, config.cell.hidden, to_json(config)["training"]["optimizer"]
(30, 64, 'rmsprop')
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, cast, final

from pydantic import Field

from memspan.errors import InputError, suggestion
from memspan.objectives.bmi import BmiConfig, bmi_defaults, check_bmi
from memspan.tasks import TASKS, Task
from memspan.tasks.catalog import CATALOG
from memspan.tasks.text import TextTask
from memspan.training.run.config import (
    AGENTS,
    SECTIONS,
    CellConfig,
    Count,
    Finite,
    Fraction,
    NonNegative,
    Positive,
    Share,
    Steps,
    cell_json,
    cell_schema,
    check_section,
    check_seed,
    named_schema,
    read_cell,
    read_section,
    read_top,
    section_schema,
    top_schema,
)
from memspan.training.run.folder import RunFolder
from memspan.training.run.loop import LoopSettings
from memspan.training.run.machine import Device, Precision, thread_count

Start = Literal["default", "critical", "field", "orthogonal", "henaff", "cayley", "chrono", "keras", "run"]


@final
@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """The network around the cell."""

    name: Literal["cell", "awd-lstm"] = "cell"
    """cell: the cell with an input and an output layer; awd-lstm: the language model of Merity 2018 and Yang 2018, with
    cell.layers LSTMs of hidden size cell.hidden."""
    embedding: Annotated[Count | None, "a whole number of 1 or more, or null for one-hot codes"] = None
    """Dimension of the symbol embedding; null: one-hot codes."""
    tied: bool = False
    """Whether the embedding and the output layer share their weights; the hidden size is then that of the embedding."""
    dropout: Fraction = 0.0
    """Dropout of the cell's inputs and outputs."""
    last: Count | None = None
    """Hidden size of the last layer of awd-lstm; null: the same as the others."""
    experts: Count = 15
    """Softmaxes that awd-lstm mixes."""
    dropouts: Annotated[float, Field(ge=0, lt=2), "a number of 0 or more and below 2"] = 1.0
    """Factor on the published dropouts of awd-lstm."""


@final
@dataclass(frozen=True, kw_only=True)
class InitConfig:
    """How the recurrent weights are initialized."""

    name: Start = "default"
    """default: the cell's own; critical: chi_1 = 1; field: from the sigmas below; orthogonal, henaff, cayley: the recurrent
    matrix (of an LSTM that of the candidate, with gates that make it start as an RNN); chrono: gate biases for the
    task's delay; keras: orthogonal recurrent and Glorot-uniform input weights, zero biases, forget bias 1; run: the best
    weights of another run."""
    run: str | None = None
    """The folder of that run."""
    weights: Literal["gaussian", "orthogonal"] = "gaussian"
    """The recurrent matrix of critical and field."""
    bias_mean: Finite = 0.0
    sigma_w: NonNegative = 1.0
    sigma_v: NonNegative = 1.0


@final
@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """The optimizer, the schedule and the limits of a training."""

    updates: Count = 10_000
    """Maximum number of updates."""
    batch: Count = 10
    """Sequences per update, in each process."""
    accumulate: Count = 1
    """Batches whose gradients are summed before an update."""
    truncate: Count | None = None
    """Steps of truncated backpropagation through time; null: all steps."""
    optimizer: Literal["rmsprop", "adam", "sgd", "nt-asgd", "asgd"] = "rmsprop"
    """asgd averages the weights of SGD; nt-asgd starts to when validation stops improving (Merity 2018)."""
    learning_rate: Positive = 1e-3
    smoothing: Fraction = 0.99
    """Smoothing constant of RMSprop."""
    momentum: Fraction = 0.0
    """Momentum of SGD and RMSprop; Adam's beta_1 is 0.9."""
    weight_decay: NonNegative = 0.0
    schedule: Literal["constant", "cosine", "anneal", "stairs"] = "constant"
    lowest_rate: Share = 1 / 32
    """Where the cosine ends, as a fraction of the learning rate."""
    anneal: Positive = 0.25
    """Factor on the learning rate: of anneal after each validation that is not the best, of stairs at every stair."""
    hold: Steps = 0
    """Updates before the first stair."""
    stair: Count = 1_000
    """Updates per stair."""
    full_gradient: Share = 0.0
    """Last fraction of the updates in which detach-lstm detaches nothing; other cells never detach. Default 1/15 for
    detach-lstm."""
    nonmonotone: Count = 5
    """Recent validations that nt-asgd ignores when it looks for the best earlier one."""
    clip_norm: Positive | None = 1.0
    """Maximum gradient norm."""
    clip_value: Positive | None = None
    """Maximum absolute value of a gradient's entries."""
    validate_every: Count = 250
    """Updates between validations."""
    validation_batches: Count = 10
    validation_size: Count = 100
    """Sequences per validation batch."""
    patience: Count | None = None
    """Stop after this many validations without a better loss."""
    stop_accuracy: Share | None = None
    """Stop at this validation accuracy."""
    log_every: Count = 50
    """Updates between lines of metrics.jsonl."""
    checkpoint_minutes: Positive = 1.0
    """Maximum minutes between checkpoints; every validation writes one, too."""
    max_minutes: Positive | None = None
    """Stop after this many minutes of training, in all sessions."""
    device: Device = "auto"
    precision: Precision = "float32"
    threads: Count | None = None
    """CPU threads; null: one for each core, stored when the run begins."""
    tensorboard: bool = False
    """Whether to write TensorBoard events, too."""

    @property
    def loop(self) -> LoopSettings:
        """The settings that the loop reads."""
        names = (field.name for field in dataclasses.fields(LoopSettings))
        return LoopSettings(**{name: getattr(self, name) for name in names})


@final
@dataclass(frozen=True, kw_only=True)
class Config:
    """A complete training: the same configuration and seed give the same weights."""

    word: str
    """The task's name on the command line."""
    task: Task
    cell: CellConfig
    model: ModelConfig = ModelConfig()
    init: InitConfig = InitConfig()
    training: TrainingConfig = TrainingConfig()
    bmi: BmiConfig = field(default_factory=BmiConfig)
    seed: int = 0

    @property
    def network(self) -> str:
        """The name of the network: that of its cell unless it is a model of its own."""
        return self.cell.name if self.model.name == "cell" else self.model.name


def to_json(config: Config) -> dict[str, Any]:
    """The object of `config.json`, which also works as `--config`."""
    return {
        "task": {"name": config.word, **dataclasses.asdict(cast(Any, config.task))},
        "cell": cell_json(config.cell),
        "model": dataclasses.asdict(config.model),
        "init": dataclasses.asdict(config.init),
        "training": dataclasses.asdict(config.training),
        "bmi": dataclasses.asdict(config.bmi),
        "seed": config.seed,
    }


def from_json(plain: dict[str, Any], where: str = "the configuration") -> Config:
    """The inverse of `to_json`. What is left out gets its default, of `bmi` that of the text; `where` is for error
    messages."""
    top = read_top(plain, SECTIONS[:-1], where)
    task = dict(top["task"])
    if "name" not in task:
        raise InputError(f"{where} names no task; expected task.name, one of {', '.join(TASKS)}")
    word = str(task.pop("name"))
    read_task = read_section(task_class(word), task, "task", where)
    config = Config(
        word=word,
        task=read_task,
        cell=read_cell(top["cell"], where),
        model=read_section(ModelConfig, top["model"], "model", where),
        init=read_section(InitConfig, top["init"], "init", where),
        training=read_section(TrainingConfig, top["training"], "training", where),
        bmi=read_section(BmiConfig, _with_text_defaults(top["bmi"], read_task), "bmi", where),
        seed=top["seed"],
    )
    _check_together(config)
    return config


def _with_text_defaults(bmi: dict[str, Any], task: Task) -> dict[str, Any]:
    """The settings of the BMI regularizer over those of its text.

    Without the regularizer they stay as they are, so that the configurations of other runs do not depend on them.
    """
    if bmi.get("name", "none") == "none" or not isinstance(task, TextTask):
        return bmi
    return {**bmi_defaults(task.corpus), **bmi}


def read_run_config(folder: RunFolder) -> Config:
    """The configuration of a run."""
    plain = folder.config_json()
    task = plain.get("task")
    if isinstance(task, dict) and task.get("name") == AGENTS:
        raise InputError(
            f"{folder.path} is the run of an agent in a grid world; only resume, evaluate and report accept such runs"
        )
    return from_json(plain, str(folder.config_file))


def task_class(word: str) -> type[Task]:
    """The task of a word on the command line."""
    if word not in TASKS:
        raise InputError(f"there is no task {word!r}; {suggestion(word, CATALOG)}")
    return TASKS[word]


def resolve(config: Config, processes: int = 1) -> Config:
    """The configuration as config.json stores it: with the available data, all options of the cell, the switch of the
    BMI regularizer, and the number of threads of each process."""
    bmi, training = config.bmi, config.training
    switch_at = bmi.switch_at
    if bmi.name == "full" and switch_at is None and training.optimizer != "nt-asgd":
        switch_at = training.updates // 2 or None  # nt-asgd switches when validation stops improving
    return replace(
        config,
        task=config.task.resolved(),
        cell=read_cell(cell_json(config.cell), "the configuration"),
        training=replace(training, threads=thread_count(training, processes)),
        bmi=replace(bmi, switch_at=switch_at),
    )


def check_config(config: Config) -> None:
    """Refuse a configuration built in Python that makes no sense, before anything else is built."""
    for name in ("training", "init", "model", "bmi"):
        check_section(getattr(config, name), name)
    check_seed(config.seed)
    _check_together(config)


def _check_together(config: Config) -> None:
    """Settings that are valid one by one but not together."""
    init, bmi, training = config.init, config.bmi, config.training
    if init.run is not None and init.name != "run":
        raise InputError(
            f"init.run is {init.run}, but init.name is {init.name}, which ignores it; set init.name=run as well"
        )
    _check_model(config)
    check_bmi(bmi)
    if bmi.name != "none" and not config.task.facts.is_text:
        raise InputError(
            f"bmi.name is {bmi.name}, but the task {config.word} is not a text; bmi works with characters and words"
        )
    never = bmi.switch_at is not None and bmi.switch_at >= training.updates
    if bmi.name == "full" and never and init.name != "run":  # the run it starts from may have switched already
        raise InputError(
            f"bmi.switch_at is {bmi.switch_at:,}, but training ends after {training.updates:,} updates; expected less; "
            "lower it, omit it to switch after half of the updates, or train longer (--updates)"
        )


def _check_model(config: Config) -> None:
    model, cell, init = config.model, config.cell, config.init
    if model.name == "awd-lstm" and model.embedding is None:
        raise InputError("model.name is awd-lstm, which needs an embedding; set model.embedding, such as 280")
    if model.name == "awd-lstm" and (
        cell.name != "lstm" or init.name not in ("default", "run") or model.dropout or cell.dropout
    ):
        raise InputError(
            "model.name is awd-lstm, which has its own LSTMs, initialization and dropouts; expected cell.name=lstm, "
            "init.name=default or run, model.dropout=0 and cell.dropout=0; model.dropouts scales its dropouts"
        )
    if model.embedding is None and (model.tied or model.dropout):
        raise InputError("model.tied and model.dropout need an embedding; set model.embedding as well")
    if model.embedding is not None and not config.task.symbolic:
        raise InputError(
            f"model.embedding is {model.embedding}, but the task {config.word} has no symbols to embed; omit it"
        )


def supervised_schema() -> dict[str, Any]:
    """The JSON schema of `config.json` of a supervised run."""
    from memspan.cells import CELLS

    sections = {"model": ModelConfig, "init": InitConfig, "training": TrainingConfig, "bmi": BmiConfig}
    return top_schema(
        "Supervised training",
        {
            "task": {
                "anyOf": [
                    {**named_schema(word, section_schema(task)), "required": ["name"]} for word, task in TASKS.items()
                ]
            },
            "cell": cell_schema(CELLS),
            **{name: section_schema(kind) for name, kind in sections.items()},
        },
    )
