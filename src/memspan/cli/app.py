"""The table of commands. A command's module is loaded when the command is used."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, MutableMapping
from typing import Annotated, Any, final

import typer
from typer.core import TyperGroup

from memspan import __version__

_SMALL = "memspan train copy --cell gru --delay 3 --updates 60 --out small"
_AGENT = "memspan train gridworld --world GoToDoor-5x5 --updates 1 --out agent"
_TEXT = "memspan train characters --cell gru --hidden 64 --updates 200 --data python --out text"
_LIBRARY = "lib=$(python3 -c 'import os; print(os.path.dirname(os.__file__))')"
# Name -> where its function (or group) is, and the lines of the example in its help.
_COMMANDS: dict[str, tuple[str, ...]] = {
    "measure": ("memspan.cli.measure:measure", "python3 -m this | memspan measure -"),
    "compare": (
        "memspan.cli.compare:compare",
        _LIBRARY,
        "memspan compare code=$lib/typing.py table=$lib/html/entities.py",
    ),
    "predict": ("memspan.cli.predict:predict", "memspan predict minimal-rnn --bias-mean 6 --timescale 1000"),
    "memorize": ("memspan.cli.memorize:memorize", "memspan memorize abracadabra"),
    "train": (
        "memspan.cli.train:train",
        "memspan train copy --cell orthogonal-rnn --delay 5 --updates 200 --threads 1",
    ),
    "resume": ("memspan.cli.train:resume", _SMALL, "memspan resume small --updates 80"),
    "evaluate": (
        "memspan.cli.evaluate:evaluate",
        _SMALL,
        "memspan evaluate small --delay 3 --delay 30",
        _AGENT,
        "memspan evaluate agent --world GoToDoor-6x6",
    ),
    "diagnose": ("memspan.cli.diagnose:diagnose", _SMALL, "memspan diagnose small --no-costs"),
    "sample": ("memspan.cli.sample:sample", _TEXT, "memspan sample text --length 500"),
    "reproduce": ("memspan.cli.reproduce:reproduce", "memspan reproduce errata-04 --scale smoke"),
    "report": (
        "memspan.cli.report:report",
        "python3 -m this | memspan measure - --out memspan-zen",
        "memspan report memspan-zen",
    ),
    "data": ("memspan.cli.data:data",),
    "bench": ("memspan.cli.bench:bench", "memspan bench measure"),
    "demo": ("memspan.cli.demo:demo", "memspan demo"),
}


def example(*lines: str) -> str:
    """The epilog of a help text."""
    return "\n\n".join(("Example:", *lines))


@final
class _LazyCommands(MutableMapping[str, Any]):
    """Commands by name, loaded on access: one command should not wait for the imports of the others."""

    def __init__(self) -> None:
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            where, *lines = _COMMANDS[name]
            module, _, attribute = where.partition(":")
            found = getattr(importlib.import_module(module), attribute)
            if not isinstance(found, typer.Typer):
                single = typer.Typer(add_completion=False)
                single.command(name, epilog=example(*lines))(found)
                found = single
            self._loaded[name] = typer.main.get_command(found)
            self._loaded[name].name = name
        return self._loaded[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_COMMANDS)

    def __len__(self) -> int:
        return len(_COMMANDS)


@final
class _LazyGroup(TyperGroup):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _LazyCommands()


app = typer.Typer(
    cls=_LazyGroup,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True, epilog=example("python3 -m this | memspan measure -"))
def memspan(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", metavar="", help="Show the version and exit.")] = False,
) -> None:
    """How far back does it remember? Memory span of sequences and of sequence models."""
    if version:
        typer.echo(f"memspan {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())
