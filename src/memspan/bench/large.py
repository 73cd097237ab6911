"""The benchmark `large`: a file of 2 GB next to one of 200 MB, and next to holding it in memory."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from memspan.bench.timing import beside
from memspan.errors import InputError, MemspanError
from memspan.progress import SILENT, Progress
from memspan.results import Benchmark

SMALL, LARGE = 200_000_000, 2_000_000_000
"""Bytes."""
SPACE = 2.2
"""Free disk needed, in sizes of the larger file: both files, and the larger once more should symbols be written out."""
PIECE = 1 << 24


def large(progress: Progress = SILENT, small: int = SMALL, large: int = LARGE) -> tuple[Benchmark, ...]:
    """Memory and time per symbol of measuring a file of random bytes, each in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="memspan-bench-") as work:
        free = shutil.disk_usage(work).free
        if free < SPACE * large:
            raise InputError(
                f"{work} has {free / 1e9:.1f} GB free, this benchmark needs {SPACE * large / 1e9:.1f} GB; "
                "set TMPDIR to a folder with more space"
            )
        few, many = Path(work, "small.bin"), Path(work, "large.bin")
        write_random(few, small, progress)
        write_random(many, large, progress)
        # The small file before and after, so that a machine that gets busier counts for both.
        before, whole, after = (_measured(path, progress) for path in (few, many, few))
    return (
        beside(
            f"peak memory while measuring {large / 1e9:g} GB of bytes",
            "the file itself",
            whole["peak"] / 1e6,
            large / 1e6,
            "MB",
        ),
        beside(
            f"time per byte of {large / 1e9:g} GB",
            f"the same for {small / 1e9:g} GB",
            1e9 * whole["seconds"] / large,
            1e9 * (before["seconds"] + after["seconds"]) / (2 * small),
            "ns per byte",
        ),
    )


def write_random(path: Path, size: int, progress: Progress) -> None:
    """A file of `size` random bytes."""
    generator = np.random.default_rng(size)
    with path.open("wb") as file, progress.stage("writing random bytes", size) as stage:
        for start in range(0, size, PIECE):
            file.write(generator.bytes(min(PIECE, size - start)))
            stage.advance(min(PIECE, size - start))


def _measured(path: Path, progress: Progress) -> dict[str, float]:
    """Seconds and peak bytes of one process that measures the file."""
    progress.say(f"measuring {path.stat().st_size / 1e6:,.0f} MB in a process of its own")
    command = [sys.executable, "-m", "memspan.bench.one_file", str(path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"status {done.returncode}, perhaps out of memory"])[-1]
        raise MemspanError(f"measuring {path} failed: {last}")
    return json.loads(done.stdout)
