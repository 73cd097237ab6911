"""Files of the first edition are still read: results, run folders and counts; no JSON field and no option is missing.

`tests/older` holds files that commit 83aba86 wrote: the result of every command, three small runs without their figures,
and the pair counts of `text.txt`.
"""

from __future__ import annotations

import html
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from typer.core import TyperGroup

import memspan as ms
from memspan.cli.app import app
from memspan.presentation import present
from memspan.presentation.presenter import read_result
from memspan.results import Sample

OLDER = Path(__file__).parents[1] / "older"
RESULTS = sorted((OLDER / "results").glob("*.json"))
every_result = pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)


def plain(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def fields(value: Any, path: str = "") -> set[str]:
    """The paths of all fields of a JSON object; entries of a list share a path."""
    if isinstance(value, dict):
        return set().union(*({f"{path}.{name}"} | fields(one, f"{path}.{name}") for name, one in value.items()))
    if isinstance(value, list):
        return set().union(*(fields(one, f"{path}[]") for one in value))
    return set()


def result(path: Path) -> Any:
    """The stored result; a sample is only printed, never shown again by `memspan report`."""
    return Sample.from_json(plain(path)) if path.stem == "sample" else read_result(path)


@pytest.fixture
def run(tmp_path):
    """A copy of an older run, which a command may write to."""

    def copy(name: str) -> Path:
        return Path(shutil.copytree(OLDER / name, tmp_path / name))

    return copy


def test_every_command_with_a_result_is_covered():
    assert {plain(path)["command"] for path in RESULTS} >= {
        *("measure", "compare", "predict", "memorize", "train", "evaluate", "sample", "diagnose", "reproduce")
    }


@every_result
def test_a_result_is_read_without_losing_a_field(path):
    before = plain(path)
    after = {name: before[name] for name in ("schema", "command", "version")} | result(path).to_json()
    assert fields(before) <= fields(json.loads(json.dumps(after, default=float)))
    for name, value in before.items():
        if isinstance(value, str | int | float | bool):
            assert after[name] == value, name


@every_result
def test_a_result_is_presented_in_full(path, memspan, tmp_path):
    presenter = present(result(path))
    assert presenter.sentence()
    assert list(presenter.blocks())
    if plain(path)["command"] != "sample":  # a sample has no page
        folder = tmp_path / "result"
        folder.mkdir()
        shutil.copy(path, folder / "result.json")
        assert memspan("report", folder).status == 0
        assert html.escape(presenter.title(), quote=False) in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("measure", ["measure", OLDER / "text.txt", "--max-lag", "40"]),
        ("predict", ["predict", "minimal-rnn"]),
        ("predict-attention", ["predict", "attention"]),
        ("predict-linear", ["predict", "linear"]),
        ("memorize", ["memorize", "abracadabra"]),
    ],
)
def test_a_command_still_prints_every_field(name, words, memspan):
    ran = memspan(*words, "--json", "--quiet")
    assert ran.status == 0, ran.err
    # The laws of another sequence may have other parameters.
    before = {field for field in fields(plain(OLDER / f"results/{name}.json")) if not field.startswith(".laws.")}
    assert before - fields(json.loads(ran.out)) == set()


def test_counts_are_those_of_the_text():
    parts = [ms.PairCounts.load(path) for path in sorted((OLDER / "counts").glob("*.counts"))]
    merged = sum(parts[1:], parts[0])
    counted = ms.count_pairs(ms.read(OLDER / "text.txt"), lags=merged.lags)
    assert np.array_equal(merged.pairs, counted.pairs)
    for lag in merged.lags:
        assert np.array_equal(merged.joint(lag), counted.joint(lag))


def test_an_older_training_is_evaluated_and_resumed(memspan, run):
    folder = run("run-copy")
    ran = memspan("evaluate", folder, "--batches", "1", "--json", "--quiet")
    assert ran.status == 0, ran.err
    assert fields(plain(OLDER / "results/evaluate.json")) <= fields(json.loads(ran.out))
    ran = memspan("resume", folder, "--updates", "25", "--json", "--quiet")
    assert ran.status == 0, ran.err
    resumed = json.loads(ran.out)
    assert resumed["updates"] == 25
    assert fields(plain(OLDER / "results/train.json")) <= fields(resumed)


def test_an_older_language_model_is_sampled(memspan, run):
    ran = memspan("sample", run("run-characters"), "--length", "50", "--json", "--quiet")
    assert ran.status == 0, ran.err
    assert fields(plain(OLDER / "results/sample.json")) <= fields(json.loads(ran.out))


def test_an_older_agent_is_evaluated(memspan, run):
    pytest.importorskip("minigrid")
    ran = memspan("evaluate", run("run-gridworld"), "--episodes", "2", "--json", "--quiet")
    assert ran.status == 0, ran.err
    assert json.loads(ran.out)["cell"] == "rel-lstm"


def test_no_option_is_missing():
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    for command, options in plain(OLDER / "options.json").items():
        today = {name for one in group.commands[command].params for name in (*one.opts, *one.secondary_opts)}
        assert set(options) <= today, command
