"""Characters, bytes, words and lines agree with their plain definitions, in pieces of any size."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspan.errors import InputError
from memspan.sequences import Disk, Sequence, read
from memspan.sequences.builder import MEMORY_LIMIT
from memspan.sequences.readers.inputs import Input, Request
from memspan.sequences.readers.text import read_bytes, read_chars, read_lines, read_words

texts = st.text(st.sampled_from("ab \t\r\n\n\x0b\x1c\u2028ñ☃😀-"), max_size=40)
pieces = st.integers(1, 9)
separators = st.sampled_from(["-", "--", "a-a", "\n\n", "😀", "a ", "ab"])
limits = st.sampled_from([0, 20, MEMORY_LIMIT])
Documents = list[list[object]]


def labels(sequence: Sequence) -> Documents:
    return [[sequence.alphabet[symbol] for symbol in document] for document in sequence.documents()]


def outcome(
    reader: Callable[[Request], Sequence], data: bytes, piece: int, documents: str = "file", limit: int = MEMORY_LIMIT
) -> Documents | str:
    """The documents, or how the reader refuses what cannot be measured."""
    inputs = (Input("x", lambda: io.BytesIO(data), len(data)),)
    request = Request(names=("x",), inputs=inputs, documents=documents, piece=piece, memory_limit=limit)
    try:
        return labels(reader(request))
    except InputError as error:
        return str(error)[:8]


def expected(documents: Documents) -> Documents | str:
    kinds = len({symbol for document in documents for symbol in document})
    return ["x is emp", "only one"][kinds] if kinds < 2 else [document for document in documents if document]


def split_lines(text: str) -> list[str]:
    """As Python reads text files."""
    return io.TextIOWrapper(io.BytesIO(text.encode()), "utf-8", newline=None).read().split("\n")


def paragraphs(text: str, is_blank: Callable[[str], bool]) -> list[str]:
    found, current = [], ""
    for line in re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z", text):
        if not is_blank(line):
            current += line
        else:
            found.append(current)
            current = ""
    return [re.sub(r"(?:\r\n|\r|\n)\Z", "", part) for part in [*found, current]]


@given(texts, pieces, limits)
def test_characters_are_those_of_the_file(text: str, piece: int, limit: int) -> None:
    assert outcome(read_chars, text.encode(), piece, limit=limit) == expected([list(text)])


@given(st.binary(max_size=40), pieces, limits)
def test_bytes_are_those_of_the_file(data: bytes, piece: int, limit: int) -> None:
    assert outcome(read_bytes, data, piece, limit=limit) == expected([list(data)])


@given(texts, pieces, limits)
def test_words_are_what_str_split_finds(text: str, piece: int, limit: int) -> None:
    assert outcome(read_words, text.encode(), piece, limit=limit) == expected([[*text.split()]])


@given(texts, pieces, limits)
def test_lines_are_what_python_reads_from_a_file(text: str, piece: int, limit: int) -> None:
    lines = split_lines(text)
    assert outcome(read_lines, text.encode(), piece, limit=limit) == expected([[*(lines if lines[-1] else lines[:-1])]])


@given(texts, pieces)
def test_with_documents_line_every_line_is_a_document_without_its_end(text: str, piece: int) -> None:
    lines = split_lines(text)
    data = text.encode()
    assert outcome(read_chars, data, piece, "line") == expected([list(line) for line in lines])
    assert outcome(read_words, data, piece, "line") == expected([[*line.split()] for line in lines])
    assert outcome(read_bytes, data, piece, "line") == expected([list(line.encode()) for line in lines])


@given(texts, pieces, separators)
def test_with_a_separator_documents_are_what_str_split_finds(text: str, piece: int, separator: str) -> None:
    parts, data = text.split(separator), text.encode()
    assert outcome(read_chars, data, piece, separator) == expected([list(part) for part in parts])
    assert outcome(read_words, data, piece, separator) == expected([[*part.split()] for part in parts])
    raw_parts = data.split(separator.encode())
    assert outcome(read_bytes, data, piece, separator) == expected([list(part) for part in raw_parts])


@given(texts, pieces)
def test_with_documents_blank_paragraphs_are_documents(text: str, piece: int) -> None:
    parts = paragraphs(text, lambda line: not line.strip())
    data = text.encode()
    assert outcome(read_chars, data, piece, "blank") == expected([list(part) for part in parts])
    assert outcome(read_words, data, piece, "blank") == expected([[*part.split()] for part in parts])
    full: Documents = [[*split_lines(part)] for part in parts if part]
    assert outcome(read_lines, data, piece, "blank") == expected(full)
    raw_parts = paragraphs(data.decode("latin-1"), lambda line: not line.encode("latin-1").strip())
    assert outcome(read_bytes, data, piece, "blank") == expected([list(p.encode("latin-1")) for p in raw_parts])


def test_line_ends_are_not_translated(tmp_path: Path) -> None:
    path = tmp_path / "dos.txt"
    path.write_bytes(b"a\r\nb\n")
    assert labels(read(path)) == [["a", "\r", "\n", "b", "\n"]]


@given(texts, st.integers(0, 40), st.sampled_from([b"\xff", b"\x80", b"\xc3\x28", b"\xed\xa0\x80"]), pieces)
def test_a_byte_that_is_not_utf8_is_reported_with_its_offset(text: str, at: int, bad: bytes, piece: int) -> None:
    head, tail = text[:at].encode(), text[at:].encode()
    inputs = (Input("x", lambda: io.BytesIO(head + bad + tail)),)
    request = Request(names=("x",), inputs=inputs, piece=piece)
    message = rf"x is not UTF-8 text: byte {bad[0]:#04x} at offset {len(head)} .*use --as bytes$"
    with pytest.raises(InputError, match=message):
        read_chars(request)


def test_a_character_cut_off_at_the_end_of_the_file_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "cut.txt"
    path.write_bytes("añ".encode()[:-1])
    with pytest.raises(InputError, match=r"byte 0xc3 at offset 1 \(unexpected end of data\)"):
        read(path)


def test_a_large_local_file_of_bytes_is_used_in_place(tmp_path: Path) -> None:
    path = tmp_path / "data.raw"
    path.write_bytes(b"hello world" * 10)
    sequence = read(path, symbols="bytes", memory_limit=100)
    assert isinstance(sequence.store, Disk)
    assert sequence.store.path == path
    assert sequence.fingerprint() == read(path, symbols="bytes").fingerprint()
    assert sequence.alphabet == tuple(sorted(set(b"hello world")))


def test_a_file_with_every_byte_needs_no_table(tmp_path: Path) -> None:
    path = tmp_path / "data.raw"
    path.write_bytes(bytes(range(255, -1, -1)))
    sequence = read(path, symbols="bytes", memory_limit=0)
    assert isinstance(sequence.store, Disk)
    assert sequence.store.recode is None
    assert labels(sequence) == [list(range(255, -1, -1))]


def test_a_large_file_of_one_byte_kind_is_refused_like_a_small_one(tmp_path: Path) -> None:
    path = tmp_path / "data.raw"
    path.write_bytes(b"aaa")
    with pytest.raises(InputError, match=r"only one symbol kind in .*data.raw \(97, 3 times\)"):
        read(path, symbols="bytes", memory_limit=0)


def test_files_are_documents_and_words_do_not_run_from_one_into_the_next(tmp_path: Path) -> None:
    one, other = tmp_path / "one.txt", tmp_path / "two.txt"
    one.write_text("to be")
    other.write_text("or not")
    assert labels(read([one, other], symbols="words")) == [["to", "be"], ["or", "not"]]
    assert labels(read([one, other], symbols="lines")) == [["to be"], ["or not"]]
    assert labels(read([one, other])) == [list("to be"), list("or not")]
