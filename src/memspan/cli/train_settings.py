"""From words to a configuration: the table of defaults, then `--config`, then named options, then `--set`."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, final

from memspan.errors import InputError
from memspan.presentation.tasks import TEXTS

if TYPE_CHECKING:
    from memspan.training.config import Config

CELL = "rel-rnn"
OF_TEXTS = "lstm"
"""Unless another is named."""
GRIDWORLD = "gridworld"
"""The task of agents, whose configuration is another one."""
_WHERE = "the configuration"
_CELL_OPTIONS = {"short_term": "--short-term", "relevant": "--relevant"}


@final
@dataclass(frozen=True, kw_only=True)
class Asked:
    """What was typed; None where it was not."""

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
    config: Path | None = None
    settings: tuple[str, ...] = ()


def resolved(asked: Asked) -> Config:
    """The whole configuration; what is wrong is told with the place that it comes from."""
    from memspan.training.config_json import from_json

    _check_no_world(asked)
    layers = _layers(asked)
    try:
        config = from_json(layers[-1][1], _WHERE)
    except InputError as error:
        _blame(layers, str(error))
    _check_read(asked, config)
    return config


def _check_read(asked: Asked, config: Config) -> None:
    """Refuse settings of the second goal that were typed and that nothing would read."""
    from memspan.training.config_json import with_setting

    unread = _unread(config)
    for setting in asked.settings:
        given = with_setting({}, setting).get("bmi")
        for name in given if isinstance(given, dict) else ():
            if name in unread:
                raise InputError(f"--set {setting}: {unread[name]}, or leave it out")


def _unread(config: Config) -> dict[str, str]:
    """Settings of the second goal that nothing reads: why, and what would."""
    bmi = config.bmi
    if bmi.name == "none":
        fields = (field.name for field in dataclasses.fields(bmi) if field.name != "name")
        return {name: f"bmi.{name} is not read without --bmi; add --bmi base or full" for name in fields}
    found: dict[str, str] = {}
    if bmi.name == "base":
        for name in ("switch_at", "second", "second_weight", "proposal", "temperature"):
            found[name] = f"bmi.{name} is about the time after the switch, and base has none; use --bmi full"
    elif bmi.second == "policy":
        for name in ("proposal", "temperature"):
            found[name] = f"bmi.{name} is about segments of the text; set bmi.second=raml"
    if bmi.segments == "lines":
        found["gap"] = "there is no gap between lines; set bmi.segments=windows"
    else:
        found["padding"] = "windows need no padding; set bmi.segments=lines"
    return found


def _check_no_world(asked: Asked) -> None:
    for option, value in (("--world", asked.world), ("--mission", asked.mission)):
        if value is not None:
            raise InputError(
                f"{option}: the task {asked.task} is no world to live in; {option} is for {GRIDWORLD}"
            )


def _layers(asked: Asked) -> list[tuple[str, dict[str, Any]]]:
    """The configuration after each step, with the name of the step."""
    from memspan.training.config_json import merged, read_config, with_setting
    from memspan.training.defaults import defaults

    file = {} if asked.config is None else read_config(asked.config)
    _same_task(asked, file, str(asked.config))
    word = _cell_word(asked, file)
    layers = [("the defaults", defaults(asked.task, word))]
    if asked.config is not None:
        layers.append((str(asked.config), merged(layers[-1][1], _for_cell(file, word))))
    named = _named(asked, word)
    layers.append(("the options", merged(layers[-1][1], named)))
    for setting in asked.settings:
        _same_task(asked, with_setting({}, setting), f"--set {setting}")
        layers.append((f"--set {setting}", with_setting(layers[-1][1], setting)))
    return layers


def _same_task(asked: Asked, plain: dict[str, Any], where: str) -> None:
    section = plain.get("task")
    name = section.get("name", asked.task) if isinstance(section, dict) else asked.task
    if name != asked.task:
        raise InputError(
            f"{where} is of the task {name}, the command of {asked.task}; type memspan train {name}"
        )


def _cell_word(asked: Asked, file: dict[str, Any]) -> str:
    """The last that names a cell decides, so that its defaults are taken."""
    from memspan.training.config_json import with_setting

    section = file.get("cell")
    word = asked.cell or (section.get("name") if isinstance(section, dict) else None)
    word = word or (OF_TEXTS if asked.task in TEXTS else CELL)
    for setting in asked.settings:
        given = with_setting({}, setting).get("cell")
        if isinstance(given, dict):
            word = given.get("name", word)
    return str(word)


def _for_cell(file: dict[str, Any], word: str) -> dict[str, Any]:
    """The file's settings; those that only its own cell has are left out where another is asked for."""
    section = file.get("cell")
    if not isinstance(section, dict) or section.get("name", word) == word:
        return file
    kept = {name: section[name] for name in ("hidden", "layers", "dropout") if name in section}
    return {**file, "cell": {**kept, "name": word}}


def _named(asked: Asked, word: str) -> dict[str, Any]:
    sections = {
        "task": {**_distance(asked), **_data(asked)},
        "cell": {
            "name": word,
            **_given({"hidden": asked.hidden, "layers": asked.layers}),
            **_cell(asked, word),
        },
        "init": _given({"name": asked.init}),
        "bmi": _given({"name": asked.bmi}),
        "training": _given(
            {
                "updates": asked.updates,
                "batch": asked.batch,
                "max_minutes": asked.max_minutes,
                "device": asked.device,
                "threads": asked.threads,
            }
        ),
    }
    return {**sections, **_given({"seed": asked.seed})}


def _given(values: dict[str, Any]) -> dict[str, Any]:
    """Those of the options that were given."""
    return {name: value for name, value in values.items() if value is not None}


def _distance(asked: Asked) -> dict[str, int]:
    """`--delay` sets the task's delay, or its length where it has no other."""
    if asked.delay is None:
        return {}
    from memspan.training.config_json import task_class
    from memspan.training.distances import distance_name

    name = distance_name(task_class(asked.task))
    if name is None:
        what, how = (
            ("a text goes on for ever", "set how far gradients go back")
            if asked.task in TEXTS
            else ("its images say how long a sequence is", "set in how many steps they are read")
        )
        raise InputError(
            f"--delay {asked.delay}: the task {asked.task} has none, {what}; leave it out, or {how} by --set task.steps=N"
        )
    return {name: asked.delay}


def _data(asked: Asked) -> dict[str, str]:
    if asked.data is None:
        return {}
    from memspan.tasks import TASKS

    reading = [word for word, task in TASKS.items() if hasattr(task, "data")]
    if asked.task not in reading:
        raise InputError(
            f"--data {asked.data}: the task {asked.task} draws its own sequences; --data is for {', '.join(reading)}"
        )
    return {"data": asked.data}


def _cell(asked: Asked, word: str) -> dict[str, int]:
    """Options that only some cells have."""
    from memspan.cells.names import CELLS
    from memspan.training.config_json import cell_options

    found: dict[str, int] = {}
    for name, option in _CELL_OPTIONS.items():
        value = getattr(asked, name)
        if value is None:
            continue
        if name not in cell_options(word):
            cells = ", ".join(cell for cell in CELLS if name in cell_options(cell))
            raise InputError(f"{option} {value}: the cell {word} has no use for it; {option} is for {cells}")
        found[name] = value
    return found


def _blame(layers: list[tuple[str, dict[str, Any]]], message: str) -> NoReturn:
    """Raise the error with the name of the first step that brings it."""
    from memspan.training.config_json import from_json

    for name, plain in layers:
        try:
            from_json(plain, _WHERE)
        except InputError as error:
            if str(error) == message:
                raise InputError(message.replace(_WHERE, name, 1)) from None
    raise AssertionError("the last step brought it")
