"""Ctrl-C asks a training to stop after the update that it is in; a second one stops it at once."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import final


@final
class Asked:
    """Whether somebody asked the work to stop."""

    def __init__(self) -> None:
        self.stop = False


@contextlib.contextmanager
def asking() -> Iterator[Asked]:
    """Inside, the first interrupt is noted and not raised. Only the main thread can listen; elsewhere nothing changes."""
    asked = Asked()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def note(number: int, frame: FrameType | None) -> None:
        if asked.stop:
            signal.default_int_handler(number, frame)
        asked.stop = True

    for number in before:
        signal.signal(number, note)
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
