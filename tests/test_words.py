"""No outdated phrase remains in the source, the help texts and the documentation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup

from memspan.cli.app import app

ROOT = Path(__file__).parents[1]
PHRASES = ("gone on", "go on with", "goes on with", "go on by", "no number", "foretell", "of yours", "so many", "told")
OUTDATED = re.compile(rf"\b({'|'.join(PHRASES)})", flags=re.IGNORECASE)
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
SOURCES = sorted((ROOT / "src").rglob("*.py"))


def occurrences(text: str) -> list[str]:
    return [text[max(0, found.start() - 40) : found.end() + 20] for found in OUTDATED.finditer(text)]


@pytest.mark.parametrize("path", [*SOURCES, *PAGES], ids=lambda path: str(path.relative_to(ROOT)))
def test_no_outdated_phrase_in_a_file(path):
    assert occurrences(path.read_text(encoding="utf-8")) == []


def test_no_outdated_phrase_in_a_help_text():
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    for name, command in group.commands.items():
        texts = [command.help or "", *(getattr(option, "help", None) or "" for option in command.params)]
        assert occurrences(" ".join(texts)) == [], name


def test_an_outdated_phrase_is_found():
    assert occurrences("The run is gone on with; what it has TOLD.") != []
    assert occurrences("an enfolded soldier, an untold story") == []
