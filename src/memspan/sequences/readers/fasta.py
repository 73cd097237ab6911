"""DNA in FASTA: a record is a document, and any letter other than A, C, G or T ends one."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from memspan.errors import InputError
from memspan.sequences.encoding import TableEncoder
from memspan.sequences.readers.inputs import Request
from memspan.sequences.sequence import Sequence

_BASES = b"ACGT"
_WHITE = b" \t\n\r\v\f"
_BREAK = len(_BASES)
_HEADER = re.compile(rb"\n[>;][^\n]*")


def read_dna(request: Request) -> Sequence:
    """A, C, G and T in either case; white space is skipped; a file without headers is one record."""
    encoder, builder = TableEncoder(_BREAK), request.builder(expected=request.size)
    table, other = _table(), set[int]()
    for item in request.inputs:
        for letters in _without_headers(request.pieces(item)):
            # Every header is now ">", so whatever else remains is not a base.
            other.update(letters.translate(None, delete=_BASES + _BASES.lower() + _WHITE + b">"))
            codes = np.frombuffer(letters.translate(table, delete=_WHITE), np.uint8)
            bases = codes < _BREAK
            builder.append(encoder.codes(codes[bases]), np.cumsum(bases)[~bases])
        builder.end_document()
    if not encoder.values and other:
        raise InputError(f"no A, C, G or T in {request.name}; give a FASTA file of DNA, or use --as chars")
    labels = [chr(_BASES[value]) for value in encoder.values]
    return builder.finish(labels, symbols="dna", names=request.names, notes=_notes(other))


def _without_headers(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The letters, with ">" where a record begins; a line may be longer than a piece."""
    line_start, in_header = True, False
    for piece in pieces:
        data = piece.replace(b"\r", b"\n")
        if in_header:
            end = data.find(b"\n")
            if end < 0:
                continue
            data = data[end:]
        elif line_start:
            data = b"\n" + data
        line_start = data.endswith(b"\n")
        letters = _HEADER.split(data)
        # A header at the end of a piece may continue in the next one.
        in_header = len(letters) > 1 and not letters[-1] and not line_start
        yield b">".join(letters)


def _table() -> bytes:
    table = bytearray([_BREAK] * 256)
    for number, base in enumerate(_BASES):
        # 0x20 separates upper and lower case in ASCII.
        table[base] = table[base | 0x20] = number
    return bytes(table)


def _notes(other: set[int]) -> tuple[str, ...]:
    if not other:
        return ()
    shown = " ".join(repr(chr(value))[1:-1] for value in sorted(other)[:12])
    more = f" and {len(other) - 12} more" if len(other) > 12 else ""
    return (f"letters other than A, C, G, T end a document: {shown}{more}",)
