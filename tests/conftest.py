"""What several tests share."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from memspan.data.locations import places

# One thread for each of the processes that run tests: on as many cores as processes, more threads wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Shells start background jobs with interrupts ignored, and programs under test would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def realdata() -> Callable[[str], Path]:
    """The path of a real data file, `set/file`; the test is skipped, saying so, where it is absent."""

    def find_file(relative: str) -> Path:
        for place in places():
            if (place / relative).exists():
                return place / relative
        pytest.skip(
            f"real data {relative} is absent; set MEMSPAN_DATA or run memspan data get {Path(relative).parts[0]}"
        )

    return find_file
