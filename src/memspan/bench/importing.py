"""How long `import memspan` takes, next to `import numpy`, each in a fresh interpreter."""

from __future__ import annotations

import subprocess
import sys

from memspan.bench.sizes import Sizes
from memspan.bench.timing import beside
from memspan.results import Benchmark

_CODE = "import sys, time; t = time.perf_counter(); import {}; sys.stdout.write(str(time.perf_counter() - t))"


def importing(sizes: Sizes) -> Benchmark:
    """Names of memspan load on first use, so that a script that needs little waits little."""
    best = {"memspan": float("inf"), "numpy": float("inf")}
    for _ in range(sizes.rounds):
        for name in best:
            best[name] = min(best[name], _import_time(name))
    return beside("import memspan", "import numpy", 1e3 * best["memspan"], 1e3 * best["numpy"], "ms")


def _import_time(name: str) -> float:
    command = [sys.executable, "-c", _CODE.format(name)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
