"""From options to a configuration: the defaults, `--preset`, `--config`, named options and `--set`, in this order."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, final

from memspan.errors import InputError
from memspan.tasks.catalog import facts_of

if TYPE_CHECKING:
    from memspan.training import Config
    from memspan.training.agents.config import AgentConfig

# The task of agents, which have a configuration of their own.
GRIDWORLD = "gridworld"
_DEFAULT_CELL, _TEXT_CELL, _AGENT_CELL = "rel-rnn", "lstm", "rel-lstm"
_WHERE = "the configuration"
_CELL_OPTIONS = {"short_term": "--short-term", "relevant": "--relevant"}
_TRAINING = ("updates", "batch", "max_minutes", "device", "threads")


@final
@dataclass(frozen=True, kw_only=True)
class TrainRequest:
    """The options of `memspan train` as typed; None where they were not given."""

    task: str
    cell: str | None = None
    hidden: int | None = None
    layers: int | None = None
    short_term: int | None = None
    relevant: int | None = None
    init: str | None = None
    bmi: str | None = None
    delay: int | None = None
    data: str | None = None
    world: str | None = None
    mission: bool | None = None
    updates: int | None = None
    batch: int | None = None
    seed: int | None = None
    max_minutes: float | None = None
    device: str | None = None
    threads: int | None = None
    preset: str | None = None
    config: Path | None = None
    settings: list[str] | None = None

    def given(self, *names: str) -> dict[str, Any]:
        """Those of the options that were given."""
        values = {name: getattr(self, name) for name in names}
        return {name: value for name, value in values.items() if value is not None}


def train_config(request: TrainRequest) -> Config:
    """The configuration of a supervised training. An error names the option or file that caused it."""
    from memspan.training.supervised.config import from_json

    for name in request.given("world", "mission"):
        raise InputError(f"--{name}: the task {request.task} has no world; --{name} is for {GRIDWORLD}")
    layers = _layers(request)
    try:
        config = from_json(layers[-1][1], _WHERE)
    except InputError as error:
        _raise_with_source(layers, str(error))
    _check_bmi_settings(request, config)
    return config


def agent_config(request: TrainRequest) -> AgentConfig:
    """The configuration of an agent."""
    from memspan.training.agents.config import agent_defaults, agent_from_json
    from memspan.training.run.config import apply_setting, merge, read_config_file

    for name in request.given("delay", "data", "init", "bmi", "preset"):
        raise InputError(f"--{name}: the task {GRIDWORLD} does not use it; omit it")
    file = {} if request.config is None else read_config_file(request.config)
    section = file.get("cell", {})
    word = str(request.cell or section.get("name") or _AGENT_CELL)
    if section.get("name", word) != word:
        file = {**file, "cell": {}}  # the options of another cell do not apply
    plain = merge(merge(agent_defaults(word), file), _named_options(request, word))
    for setting in request.settings or ():
        plain = apply_setting(plain, setting)
    return agent_from_json(plain)


def _layers(request: TrainRequest) -> list[tuple[str, dict[str, Any]]]:
    """The configuration after each source of settings, with the name of the source."""
    from memspan.training.run.config import apply_setting, merge, read_config_file
    from memspan.training.supervised.defaults import defaults
    from memspan.training.supervised.presets import preset_settings

    file = {} if request.config is None else read_config_file(request.config)
    _check_same_task(request, file, str(request.config))
    word = _cell_word(request, file)
    layers = [("the defaults", defaults(request.task, word))]
    if request.preset is not None:
        text = None if request.data == "auto" else request.data
        chosen = preset_settings(request.preset, request.task, word, text)
        layers.append((f"--preset {request.preset}", merge(layers[-1][1], chosen)))
    if request.config is not None:
        layers.append((str(request.config), merge(layers[-1][1], _for_cell(file, word))))
    layers.append(("the options", merge(layers[-1][1], _named_options(request, word))))
    for setting in request.settings or ():
        _check_same_task(request, apply_setting({}, setting), f"--set {setting}")
        layers.append((f"--set {setting}", apply_setting(layers[-1][1], setting)))
    return layers


def _raise_with_source(layers: list[tuple[str, dict[str, Any]]], message: str) -> NoReturn:
    """Raise the error with the name of the first source that causes it."""
    from memspan.training.supervised.config import from_json

    for name, plain in layers:
        try:
            from_json(plain, _WHERE)
        except InputError as error:
            if str(error) == message:
                raise InputError(message.replace(_WHERE, name, 1)) from None
    raise AssertionError("the last layer raises the error")


def _check_same_task(request: TrainRequest, plain: dict[str, Any], where: str) -> None:
    section = plain.get("task")
    name = section.get("name", request.task) if isinstance(section, dict) else request.task
    if name != request.task:
        raise InputError(
            f"{where} is for the task {name}, but the command for {request.task}; type memspan train {name}"
        )


def _cell_word(request: TrainRequest, file: dict[str, Any]) -> str:
    """The cell, whose defaults apply: the last source that names one decides."""
    from memspan.training.run.config import apply_setting

    word = request.cell or file.get("cell", {}).get("name")
    word = word or (_TEXT_CELL if facts_of(request.task).is_text else _DEFAULT_CELL)
    for setting in request.settings or ():
        given = apply_setting({}, setting).get("cell")
        if isinstance(given, dict):
            word = given.get("name", word)
    return str(word)


def _for_cell(file: dict[str, Any], word: str) -> dict[str, Any]:
    """The settings of a file, without the options of its cell if another cell is requested."""
    section = file.get("cell", {})
    if section.get("name", word) == word:
        return file
    common = {name: section[name] for name in ("hidden", "layers", "dropout") if name in section}
    return {**file, "cell": {**common, "name": word}}


def _named_options(request: TrainRequest, word: str) -> dict[str, Any]:
    agent = request.task == GRIDWORLD
    sections = {
        "task": request.given("world", "mission") if agent else _task_options(request),
        "cell": {"name": word, **request.given("hidden", "layers"), **_cell_options(request, word)},
        "training": request.given(*_TRAINING),
        **request.given("seed"),
    }
    named = {name: {"name": getattr(request, name)} for name in request.given("init", "bmi")}
    return {**sections, **named}


def _task_options(request: TrainRequest) -> dict[str, Any]:
    """`--data`, and `--delay`, which sets the length of a task without a delay."""
    from memspan.tasks import TASKS
    from memspan.training.supervised.config import task_class

    found: dict[str, Any] = request.given("data")
    with_data = [word for word, task in TASKS.items() if hasattr(task, "data")]
    if found and request.task not in with_data:
        raise InputError(
            f"--data {request.data}: the task {request.task} generates its sequences; --data is for {', '.join(with_data)}"
        )
    if request.delay is None:
        return found
    name = task_class(request.task).delay_option()
    if name is None:
        reason, instead = (
            ("a text has no end", "set the length of backpropagation")
            if facts_of(request.task).is_text
            else ("its images determine the sequence length", "set the number of steps per image")
        )
        raise InputError(
            f"--delay {request.delay}: the task {request.task} has no delay, {reason}; omit it, or {instead} with "
            "--set task.steps=N"
        )
    return {**found, name: request.delay}


def _cell_options(request: TrainRequest, word: str) -> dict[str, Any]:
    """Options that only some cells have."""
    from memspan.cells import CELLS
    from memspan.training.run.config import cell_options

    found = request.given(*_CELL_OPTIONS)
    for name, value in found.items():
        if word not in CELLS and request.task != GRIDWORLD:
            cell_options(word)  # raises an error that suggests the nearest name
        if word not in CELLS or name not in cell_options(word):
            option, cells = _CELL_OPTIONS[name], ", ".join(CELLS.with_option(name))
            raise InputError(f"{option} {value}: the cell {word} does not have it; {option} is for {cells}")
    return found


def _check_bmi_settings(request: TrainRequest, config: Config) -> None:
    """Refuse `--set bmi.…` that has no effect."""
    from memspan.training.run.config import apply_setting

    unused = _unused_bmi_settings(config)
    for setting in request.settings or ():
        given = apply_setting({}, setting).get("bmi")
        for name in given if isinstance(given, dict) else ():
            if name in unused:
                raise InputError(f"--set {setting}: {unused[name]}, or omit it")


def _unused_bmi_settings(config: Config) -> dict[str, str]:
    """Settings of the BMI regularizer without effect: why, and what would use them."""
    bmi = config.bmi
    if bmi.name == "none":
        fields = (field.name for field in dataclasses.fields(bmi) if field.name != "name")
        return {name: f"bmi.{name} has no effect without --bmi; add --bmi base or full" for name in fields}
    found: dict[str, str] = {}
    if bmi.name == "base":
        for name in ("switch_at", "second", "second_weight", "weights", "proposal", "temperature"):
            found[name] = f"bmi.{name} applies after the switch, which base does not have; use --bmi full"
    elif bmi.second != "raml":
        for name in ("weights", "proposal", "temperature"):
            found[name] = f"bmi.{name} applies to segments of the text; set bmi.second=raml"
    elif bmi.weights == "uniform":
        found["temperature"] = "bmi.temperature applies to importance weights; set bmi.weights=importance"
    if bmi.segments == "lines":
        found["gap"] = "lines have no gap between them; set bmi.segments=windows"
    else:
        found["padding"] = "windows need no padding; set bmi.segments=lines"
    return found
