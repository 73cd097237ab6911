"""Results on the terminal, with Rich. Cells are plain text: a file name may contain brackets."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import final

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from memspan.presentation.page.section import TextTable
from memspan.presentation.presenter import Block, present
from memspan.results.display import Notebook

# Columns of a table where standard output is not a terminal.
PAGE_WIDTH = 120


@final
class PipeConsole(Console):
    """A console that leaves a closed pipe to its caller; Rich would exit with status 1 where `head` closes it."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def new_console() -> Console:
    """A console on standard output without highlighting and markup."""
    width = None if sys.stdout.isatty() else PAGE_WIDTH
    return PipeConsole(highlight=False, markup=False, width=width)


def show_result(console: Console, result: Notebook) -> None:
    """Everything below the sentence, in nats."""
    print_blocks(console, present(result).blocks())


def print_blocks(console: Console, blocks: Iterable[Block]) -> None:
    """Tables without captions, and paragraphs."""
    for block in blocks:
        if isinstance(block, TextTable):
            print_table(console, block)
        else:
            console.print(block, soft_wrap=True)


def print_table(console: Console, table: TextTable) -> None:
    """A table without a frame; without a header, a list of names and values; without rows, nothing."""
    if not table.rows:
        return
    shown = Table(box=box.SIMPLE_HEAD if table.header else None, show_header=bool(table.header), pad_edge=False)
    for name in table.header or table.rows[0]:
        shown.add_column(Text(name if table.header else ""))
    for row in table.rows:
        shown.add_row(*map(Text, row))
    console.print(shown)
