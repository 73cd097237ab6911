"""Everything that is written: the JSON object, the sentence and tables, and the folder of `--out`."""

from __future__ import annotations

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

    from memspan.report.sentences import Told

PAGE_WIDTH = 120
"""Columns of a table where standard output is not a terminal."""


@final
@dataclass(frozen=True, kw_only=True)
class Output:
    """Where a command's answer goes; `out` is made at once, so that a wrong place is told before the work."""

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
            raise InputError(
                "--force is about the result in a folder, and there is none; add --out DIR or leave it out"
            )
        elif self.style != "report":
            raise InputError(
                f"--style {self.style} is about the figures in a folder, and there is none; add --out DIR or leave it out"
            )

    def claim(self, *subject: str) -> None:
        """Refuse a folder that holds the result of another command or of something else, before the work begins.

        `subject` is what the result is about: the paths of `measure`, NAME=PATH of `compare`, a cell, a text, an ID.
        """
        if self.out is None or self.force or not (self.out / "result.json").exists():
            return
        there = _subject_of(self.out / "result.json")
        if there is not None and (there[0], _resolved(there[1:])) == (self.command, _resolved(subject)):
            return
        holds = "a result.json that cannot be read" if there is None else f"the result of {_words(there)}"
        raise InputError(
            f"--out {self.out} holds {holds}, and this is {_words((self.command, *subject))}; choose another folder, "
            "or overwrite it with --force"
        )

    def progress(self) -> AbstractContextManager[Progress]:
        """What the work reports to; ends before anything is printed."""
        return showing(self.quiet)

    def give(self, result: Told, show: Callable[[Console], None]) -> None:
        """Write the files first, then print: a closed pipe must not cost the files."""
        self.write(result)
        self.print(result, show)

    def write(self, result: Told) -> None:
        """The folder of `--out`, where there is one."""
        if self.out is not None:
            content = encoded(self.command, result.to_json())
            write_folder(self.out, content, result, bits=self.bits, style=self.style)

    def print(self, result: Told, show: Callable[[Console], None]) -> None:
        """The object, or the sentence, the tables and where the files are."""
        from memspan.report.sentences import sentence

        self.show(encoded(self.command, result.to_json()), sentence(result, bits=self.bits), show)
        if self.out is not None and not self.json:
            typer.echo(f"written: {self.out / 'report.html'}, result.json and figures beside it")

    def show(self, content: bytes, sentence: str, show: Callable[[Console], None]) -> None:
        """Either the JSON object or the sentence and what follows it."""
        if self.json:
            print_bytes(content)
            return
        from memspan.cli.terminal import PipeConsole

        typer.echo(sentence)
        show(PipeConsole(highlight=False, markup=False, width=None if sys.stdout.isatty() else PAGE_WIDTH))


def encoded(command: str, plain: dict[str, Any]) -> bytes:
    """The object that `--json` prints and `result.json` holds.

    >>> encoded("report", {"path": "report.html"})  # doctest: +ELLIPSIS
    b'{"schema": 1, "command": "report", "version": "...", "path": "report.html"}\\n'
    """
    from memspan.results.encoding import dumps

    whole = {"schema": 1, "command": command, "version": __version__, **plain}
    # A path that is not UTF-8 holds lone surrogates; their escape is JSON's own.
    return dumps(whole).encode("utf-8", "backslashreplace")


def print_bytes(content: bytes) -> None:
    """Standard output is UTF-8 for JSON, whatever the terminal's encoding."""
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def write_folder(
    out: Path, content: bytes, result: Told, *, bits: bool = False, style: StyleName = "report"
) -> None:
    """`result.json`, `figures/NAME.svg` and `.png`, and `report.html`; each whole or not at all.

    In the style `paper` there is also `figures/NAME.pdf`; the report keeps its own figures.
    """
    from memspan.figures import figures_of, save
    from memspan.report import write_report
    from memspan.results.files import write_bytes

    write_bytes(out / "result.json", content)
    for name, figure in figures_of(result, bits=bits, style=style).items():
        save(figure, out / "figures", name, style=style)
    _write_film(out, result)
    write_report([result], out / "report.html", _title(result), bits=bits)


def _write_film(out: Path, result: Told) -> None:
    """An agent's episode, as an animation beside the figures."""
    from memspan.results import AgentEvaluation, AgentRun
    from memspan.results.files import write_bytes

    if isinstance(result, AgentRun | AgentEvaluation) and result.episode is not None:
        from memspan.figures.episode import episode_gif

        write_bytes(out / "figures" / "episode.gif", episode_gif(result.episode))


def _title(result: Told) -> str:
    from memspan.results import (
        AgentEvaluation,
        AgentRun,
        AttentionPrediction,
        BenchReport,
        Comparison,
        Diagnosis,
        Evaluation,
        LinearPrediction,
        Measurement,
        Memorization,
        Prediction,
        Reproduction,
        TrainingRun,
    )
    from memspan.results.text import one_line

    match result:
        case Measurement():
            return f"{result.name}: how far back does it remember?"
        case Comparison():
            return f"{', '.join(result.sources)}: do they remember alike?"
        case Memorization():
            return f"{one_line(result.name)}: how small can a network be that remembers it?"
        case Reproduction():
            return f"{result.id}: does it hold?"
        case BenchReport():
            return "memspan next to its peers"
        case TrainingRun():
            return f"{result.cell} on {result.task}: what has it learnt to remember?"
        case Evaluation():
            return f"{result.cell} on {result.task}: how far does its memory carry?"
        case Diagnosis():
            return f"{result.name}: what does it do with its past?"
        case AgentRun():
            return f"{result.cell} in {result.world}: what has it learnt to remember?"
        case AgentEvaluation():
            return f"{result.cell} in {result.transfer[-1].world}: how far does its memory carry?"
        case Prediction() | LinearPrediction() | AttentionPrediction():
            return f"{result.cell}: how far back can it remember?"


def _subject_of(path: Path) -> tuple[str, ...] | None:
    """The command of a stored result and what it is about, as `Output.claim` names it; None of any other file."""
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
            case "predict" | "memorize" | "reproduce":
                return command, str(
                    plain[{"predict": "cell", "memorize": "text", "reproduce": "id"}[command]]
                )
    except (MemspanError, KeyError, TypeError, AttributeError):
        return None
    return (command,)


def _resolved(subject: tuple[str, ...]) -> list[str]:
    """Paths in one spelling, so that a file is recognized from any folder; other words as they are."""
    whole = []
    for word in subject:
        name, equals, path = word.rpartition("=") if not Path(word).exists() else ("", "", word)
        whole.append(f"{name}{equals}{Path(path).resolve() if Path(path).exists() else path}")
    return whole


def _words(subject: tuple[str, ...]) -> str:
    """A command and what it is about, short enough for a line."""
    from memspan.results.text import one_line

    command, *rest = (one_line(word) for word in subject)
    more = f" and {len(rest) - 3:,} more" if len(rest) > 3 else ""
    return " ".join([command, *(word if len(word) <= 60 else f"{word[:59]}…" for word in rest[:3])]) + more


def check_place(out: Path) -> None:
    """Refuse a folder that could not be made or written to, before the work that is to go there; nothing is made yet."""
    there = next(path for path in (out, *out.absolute().parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise InputError(f"--out {out} cannot be written to; choose another folder")


def _make_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"--out {out} cannot be made: {error.strerror or error}; choose another folder"
        ) from error
    if not os.access(out, os.W_OK):
        raise InputError(f"--out {out} cannot be written to; choose another folder")
