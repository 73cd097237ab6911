"""`report(directory)`: every `result.json` below a directory on one page, written atomically."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path

from memspan.errors import InputError
from memspan.presentation.page.section import Section, render
from memspan.presentation.presenter import present, read_result
from memspan.results.atomic import write_text
from memspan.results.display import Notebook


def report(directory: str | os.PathLike[str], *, bits: bool = False) -> Path:
    """Write DIRECTORY/report.html from every `result.json` below the directory and return its path.

    `result.json` holds nats; `bits` shows mutual information in bits.
    """
    folder = Path(directory)
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; expected a folder with results; check the path")
    # Sorting by parts puts the result of a folder before those of its subfolders.
    paths = sorted(folder.rglob("result.json"), key=lambda path: path.parent.parts)
    if not paths:
        raise InputError(f"no result.json below {folder}; expected at least one; {_remedy(folder)}")
    title = f"{folder.resolve().name}: how far back does it remember?"
    target = folder / "report.html"
    write_text(target, render([_section(path, folder, bits) for path in paths], title))
    return target


def write_report(
    results: Sequence[Notebook], path: str | os.PathLike[str], title: str, *, bits: bool = False
) -> Path:
    """Write the page of these results, in this order."""
    write_text(path, render([present(result, bits=bits).section() for result in results], title))
    return Path(path)


def _section(path: Path, folder: Path, bits: bool) -> Section:
    section = present(read_result(path), bits=bits).section()
    return dataclasses.replace(section, origin=str(path.relative_to(folder)))


def _remedy(folder: Path) -> str:
    """How to get a result into the folder."""
    if (folder / "config.json").is_file():
        return f"this run is unfinished: continue it with memspan resume {folder}, or try it with memspan evaluate {folder}"
    return f"run a command with --out {folder}"
