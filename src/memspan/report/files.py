"""`report(directory)`: every `result.json` below a directory on one page, written whole or not at all."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from memspan.errors import CorruptError, InputError
from memspan.report.lengths import mismatch
from memspan.report.page import render
from memspan.report.section import Section
from memspan.report.sections import section_of
from memspan.report.sentences import Told
from memspan.results import (
    AgentEvaluation,
    AgentRun,
    BenchReport,
    Comparison,
    Diagnosis,
    Evaluation,
    Measurement,
    Memorization,
    Reproduction,
    TrainingRun,
    read_prediction,
)
from memspan.results.encoding import read_object
from memspan.results.files import write_text

_KINDS: dict[str, Callable[[dict[str, Any]], Told]] = {
    "measure": Measurement.from_json,
    "compare": Comparison.from_json,
    "reproduce": Reproduction.from_json,
    "memorize": Memorization.from_json,
    "bench": BenchReport.from_json,
    "predict": read_prediction,
    "train": lambda plain: _of_task(plain, AgentRun.from_json, TrainingRun.from_json),
    "resume": lambda plain: _of_task(plain, AgentRun.from_json, TrainingRun.from_json),
    "evaluate": lambda plain: _of_task(plain, AgentEvaluation.from_json, Evaluation.from_json),
    "diagnose": Diagnosis.from_json,
}


def _of_task(
    plain: dict[str, Any], agent: Callable[[dict[str, Any]], Told], other: Callable[[dict[str, Any]], Told]
) -> Told:
    """Agents are told of in other words than networks that answer."""
    return agent(plain) if plain.get("task") == "gridworld" else other(plain)


def report(directory: str | os.PathLike[str], *, bits: bool = False) -> Path:
    """Write DIRECTORY/report.html from every `result.json` below the directory, and return its path.

    `result.json` holds nats; `bits` shows mutual information in bits.
    """
    folder = Path(directory)
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; expected one that holds results; check the path")
    paths = sorted(
        folder.rglob("result.json"), key=lambda path: path.parent.parts
    )  # a folder before its parts
    if not paths:
        raise InputError(f"no result.json below {folder}; expected at least one; {_how(folder)}")
    sections = [_section(path, folder, bits) for path in paths]
    title = f"{folder.resolve().name}: how far back does it remember?"
    target = folder / "report.html"
    write_text(target, render(sections, title))
    return target


def _how(folder: Path) -> str:
    """What would put a result there."""
    if (folder / "config.json").is_file():
        return (
            f"this run is not over: go on by memspan resume {folder}, or try it by memspan evaluate {folder}"
        )
    return f"run a command with --out {folder}"


def write_report(
    results: Sequence[Told], path: str | os.PathLike[str], title: str, *, bits: bool = False
) -> Path:
    """Write the page of these results, in this order."""
    write_text(path, render([section_of(result, bits=bits) for result in results], title))
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
        result = _KINDS[command](plain)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, InputError) as error:
        what = f"{path} is damaged ({type(error).__name__}: {error})"
        raise CorruptError(f"{what}; expected the fields of {command}; run the command again") from error
    wrong = mismatch(result)
    if wrong is not None:
        what = f"{path} is damaged ({wrong})"
        raise CorruptError(f"{what}; expected lists of equal length; run the command again")
    return result


def _section(path: Path, folder: Path, bits: bool) -> Section:
    section = section_of(read_result(path), bits=bits)
    return dataclasses.replace(section, origin=str(path.relative_to(folder)))
