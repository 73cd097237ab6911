"""The benchmark `large`: a file of 2 GB next to one of 200 MB, and next to loading it into memory.

`python -m memspan.bench.large PATH` measures one file of bytes and prints time and peak memory as JSON.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from memspan.bench.timing import cost_benchmark, run_process
from memspan.errors import InputError
from memspan.information import mutual_information
from memspan.progress import SILENT, Progress
from memspan.results import Benchmark
from memspan.sequences import read

# Bytes.
SMALL, LARGE = 200_000_000, 2_000_000_000
# Free disk space needed, relative to the larger file: both files, and the larger again if its symbols are written.
SPACE = 2.2
PIECE = 1 << 24


def large(progress: Progress = SILENT, small: int = SMALL, large: int = LARGE) -> tuple[Benchmark, ...]:
    """Memory and time per symbol of measuring a file of random bytes, each in a separate process."""
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
        # The small file is measured before and after, so that a change of the load counts for both sizes.
        before, whole, after = (measure_in_process(path, progress) for path in (few, many, few))
    return (
        cost_benchmark(
            f"peak memory while measuring {large / 1e9:g} GB of bytes",
            "the file itself",
            whole["peak"] / 1e6,
            large / 1e6,
            "MB",
        ),
        cost_benchmark(
            f"time per byte of {large / 1e9:g} GB",
            f"the same for {small / 1e9:g} GB",
            1e9 * whole["seconds"] / large,
            1e9 * (before["seconds"] + after["seconds"]) / (2 * small),
            "ns per byte",
        ),
    )


def write_random(path: Path, size: int, progress: Progress) -> None:
    """Write a file of `size` random bytes."""
    generator = np.random.default_rng(size)
    with path.open("wb") as file, progress.stage("writing random bytes", size) as stage:
        for start in range(0, size, PIECE):
            file.write(generator.bytes(min(PIECE, size - start)))
            stage.advance(min(PIECE, size - start))


def measure_in_process(path: Path, progress: Progress) -> dict[str, float]:
    """Seconds and peak bytes of a process that measures the file."""
    progress.say(f"measuring {path.stat().st_size / 1e6:,.0f} MB in a separate process")
    return json.loads(run_process("memspan.bench.large", [path], f"measuring {path}", environment={}))


def measure_file(path: str) -> dict[str, float]:
    """Seconds without compilation, and peak resident memory in bytes."""
    mutual_information([bytes(range(256)) * 40])
    start = time.perf_counter()
    mutual_information(read(path, symbols="bytes"))
    return {"seconds": time.perf_counter() - start, "peak": peak_memory()}


def peak_memory() -> float:
    """The largest resident memory of this process so far, in bytes."""
    # On Linux, `getrusage` includes the memory of the parent before exec, so the kernel's own record is read.
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text(encoding="ascii").splitlines()
        return 1024.0 * int(next(line for line in lines if line.startswith("VmHWM")).split()[1])
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * unit


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure_file(sys.argv[1])))
