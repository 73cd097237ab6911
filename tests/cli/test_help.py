"""Every command explains itself, with an example that works as typed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup, TyperOption

from memspan.cli.app import app

COMMANDS = [
    *(
        ("measure",),
        ("compare",),
        ("predict",),
        ("memorize",),
        ("train",),
        ("resume",),
        ("evaluate",),
        ("diagnose",),
        ("reproduce",),
        ("report",),
        ("bench",),
        ("demo",),
    ),
    *(("data", "list"), ("data", "get")),
]
LONG = {("bench",): "minutes", ("demo",): "has a test of its own", ("data", "get"): "needs the network"}


def example(words: tuple[str, ...], memspan, monkeypatch) -> list[str]:
    monkeypatch.setenv("TERMINAL_WIDTH", "100")
    ran = memspan(*words, "--help")
    assert (ran.status, ran.err) == (0, "")
    text = ran.out.split("Example:", 1)[1]
    return [line.strip() for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_the_help_shows_an_example_of_the_command(memspan, monkeypatch, words):
    assert f"memspan {' '.join(words)}" in example(words, memspan, monkeypatch)[-1]


@pytest.mark.parametrize("words", [words for words in COMMANDS if words not in LONG], ids=" ".join)
def test_the_example_works_as_typed(memspan, monkeypatch, tmp_path, words):
    place = Path(sys.executable).parent
    if not (place / "memspan").exists():
        pytest.skip("the package is not installed beside this interpreter")
    ran = subprocess.run(
        ["sh", "-e", "-c", "\n".join(example(words, memspan, monkeypatch))],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{place}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    assert (ran.returncode, ran.stdout[:1] != "") == (0, True), ran.stderr


def options() -> list[tuple[str, TyperOption]]:
    command = typer.main.get_command(app)
    assert isinstance(command, TyperGroup)
    groups = [*command.commands.items(), *command.commands["data"].commands.items()]  # type: ignore[attr-defined]
    return [(name, parameter) for name, one in groups for parameter in one.params if isinstance(parameter, TyperOption)]


def test_every_option_is_explained():
    assert all((option.help or "").strip() for _, option in options())


def test_the_option_names_that_stay_are_there():
    names = {(command, word) for command, option in options() for word in option.opts}
    measuring = re.findall(
        r"\S+",
        "--as --documents --lags --max-lag --column --key --transform --levels --estimator --null --fit-above"
        " --level --workers --bits --out --json --seed --quiet",
    )
    assert names >= {(command, word) for command in ("measure", "compare") for word in measuring}
    training = re.findall(
        r"\S+",
        "--cell --hidden --layers --short-term --relevant --init --delay --data --updates --batch --seed --seeds"
        " --max-minutes --config --set --show-config --out --json --quiet --device --threads",
    )
    assert names >= {("train", word) for word in training}
    assert names >= {
        ("resume", "--updates"),
        ("resume", "--max-minutes"),
        ("evaluate", "--delay"),
        ("diagnose", "--delay"),
    }
    assert names >= {("measure", "--counts-only"), ("compare", "--expect"), ("reproduce", "--scale")}


def test_without_words_the_commands_are_listed(memspan):
    ran = memspan()
    assert ran.status == 0
    assert all(name in ran.out for name in ("measure", "compare", "reproduce", "report", "data", "bench", "demo"))
