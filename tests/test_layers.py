"""Imports point downwards only, heavy libraries load late, and measuring never needs PyTorch."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYERS = [
    *("cli", "bench", "reproductions", "presentation", "memorization | decay", "information"),
    *("sequences | theory", "data", "engines", "results", "progress | errors | statistics"),
]
HEAVY = ("numba", "scipy", "matplotlib", "torch", "typer", "rich", "pooch", "fsspec", "numpy")


def loaded_by(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter has after running `code`."""
    show = "import sys; print(' '.join({name.partition('.')[0] for name in sys.modules}))"
    ran = subprocess.run([sys.executable, "-c", f"{code}\n{show}"], capture_output=True, text=True, check=True)
    return set(ran.stdout.split())


def contracts() -> list[dict]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]


def test_the_contract_names_the_layers_in_this_order():
    (layers,) = [contract for contract in contracts() if contract["type"] == "layers"]
    assert [layer for layer in layers["layers"] if layer in LAYERS] == LAYERS


def test_every_part_of_the_package_is_in_a_layer():
    (layers,) = [contract for contract in contracts() if contract["type"] == "layers"]
    named = {name.strip() for layer in layers["layers"] for name in layer.split("|")}
    parts = {path.stem for path in (ROOT / "src/memspan").iterdir() if path.is_dir() or path.suffix == ".py"}
    assert parts - {"__init__", "__main__", "__pycache__"} <= named


def test_no_import_breaks_a_contract():
    ran = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"], cwd=ROOT, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout


def test_importing_memspan_loads_nothing_heavy():
    assert not loaded_by("import memspan") & set(HEAVY)


def test_the_command_line_starts_without_the_numeric_libraries():
    code = "from memspan.cli import main; main(['--version'])"
    assert not loaded_by(code) & {"numpy", "numba", "scipy", "matplotlib", "torch", "pooch", "fsspec"}


@pytest.mark.parametrize(
    "words",
    [
        ["measure", "a.txt", "--out", "run", "--lags", "1:5"],
        ["compare", "a=a.txt", "b=a.txt", "--lags", "1:5"],
        ["predict", "rnn"],
        ["memorize", "abab"],
        ["reproduce", "list"],
        ["reproduce", "errata-02", "--scale", "smoke"],
        ["bench", "--help"],
    ],
    ids=lambda words: "-".join(words[:2]),
)
def test_what_needs_no_network_works_where_torch_cannot_be_imported(words, tmp_path):
    (tmp_path / "a.txt").write_text("abcdabdc" * 200)
    code = f"""
import sys
from importlib.abc import MetaPathFinder
class NoTorch(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ImportError("there is no torch here")
sys.meta_path.insert(0, NoTorch())
from memspan.cli import main
sys.exit(main({words!r}))
"""
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "run/report.html").exists() == ("--out" in words)
