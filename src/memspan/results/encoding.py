"""Frozen dataclasses to JSON and back, exactly.

Floats survive because Python writes the shortest text that reads back to the same bits. JSON has no NaN or infinity, so
non-finite numbers become null, and null in a float or a float array reads back as NaN.
"""

from __future__ import annotations

import dataclasses
import json
import math
import types
import typing
from pathlib import Path
from typing import Any, Self

import numpy as np

from memspan.errors import CorruptError, InputError


class JsonResult:
    """Base of results whose JSON object holds exactly their fields."""

    def to_json(self) -> dict[str, Any]:
        """The object that the command prints with `--json`, without `schema`, `command` and `version`."""
        return to_plain(self)

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Self:
        """The inverse of `to_json`; also reads files of earlier versions."""
        return from_plain(cls, plain)


def to_plain(value: Any) -> Any:
    """Convert dataclasses, arrays, tuples and numbers to plain JSON values; non-finite numbers become None."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    # JSON has no complex numbers: two arrays of floats.
    if isinstance(value, np.ndarray | np.generic):
        if np.iscomplexobj(value):
            return {"real": to_plain(value.real), "imaginary": to_plain(value.imag)}
        return to_plain(value.tolist())
    if isinstance(value, dict):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def from_plain(kind: Any, plain: Any) -> Any:
    """The inverse of `to_plain`, guided by the type `kind`.

    Unknown fields are ignored, and fields with a default may be missing: files of other versions can be read.
    """
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        if plain is None and type(None) in arguments:
            return None
        # Only X | None occurs in results, so the other alternative is the type.
        return from_plain(next(a for a in arguments if a is not type(None)), plain)
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        # Fields without a default must be in the file; a missing one raises KeyError.
        names = [
            field.name
            for field in dataclasses.fields(kind)
            if field.name in plain or field.default is dataclasses.MISSING
        ]
        return kind(**{name: from_plain(hints[name], plain[name]) for name in names})  # type: ignore[operator]
    if origin is np.ndarray or kind is np.ndarray:
        dtype = typing.get_args(arguments[1])[0] if arguments else np.float64
        if issubclass(dtype, np.complexfloating):
            return np.array(plain["real"], dtype=dtype) + 1j * np.array(plain["imaginary"], dtype=dtype)
        return np.array(_nan_for_none(plain) if issubclass(dtype, np.floating) else plain, dtype=dtype)
    if origin is tuple:
        inner = [arguments[0]] * len(plain) if arguments[-1] is Ellipsis else list(arguments)
        return tuple(from_plain(a, item) for a, item in zip(inner, plain, strict=True))
    if origin is dict:
        return {key: from_plain(arguments[1], item) for key, item in plain.items()}
    # Integers in hand-written files become floats.
    if kind is float:
        return math.nan if plain is None else float(plain)
    return plain


def _nan_for_none(plain: Any) -> Any:
    if isinstance(plain, list):
        return [_nan_for_none(item) for item in plain]
    return math.nan if plain is None else plain


def check_lengths(result: Any, along: str, *names: str, where: str = "") -> None:
    """Raise InputError unless the named arrays have the shape of the one-dimensional array `along`."""
    shape = np.shape(getattr(result, along))
    wrong = [name for name in names if np.shape(getattr(result, name)) != shape]
    if wrong or len(shape) != 1:
        raise InputError(f"{', '.join(wrong) or 'a list'} and {along} differ in length{where}; expected equal lengths")


def check_choice(result: Any, name: str, choices: tuple[str, ...]) -> None:
    """Raise InputError unless the named field is one of the choices."""
    value = getattr(result, name)
    if value not in choices:
        raise InputError(f"{type(result).__name__}.{name} is {value!r}; expected {' or '.join(choices)}")


def read_object(path: Path) -> dict[str, Any]:
    """Read the JSON object of a file that memspan wrote."""
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CorruptError(f"cannot read {path} as JSON: {error}; run the command that wrote it again") from error
    if not isinstance(plain, dict) or "command" not in plain:
        raise CorruptError(f"{path} is not a memspan result (a JSON object with a field 'command')")
    return plain


def dumps(plain: dict[str, Any]) -> str:
    """One JSON object as one line of text; raises ValueError for NaN."""
    return json.dumps(plain, ensure_ascii=False, allow_nan=False) + "\n"
