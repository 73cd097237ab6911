"""`memspan memorize STRING`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from memspan.cli import options
from memspan.cli.output import CommandOutput
from memspan.errors import InputError

if TYPE_CHECKING:
    from memspan.progress import Progress

MethodName = Literal["auto", "rotation", "cyclic", "spectral", "feedback"]
# Symbol types of a string on the command line; files allow more.
_TYPED = ("chars", "words", "lines")
_LONGEST = 1_000_000
_NETWORK = "Network"


def memorize(
    string: Annotated[
        str | None, typer.Argument(metavar="STRING", help="String to memorize; quote it if it contains spaces.")
    ] = None,
    method: Annotated[
        MethodName,
        typer.Option(
            metavar="NAME",
            help="Construction: rotation (two runs of two symbols), cyclic (a unit per position), spectral (the fewest"
            " rotations), feedback (one unit that reads its own output, up to 52 bits), or auto, the smallest without"
            " feedback.",
            rich_help_panel=_NETWORK,
        ),
    ] = "auto",
    terminate: Annotated[
        bool,
        typer.Option(
            "--terminate",
            metavar="",
            help="Add the symbol <END>, so that the string is finite; otherwise it repeats forever.",
            rich_help_panel=_NETWORK,
        ),
    ] = False,
    symbols: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="SYMBOLS",
            help="Symbol type. STRING: chars, words or lines; --file: also bytes, dna, numbers, tokens, json and bpe:FILE."
            " Default: chars, or from the file extension as in memspan measure.",
            rich_help_panel="Reading",
        ),
    ] = None,
    file: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Memorize the content of this file instead of STRING; - is standard input.",
            rich_help_panel="Reading",
        ),
    ] = None,
    budget: Annotated[
        float,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="Time limit of the search for fewer hidden units, in seconds; then the best found is reported as such.",
            rich_help_panel=_NETWORK,
        ),
    ] = 60.0,
    learn: Annotated[
        bool,
        typer.Option(
            "--learn",
            metavar="",
            help="Also train a network of this size by gradient descent and compare eigenvalues with the roots of unity.",
            rich_help_panel=_NETWORK,
        ),
    ] = False,
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.safetensors",
            help="File for the weights W_h, W_x, W_y, b_y and h_0.",
            rich_help_panel="Output",
        ),
    ] = None,
    seed: options.Seed = 0,
    out: options.Out = None,
    style: options.Style = "report",
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """The smallest linear network that replays a string: its weights, and a check that it does.

    Every network is run for 100,000 symbols and 1,000 periods or more before it is shown.
    """
    _check(string, file, save)
    output = CommandOutput(command="memorize", json=json, out=out, quiet=quiet, style=style, force=force)
    with output.progress() as progress:
        from memspan.memorization import PeriodicString, memorize, save_memorization

        text, kind, remarks = _given(string, file, symbols, progress)
        output.claim(PeriodicString.of(text, terminate=terminate).text)
        result = memorize(
            text,
            method=method,
            terminate=terminate,
            symbols=kind,
            budget=budget,
            seed=seed,
            learn=learn,
            remarks=remarks,
            progress=progress,
        )
        if save is not None:
            save_memorization(result, save)
    output.give(result)
    if save is not None and not json:
        typer.echo(f"written: {save}")


def _check(string: str | None, file: str | None, save: Path | None) -> None:
    if string is None and file is None:
        raise InputError("nothing to memorize; give a STRING, such as abracadabra, or --file FILE")
    if string is not None and file is not None:
        raise InputError(f"got both the string {string!r} and --file {file}; give one of them")
    if save is not None and save.suffix != ".safetensors":
        raise InputError(f"--save {save} does not end in .safetensors, the format of the file; rename it")
    if save is not None and not save.parent.is_dir():
        raise InputError(f"--save {save}: there is no folder {save.parent}; create it first")


def _given(
    string: str | None, file: str | None, symbols: str | None, progress: Progress
) -> tuple[str | list[str], str, tuple[str, ...]]:
    """The symbols, their type, and notes on how they were read."""
    if file is not None:
        return _read(file, symbols, progress)
    assert string is not None
    kind = symbols or "chars"
    if kind not in _TYPED:
        raise InputError(
            f"--as {kind} is for files; a STRING is read as {', '.join(_TYPED)}; put it into a file and use --file"
        )
    return {"chars": string, "words": string.split(), "lines": string.splitlines()}[kind], kind, ()


def _read(file: str, symbols: str | None, progress: Progress) -> tuple[str | list[str], str, tuple[str, ...]]:
    from memspan.cli.sources import SourceOptions

    sequence = SourceOptions(symbols=symbols).read([file], progress)
    if sequence.n_documents > 1 or sequence.length > _LONGEST:
        raise InputError(
            f"{file} holds {sequence.length:,} symbols in {sequence.n_documents:,} documents; expected one string of up to "
            f"{_LONGEST:,} symbols, whose period is at most 2,000; give a part of it"
        )
    (document,) = sequence.documents()
    labels = [str(sequence.alphabet[code]) for code in document]
    remarks = sequence.notes
    if sequence.symbols == "chars" and labels[-1] == "\n" and len(labels) > 1:
        labels = labels[:-1]
        remarks = (*remarks, "the newline at the end of the file was omitted")
    text = "".join(labels) if all(len(label) == 1 for label in labels) else labels
    return text, sequence.symbols, remarks
