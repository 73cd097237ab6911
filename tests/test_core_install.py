"""The core install, without PyTorch and without any extra, measures and compares."""

from __future__ import annotations

import json
import subprocess
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.slow
def test_measure_and_compare_run_on_a_core_install(tmp_path: Path) -> None:
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", ROOT]
    subprocess.run(install, check=True, timeout=600)
    listed = subprocess.run([python, "-m", "pip", "list"], check=True, capture_output=True, text=True).stdout
    assert not {"torch", "scikit-learn", "pytest"} & set(listed.lower().split())
    text = tmp_path / "text.txt"
    text.write_text(Path(json.__file__).read_text(encoding="utf-8") * 2, encoding="utf-8")
    tool = tmp_path / "env" / "bin" / "memspan"
    measured = subprocess.run(
        [tool, "measure", text, "--json", "--out", tmp_path / "out"], check=True, capture_output=True, text=True
    )
    assert json.loads(measured.stdout)["span"]["lag"] > 0
    assert (tmp_path / "out" / "report.html").exists()
    compared = subprocess.run(
        [tool, "compare", f"a={text}", f"b={text}", "--json"], check=True, capture_output=True, text=True
    )
    assert json.loads(compared.stdout)["pairs"][0]["verdict"] in {"alike", "undecided"}
