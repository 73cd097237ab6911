"""A configuration as a JSON object, and back: every key checked, the nearest name told."""

from __future__ import annotations

import dataclasses
import inspect
import json
import types
import typing
from pathlib import Path
from typing import Any, Literal

from memspan.cells import CELLS
from memspan.errors import InputError, suggestion
from memspan.objectives.bmi import BmiConfig
from memspan.tasks import TASKS, Task
from memspan.training.config import (
    CellConfig,
    Config,
    InitConfig,
    ModelConfig,
    Option,
    TrainingConfig,
    check_config,
)

GIVEN = (
    "self",
    "input_size",
    "hidden_size",
    "num_layers",
    "batch_first",
    "dropout",
    "device",
    "dtype",
    "layer",
)
"""What every cell's constructor takes; the rest are the cell's own options."""
AGENTS = "gridworld"
"""The task that has configurations of its own."""
SECTIONS = ("task", "cell", "model", "init", "training", "bmi", "seed")


def to_json(config: Config) -> dict[str, Any]:
    """The object of `config.json`, which also works as `--config`."""
    return {
        "task": {"name": config.word, **dataclasses.asdict(typing.cast(Any, config.task))},
        "cell": cell_json(config.cell),
        "model": dataclasses.asdict(config.model),
        "init": dataclasses.asdict(config.init),
        "training": dataclasses.asdict(config.training),
        "bmi": dataclasses.asdict(config.bmi),
        "seed": config.seed,
    }


def from_json(plain: dict[str, Any], where: str = "the configuration") -> Config:
    """The inverse of `to_json`; what is left out has the default of its type."""
    check_known(plain, SECTIONS, where, "")
    sections = {name: section_of(plain, name, where) for name in SECTIONS[:-1]}
    word = sections["task"].pop("name", None)
    if word is None:
        raise InputError(f"{where} names no task; expected task.name, one of {', '.join(TASKS)}")
    config = Config(
        word=str(word),
        task=_task(str(word), sections["task"], where),
        cell=cell_of(sections["cell"], where),
        model=dataclass_of(ModelConfig, sections["model"], where, "model"),
        init=dataclass_of(InitConfig, sections["init"], where, "init"),
        training=dataclass_of(TrainingConfig, sections["training"], where, "training"),
        bmi=dataclass_of(BmiConfig, sections["bmi"], where, "bmi"),
        seed=converted(plain.get("seed", 0), int, f"{where}: seed"),
    )
    check_config(config)
    return config


def read_config(path: Path) -> dict[str, Any]:
    """The object in a file of `--config`."""
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(f"no such file: {path}; write one with --show-config") from error
    except IsADirectoryError as error:
        raise InputError(
            f"{path} is a folder; expected a file of --show-config, or a run's config.json"
        ) from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as JSON ({error}); write one with --show-config") from error
    if not isinstance(plain, dict):
        raise InputError(
            f"{path} holds a {type(plain).__name__}; expected an object with {', '.join(SECTIONS)}"
        )
    for name in SECTIONS[:-1]:
        section_of(plain, name, str(path))
    return plain


def merged(plain: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """`more` over `plain`, section by section."""
    result = {
        name: dict(section) if isinstance(section, dict) else section for name, section in plain.items()
    }
    for name, section in more.items():
        both = isinstance(section, dict) and isinstance(result.get(name), dict)
        result[name] = {**result[name], **section} if both else section
    return result


def with_setting(plain: dict[str, Any], setting: str) -> dict[str, Any]:
    """`training.learning_rate=1e-3` over an object: one key of one section.

    >>> with_setting({"training": {"batch": 10}}, "training.batch=20")
    {'training': {'batch': 20}}
    """
    path, equals, text = setting.partition("=")
    names = path.strip().split(".")
    if not equals or len(names) > 2 or not all(names):
        raise InputError(f"--set {setting}: expected SECTION.NAME=VALUE, such as training.learning_rate=1e-3")
    try:
        value = json.loads(text)
    except ValueError:
        value = text.strip()
    more = {names[0]: value} if len(names) == 1 else {names[0]: {names[1]: value}}
    return merged(plain, more)


def cell_options(word: str) -> dict[str, inspect.Parameter]:
    """What the constructor of a cell takes besides what all of them take."""
    if word not in CELLS:
        raise InputError(f"there is no cell {word!r}; {suggestion(word, CELLS)}")
    parameters = inspect.signature(CELLS[word].__init__, eval_str=True).parameters
    return {name: parameter for name, parameter in parameters.items() if name not in GIVEN}


def completed(cell: CellConfig) -> CellConfig:
    """The same cell, with the options that it was given and the defaults of all others."""
    return cell_of(cell_json(cell), "the configuration")


def task_class(word: str) -> type[Task]:
    """The task of a word."""
    if word not in TASKS:
        raise InputError(f"there is no task {word!r}; {suggestion(word, (*TASKS, AGENTS))}")
    return TASKS[word]


def cell_json(cell: CellConfig) -> dict[str, Any]:
    """The section of a cell, its own options beside the others."""
    plain = dataclasses.asdict(cell)
    options = plain.pop("options")
    return {**plain, **options}


def _task(word: str, plain: dict[str, Any], where: str) -> Task:
    return dataclass_of(task_class(word), plain, where, "task")


def cell_of(plain: dict[str, Any], where: str) -> CellConfig:
    """The inverse of `cell_json`; options that are left out have their defaults."""
    own = [field.name for field in dataclasses.fields(CellConfig) if field.name != "options"]
    known = cell_options(str(plain.get("name", CellConfig.name)))
    check_known(plain, (*own, *known), where, "cell.")
    base = dataclass_of(
        CellConfig, {name: value for name, value in plain.items() if name in own}, where, "cell"
    )
    options: dict[str, Option] = {}
    for name, parameter in known.items():
        given = plain.get(name, parameter.default)
        options[name] = converted(given, parameter.annotation, f"{where}: cell.{name}")
    return dataclasses.replace(base, options=options)


def section_of(plain: dict[str, Any], name: str, where: str) -> dict[str, Any]:
    """One section of a configuration; empty where it is left out."""
    section = plain.get(name, {})
    if not isinstance(section, dict):
        raise InputError(f"{where}: {name} is {section!r}; expected an object such as {{}}")
    return dict(section)


def dataclass_of(kind: Any, plain: dict[str, Any], where: str, section: str) -> Any:
    """A section as the dataclass that it stands for, every value of the right kind."""
    hints = typing.get_type_hints(kind)
    names = [field.name for field in dataclasses.fields(kind) if field.name != "options"]
    check_known(plain, names, where, f"{section}.")
    return kind(
        **{name: converted(value, hints[name], f"{where}: {section}.{name}") for name, value in plain.items()}
    )


def check_known(plain: dict[str, Any], names: typing.Sequence[str], where: str, prefix: str) -> None:
    """No key but these; the nearest is told."""
    for name in plain:
        if name not in names:
            raise InputError(f"{where}: there is no {prefix}{name}; {suggestion(name, names)}")


def converted(value: Any, kind: Any, name: str, also: str = "") -> Any:
    """`value` if it is of the kind; a whole number may stand for a real one. `also` is what else could stand there."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        if value is None and type(None) in arguments:
            return None
        (inner,) = (argument for argument in arguments if argument is not type(None))
        return converted(value, inner, name, " or null")
    if origin is Literal:
        if value not in arguments:
            raise InputError(f"{name} is {value!r}; {suggestion(str(value), [str(a) for a in arguments])}")
        return value
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        words = {int: "a whole number", float: "a number", bool: "true or false", str: "a word"}
        raise InputError(f"{name} is {value!r}; expected {words[kind]}{also}")
    return value
