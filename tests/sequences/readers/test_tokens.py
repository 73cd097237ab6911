"""Token arrays: .npy of one and two dimensions, raw .bin of 16 and 32 bits, never a pickle."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from memspan.errors import InputError
from memspan.sequences import Disk, Sequence, read
from memspan.sequences.readers.inputs import Input, Request
from memspan.sequences.readers.tokens import read_tokens

integers = st.sampled_from(["u1", "<u2", ">i4", "<i8", "u8"])
shapes = arrays.array_shapes(min_dims=1, max_dims=2, max_side=6)


def labels(sequence: Sequence) -> list[list[object]]:
    return [[sequence.alphabet[symbol] for symbol in document] for document in sequence.documents()]


def npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def request_for(data: bytes, name: str, piece: int, token_type: str | None = None) -> Request:
    inputs = (Input(name, lambda: io.BytesIO(data)),)
    return Request(names=(name,), inputs=inputs, piece=piece, argument=token_type)


@given(integers.flatmap(lambda dtype: arrays.arrays(dtype, shapes)), st.booleans(), st.integers(1, 50))
def test_a_numpy_array_is_documents_by_row(array: np.ndarray, by_columns: bool, piece: int) -> None:
    data = npy(np.asfortranarray(array) if by_columns else array)
    request = request_for(data, "x.npy", piece)
    if len(np.unique(array)) > 1:
        assert labels(read_tokens(request)) == [*np.atleast_2d(array).tolist()]
    else:
        with pytest.raises(InputError, match="only one symbol kind"):
            read_tokens(request)


@given(
    st.lists(st.integers(0, 65_535), min_size=2, max_size=30), st.sampled_from(["uint16", "uint32"]), st.integers(1, 9)
)
def test_a_raw_file_is_one_document(tokens: list[int], token_type: str, piece: int) -> None:
    tokens = [*tokens, (tokens[0] + 1) % 65_536]
    data = np.array(tokens, np.dtype(token_type).newbyteorder("<")).tobytes()
    assert labels(read_tokens(request_for(data, "x.bin", piece, token_type))) == [tokens]


def test_tokens_beyond_any_table_are_read_with_a_dictionary(tmp_path: Path) -> None:
    tokens = [5, 7, 5, 4_000_000_000, 7]
    path = tmp_path / "wide.bin"
    path.write_bytes(np.array(tokens, "<u4").tobytes())
    sequence = read(path, symbols="tokens:uint32")
    assert labels(sequence) == [tokens]
    assert sequence.symbols == "tokens"


def test_a_large_raw_file_is_used_in_place(tmp_path: Path) -> None:
    path = tmp_path / "train.bin"
    path.write_bytes(np.array([9, 500, 9, 65_535], "<u2").tobytes())
    sequence = read(path, memory_limit=4)
    assert isinstance(sequence.store, Disk)
    assert sequence.store.path == path
    assert sequence.alphabet == (9, 500, 65_535)
    assert sequence.fingerprint() == read(path).fingerprint()


def test_a_numpy_array_is_recognised_whatever_its_name(tmp_path: Path) -> None:
    path = tmp_path / "tokens.bin"
    path.write_bytes(npy(np.array([3, 1, 3])))
    assert labels(read(path, memory_limit=0)) == [[3, 1, 3]]


def refused(path: Path, symbols: str = "tokens") -> str:
    with pytest.raises(InputError) as caught:
        read(path, symbols=symbols)
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix(f"{path} ")


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array([0.5, 1.0]), "holds float64 values; expected integers; save it with array.astype('int64')"),
        (np.array([True, False]), "holds bool values; expected integers; save it with array.astype('int64')"),
        (np.array([{}, 1], object), "holds object values; expected integers; save it with array.astype('int64')"),
        (np.zeros((2, 2, 2), int), "has 3 dimensions; expected one, or two with documents as rows"),
        (np.array(5), "has 0 dimensions; expected one, or two with documents as rows"),
        (np.zeros(0, int), "is empty (0 symbols); give data with at least two kinds of symbols"),
        (np.zeros((3, 0), int), "is empty (0 symbols); give data with at least two kinds of symbols"),
    ],
)
def test_an_array_that_is_no_tokens_is_refused(tmp_path: Path, array: np.ndarray, message: str) -> None:
    path = tmp_path / "x.npy"
    path.write_bytes(npy(array))
    assert refused(path) == message


@pytest.mark.parametrize("data", [b"", b"hello, world", b"\x93NUMPY", b"\x93NUMPY\x09\x00abc", npy(np.arange(9))[:60]])
def test_a_file_that_is_no_numpy_file_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.npy"
    path.write_bytes(data)
    message = refused(path)
    assert message.startswith("is not a numpy file (")
    assert message.endswith("; write it with numpy.save")


def test_a_header_of_nonsense_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    path.write_bytes(npy(np.arange(9)).replace(b"'descr'", b"((((((("))
    assert refused(path).startswith("is not a numpy file (")


def test_an_array_cut_short_is_refused(tmp_path: Path) -> None:
    by_rows = np.array([[1, 2], [3, 4]])
    for array in (by_rows, np.asfortranarray(by_rows)):
        path = tmp_path / "x.npy"
        path.write_bytes(npy(array)[:-8])
        assert refused(path) == "holds 3 of 4 tokens; it was truncated or changed, get it again"


def test_a_raw_file_of_a_wrong_length_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.bin"
    path.write_bytes(b"abc")
    advice = "give a raw little-endian file of tokens, or set its type: --as tokens:uint16 or --as tokens:uint32"
    assert refused(path) == f"is not a whole number of uint16 tokens (bytes left over: 1); {advice}"
    assert refused(path, "tokens:uint32").startswith("is not a whole number of uint32 tokens (bytes left over: 3)")
    with pytest.raises(InputError, match="whole number of uint16"):
        read_tokens(request_for(b"abc", "-", piece=2))


def test_a_type_for_a_file_that_states_its_own_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    path.write_bytes(npy(np.array([1, 2])))
    assert refused(path, "tokens:uint32") == "is a numpy file, which states its own type; use --as tokens"
