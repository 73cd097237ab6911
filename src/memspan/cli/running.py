"""How every command ends: exit statuses, one-line errors, interrupts. This is the only place that catches them.

0: done. 1: done, and a check that was asked for does not hold. 2: bad input or usage, told in one line. 130:
interrupted, with what was kept.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import typer

from memspan.errors import MemspanError, interrupts_raised

DONE, CHECK_FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
SECONDS_TO_LEAVE = 1.5
"""After an interrupt threads may finish the piece they count; then the process ends without them."""


class InterruptedWorkError(Exception):
    """The person stopped the work; the message says what was kept."""


class CheckFailedError(Exception):
    """A check that was asked for does not hold; the message says which."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; without arguments, those of this process."""
    if arguments is not None:
        return _status(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a character is no error
    signal.signal(
        signal.SIGTERM, signal.default_int_handler
    )  # asked to end: like an interrupt, what is finished is kept
    try:
        status = _status(sys.argv[1:])
    except KeyboardInterrupt:  # a second one, while the first was reported
        status = INTERRUPTED
    if status == INTERRUPTED:
        _leave_soon()
    return status


@contextlib.contextmanager
def keeping(folder: Path | None) -> Iterator[None]:
    """Work that keeps finished parts in `folder` (None: nowhere); an interrupt then says how many there are."""
    try:
        with interrupts_raised():
            yield
    except KeyboardInterrupt as interrupt:
        raise InterruptedWorkError(_kept(folder)) from interrupt


def _kept(folder: Path | None) -> str:
    if folder is None:
        return "nothing was kept; with --out DIR finished parts are kept"
    parts = len(list(folder.glob("*.counts")))
    if not parts:
        return f"no part was finished, so {folder} keeps nothing; run the same command to begin again"
    words = "1 finished part is" if parts == 1 else f"{parts} finished parts are"
    return f"{words} kept in {folder}; run the same command to go on"


def _status(arguments: Sequence[str]) -> int:
    try:
        # Loading the commands takes long enough to be interrupted.
        from memspan.cli.app import app

        # Typer's own `main` would turn interrupts and closed pipes into statuses of its own, without a word.
        command = typer.main.get_command(app)
        with interrupts_raised(), command.make_context("memspan", list(arguments)) as context:
            command.invoke(context)
        sys.stdout.flush()
    except typer.Exit as end:
        return end.exit_code
    except CheckFailedError as error:
        return _said(f"does not hold: {error}", CHECK_FAILED)
    except typer.TyperException as error:
        return _said(f"error: {_usage(error)}", BAD_INPUT)
    except MemspanError as error:
        return _said(f"error: {error}", BAD_INPUT)
    except InterruptedWorkError as error:
        return _said(f"interrupted: {error}", INTERRUPTED)
    except KeyboardInterrupt as interrupt:  # a training says what it saved
        return _said(f"interrupted: {str(interrupt) or 'nothing was kept'}", INTERRUPTED)
    except BrokenPipeError:
        _close_output()  # the reader, for example `head`, has seen enough
    except OSError as error:
        _close_output()
        return _said(f"error: {_trouble(error)}", BAD_INPUT)
    except (MemoryError, RuntimeError) as error:
        if not _out_of_memory(error):
            raise
        return _said("error: the work needs more memory than there is; make it smaller", BAD_INPUT)
    return DONE


def _said(line: str, status: int) -> int:
    with contextlib.suppress(OSError):  # nobody is left to read it
        typer.echo(" ".join(line.split()), err=True)
    return status


def _usage(error: typer.TyperException) -> str:
    """Typer's message with what was typed and where to look."""
    message = error.format_message().replace("Value error, ", "").rstrip(".") + _got(error)
    context = getattr(error, "ctx", None)
    see = " See" if message.endswith("?") else "; see"
    return f"{message}{see} {context.command_path if context else 'memspan'} --help"


def _got(error: typer.TyperException) -> str:
    """The value that was refused, where the message does not repeat it; Typer checks values by pydantic."""
    message = error.format_message()
    checks: Callable[[], list[dict[str, Any]]] = getattr(error.__cause__, "errors", list)
    typed = [check["input"] for check in checks()]
    return "".join(f", got {value}" for value in typed if f"'{value}'" not in message)


def _out_of_memory(error: MemoryError | RuntimeError) -> bool:
    """PyTorch has no error of its own for it on the processor."""
    return isinstance(error, MemoryError) or "allocate memory" in str(error) or "out of memory" in str(error)


def _trouble(error: OSError) -> str:
    what = f"{error.filename}: " if error.filename else ""
    return f"cannot read or write {what}{error.strerror or error}; check the place and the space there"


def _close_output() -> None:
    """What is still buffered has nowhere to go; without this the interpreter would complain at its end."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _leave_soon() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    timer = threading.Timer(SECONDS_TO_LEAVE, os._exit, (INTERRUPTED,))
    timer.daemon = True
    timer.start()
