"""FASTA: records are documents, other letters break them, pieces of any size."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspan.errors import InputError
from memspan.sequences import Sequence, read
from memspan.sequences.readers.fasta import read_dna
from memspan.sequences.readers.inputs import Input, Request

lines = st.text("ACGTacgtNn- ", max_size=8) | st.text("ACGT>; x", max_size=6).map(lambda text: ">" + text)
files = st.lists(lines, max_size=10)


def labels(sequence: Sequence) -> list[str]:
    return ["".join(str(sequence.alphabet[s]) for s in document) for document in sequence.documents()]


def plainly(given_lines: list[str]) -> list[str]:
    records = [""]
    for line in given_lines:
        if line.startswith((">", ";")):
            records.append("")
        else:
            records[-1] += line.replace(" ", "").upper()
    return [part for record in records for part in re.split("[^ACGT]+", record) if part]


@given(files, st.sampled_from(["\n", "\r\n", "\r"]), st.integers(1, 12), st.booleans())
def test_documents_are_the_runs_of_bases_of_each_record(
    given_lines: list[str], line_end: str, piece: int, ended: bool
) -> None:
    data = (line_end.join(given_lines) + line_end * ended).encode()
    request = Request(names=("x",), inputs=(Input("x", lambda: io.BytesIO(data)),), piece=piece)
    expected = plainly(given_lines)
    if len(set("".join(expected))) > 1:
        assert labels(read_dna(request)) == expected
    else:
        with pytest.raises(InputError, match=r"only one symbol kind|is empty|no A, C, G or T"):
            read_dna(request)


def test_a_line_longer_than_a_piece_is_one_document(tmp_path: Path) -> None:
    path = tmp_path / "long.fa"
    path.write_text(">chromosome " + "x" * (1 << 20) + "\n" + "acgt" * (1 << 19))
    sequence = read(path)
    assert (sequence.n_documents, sequence.length, sequence.symbols) == (1, 1 << 21, "dna")


def test_letters_that_break_documents_are_noted(tmp_path: Path) -> None:
    path = tmp_path / "gaps.fasta"
    path.write_text(">one\nACGTNNNNACG\n>two\nGATTACA-CAT\n")
    sequence = read(path)
    assert labels(sequence) == ["ACGT", "ACG", "GATTACA", "CAT"]
    assert sequence.notes == ("letters other than A, C, G, T end a document: - N",)


def test_text_without_a_header_is_accepted_and_absent_bases_are_not_in_the_alphabet(tmp_path: Path) -> None:
    path = tmp_path / "plain.txt"
    path.write_text("acca\nca\n")
    sequence = read(path, symbols="dna")
    assert labels(sequence) == ["ACCACA"]
    assert sequence.alphabet == ("A", "C")


def test_each_file_is_read_from_its_first_line_on(tmp_path: Path) -> None:
    for name in ("a.fa", "b.fa"):
        (tmp_path / name).write_text(f">{name}\nACGT")
    assert labels(read([tmp_path / "a.fa", tmp_path / "b.fa"])) == ["ACGT", "ACGT"]


def test_a_file_that_is_no_dna_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "protein.fa"
    path.write_text(">protein\nMKLVWWW\n")
    with pytest.raises(InputError, match=r"no A, C, G or T in .*protein.fa; give a FASTA file of DNA"):
        read(path)


def test_large_dna_goes_to_a_temporary_file(tmp_path: Path) -> None:
    path = tmp_path / "x.fa"
    path.write_text(">x\n" + "GATTACA\n" * 50)
    assert read(path, memory_limit=10).fingerprint() == read(path).fingerprint()
