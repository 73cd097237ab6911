"""Configurations as JSON objects: sections that validate themselves, and one error message for every mistake.

A configuration is an object of sections (`task`, `cell`, `training`, …), each a frozen dataclass. The annotations of a
dataclass carry the constraints, which pydantic checks, and the phrase that names them in an error message:

>>> read_section(CellConfig, {"hidden": 0}, "cell")
Traceback (most recent call last):
    ...
memspan.errors.InputError: cell.hidden is 0; expected a whole number of 1 or more
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import itertools
import json
import textwrap
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, cast, final

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from memspan.cells import CELLS
from memspan.errors import InputError, suggestion

Count = Annotated[int, Field(ge=1), "a whole number of 1 or more"]
Steps = Annotated[int, Field(ge=0), "a whole number of 0 or more"]
Seed = Annotated[int, Field(ge=0, lt=2**63), "a whole number of 0 or more, below 2^63"]
Finite = Annotated[float, Field(allow_inf_nan=False), "a finite number"]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False), "a finite number above 0"]
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False), "a finite number of 0 or more"]
Share = Annotated[float, Field(ge=0, le=1), "a number from 0 to 1"]
Fraction = Annotated[float, Field(ge=0, lt=1), "a number of 0 or more and below 1"]

Option = bool | int | float | str | None
Section = TypeVar("Section")
AnyConfig = TypeVar("AnyConfig")

# The task of agents, whose configuration has other sections.
AGENTS = "gridworld"
# Keys of a configuration for supervised training.
SECTIONS = ("task", "cell", "model", "init", "training", "bmi", "seed")
# Constructor arguments that all cells have; the others are the cell's own options.
_COMMON = ("self", "input_size", "hidden_size", "num_layers", "batch_first", "dropout", "device", "dtype", "layer")
_KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a word", dict: "an object such as {}"}


@final
@dataclass(frozen=True, kw_only=True)
class CellConfig:
    """Which cell, its size, and its own options."""

    name: str = "rel-rnn"
    hidden: Count = 128
    """Hidden size."""
    layers: Count = 1
    dropout: float = 0.0
    """Dropout between layers."""
    options: dict[str, Option] = field(default_factory=dict)
    """All other arguments of the cell's constructor."""


def read_cell(plain: Mapping[str, Any], where: str = "") -> CellConfig:
    """A cell from its section of a configuration; options that are left out get their defaults."""
    word = str(plain.get("name", CellConfig.name))
    defaults = {name: parameter.default for name, parameter in cell_options(word).items()}
    values = _validate(_cell_model(word), plain, "cell", where)
    options = {name: values.pop(name, default) for name, default in defaults.items()}
    return CellConfig(**values, options=options)


def cell_json(cell: CellConfig) -> dict[str, Any]:
    """The section of a cell, with its own options next to the common ones."""
    plain = dataclasses.asdict(cell)
    options = plain.pop("options")
    return {**plain, **options}


def cell_options(word: str) -> dict[str, inspect.Parameter]:
    """The constructor arguments of a cell that not all cells have."""
    return CELLS.find(word).options()


def build_cell(config: CellConfig, features: int) -> Any:
    """The cell of a configuration, for inputs with this number of features. The cell checks its options."""
    make = cast(Any, CELLS[config.name])
    return make(features, config.hidden, config.layers, dropout=config.dropout, **config.options)


def read_section(kind: type[Section], plain: Mapping[str, Any], name: str, where: str = "") -> Section:
    """The dataclass of a section. `where` says in error messages where the values come from."""
    return kind(**_validate(_model_of(kind), plain, name, where))


def check_section(section: Any, name: str) -> None:
    """Refuse a dataclass that was built in Python with values that its section does not allow."""
    _validate(_model_of(type(section)), dataclasses.asdict(section), name, "")


def check_seed(seed: int) -> None:
    """Refuse a seed that is not a whole number from 0 to 2^63 - 1."""
    _validate(_top_model(()), {"seed": seed}, "", "")


def read_top(plain: Mapping[str, Any], sections: tuple[str, ...], where: str) -> dict[str, Any]:
    """All sections of a configuration object, empty where left out, and its seed."""
    values = _validate(_top_model(sections), plain, "", where)
    return {**{name: {} for name in sections}, "seed": 0, **values}


def read_config_file(path: Path) -> dict[str, Any]:
    """The object in a file given by `--config`."""
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(f"no such file: {path}; write one with --show-config") from error
    except IsADirectoryError as error:
        raise InputError(
            f"{path} is a folder; expected a file written by --show-config, or the config.json of a run"
        ) from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as JSON ({error}); write one with --show-config") from error
    if not isinstance(plain, dict):
        raise InputError(f"{path} holds a {type(plain).__name__}; expected an object with {', '.join(SECTIONS)}")
    for name in SECTIONS[:-1]:
        if not isinstance(plain.get(name, {}), dict):
            raise InputError(f"{path}: {name} is {plain[name]!r}; expected {_KINDS[dict]}")
    return plain


def merge(plain: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """`more` over `plain`, section by section.

    >>> merge({"cell": {"name": "lstm", "hidden": 3}}, {"cell": {"hidden": 4}, "seed": 2})
    {'cell': {'name': 'lstm', 'hidden': 4}, 'seed': 2}
    """
    result = {name: dict(section) if isinstance(section, dict) else section for name, section in plain.items()}
    for name, section in more.items():
        both = isinstance(section, dict) and isinstance(result.get(name), dict)
        result[name] = {**result[name], **section} if both else section
    return result


def apply_setting(plain: dict[str, Any], setting: str) -> dict[str, Any]:
    """`--set` on a configuration object: one key of one section.

    >>> apply_setting({"training": {"batch": 10}}, "training.batch=20")
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
    return merge(plain, {names[0]: value} if len(names) == 1 else {names[0]: {names[1]: value}})


def with_limits(config: AnyConfig, updates: int | None, max_minutes: float | None) -> AnyConfig:
    """The configuration with other limits of training where they are given."""
    given = {"updates": updates, "max_minutes": max_minutes}
    training = cast(Any, config).training
    limits = {name: value for name, value in given.items() if value is not None}
    return dataclasses.replace(cast(Any, config), training=dataclasses.replace(training, **limits))


def section_schema(kind: type) -> dict[str, Any]:
    """The JSON schema of a section."""
    return _model_of(kind).model_json_schema()


def cell_schema(words: typing.Iterable[str]) -> dict[str, Any]:
    """The JSON schema of the section `cell`: one alternative for each cell."""
    return {"anyOf": [named_schema(word, _cell_model(word).model_json_schema()) for word in words]}


def named_schema(word: str, schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a section whose `name` has a fixed value."""
    properties = {"name": {"const": word}, **schema.get("properties", {})}
    return {**schema, "title": word, "properties": {**properties, "name": {"const": word}}}


def top_schema(title: str, properties: dict[str, Any]) -> dict[str, Any]:
    """The schema of a whole configuration; only its task is required."""
    seed = _top_model(()).model_json_schema()["properties"]["seed"]
    return {
        "title": title,
        "type": "object",
        "properties": {**properties, "seed": seed},
        "required": ["task"],
        "additionalProperties": False,
    }


# Strict: "8" and true are not whole numbers. A whole number is accepted where a real one is expected.
_STRICT = ConfigDict(strict=True, extra="forbid")


@cache
def _model_of(kind: Any) -> type[BaseModel]:
    """The pydantic model of a dataclass. The dataclass itself stays plain, so that building one costs no validation."""
    hints, documents = typing.get_type_hints(kind, include_extras=True), _attribute_docstrings(kind)
    fields: dict[str, Any] = {}
    for one in dataclasses.fields(kind):
        if one.name == "options":  # the options of a cell are validated by `_cell_model`
            continue
        default = ... if one.default is dataclasses.MISSING else one.default
        fields[one.name] = (hints[one.name], Field(default, description=documents.get(one.name)))
    return create_model(kind.__name__, __config__=_STRICT, **fields)


@cache
def _cell_model(word: str) -> type[BaseModel]:
    options: dict[str, Any] = {
        name: (parameter.annotation, parameter.default) for name, parameter in cell_options(word).items()
    }
    return create_model(word, __base__=_model_of(CellConfig), **options)


@cache
def _top_model(sections: tuple[str, ...]) -> type[BaseModel]:
    fields: dict[str, Any] = {name: (dict[str, Any], {}) for name in sections}
    return create_model("Configuration", __config__=_STRICT, **fields, seed=(Seed, 0))


def _attribute_docstrings(kind: type) -> dict[str, str]:
    """The string below each field of a dataclass, which describes it."""
    (body,) = (
        node.body for node in ast.parse(textwrap.dedent(inspect.getsource(kind))).body if isinstance(node, ast.ClassDef)
    )
    return {
        node.target.id: inspect.cleandoc(text.value.value)
        for node, text in itertools.pairwise(body)
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


def _validate(model: type[BaseModel], plain: Mapping[str, Any], section: str, where: str) -> dict[str, Any]:
    """The values that are given, converted to their types."""
    prefix = f"{where}: " if where else ""
    dot = f"{section}." if section else ""
    for name in plain:
        if name not in model.model_fields:
            raise InputError(f"{prefix}there is no {dot}{name}; {suggestion(name, model.model_fields)}")
    try:
        found = model.model_validate(dict(plain))
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        value = plain.get(name)
        raise InputError(f"{prefix}{dot}{name} is {value!r}; {_expected(model, name, value)}") from None
    return {name: getattr(found, name) for name in plain}


def _expected(model: type[BaseModel], name: str, value: Any) -> str:
    """The end of an error message about a value of the wrong kind or range."""
    info = model.model_fields[name]
    kind: Any = Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation
    null = ""
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        (kind,) = (argument for argument in typing.get_args(kind) if argument is not type(None))
        null = ", or null"
    if typing.get_origin(kind) is Literal:
        return suggestion(str(value), [str(word) for word in typing.get_args(kind)])
    phrases = [text for text in getattr(kind, "__metadata__", ()) if isinstance(text, str)]
    plain = typing.get_args(kind)[0] if typing.get_origin(kind) is Annotated else kind
    plain = typing.get_origin(plain) or plain
    return f"expected {phrases[0] if phrases else _KINDS[plain]}{null}"
