"""Which reader is used, which options go with it, and how far along it says it is."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import final

import numpy as np
import pytest

from memspan.errors import InputError
from memspan.progress import Progress, Stage
from memspan.sequences import SYMBOLS, TRANSFORMS, Sequence, read
from memspan.sequences.encoding import TableEncoder
from memspan.sequences.formats import FORMATS, Format, formats_help, unit_name
from memspan.sequences.readers.inputs import Request
from memspan.sequences.readers.text import decoded


@pytest.mark.parametrize(
    ("name", "data", "symbols"),
    [
        ("x.txt", b"hello", "chars"),
        ("x", b"hello", "chars"),
        ("x.jsonl", b"hello", "chars"),
        ("x.FA", b">x\nACGT", "dna"),
        ("x.fna", b">x\nACGT", "dna"),
        ("x.fasta", b">x\nACGT", "dna"),
        ("x.csv", b"a\n1\n2\n", "numbers"),
        ("x.tsv", b"a\tb\n1\t2\n2\t3\n", "numbers"),
        ("x.bin", b"abcd", "tokens"),
        ("x.json", b"[[1, 2]]", "json"),
    ],
)
def test_the_ending_says_how_a_file_is_read(tmp_path: Path, name: str, data: bytes, symbols: str) -> None:
    (tmp_path / name).write_bytes(data)
    assert read(tmp_path / name).symbols == symbols


def test_the_ending_of_a_numpy_file_says_tokens(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", [1, 2])
    assert read(tmp_path / "x.npy").symbols == "tokens"


def test_the_option_wins_over_the_extension(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n")
    assert {word: read(path, symbols=word).symbols for word in ("chars", "bytes", "words", "lines")} == {
        "chars": "chars",
        "bytes": "bytes",
        "words": "words",
        "lines": "lines",
    }


def test_the_words_stay() -> None:
    assert SYMBOLS == ("chars", "bytes", "words", "lines", "dna", "numbers", "tokens", "json", "bpe")
    assert TRANSFORMS == ("none", "difference", "log-return", "abs-log-return")


def test_files_of_different_formats_need_one_format_for_all(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello")
    (tmp_path / "b.csv").write_text("x\n1\n2\n")
    message = r"have different formats \(.*a.txt as chars, .*b.csv as numbers\); choose one for all of them with --as"
    with pytest.raises(InputError, match=message):
        read(tmp_path)
    assert read(tmp_path, symbols="chars").n_documents == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"symbols": "letters"}, "unknown symbols 'letters'; use --as chars, bytes, words, lines, dna, numbers, "),
        ({"symbols": "chars:utf8"}, "unknown symbols 'chars:utf8'; use --as chars"),
        ({"symbols": "letters"}, "tokens, json, bpe:FILE"),
        ({"symbols": "bpe"}, "--as bpe lacks its FILE; use --as bpe:FILE"),
        ({"symbols": "bpe:"}, "--as bpe lacks its FILE"),
        ({"symbols": "tokens:int8"}, "unknown type 'int8' of tokens; use --as tokens:uint16 or --as tokens:uint32"),
        ({"documents": ""}, "the document separator is empty; use --documents file, line, blank or some text"),
        ({"symbols": "lines", "documents": "line"}, "--documents 'line' does not apply to --as lines; use file or"),
        ({"symbols": "lines", "documents": "--"}, "--documents '--' does not apply to --as lines; use file or blank"),
        ({"symbols": "dna", "documents": "line"}, "--documents is for text; as dna, a record is a document; leave"),
        ({"symbols": "dna", "documents": "file"}, "--documents is for text; as dna, a record is a document"),
        ({"symbols": "numbers", "documents": "blank"}, "--documents is for text; as numbers, a file is a document"),
        ({"symbols": "tokens", "documents": "line"}, "as tokens, a file or a row of an array is a document"),
        ({"symbols": "json", "documents": "line"}, "as json, an inner list is a document"),
        ({"column": "x"}, "--column is for numbers, the input is read as chars; use --as numbers or leave it out"),
        ({"transform": "difference"}, "--transform is for numbers, the input is read as chars"),
        ({"key": "train"}, "--key is for json, the input is read as chars; use --as json or leave it out"),
    ],
)
def test_options_that_do_not_go_together_are_refused(tmp_path: Path, options, message: str) -> None:
    path = tmp_path / "x.txt"
    path.write_text("hello")
    with pytest.raises(InputError) as caught:
        read(path, **options)
    assert str(caught.value).startswith(message) or message in str(caught.value)


def test_a_table_accepts_that_a_file_is_a_document(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("x\n1\n2\n")
    assert read(path, documents="file").n_documents == 1


@final
class Recorded(Progress, Stage):
    """Records its one stage."""

    def __init__(self) -> None:
        self.total = self.done = 0.0
        self.closed = False

    def stage(self, name: str, total: float, done: float = 0.0) -> Stage:
        assert name == "reading"
        self.total = total
        return self

    def say(self, remark: str) -> None:
        raise AssertionError(remark)

    def advance(self, amount: float = 1.0) -> None:
        self.done += amount

    def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize("symbols", ["chars", "bytes", "words", "lines", "dna", "json", "tokens", "numbers"])
@pytest.mark.parametrize("packed", [False, True])
def test_progress_counts_the_bytes_of_all_files(tmp_path: Path, symbols: str, packed: bool) -> None:
    data = {"json": b"[[1, 2]]", "numbers": b"x\n1\n2\n"}.get(symbols, b"ACGTACGT\nACGA ACGC\nxyz")
    for name in ("a", "b"):
        path = tmp_path / (name + ".gz" if packed else name)
        path.write_bytes(gzip.compress(data) if packed else data)
    progress = Recorded()
    read(tmp_path, symbols=symbols, progress=progress)
    assert progress.total == progress.done == sum(path.stat().st_size for path in tmp_path.iterdir())
    assert progress.closed


def test_a_data_set_that_is_not_known_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="nothing-of-this-name"):
        read("data:nothing-of-this-name")


def read_capitals(request: Request) -> Sequence:
    """A reader as an extension would define it: upper and lower case."""
    encoder, builder = TableEncoder(2), request.builder()
    for item in request.inputs:
        for text in decoded(request, item):
            builder.append(encoder.codes(np.array([letter.isupper() for letter in text], np.uint8)))
        builder.end_document()
    return builder.finish([*encoder.values], symbols="capitals", names=request.names)


def test_a_format_is_one_reader_and_one_declaration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = Format(
        name="capitals",
        symbol="the case of a letter",
        unit="case",
        module="capitals",
        extensions=(".caps",),
        document="a file",
        documents=(),
        options=("case",),
    )
    module = SimpleNamespace(read_capitals=read_capitals)
    monkeypatch.setitem(sys.modules, "memspan.sequences.readers.capitals", module)
    monkeypatch.setitem(FORMATS, "capitals", entry)
    (tmp_path / "x.caps").write_text("aB")
    assert read(tmp_path / "x.caps").symbols == "capitals"
    assert "capitals (the case of a letter)" in formats_help()
    assert ".caps capitals" in formats_help()
    assert unit_name("capitals") == "cases"
    with pytest.raises(InputError, match=r"use --as chars, .*, bpe:FILE, capitals"):
        read(tmp_path / "x.caps", symbols="letters")
    with pytest.raises(InputError, match="as capitals, a file is a document; leave it out"):
        read(tmp_path / "x.caps", documents="line")


def test_every_format_has_a_reader() -> None:
    assert all(callable(entry.reader()) for entry in FORMATS.values())
