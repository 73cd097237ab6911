"""idx files: exactly the array that was meant, or a refusal in one line."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from memspan.data.idx import read_idx
from memspan.errors import InputError

HEADER = bytes([0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3])
BYTES = bytes([10, 20, 30, 40, 50, 255])


def written(folder: Path, content: bytes) -> Path:
    path = folder / "array-idx2-ubyte"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzipped"])
def test_the_bytes_come_back_in_their_shape(tmp_path: Path, pack) -> None:
    array = read_idx(written(tmp_path, pack(HEADER + BYTES)), (2, 3))
    np.testing.assert_array_equal(array, [[10, 20, 30], [40, 50, 255]])
    assert array.dtype == np.uint8


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "starts with nothing"),
        (b"\x89PNG and so on, long enough", "starts with"),
        (
            bytes([0, 0, 9]) + HEADER[3:] + BYTES,
            r"expected 00000802 00000002 00000003.* 2 x 3 unsigned bytes",
        ),
        (HEADER[:7] + b"\x03" + HEADER[8:] + BYTES, "00000802 00000003 00000003; expected"),
        (HEADER + BYTES[:-1], "holds 17 bytes; expected 18"),
        (HEADER + BYTES + b"x", "holds more than 18 bytes; expected 18"),
        (gzip.compress(HEADER + BYTES)[:-9], "cannot be read"),
        (gzip.compress(HEADER + BYTES)[:-8] + b"checksum", "cannot be read"),
    ],
    ids=["empty", "foreign", "type", "shape", "short", "long", "cut", "damaged"],
)
def test_anything_else_is_refused(tmp_path: Path, content: bytes, told: str) -> None:
    with pytest.raises(InputError, match=told) as raised:
        read_idx(written(tmp_path, content), (2, 3))
    message = str(raised.value)
    assert "\n" not in message
    assert str(tmp_path) in message
    assert message.endswith("; replace the file")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_idx(tmp_path / "absent", (2, 3))
