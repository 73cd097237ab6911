"""A new law, cell, task, estimator, source or recipe takes one entry; help, JSON, reports and errors then name it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

# What a contributor writes: one class or function, and one line in the catalog. `leaky` stands for a new file of cells.
PLUGIN = """
import sys
from dataclasses import dataclass

import numpy as np

from memspan.bench import calibration
from memspan.cells import CELLS
from memspan.cells.base.cell import Cell
from memspan.cells.plain.vanilla import VanillaLayer
from memspan.decay.laws import INFORMATION, LAWS, NUMBER, Law
from memspan.information.estimators import ESTIMATORS, EntropyEstimator
from memspan.reproductions import RECIPES
from memspan.reproductions.recipe import Computed, Outcome, Scale
from memspan.results import Claim
from memspan.sequences.sources import MarkovChain
from memspan.tasks.catalog import CATALOG, TaskFacts


class Logarithmic(Law):
    name, label, description = "logarithmic", "logarithmic law", "Every doubling of the lag costs the same amount."
    units = {"amplitude": INFORMATION, "slope": INFORMATION, "sharpness": NUMBER}

    def formula(self, tau, *parameters):
        amplitude, slope, sharpness = parameters
        return np.maximum(amplitude - slope * np.log(tau) ** np.clip(sharpness, 0.1, 3.0), 1e-12)

    def starts(self, tau, information):
        return [(float(information[0]), float(information[0]) / 10, 1.0)]


LAWS["logarithmic"] = Logarithmic()


@dataclass(frozen=True)
class Halved(EntropyEstimator):
    name = "halved"

    def weight(self, n):
        return np.log(n)

    def offset(self, kinds, total):
        return (kinds - 1) / (4 * total)


ESTIMATORS["halved"] = Halved()


class LeakyRNN(Cell):
    kind, label, description = VanillaLayer, "leaky RNN", "RNN that leaks"


sys.modules["memspan.cells.leaky"] = sys.modules[__name__]
CELLS.places["leaky-rnn"] = "leaky:LeakyRNN"
CATALOG["echo"] = TaskFacts(
    word="echo",
    implementation="plugin:Echo",
    description="repeat ten symbols",
    explanation="Ten symbols must be repeated after a while.",
    answers="echoes",
)


def __getattr__(name):
    if name != "Echo":
        raise AttributeError(name)
    from memspan.tasks import Copy

    @dataclass(frozen=True, kw_only=True)
    class Echo(Copy):
        facts = CATALOG["echo"]

    globals()[name] = Echo
    return Echo


def check(*, numbers, seed, progress):
    return Outcome((Claim("Two and two are four.", 4.0, None, 4.0, 0.1, True),), ())


RECIPES["arithmetic"] = Computed(
    id="arithmetic",
    title="Sums are right",
    source="A test, section 1",
    run=check,
    work="{numbers} sums",
    sizes={scale: Scale("a second", {"numbers": 2}) for scale in ("smoke", "laptop", "paper")},
)
every_case = calibration.cases
calibration.cases = lambda *, full: [
    *every_case(full=full), calibration.Case("coin", lambda: MarkovChain.lazy(2, stay=0.9), 3_000)
]
"""
MARK = "=====\n"
TRAIN = ("train", "echo", "--cell", "leaky-rnn", "--delay", "3", "--hidden", "8", "--updates", "2", "--threads", "1")
COMMANDS: dict[str, tuple[str, ...]] = {
    "measure help": ("measure", "--help"),
    "measure": ("measure", "text.txt", "--estimator", "halved", "--out", "measured", "--json"),
    "measure table": ("measure", "text.txt", "--estimator", "halved"),
    "estimator error": ("measure", "text.txt", "--estimator", "halve"),
    "train help": ("train", "--help"),
    "train": (*TRAIN, "--out", "trained", "--json"),
    "task error": ("train", "ecko"),
    "cell error": ("train", "echo", "--cell", "leaky-rn"),
    "list": ("reproduce", "list"),
    "reproduce": ("reproduce", "arithmetic", "--scale", "smoke", "--out", "reproduced", "--json"),
    "recipe error": ("reproduce", "arithmetc"),
    "calibration": ("bench", "calibration", "--source", "coin", "--seeds", "1", "--out", "calibrated", "--json"),
    "source error": ("bench", "calibration", "--source", "nothing"),
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory) -> tuple[dict[str, str], Path]:
    """The output of every command with the plugin, and the folder in which they ran."""
    folder = tmp_path_factory.mktemp("extension")
    (folder / "plugin.py").write_text(PLUGIN)
    generate = "from memspan.sequences.sources import MarkovChain as M; import sys; s = M.lazy(3, stay=0.9)"
    code = f"""
{generate}
text = s.sample(1, 20_000, seed=0).store.read(0, 20_000)
open("text.txt", "w").write(bytes(text + ord("a")).decode())
import plugin
from memspan.cli import main
for words in {list(COMMANDS.values())!r}:
    main([*words, *(() if "--help" in words or words[-1] == "list" else ("--quiet",))])
    print({MARK!r}, end="", flush=True)
"""
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "200", "TERM": "dumb"},
    )
    parts = ran.stdout.split(MARK)
    assert len(parts) == len(COMMANDS) + 1, ran.stdout
    return dict(zip(COMMANDS, parts[:-1], strict=True)), folder


@pytest.fixture
def output(answers) -> Callable[[str], str]:
    return lambda name: answers[0][name]


@pytest.fixture
def page(answers) -> Callable[[str], str]:
    return lambda name: (answers[1] / name / "report.html").read_text(encoding="utf-8")


def test_a_law_is_in_the_json_and_the_report_with_its_units(output, page):
    fit = json.loads(output("measure"))["laws"]["logarithmic"]
    assert set(fit["parameters"]) == {"amplitude", "slope", "sharpness"}
    (row,) = [line for line in page("measured").split("<tr") if "logarithmic law" in line and "sharpness" in line]
    parameters = row.partition("</td><td>")[2].partition("</td>")[0]
    assert parameters.count("nats") == 2  # amplitude and slope; the sharpness has no unit


def test_an_estimator_is_in_the_help_the_json_the_table_and_the_error(output, page):
    assert "halved" in output("measure help")
    assert json.loads(output("measure"))["estimator"] == "halved"
    assert "halved, floor from" in output("measure table")
    assert "halved" in page("measured")
    assert "did you mean halved?" in output("estimator error")


def test_a_task_is_in_the_help_the_json_the_report_and_the_error(output, page):
    assert "echo, repeat ten symbols" in " ".join(output("train help").replace("│", " ").split())
    result = json.loads(output("train"))
    assert (result["task"], result["config"]["task"]["delay"]) == ("echo", 3)
    assert "Ten symbols must be repeated after a while." in page("trained")
    assert "of echoes correct" in page("trained")
    assert "did you mean echo?" in output("task error")


def test_a_cell_is_in_the_help_the_json_the_report_and_the_error(output, page):
    assert "leaky-rnn" in output("train help")
    assert json.loads(output("train"))["cell"] == "leaky-rnn"
    assert "leaky-rnn" in page("trained")
    assert "did you mean leaky-rnn?" in output("cell error")


def test_a_recipe_is_in_the_list_the_json_the_report_and_the_error(output, page):
    assert "Sums are right" in output("list")
    result = json.loads(output("reproduce"))
    assert (result["id"], result["claims"][0]["holds"]) == ("arithmetic", True)
    assert "A test, section 1" in page("reproduced")
    assert "did you mean arithmetic?" in output("recipe error")


def test_a_source_is_in_the_json_the_report_and_the_error(output, page):
    (source,) = json.loads(output("calibration"))["calibration"]
    assert source["name"] == "coin"
    assert "coin" in page("calibrated")
    assert "coin" in output("source error")
