"""The most memory that this process has held."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")
ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_ARENA_MAX": "1"}
"""The environment of a process whose memory is measured.

With it glibc gives every tensor of more than 64 kB memory of its own and takes it back at once, whichever thread frees it.
Left to itself it learns from what was freed before which sizes to keep for later, and what it keeps is counted: the same
step then measured between 46.6 and 51.9 MB, with this between 45.1 and 45.3. Other systems' allocators do not look.
"""


def begin() -> float:
    """Bytes held now; from here on the peak counts anew where the system can do that."""
    if not _STATUS.exists():
        return peak()
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _of_status("VmRSS")


def peak() -> float:
    """The most bytes this process has held. The kernel's own count of it on Linux: `ru_maxrss` has the parent's in it."""
    if _STATUS.exists():
        return _of_status("VmHWM")
    import resource  # not on every system

    unit = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * unit


def _of_status(field: str) -> float:
    lines = _STATUS.read_text(encoding="utf-8").splitlines()
    return 1024.0 * int(next(line for line in lines if line.startswith(field)).split()[1])
