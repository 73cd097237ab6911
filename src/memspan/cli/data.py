"""`memspan data list` and `memspan data get NAME`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memspan.cli import options
from memspan.cli.app import example
from memspan.cli.output import CommandOutput, encoded

if TYPE_CHECKING:
    from memspan.data import DataSet

data = typer.Typer(help="Public data sets by name, checksummed.", epilog=example("memspan data list"))


@data.command("list", epilog=example("memspan data list"))
def list_data(json: options.Json = False) -> None:
    """List every data set and its location on this machine."""
    from memspan.data import available
    from memspan.presentation.page.section import TextTable
    from memspan.presentation.terminal import print_table

    found = available()
    plain = [
        {
            "name": data_set.name,
            "description": data_set.description,
            "licence": data_set.licence,
            "megabytes": data_set.megabytes,
            "path": None if path is None else str(path),
        }
        for data_set, path in found
    ]
    rows = tuple((data_set.name, data_set.description, _location(data_set, path)) for data_set, path in found)
    here = sum(path is not None for _, path in found)
    CommandOutput(command="data list", json=json).show(
        encoded("data list", {"data": plain}),
        f"{len(found)} data sets, {here} of them on this machine; use one as data:NAME, download one with memspan data get",
        lambda console: print_table(console, TextTable("", ("name", "description", "location"), rows)),
    )


def _location(data_set: DataSet, path: Path | None) -> str:
    if path is not None:
        return str(path)
    if not data_set.addresses:
        return "not here, and without a public address"
    from memspan.presentation.numbers import trimmed

    return f"not here ({trimmed(data_set.megabytes)} MB)" if data_set.megabytes else "not here"


@data.command("get", epilog=example("memspan data get wikitext-2"))
def get_data(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of a data set, as in memspan data list.")],
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Download a data set to the user's cache and verify it; an existing copy is left unchanged."""
    from memspan.data import CATALOG, get

    output = CommandOutput(command="data get", json=json, quiet=quiet)
    with output.progress() as progress:
        folder = get(name, progress=progress)
    files = [str(path) for path in CATALOG[name].files_in(folder)]
    output.show(
        encoded("data get", {"name": name, "path": str(folder), "files": files}),
        f"{name} is in {folder}; use it as data:{name}",
        lambda console: console.print("\n".join(files), soft_wrap=True),
    )
