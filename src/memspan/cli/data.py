"""`memspan data list` and `memspan data get NAME`"""

from __future__ import annotations

from typing import Annotated

import typer

from memspan.cli import options
from memspan.cli.output import Output, encoded


def list_data(json: options.Json = False) -> None:
    """Every data set there is a name for, and where it lies on this machine."""
    from memspan.cli.tables import show_data
    from memspan.data import available

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
    here = sum(path is not None for _, path in found)
    Output(command="data list", json=json).show(
        encoded("data list", {"data": plain}),
        f"{len(found)} data sets, {here} of them on this machine; use one as data:NAME, fetch one with memspan data get",
        lambda console: show_data(console, found),
    )


def get_data(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of a data set; memspan data list shows them.")
    ],
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Download a data set to the user's cache, checked; one that is there already is left as it is."""
    from memspan.data import CATALOG, get

    output = Output(command="data get", json=json, quiet=quiet)
    with output.progress() as progress:
        folder = get(name, progress=progress)
    files = [str(path) for path in CATALOG[name].files_in(folder)]
    output.show(
        encoded("data get", {"name": name, "path": str(folder), "files": files}),
        f"{name} is in {folder}; use it as data:{name}",
        lambda console: console.print("\n".join(files), soft_wrap=True),
    )
