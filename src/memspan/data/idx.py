"""Arrays of bytes in the idx format of MNIST: a magic number, the lengths of the axes, then the bytes."""

from __future__ import annotations

import gzip
import math
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError

UNSIGNED_BYTES = 8
"""The third byte of the magic number; the fourth is the number of axes."""


def read_idx(path: Path, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """The array of this `shape` in a file, which may be gzipped; anything else in it is refused.

    00 00 08 03   00 00 ea 60   00 00 00 1c   00 00 00 1c   00 00 00 …
    magic, axes   60,000        28            28            60,000 x 28 x 28 bytes
    """
    header = np.array([UNSIGNED_BYTES << 8 | len(shape), *shape], ">u4").tobytes()
    size = len(header) + math.prod(shape)
    try:
        with path.open("rb") as plain:
            zipped = plain.read(2) == b"\x1f\x8b"
        with gzip.open(path, "rb") if zipped else path.open("rb") as file:
            content = file.read(size + 1)  # one more than is due: a longer file is not the one that was meant
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path} cannot be read ({error}); replace the file") from error
    if content[: len(header)] != header:
        raise InputError(
            f"{path} starts with {content[: len(header)].hex(' ', 4) or 'nothing'}; expected {header.hex(' ', 4)}, "
            f"an idx file of {_shape(shape)} unsigned bytes; replace the file"
        )
    if len(content) != size:
        held = f"more than {size:,}" if len(content) > size else f"{len(content):,}"
        raise InputError(f"{path} holds {held} bytes; expected {size:,}; replace the file")
    return np.frombuffer(content, np.uint8, offset=len(header)).reshape(shape)


def _shape(shape: tuple[int, ...]) -> str:
    return " x ".join(f"{length:,}" for length in shape)
