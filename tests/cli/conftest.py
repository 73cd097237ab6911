"""What the tests of the command line share: commands run in this process, and data whose answer is known."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import pytest

from memspan.cli import main
from memspan.sequences.sources import MarkovChain


@final
@dataclass(frozen=True)
class Ran:
    """How a command ended and what it printed."""

    status: int
    out: str
    err: str

    @property
    def plain(self) -> dict[str, Any]:
        """The one JSON object on standard output."""
        assert self.out.count("\n") == 1, self.out
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """The one line of a refused command."""
        assert self.status == 2, (self.status, self.out, self.err)
        assert self.out == ""
        lines = [line for line in self.err.splitlines() if line.startswith("error: ")]
        assert len(lines) == 1, self.err
        assert self.err.endswith(f"{lines[0]}\n")
        assert "Traceback" not in self.err
        return lines[0]


Run = Callable[..., Ran]


@pytest.fixture
def memspan(capsys: pytest.CaptureFixture[str]) -> Run:
    """`memspan(*words)` as if typed."""

    def run(*words: object) -> Ran:
        capsys.readouterr()
        status = main([str(word) for word in words])
        captured = capsys.readouterr()
        return Ran(status, captured.out, captured.err)

    return run


def chain_text(stay: float, length: int, seed: int) -> str:
    """A chain of four letters that stays where it is with probability `stay`."""
    symbols = MarkovChain.lazy(4, stay=stay).sample(1, length, seed=seed)
    return bytes(symbols.store.read(0, length) + ord("a")).decode()


@pytest.fixture(scope="session")
def novel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """20,000 letters with a short memory, in novel.txt."""
    path = tmp_path_factory.mktemp("novel") / "novel.txt"
    path.write_text(chain_text(0.8, 20_000, seed=0))
    return path


@pytest.fixture(scope="session")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another sample of the same chain."""
    path = tmp_path_factory.mktemp("twin") / "twin.txt"
    path.write_text(chain_text(0.8, 20_000, seed=1))
    return path


@pytest.fixture(scope="session")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A chain that forgets sooner."""
    path = tmp_path_factory.mktemp("stranger") / "stranger.txt"
    path.write_text(chain_text(0.5, 20_000, seed=2))
    return path
