"""`report(directory)`: every `result.json` below a directory on one page, written whole or not at all."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memspan.errors import CorruptError, InputError
from memspan.report.page import render
from memspan.report.section import Section
from memspan.report.sections import section_of
from memspan.report.sentences import Told
from memspan.results import BenchReport, Comparison, Measurement, Reproduction
from memspan.results.atomic import write_text
from memspan.results.encoding import read_object

_KINDS: dict[str, type[Told]] = {
    "measure": Measurement,
    "compare": Comparison,
    "reproduce": Reproduction,
    "bench": BenchReport,
}


def report(directory: str | os.PathLike[str]) -> Path:
    """Write DIRECTORY/report.html from every `result.json` below the directory, and return its path."""
    folder = Path(directory)
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; expected one that holds results; check the path")
    paths = sorted(folder.rglob("result.json"))
    if not paths:
        raise InputError(
            f"no result.json below {folder}; expected at least one; run a command with --out {folder}"
        )
    sections = [_section(path, folder) for path in paths]
    title = f"{folder.resolve().name}: how far back does it remember?"
    target = folder / "report.html"
    write_text(target, render(sections, title))
    return target


def write_report(results: Sequence[Told], path: str | os.PathLike[str], title: str) -> Path:
    """Write the page of these results, in this order."""
    write_text(path, render([section_of(result) for result in results], title))
    return Path(path)


def read_result(path: Path) -> Told:
    """The result in a file that a command wrote, of the kind that its field `command` names."""
    plain = read_object(path)
    command = plain["command"]
    if command not in _KINDS:
        known = ", ".join(_KINDS)
        raise CorruptError(
            f"{path} is of the command {command!r}; this version shows {known}; move it or update"
        )
    try:
        result = _KINDS[command].from_json(plain)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        what = f"{path} is damaged ({type(error).__name__}: {error})"
        raise CorruptError(f"{what}; expected the fields of {command}; run the command again") from error
    _check_lengths(result, path)
    return result


def _section(path: Path, folder: Path) -> Section:
    return dataclasses.replace(section_of(read_result(path)), origin=str(path.relative_to(folder)))


def _check_lengths(result: Told, path: Path) -> None:
    """Lists that run along the lags must be as long as the lags."""
    measurements = [result] if isinstance(result, Measurement) else []
    along: list[tuple[Any, tuple[str, ...]]] = []
    if isinstance(result, Comparison):
        measurements = list(result.sources.values())
        along += [(pair, ("difference", "error", "lag_p_values")) for pair in result.pairs]
    names = ("information", "floor", "floor_sd", "corrected", "stderr", "pairs", "p_value")
    along += [(measurement.curve, names) for measurement in measurements]
    for owner, fields in along:
        wrong = [name for name in fields if np.shape(getattr(owner, name)) != np.shape(owner.lags)]
        if wrong:
            what = f"{path} is damaged ({', '.join(wrong)} and lags differ in length)"
            raise CorruptError(f"{what}; expected one value per lag; run the command again")
