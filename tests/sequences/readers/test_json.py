"""Documents in JSON: lists of lists, or one key of an object."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspan.errors import InputError
from memspan.sequences import Sequence, read
from memspan.sequences.readers.inputs import Input, Request
from memspan.sequences.readers.json import read_json

symbols = st.text("aé", max_size=2)
documents_of_symbols = st.lists(st.lists(symbols, max_size=5), max_size=5).filter(
    lambda documents: len({symbol for document in documents for symbol in document}) > 1
)


def labels(sequence: Sequence) -> list[list[object]]:
    return [[sequence.alphabet[symbol] for symbol in document] for document in sequence.documents()]


def file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "x.json"
    path.write_text(text, encoding="utf-8")
    return path


@given(documents_of_symbols, st.booleans(), st.integers(1, 30))
def test_documents_are_the_inner_lists(documents: list[list[str]], escaped: bool, piece: int) -> None:
    data = json.dumps(documents, ensure_ascii=escaped).encode()
    request = Request(names=("x",), inputs=(Input("x", lambda: io.BytesIO(data)),), piece=piece)
    assert labels(read_json(request)) == [document for document in documents if document]


def test_a_list_within_a_document_is_one_symbol(tmp_path: Path) -> None:
    sequence = read(file(tmp_path, '{"train": [[[60, 64], [60, [67]]], [[60, 64]]], "test": []}'), key="train")
    assert labels(sequence) == [[(60, 64), (60, (67,))], [(60, 64)]]
    assert sequence.symbols == "json"


def test_symbols_of_different_kinds_stay_in_order_of_appearance(tmp_path: Path) -> None:
    assert read(file(tmp_path, '[["b", null, 1]]')).alphabet == ("b", None, 1)


LISTS = "expected a list of documents, each a list of symbols"
EXAMPLE = ", such as [[1, 2, 1], [2, 1]]"


@pytest.mark.parametrize(
    ("text", "key", "message"),
    [
        ('{"a": [[1, 2]], "b": []}', None, "PATH is an object with the keys a, b; choose one with --key"),
        ('{"a": [[1, 2]]}', "b", "PATH has no key 'b'; its keys are a; choose one with --key"),
        ("{}", None, "PATH is an object with the keys none; choose one with --key"),
        ("[[1, 2]]", "a", "PATH is a list without keys; leave --key out"),
        ("3", None, f"PATH holds a number; {LISTS}"),
        ('{"a": "text"}', "a", f"PATH holds a string; {LISTS}"),
        ("[[1, 2], 3]", None, f"document 1 of PATH is a number; {LISTS}{EXAMPLE}"),
        ('["ab", "c"]', None, f"document 0 of PATH is a string; {LISTS}{EXAMPLE}"),
        ("[null]", None, f"document 0 of PATH is null; {LISTS}{EXAMPLE}"),
        ('[[1, {"a": 2}]]', None, "a symbol of PATH is an object; expected a number, a string or a list of them"),
        ("", None, "PATH is empty (0 symbols); expected a list of documents"),
        ("[]", None, "PATH is empty (0 symbols); give data with at least two kinds of symbols"),
    ],
)
def test_json_that_is_not_as_expected_is_refused(tmp_path: Path, text: str, key: str | None, message: str) -> None:
    path = file(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read(path, key=key)
    assert str(caught.value) == message.replace("PATH", str(path))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[[1, 2]", "Expecting ',' delimiter: line 1 column 8"),
        ("[[1, NaN]]", "NaN is not a symbol"),
        ("[" * 200_000, "recursion"),
    ],
)
def test_invalid_json_is_refused_with_its_position(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(InputError, match=rf"is not valid JSON \(.*{reason}.*\); .*--as chars$"):
        read(file(tmp_path, text))
