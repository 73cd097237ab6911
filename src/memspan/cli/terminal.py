"""A console that leaves a closed pipe to the one place where such things are handled."""

from __future__ import annotations

from typing import final

from rich.console import Console


@final
class PipeConsole(Console):
    """Rich would end the process with status 1 where a reader such as `head` has seen enough."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError
