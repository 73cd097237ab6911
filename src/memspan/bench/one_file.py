"""Measure one file of bytes and tell time and peak memory: `python -m memspan.bench.one_file PATH`."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from memspan.information import mutual_information
from memspan.sequences import read


def measured(path: str) -> dict[str, float]:
    """Seconds (without compiling) and peak resident memory in bytes."""
    mutual_information([bytes(range(256)) * 40])
    start = time.perf_counter()
    mutual_information(read(path, symbols="bytes"))
    return {"seconds": time.perf_counter() - start, "peak": peak_memory()}


def peak_memory() -> float:
    """The largest resident memory of this process so far, in bytes.

    Linux keeps in `getrusage` what the parent had before the process became its own program, so its own record is read.
    """
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text(encoding="ascii").splitlines()
        return 1024.0 * int(next(line for line in lines if line.startswith("VmHWM")).split()[1])
    import resource

    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * (
        1 if sys.platform == "darwin" else 1024
    )


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measured(sys.argv[1])))
