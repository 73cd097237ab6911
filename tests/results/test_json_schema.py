"""Every result type has a JSON schema that its JSON satisfies, and survives JSON exactly."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import types
import typing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memspan import results
from memspan.results import RESULT_TYPES, Claim, JacobianMoments, Measurement, schema
from memspan.results.encoding import dumps, from_plain, read_object, to_plain

KINDS = [kind for kinds in RESULT_TYPES.values() for kind in kinds]
DATACLASSES = [kind for kind in vars(results).values() if isinstance(kind, type) and dataclasses.is_dataclass(kind)]
SIZE = 3
FIXED: dict[str, Any] = {
    "style": "dashed",
    "x_scale": "log",
    "y_scale": "linear",
    "value_scale": "log",
    "verdict": "alike",
    "timescale_kind": "finite",
    "phase": "ordered",
    "period": 8,
    "seconds": 1.5,
    "frequencies": (1, 4),
    "columns": ("a", "b"),
    "shown": SIZE,
    "alphabet": ("a", "b", "c"),
}
"""Values of fields that the types validate."""
SQUARES = ("values", "edge", "replicates", "W_h", "W_x", "W_y", "weights", "attention", "held")
SHAPES = {**dict.fromkeys(SQUARES, (SIZE, SIZE)), "quantiles": (SIZE, 5), "points": (SIZE, 2)}


def example(hint: Any, random: np.random.Generator, name: str = "", owner: type | None = None) -> Any:
    """A random value of a type; floats are sometimes not finite, optional values sometimes None."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if name in FIXED and hint in (str, int, float, tuple[int, ...], tuple[str, ...]):
        return FIXED[name] if name != "alphabet" or hint is not int else SIZE
    if origin in (typing.Union, types.UnionType):
        present = [argument for argument in arguments if argument is not type(None)]
        return None if random.random() < 0.3 else example(present[0], random, name)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        hints = typing.get_type_hints(hint)
        return hint(**{f.name: example(hints[f.name], random, f.name, hint) for f in dataclasses.fields(hint)})
    if origin is np.ndarray:
        dtype = typing.get_args(arguments[1])[0]
        shape = SHAPES.get(name, (SIZE,))
        if issubclass(dtype, np.complexfloating):
            return random.normal(size=shape) + 1j * random.normal(size=shape)
        if issubclass(dtype, np.floating):
            values = random.normal(size=shape)
            if owner is not results.LinearNetwork:
                values.flat[0] = np.nan
            return values
        return random.integers(0, 2, shape).astype(dtype)
    if origin is tuple:
        several = [arguments[0]] * 2 if arguments[-1] is Ellipsis else arguments
        return tuple(example(argument, random) for argument in several)
    if origin is dict:
        return {key: example(arguments[1], random) for key in ("power", "exponential")}
    plain = {
        bool: bool(random.random() < 0.5),
        int: int(random.integers(1, 9)),
        float: float(random.normal()) if random.random() < 0.8 else np.nan,
        str: f"text {random.integers(100)} ü",
        Any: {"nested": [1, None, "x"]},
    }
    return plain[hint]


def errors(rules: dict[str, Any], value: Any, root: dict[str, Any], place: str = "$") -> list[str]:
    """Violations of the part of JSON Schema that memspan's schemas use."""
    if "$ref" in rules:
        return errors(root["$defs"][rules["$ref"].removeprefix("#/$defs/")], value, root, place)
    if "anyOf" in rules:
        found = [errors(part, value, root, place) for part in rules["anyOf"]]
        return [] if any(not part for part in found) else found[0]
    checks = {
        "object": isinstance(value, dict),
        "array": isinstance(value, list),
        "string": isinstance(value, str),
        "boolean": isinstance(value, bool),
        "null": value is None,
        "integer": isinstance(value, int) and not isinstance(value, bool),
        "number": isinstance(value, int | float) and not isinstance(value, bool),
    }
    allowed = rules.get("type", list(checks))
    if not any(checks[name] for name in ([allowed] if isinstance(allowed, str) else allowed)):
        return [f"{place} is {value!r}, expected {allowed}"]
    wrong: list[str] = []
    if isinstance(value, dict):
        wrong += [f"{place}.{name} is missing" for name in rules.get("required", ()) if name not in value]
        for name, item in value.items():
            rule = rules.get("properties", {}).get(name, rules.get("additionalProperties", {}))
            wrong += errors(rule, item, root, f"{place}.{name}")
    if isinstance(value, list):
        if not rules.get("minItems", 0) <= len(value) <= rules.get("maxItems", len(value)):
            wrong.append(f"{place} has {len(value)} items")
        each = rules.get("prefixItems", [rules.get("items", {})] * len(value))
        for number, (rule, item) in enumerate(zip(each, value, strict=False)):
            wrong += errors(rule, item, root, f"{place}[{number}]")
    return wrong


def violations(kind: type, plain: Any) -> list[str]:
    rules = schema(kind)
    return errors(rules, plain, rules)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_result_satisfies_its_schema_and_survives_json(kind: type, seed: int) -> None:
    result = example(kind, np.random.default_rng(seed))
    plain = json.loads(dumps(result.to_json()))
    assert violations(kind, plain) == []
    again = kind.from_json(plain)  # type: ignore[attr-defined]
    assert dumps(again.to_json()) == dumps(result.to_json())
    assert dumps(to_plain(again)) == dumps(to_plain(result))


@pytest.mark.parametrize("kind", DATACLASSES, ids=lambda kind: kind.__name__)
def test_every_type_of_the_package_has_a_schema_that_its_fields_satisfy(kind: type) -> None:
    result = example(kind, np.random.default_rng(9))
    plain = json.loads(dumps(to_plain(result)))
    if kind not in (Measurement, results.Comparison):  # their JSON is flat, see the test above
        assert violations(kind, plain) == []
        assert dumps(to_plain(from_plain(kind, plain))) == dumps(plain)
    json.dumps(schema(kind), allow_nan=False)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_results_of_earlier_versions_satisfy_the_schema(kind: type) -> None:
    """Earlier versions did not write the fields that now have a default."""
    plain = example(kind, np.random.default_rng(1)).to_json()
    required = schema(kind)["required"]
    earlier = {name: value for name, value in plain.items() if name in required}
    assert violations(kind, earlier) == []
    assert kind.from_json(earlier) is not None  # type: ignore[attr-defined]


def test_what_is_not_a_result_violates_the_schema() -> None:
    plain = to_plain(Claim("it holds", 1.0, None, 1.02, 0.1, True))
    assert violations(Claim, plain) == []
    assert violations(Claim, {**plain, "holds": "yes"}) == ["$.holds is 'yes', expected boolean"]
    assert violations(Claim, {**plain, "paper": [1.0]}) == ["$.paper is [1.0], expected ['number', 'null']"]
    del plain["claim"]
    assert violations(Claim, plain) == ["$.claim is missing"]


def test_schemas_are_plain_json_schema() -> None:
    assert schema(JacobianMoments) == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "JacobianMoments",
        "type": "object",
        "properties": {
            "steps": {"type": "integer"},
            "weights": {"type": "string"},
            "mean": {"type": ["number", "null"]},
            "variance": {"type": ["number", "null"]},
        },
        "required": ["steps", "weights", "mean", "variance"],
    }


HEAD = ("schema", "command", "version")


def holds(new: Any, old: Any) -> bool:
    """Whether everything that an earlier version wrote is still there, to the last digit."""
    if isinstance(old, dict):
        return all(name in new and holds(new[name], value) for name, value in old.items())
    if isinstance(old, list):
        return len(new) == len(old) and all(map(holds, new, old))
    return new == old


STORED = sorted((Path(__file__).parents[2] / "docs" / "results").glob("*/result.json"))


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.parent.name)
def test_stored_results_satisfy_their_schema_and_are_read(path: Path) -> None:
    plain = read_object(path)
    found = [kind for kind in RESULT_TYPES[plain["command"]] if violations(kind, plain) == []]
    assert found
    again = {**found[0].from_json(plain).to_json(), **{name: plain[name] for name in HEAD}}  # type: ignore[attr-defined]
    assert holds(again, plain)


def test_importing_memspan_loads_neither_results_nor_pydantic() -> None:
    code = "import sys, memspan; sys.exit('pydantic' in sys.modules or 'memspan.results' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
