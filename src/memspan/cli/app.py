"""The table of commands."""

from __future__ import annotations

from typing import Annotated

import typer

from memspan import __version__
from memspan.cli.bench import bench
from memspan.cli.compare import compare
from memspan.cli.data import get_data, list_data
from memspan.cli.demo import demo
from memspan.cli.diagnose import diagnose
from memspan.cli.evaluate import evaluate
from memspan.cli.measure import measure
from memspan.cli.memorize import memorize
from memspan.cli.predict import predict
from memspan.cli.report import report
from memspan.cli.reproduce import reproduce
from memspan.cli.sample import sample
from memspan.cli.train import resume, train

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
data = typer.Typer(help="Public data sets by name, checksummed.", epilog="Example:\n\nmemspan data list")


@app.callback(invoke_without_command=True, epilog="Example:\n\npython3 -m this | memspan measure -")
def memspan(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", metavar="", help="Show the version and exit.")
    ] = False,
) -> None:
    """How far back does it remember? Memory span of sequences and of sequence models."""
    if version:
        typer.echo(f"memspan {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _example(*lines: str) -> str:
    return "\n\n".join(("Example:", *lines))


_SMALL = "memspan train copy --cell gru --delay 3 --updates 60 --out small"
_AGENT = "memspan train gridworld --world GoToDoor-5x5 --updates 1 --out agent"
_TEXT = "memspan train characters --cell gru --hidden 64 --updates 200 --data python --out text"
_LIBRARY = "lib=$(python3 -c 'import os; print(os.path.dirname(os.__file__))')"

app.command(epilog=_example("python3 -m this | memspan measure -"))(measure)
app.command(epilog=_example(_LIBRARY, "memspan compare code=$lib/typing.py table=$lib/html/entities.py"))(
    compare
)
app.command(epilog=_example("memspan predict minimal-rnn --bias-mean 6 --timescale 1000"))(predict)
app.command(epilog=_example("memspan memorize abracadabra"))(memorize)
app.command(epilog=_example("memspan train copy --cell orthogonal-rnn --delay 5 --updates 200 --threads 1"))(
    train
)
app.command(epilog=_example(_SMALL, "memspan resume small --updates 80"))(resume)
app.command(
    epilog=_example(
        _SMALL,
        "memspan evaluate small --delay 3 --delay 30",
        _AGENT,
        "memspan evaluate agent --world GoToDoor-6x6",
    )
)(evaluate)
app.command(epilog=_example(_SMALL, "memspan diagnose small --no-costs"))(diagnose)
app.command(epilog=_example(_TEXT, "memspan sample text --length 500"))(sample)
app.command(epilog=_example("memspan reproduce errata-04 --scale smoke"))(reproduce)
app.command(
    epilog=_example("python3 -m this | memspan measure - --out memspan-zen", "memspan report memspan-zen")
)(report)
data.command("list", epilog=_example("memspan data list"))(list_data)
data.command("get", epilog=_example("memspan data get wikitext-2"))(get_data)
app.add_typer(data, name="data")
app.command(epilog=_example("memspan bench measure"))(bench)
app.command(epilog=_example("memspan demo"))(demo)
