"""Everything a command writes: the JSON object, the sentence and tables, and the folder of `--out`."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import typer

from memspan import __version__
from memspan.cli.options import StyleName
from memspan.cli.progress import showing
from memspan.errors import InputError, MemspanError
from memspan.progress import Progress

if TYPE_CHECKING:
    from rich.console import Console

    from memspan.presentation import Presenter
    from memspan.results import AgentRun, TrainingRun
    from memspan.results.display import Notebook

Show = Callable[["Console"], None]


@final
@dataclass(frozen=True, kw_only=True)
class CommandOutput:
    """Where a command's answer goes; `out` is created at once, so that a wrong path fails before the work."""

    command: str
    json: bool = False
    out: Path | None = None
    quiet: bool = False
    bits: bool = False
    style: StyleName = "report"
    force: bool = False

    def __post_init__(self) -> None:
        if self.out is not None:
            _make_folder(self.out)
        elif self.force:
            raise InputError("--force has no effect without an output folder; add --out DIR or omit --force")
        elif self.style != "report":
            raise InputError(
                f"--style {self.style} has no effect without an output folder; add --out DIR or omit --style"
            )

    def claim(self, *subject: str) -> None:
        """Refuse a folder with the result of another command or subject, before the work begins.

        `subject` is what the result is about: the paths of `measure`, NAME=PATH of `compare`, a cell, a text, an ID.
        """
        if self.out is None or self.force or not (self.out / "result.json").exists():
            return
        there = _subject_of(self.out / "result.json")
        if there is not None and (there[0], _resolved(there[1:])) == (self.command, _resolved(subject)):
            return
        holds = "an unreadable result.json" if there is None else f"the result of {_words(there)}"
        raise InputError(
            f"--out {self.out} holds {holds}, and this is {_words((self.command, *subject))}; choose another folder, "
            "or overwrite it with --force"
        )

    def progress(self) -> AbstractContextManager[Progress]:
        """The progress display; it ends before anything is printed."""
        return showing(self.quiet)

    def present(self, result: Notebook) -> Presenter[Any]:
        """The presenter of a result, in the unit and style of this output."""
        from memspan.presentation import present

        return present(result, bits=self.bits, style=self.style)

    def give(self, result: Notebook, show: Show | None = None) -> None:
        """Write the files, then print: a closed pipe must not cost the files.

        `show` prints what follows the sentence; by default the tables and notes of the result.
        """
        presenter = self.present(result)
        self.write(presenter)
        self.print(presenter, show)

    def write(self, presenter: Presenter[Any]) -> None:
        """Fill the folder of `--out`, if there is one."""
        if self.out is not None:
            write_folder(self.out, self.command, presenter)

    def print(self, presenter: Presenter[Any], show: Show | None = None) -> None:
        """The JSON object, or the sentence, the tables and the paths of the files."""

        def blocks(console: Console) -> None:
            from memspan.presentation.terminal import print_blocks

            print_blocks(console, presenter.blocks())

        self.show(encoded(self.command, presenter.result.to_json()), presenter.sentence(), show or blocks)
        if self.out is not None and not self.json:
            typer.echo(f"written: {self.out / 'report.html'}, with result.json and figures")

    def show(self, content: bytes, sentence: str, show: Show) -> None:
        """Either the JSON object or the sentence and what follows it."""
        if self.json:
            print_bytes(content)
            return
        from memspan.presentation.terminal import new_console

        typer.echo(sentence)
        show(new_console())


def encoded(command: str, plain: dict[str, Any]) -> bytes:
    """The object that `--json` prints and `result.json` holds.

    >>> encoded("report", {"path": "report.html"})  # doctest: +ELLIPSIS
    b'{"schema": 1, "command": "report", "version": "...", "path": "report.html"}\\n'
    """
    from memspan.results.encoding import dumps

    whole = {"schema": 1, "command": command, "version": __version__, **plain}
    # A path that is not UTF-8 holds lone surrogates; their escape is valid JSON.
    return dumps(whole).encode("utf-8", "backslashreplace")


def print_bytes(content: bytes) -> None:
    """Write to standard output in UTF-8, whatever the terminal's encoding."""
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def write_folder(out: Path, command: str, presenter: Presenter[Any]) -> None:
    """`result.json`, `figures/NAME.svg` and `.png`, and `report.html`, each written atomically.

    In the style `paper` there is also `figures/NAME.pdf`; the report has figures in its own style.
    """
    from memspan.results.files import write_bytes

    write_bytes(out / "result.json", encoded(command, presenter.result.to_json()))
    presenter.write_figures(out / "figures")
    presenter.write_page(out / "report.html")


def show_training(console: Console, result: TrainingRun, folder: Path) -> None:
    """The tables of a training; `result` is the best seed if `folder` holds several."""
    from memspan.presentation import present
    from memspan.presentation.terminal import print_blocks

    facts, *notes = present(result).blocks()
    best = () if Path(result.run) == folder else (f"note: the best of the seeds in {folder} by validation loss",)
    print_blocks(console, (facts, *best, *notes))


def show_agent(console: Console, result: AgentRun) -> None:
    """The tables of an agent's training, and the world to evaluate it in next."""
    from memspan.presentation.agent import AgentRunPresenter
    from memspan.presentation.page.section import TextTable
    from memspan.presentation.terminal import print_blocks
    from memspan.tasks.gridworld import LARGER

    facts, *notes = AgentRunPresenter(result).blocks()
    if isinstance(facts, TextTable):
        command = f"memspan evaluate {result.run} --world {LARGER.get(result.world, result.world)}"
        facts = dataclasses.replace(facts, rows=(*facts.rows, ("next", command)))
    print_blocks(console, (facts, *notes))


def check_place(out: Path) -> None:
    """Refuse a folder that cannot be created or written to, before the work; nothing is created."""
    there = next(path for path in (out, *out.absolute().parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise InputError(f"--out {out} is not writable; choose another folder")


def _make_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--out {out} cannot be created: {error.strerror or error}; choose another folder") from error
    if not os.access(out, os.W_OK):
        raise InputError(f"--out {out} is not writable; choose another folder")


def _subject_of(path: Path) -> tuple[str, ...] | None:
    """The command of a stored result and its subject, as `CommandOutput.claim` names it; None for any other file."""
    from memspan.results.encoding import read_object

    try:
        plain = read_object(path)
        command = str(plain["command"])
        match command:
            case "measure":
                return command, *plain["paths"]
            case "compare":
                sources = plain["sources"].items()
                return command, *(f"{name}={path}" for name, source in sources for path in source["paths"])
            case "predict":
                return command, str(plain["cell"])
            case "memorize":
                return command, str(plain["text"])
            case "reproduce":
                return command, str(plain["id"])
    except (MemspanError, KeyError, TypeError, AttributeError):
        return None
    return (command,)


def _resolved(subject: tuple[str, ...]) -> list[str]:
    """Absolute paths, so that a file is recognized from any folder; other words unchanged."""
    whole = []
    for word in subject:
        name, equals, path = word.rpartition("=") if not Path(word).exists() else ("", "", word)
        whole.append(f"{name}{equals}{Path(path).resolve() if Path(path).exists() else path}")
    return whole


def _words(subject: tuple[str, ...]) -> str:
    """A command and its subject, short enough for one line."""
    from memspan.results.text import one_line

    command, *rest = (one_line(word) for word in subject)
    more = f" and {len(rest) - 3:,} more" if len(rest) > 3 else ""
    return " ".join([command, *(word if len(word) <= 60 else f"{word[:59]}…" for word in rest[:3])]) + more
