"""`Sequence` and the stores below it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspan.errors import InputError
from memspan.sequences import Disk, Memory, Sequence

documents_of_text = st.lists(st.text("abcñ☃", max_size=12), min_size=1, max_size=6).filter("".join)


def labels(sequence: Sequence) -> list[list[object]]:
    return [[sequence.alphabet[symbol] for symbol in document] for document in sequence.documents()]


@given(documents_of_text)
def test_documents_come_back_as_they_went_in_without_the_empty_ones(documents: list[str]) -> None:
    sequence = Sequence.from_documents(documents)
    assert labels(sequence) == [list(document) for document in documents if document]
    assert sequence.alphabet == tuple(sorted(set("".join(documents))))
    assert sequence.length == len("".join(documents))
    assert sequence.longest == max(map(len, documents))


@pytest.mark.parametrize(
    ("documents", "alphabet"),
    [
        ("banana", ("a", "b", "n")),
        (b"ba", (97, 98)),
        ([b"ba", b"a"], (97, 98)),
        ([["to", "be"], ["to"]], ("be", "to")),
        ([(1, 2), [2, 1]], (1, 2)),
        ([[(60, 64), (60, 67)]], ((60, 64), (60, 67))),
        ([np.array([5, -3]), np.array([5], np.uint8)], (-3, 5)),
        (["ab", ["a", "c"]], ("a", "b", "c")),
        ([["x", 1]], ("x", 1)),
        (iter([range(3)]), (0, 1, 2)),
    ],
)
def test_a_document_may_be_text_bytes_integers_or_anything_hashable(documents, alphabet) -> None:
    assert Sequence.from_documents(documents).alphabet == alphabet


def test_a_slice_of_an_integer_array_is_not_taken_for_text() -> None:
    tokens = np.array([97, 98, 99, 100], np.uint32)
    assert Sequence.from_documents([tokens[1:3]]).alphabet == (98, 99)


def test_numbers_are_as_narrow_as_the_alphabet_allows() -> None:
    assert next(Sequence.from_documents([np.arange(256)]).documents()).dtype == np.uint8
    assert next(Sequence.from_documents([np.arange(257)]).documents()).dtype == np.uint16


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ([], "no symbols"),
        (["", []], "no symbols"),
        ([np.array([0.5, 1.5])], "expected one dimension of integers"),
        ([np.zeros((2, 2), int)], "2 dimensions"),
        ([[[1], [2]]], "not hashable"),
    ],
)
def test_invalid_documents_are_refused(documents, message) -> None:
    with pytest.raises(InputError, match=message):
        Sequence.from_documents(documents)


@given(documents_of_text, st.integers(1, 8), st.integers(0, 8))
def test_chunks_cover_each_document_once_and_never_cross_its_end(documents: list[str], size: int, overlap: int) -> None:
    sequence = Sequence.from_documents(documents)
    expected = [
        document[begin : begin + size + overlap] for document in documents for begin in range(0, len(document), size)
    ]
    chunks = ["".join(str(sequence.alphabet[s]) for s in chunk) for chunk in sequence.chunks(size, overlap)]
    assert chunks == expected


def test_a_part_keeps_the_alphabet_and_the_document_ends_inside_it() -> None:
    part = Sequence.from_documents(["abc", "de", "fgh"]).part(2, 6)
    assert labels(part) == [["c"], ["d", "e"], ["f"]]
    assert part.alphabet == tuple("abcdefgh")
    assert part.offsets.tolist() == [0, 1, 3, 4]


def test_fingerprints_distinguish_symbols_document_ends_and_alphabets() -> None:
    variants = [["abab"], ["ab", "ab"], ["abba"], ["acac"], [[0, 1, 0, 1]]]
    prints = [Sequence.from_documents(variant).fingerprint() for variant in variants]
    assert len(set(prints)) == len(variants)
    assert Sequence.from_documents(["abab"]).fingerprint() == prints[0]


def test_a_sequence_on_disk_is_the_one_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "codes"
    path.write_bytes(b"banana")
    recode = np.zeros(256, np.uint8)
    recode[list(b"abn")] = [0, 1, 2]
    disk = Disk(path, np.dtype("<u1"), 6, recode)
    memory = Memory(np.array([1, 0, 2, 0, 2, 0], np.uint8))
    assert disk.read(1, 5).tolist() == memory.read(1, 5).tolist() == [0, 2, 0, 2]
    offsets = np.array([0, 2, 6])
    one, other = (Sequence(store, offsets, ("a", "b", "n")) for store in (disk, memory))
    assert one.fingerprint() == other.fingerprint()
    assert labels(one) == labels(other) == [list("ba"), list("nana")]


def test_wide_symbols_on_disk_are_little_endian(tmp_path: Path) -> None:
    path = tmp_path / "codes"
    path.write_bytes(bytes([1, 0, 0, 1]))
    assert Disk(path, np.dtype("<u2"), 2).read(0, 2).tolist() == [1, 256]


def test_a_file_that_changes_under_a_store_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "codes"
    path.write_bytes(b"abc")
    store = Disk(path, np.dtype("<u1"), 4)
    with pytest.raises(InputError, match="became shorter"):
        store.read(0, 4)
    with pytest.raises(InputError, match="No such file"):
        Disk(tmp_path / "absent", np.dtype("<u1"), 4).read(0, 1)
