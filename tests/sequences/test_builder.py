"""`Builder`: in memory and spilled, narrow and wide, it gives the same sequence."""

from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspan.errors import InputError
from memspan.sequences import Disk, Memory, Sequence
from memspan.sequences.builder import Builder
from memspan.sequences.encoding import LabelEncoder, TableEncoder

UNLIMITED = 1 << 30
documents_of_numbers = st.lists(
    st.lists(st.integers(0, 70_000) | st.integers(0, 3), max_size=8), min_size=1, max_size=8
).filter(lambda documents: len({number for document in documents for number in document}) > 1)


def built(documents: list[list[int]], coder: TableEncoder | LabelEncoder, limit: int, expected: int = 0) -> Sequence:
    builder = Builder(limit, expected)
    for document in documents:
        if isinstance(coder, TableEncoder):
            builder.append(coder.codes(np.array(document, np.int64)))
        else:
            builder.append(coder.codes(document))
        builder.end_document()
    return builder.finish([*coder.values], symbols="numbers", names=("x",))


@given(documents_of_numbers, st.sampled_from([0, 4, 16, UNLIMITED]))
def test_the_sequence_is_that_of_the_documents_in_memory_and_on_disk(documents: list[list[int]], limit: int) -> None:
    expected = Sequence.from_documents(documents).fingerprint()
    assert built(documents, TableEncoder(70_001), limit).fingerprint() == expected
    assert built(documents, LabelEncoder(), limit).fingerprint() == expected


def test_codes_widen_when_there_are_more_kinds_in_memory_and_on_disk() -> None:
    documents = [list(range(200)), list(range(300)), [0, 299], list(range(70_000))]
    expected = Sequence.from_documents(documents).fingerprint()
    for limit, store in [(UNLIMITED, Memory), (10, Disk), (500, Disk)]:
        sequence = built(documents, TableEncoder(70_000), limit)
        assert isinstance(sequence.store, store)
        assert sequence.fingerprint() == expected


def test_document_ends_within_and_between_appends_count_and_empty_documents_are_dropped() -> None:
    builder = Builder()
    builder.append(np.array([0, 1, 0, 0], np.uint8), ends=[1, 1, 3])
    builder.append(np.array([], np.uint8), ends=[0])
    builder.append(np.array([1, 1], np.uint8))
    builder.end_document()
    builder.end_document()
    sequence = builder.finish(["a", "b"], symbols="chars", names=("x",))
    assert [document.tolist() for document in sequence.documents()] == [[0], [1, 0], [0], [1, 1]]


def test_what_is_known_to_be_large_never_fills_memory_first() -> None:
    assert isinstance(built([[1, 2]], LabelEncoder(), limit=10, expected=11).store, Disk)
    assert isinstance(built([[1, 2]], LabelEncoder(), limit=10, expected=10).store, Memory)


def test_the_temporary_file_lives_as_long_as_the_sequence() -> None:
    sequence = built([[1, 2, 1]], LabelEncoder(), limit=0)
    store = sequence.store
    assert isinstance(store, Disk)
    folder = store.path.parent
    assert store.path.stat().st_size == 3
    del sequence, store
    gc.collect()
    assert not folder.exists()


def test_labels_that_cannot_be_compared_stay_in_order_of_appearance() -> None:
    sequence = built([["b", 1, "a"]], LabelEncoder(), UNLIMITED)  # pyright: ignore[reportArgumentType]
    assert sequence.alphabet == ("b", 1, "a")
    assert next(sequence.documents()).tolist() == [0, 1, 2]


def test_a_full_disk_is_reported_with_advice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.mkdtemp", lambda prefix: str(tmp_path / "gone"))
    with pytest.raises(InputError, match=r"cannot write the temporary file .*No such file.*; set TMPDIR"):
        built([[1, 2]], LabelEncoder(), limit=0)


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ([[]], r"x is empty \(0 symbols\)"),
        ([[7, 7], [7]], r"only one symbol kind in x \(7, 3 times\), so its information is zero by definition; "),
    ],
)
def test_nothing_to_measure_is_refused(documents: list[list[int]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        built(documents, LabelEncoder(), UNLIMITED)
