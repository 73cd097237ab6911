"""`memspan report DIR`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memspan.cli import options
from memspan.cli.output import CommandOutput, encoded


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder with results of other commands.")],
    bits: options.Bits = False,
    json: options.Json = False,
) -> None:
    """Write DIR/report.html: every result.json below DIR on one self-contained page."""
    from memspan.presentation import report as write

    path = write(folder, bits=bits)
    results = [str(found) for found in sorted(folder.rglob("result.json"))]
    amount = "1 result" if len(results) == 1 else f"{len(results)} results"
    CommandOutput(command="report", json=json).show(
        encoded("report", {"path": str(path), "results": results}),
        f"{path}: {amount} on one page",
        lambda console: console.print("\n".join(results), soft_wrap=True),
    )
