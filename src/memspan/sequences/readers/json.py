"""Documents in JSON: a list of lists whose items are symbols."""

from __future__ import annotations

import json
from collections.abc import Hashable
from typing import Any

import numpy as np

from memspan.errors import InputError
from memspan.sequences.encoding import LabelEncoder
from memspan.sequences.readers.inputs import Input, Request, one_line
from memspan.sequences.readers.text import decoded
from memspan.sequences.sequence import Sequence


def read_json(request: Request) -> Sequence:
    """Each inner list of the list (or of the object's `--key`) is a document; a list inside it is one symbol."""
    encoder, builder = LabelEncoder(), request.builder()
    for item in request.inputs:
        documents = _documents(request, item)
        symbols = [_symbol(symbol, item.name) for document in documents for symbol in document]
        builder.append(encoder.codes(symbols), np.cumsum([len(document) for document in documents]))
    return builder.finish(encoder.values, symbols="json", names=request.names)


def _documents(request: Request, item: Input) -> list[list[Any]]:
    value = _parsed(request, item)
    if isinstance(value, dict):
        value = _at_key(value, request.key, item.name)
    elif request.key is not None:
        raise InputError(f"{item.name} is {_kind(value)} without keys; leave --key out")
    if not isinstance(value, list):
        raise InputError(f"{item.name} holds {_kind(value)}; expected a list of documents, each a list of symbols")
    for number, document in enumerate(value):
        if not isinstance(document, list):
            raise InputError(
                f"document {number} of {item.name} is {_kind(document)}; "
                "expected a list of documents, each a list of symbols, such as [[1, 2, 1], [2, 1]]"
            )
    return value


def _parsed(request: Request, item: Input) -> Any:
    text = "".join(decoded(request, item))
    if not text.strip():
        raise InputError(f"{item.name} is empty (0 symbols); expected a list of documents")
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{item.name} is not valid JSON ({one_line(error)}); correct it, or use --as chars") from error


def _refuse_constant(word: str) -> None:
    # NaN differs from itself, so it cannot be a symbol.
    raise ValueError(f"{word} is not a symbol")


def _at_key(value: dict[str, Any], key: str | None, name: str) -> Any:
    keys = ", ".join(value) or "none"
    if key is None:
        raise InputError(f"{name} is an object with the keys {keys}; choose one with --key")
    if key not in value:
        raise InputError(f"{name} has no key {key!r}; its keys are {keys}; choose one with --key")
    return value[key]


def _symbol(value: Any, name: str) -> Hashable:
    if isinstance(value, list):
        # Tuples are hashable, lists are not.
        return tuple(_symbol(part, name) for part in value)
    if isinstance(value, dict):
        raise InputError(f"a symbol of {name} is an object; expected a number, a string or a list of them")
    return value


def _kind(value: Any) -> str:
    """The kind of a JSON value, for a message.

    >>> _kind(3.5), _kind(None)
    ('a number', 'null')
    """
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    kinds = {dict: "an object", list: "a list", str: "a string"}
    return kinds.get(type(value), "a number")
