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
    """Inside, the first interrupt is noted and not raised. Only the main thread can listen; elsewhere nothing changes.

    A request to terminate is noted as well, and never stops at once: launchers send one after an interrupt.
    """
    asked = Asked()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return

    def note(number: int, frame: FrameType | None) -> None:
        if asked.stop and number == signal.SIGINT:
            signal.default_int_handler(number, frame)
        asked.stop = True

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
