"""JSON Schema (draft 2020-12) of every result type, generated from the type hints of its fields.

A schema describes what `to_json` writes and what `from_json` reads. Additional properties are allowed: versions may add
fields. A field is required unless it has a default, so files of earlier versions validate as well.

>>> from memspan.results import Claim
>>> schema(Claim)["properties"]["holds"], schema(Claim)["properties"]["paper"]
({'type': 'boolean'}, {'type': ['number', 'null']})
"""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import Any

import numpy as np

from memspan.results.agent import AgentEvaluation, AgentRun
from memspan.results.benchmark import BenchReport
from memspan.results.curve import Curve
from memspan.results.decay import DecayFit, LawFit, LocalExponent
from memspan.results.diagnosis import Diagnosis
from memspan.results.measurement import Comparison, Influence, Measurement, Period
from memspan.results.memorization import Memorization
from memspan.results.prediction import AttentionPrediction, LinearPrediction, Prediction
from memspan.results.reproduction import Reproduction
from memspan.results.training import Evaluation, Sample, TrainingRun

Schema = dict[str, Any]

RESULT_TYPES: dict[str, tuple[type, ...]] = {
    "measure": (Measurement,),
    "compare": (Comparison,),
    "predict": (Prediction, LinearPrediction, AttentionPrediction),
    "memorize": (Memorization,),
    "train": (TrainingRun, AgentRun),
    "evaluate": (Evaluation, AgentEvaluation),
    "sample": (Sample,),
    "diagnose": (Diagnosis,),
    "reproduce": (Reproduction,),
    "bench": (BenchReport,),
    "curve": (Curve,),
    "decay": (DecayFit,),
}
"""The types of the results that each command (or verb) returns."""

# Floats are nullable because JSON has no NaN and no infinity.
_SCALARS: dict[Any, Schema] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": ["number", "null"]},
    str: {"type": "string"},
    type(None): {"type": "null"},
    Any: {},
}
_TEXT_MEASURES: dict[str, Any] = {"bits_per_character": float, "perplexity": float}
# What `to_json` writes in addition to the fields.
_ADDED: dict[type, dict[str, Any]] = {
    TrainingRun: _TEXT_MEASURES,
    Evaluation: _TEXT_MEASURES,
    LinearPrediction: {"unit": str},
    Memorization: {"alphabet": tuple[str, ...], "hidden_size": int, "replay": str},
}


def schema(kind: type) -> Schema:
    """The JSON Schema of the object that `to_json` of this result type returns; nested types are in `$defs`."""
    definitions: dict[str, Schema] = {}
    whole = _object(kind, definitions)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": kind.__name__}
    return {**head, **whole, **({"$defs": definitions} if definitions else {})}


def _object(kind: type, definitions: dict[str, Schema]) -> Schema:
    if kind is Measurement:
        return _measurement(definitions)
    hints: dict[str, Any] = {**typing.get_type_hints(kind), **_ADDED.get(kind, {})}
    if kind is Comparison:
        hints["unit"] = str
    # A default marks a field that was added after version 0.1.
    required = [field.name for field in dataclasses.fields(kind) if field.default is dataclasses.MISSING]
    if kind is Curve:  # version 0.1 did not write these two; `Curve.from_json` fills them in
        required = [name for name in required if name not in ("stderr_bias", "undersampled")]
    properties = {name: _value(hint, definitions) for name, hint in hints.items()}
    return {"type": "object", "properties": properties, "required": required}


def _measurement(definitions: dict[str, Schema]) -> Schema:
    """`measure --json` is flat: the fields of the curve and of the fit are fields of the measurement."""
    curve = _object(Curve, definitions)
    own: dict[str, Any] = {
        "paths": tuple[str, ...],
        "symbols": str,
        "column": str | None,
        "unit": str,
        "significant": tuple[bool, ...],
        "best_law": str | None,
        "law_fits": bool,
        "laws": dict[str, LawFit],
        "fitted_lags": tuple[int, ...],
        "local_exponents": tuple[LocalExponent, ...],
        "period": Period | None,
        "influence": Influence | None,
        "curve_notes": tuple[str, ...],
        "notes": tuple[str, ...],
        "seconds": float,
        "excerpt": str,
    }
    properties = {**curve["properties"], **{name: _value(hint, definitions) for name, hint in own.items()}}
    required = ["paths", "symbols", "laws", "fitted_lags", "curve_notes", "notes", "seconds"]
    return {"type": "object", "properties": properties, "required": [*curve["required"], *required]}


def _value(hint: Any, definitions: dict[str, Schema]) -> Schema:
    """The schema of one value, guided by its type as `to_plain` is."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint in _SCALARS:
        return _SCALARS[hint]
    if origin in (typing.Union, types.UnionType):
        return _union([_value(argument, definitions) for argument in arguments])
    if origin is np.ndarray:
        return _array(typing.get_args(arguments[1])[0], definitions)
    if origin is tuple:
        if arguments[-1] is Ellipsis:
            return {"type": "array", "items": _value(arguments[0], definitions)}
        items = [_value(argument, definitions) for argument in arguments]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _value(arguments[1], definitions)}
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        if hint.__name__ not in definitions:
            definitions[hint.__name__] = {}  # reserves the name, in case the type refers to itself
            definitions[hint.__name__] = _object(hint, definitions)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    raise TypeError(f"no JSON schema for a field of type {hint!r}")


def _union(parts: list[Schema]) -> Schema:
    """One list of types where all alternatives are scalars, else `anyOf`."""
    if any(part.keys() != {"type"} for part in parts):
        return {"anyOf": parts}
    names = [name for part in parts for name in ([part["type"]] if isinstance(part["type"], str) else part["type"])]
    return {"type": list(dict.fromkeys(names))}


def _array(dtype: type[np.generic], definitions: dict[str, Schema]) -> Schema:
    """Numbers in nested lists: hints do not specify the number of dimensions, so each item may be a list again."""
    if issubclass(dtype, np.complexfloating):
        part = _array(np.float64, definitions)
        return {"type": "object", "properties": {"real": part, "imaginary": part}, "required": ["real", "imaginary"]}
    scalars = {np.floating: float, np.integer: int, np.bool_: bool}
    scalar = next(_SCALARS[plain] for base, plain in scalars.items() if issubclass(dtype, base))
    name = f"{dtype.__name__}[]"
    definitions[name] = {"type": "array", "items": {"anyOf": [scalar, {"$ref": f"#/$defs/{name}"}]}}
    return {"$ref": f"#/$defs/{name}"}
