"""`memspan demo`: a text that every machine has, a law that is known, networks for the text, and one that is exact."""

from __future__ import annotations

import json

import pytest

from memspan.errors import MissingExtraError
from memspan.reproductions.demo import KNOWN, library_source

TITLES = (
    "1. A text that every machine has",
    "2. A sequence whose answer is known",
    "3. A network that could remember it",
    "4. A network trained on it",
    "5. What the network generates, compared with what it read",
    "6. A computed network",
)


@pytest.fixture(autouse=True)
def _hurried(monkeypatch):
    """A network that learns for a second: trainings have tests of their own."""
    settings = {"updates": 10, "batch": 8, "validate_every": 10, "validation_batches": 2, "threads": 1}
    learner = {"task": {"data": "python", "steps": 20}, "cell": {"hidden": 8}, "training": settings}
    monkeypatch.setattr("memspan.reproductions.demo.LEARNER", learner)
    monkeypatch.setattr("memspan.reproductions.demo.GENERATED", 20_000)


def test_the_demo_tells_its_story(memspan, tmp_path):
    ran = memspan("demo", "--out", tmp_path)
    lines = ran.out.splitlines()
    assert ran.status == 0
    assert "standard library: reach " in lines[0]
    assert "; dependence visible to " in lines[0]
    assert lines[-6].startswith("power-law sequence: fitted exponent 0.")
    assert lines[-6].endswith("true exponent 0.4")
    assert lines[-5].startswith("minimal-rnn, bias mean 6: your data needs ")
    assert "these weights give 139, set the bias mean to " in lines[-5]
    assert "bits per character" in lines[-4]
    assert "source and network differ" in lines[-3]
    assert lines[-2].startswith("while True: 2 hidden units replay it forever (checked for 100,000 symbols), and no ")
    assert lines[-1] == f"written: {tmp_path / 'report.html'}"
    page = (tmp_path / "report.html").read_text()
    places = [page.index(title) for title in TITLES]
    assert places == sorted(places)
    assert "<script" not in page
    parts = {path.parent.name: json.loads(path.read_text()) for path in tmp_path.rglob("result.json")}
    assert set(parts) == {"python-source", "power-law", "network", "seed-0", "beside", "written"}
    assert "Beginning of network" in page
    assert len(parts["beside"]["sources"]["network"]["excerpt"]) == 600
    power = parts["power-law"]["laws"]["power"]
    low, high = power["intervals"]["exponent"]
    # The interval is one of 95 %; its width on either side again makes this seed's success no matter of luck.
    width = high - low
    assert low - width / 2 < KNOWN.exponent < high + width / 2
    assert power["parameters"]["exponent"] == pytest.approx(KNOWN.exponent, abs=0.04)
    assert parts["written"]["replay"] == 3 * "while True"
    assert parts["written"]["learnt"]["hidden_size"] == 2
    assert "6 results on one page" in memspan("report", tmp_path).out


def test_without_pytorch_no_network_is_taught(memspan, tmp_path, monkeypatch):
    def missing(what: str) -> None:
        raise MissingExtraError(what, "PyTorch", "models")

    monkeypatch.setattr("memspan.reproductions.demo.check_models", missing)
    monkeypatch.setattr("memspan.reproductions.demo.DOCUMENTS", 100)
    monkeypatch.setattr("memspan.reproductions.demo.LIBRARY_BYTES", 300_000)
    ran = memspan("demo", "--out", tmp_path)
    assert ran.status == 0
    assert "skipped: the training part of the demo needs PyTorch" in ran.err
    page = (tmp_path / "report.html").read_text()
    assert "4. A computed network" in page
    assert not (tmp_path / "learnt").exists()


def test_json_holds_both_measurements_the_exponent_and_both_networks(memspan, tmp_path, monkeypatch):
    monkeypatch.setattr("memspan.reproductions.demo.DOCUMENTS", 100)
    monkeypatch.setattr("memspan.reproductions.demo.LIBRARY_BYTES", 300_000)
    monkeypatch.setattr("memspan.cli.demo.write_folder", lambda *_, bits=False: None)  # drawing has its own tests
    plain = memspan("demo", "--out", tmp_path, "--json").plain
    assert (plain["command"], plain["true_exponent"]) == ("demo", 0.4)
    assert plain["report"] == str(tmp_path / "report.html")
    assert list(plain["sources"]) == ["python-source", "power-law"]
    assert plain["learnt"]["task"] == "characters"
    assert list(plain["beside"]["sources"]) == ["source", "network"]
    assert plain["network"]["wanted"]["timescale"] >= 1
    assert (plain["written"]["text"], plain["written"]["minimal"]) == ("while True", True)
    fitted = plain["sources"]["power-law"]["laws"]["power"]["parameters"]["exponent"]
    assert plain["fitted_exponent"] == fitted


def test_the_library_is_the_same_every_time_and_bounded():
    first, second = library_source(), library_source()
    assert first.fingerprint() == second.fingerprint()
    assert 1_000_000 < first.length <= 3_000_000
    assert first.n_documents > 10
