"""The entry point of every command: exit codes, one-line errors, interrupts. Nothing else catches them.

0: done. 1: done, and a requested check does not hold. 2: bad input or usage, reported in one line. 130: interrupted, with a
line that says what was saved.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

import typer

from memspan.cli.interrupts import CheckFailedError, InterruptedWorkError
from memspan.errors import MemspanError, interrupts_raised

DONE, CHECK_FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
# Time for threads to finish what they count after an interrupt; then the process ends without them.
SECONDS_TO_LEAVE = 1.5


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; `arguments` are by default those of this process."""
    if arguments is not None:
        return _exit_code(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal may lack a character
    # A request to terminate is treated like Ctrl-C: what is finished gets saved.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        code = _exit_code(sys.argv[1:])
    except KeyboardInterrupt:  # a second one, while the first was being reported
        code = INTERRUPTED
    if code == INTERRUPTED:
        _leave_soon()
    return code


def _exit_code(arguments: Sequence[str]) -> int:
    try:
        # Loading the commands takes long enough to be interrupted.
        from memspan.cli.app import app

        # Typer's own `main` would turn interrupts and closed pipes into silent exit codes of its own.
        command = typer.main.get_command(app)
        with interrupts_raised(), command.make_context("memspan", list(arguments)) as context:
            command.invoke(context)
        sys.stdout.flush()
    except typer.Exit as end:
        return end.exit_code
    except CheckFailedError as error:
        return _report(f"does not hold: {error}", CHECK_FAILED)
    except typer.TyperException as error:
        return _report(f"error: {_usage(error)}", BAD_INPUT)
    except MemspanError as error:
        return _report(f"error: {error}", BAD_INPUT)
    except InterruptedWorkError as error:
        return _report(f"interrupted: {error}", INTERRUPTED)
    except KeyboardInterrupt as interrupt:  # that of a training says what was saved
        return _report(f"interrupted: {str(interrupt) or 'nothing was saved'}", INTERRUPTED)
    except BrokenPipeError:
        _discard_output()  # the reader, for example `head`, has closed the pipe
    except OSError as error:
        _discard_output()
        what = f"{error.filename}: " if error.filename else ""
        reason = f"cannot read or write {what}{error.strerror or error}; check the path and the free space"
        return _report(f"error: {reason}", BAD_INPUT)
    except (MemoryError, RuntimeError) as error:
        if not _out_of_memory(error):
            raise
        return _report("error: not enough memory for this task; make it smaller", BAD_INPUT)
    return DONE


def _report(line: str, code: int) -> int:
    with contextlib.suppress(OSError):  # standard error may be closed
        typer.echo(" ".join(line.split()), err=True)
    return code


def _usage(error: typer.TyperException) -> str:
    """Typer's message with the rejected value, if the message does not repeat it, and where to get help."""
    text = error.format_message()
    checks: Callable[[], list[dict[str, Any]]] = getattr(error.__cause__, "errors", list)  # of pydantic
    values = [check["input"] for check in checks()]
    got = "".join(f", got {value}" for value in values if f"'{value}'" not in text)
    message = text.replace("Value error, ", "").rstrip(".") + got
    context = getattr(error, "ctx", None)
    see = " See" if message.endswith("?") else "; see"
    return f"{message}{see} {context.command_path if context else 'memspan'} --help"


def _out_of_memory(error: MemoryError | RuntimeError) -> bool:
    # PyTorch raises a plain RuntimeError when the CPU's memory is exhausted.
    return isinstance(error, MemoryError) or "allocate memory" in str(error) or "out of memory" in str(error)


def _discard_output() -> None:
    """Send buffered output to the null device; otherwise the interpreter would complain when it exits."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def _leave_soon() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    timer = threading.Timer(SECONDS_TO_LEAVE, os._exit, (INTERRUPTED,))
    timer.daemon = True
    timer.start()
