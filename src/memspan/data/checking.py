"""Whether a file that came from outside is the one that was meant."""

from __future__ import annotations

import hashlib
from pathlib import Path

from memspan.errors import MemspanError


class UnusableError(MemspanError):
    """What an address gave cannot be used; the next address may still do."""


def check(path: Path, *, checksum: str | None = None, size: int | None = None) -> None:
    """Raise unless the file at `path` has the `size` and the `checksum` (`sha256:…`) that are known of it."""
    actual = path.stat().st_size
    if size is not None and actual != size:
        raise UnusableError(f"{path.name} has {actual:,} bytes, expected {size:,}")
    if checksum is None:
        return
    kind, _, expected = checksum.partition(":")
    with path.open("rb") as file:
        got = hashlib.file_digest(file, kind).hexdigest()
    if got != expected:
        raise UnusableError(f"{path.name} has the {kind} {got}, expected {expected}")
