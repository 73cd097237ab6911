"""`memspan evaluate` of texts: what the network writes, in the sentence, the table, the JSON and the report."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import final

import numpy as np
import pytest

from memspan.cli import main
from memspan.diagnostics.generated_text import GeneratedText, PlainModel, with_generated_text
from memspan.objectives import Critic
from memspan.objectives.segment_information import FOLDS
from memspan.progress import SILENT, Progress, Stage
from memspan.results import Evaluation
from memspan.training.supervised.evaluation import evaluate_run

SMALL = (
    *("--hidden", 8, "--updates", 10, "--threads", 1, "--batch", 4, "--quiet"),
    *("--set", "training.validation_batches=1", "--set", "task.steps=10", "--set", "model.embedding=8"),
)
BOTH = ("--segment-information", "--reverse-perplexity", "--length", 8_000)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    letters = np.random.default_rng(0).choice(list("abc "), 18_000)
    for split in ("train", "valid", "test"):
        (folder / f"{split}.txt").write_text("".join(letters[:6_000]) + "\n")
        letters = letters[6_000:]
    words = ("train", "characters", "--data", folder, *SMALL, "--out", folder / "run")
    assert main([str(word) for word in words]) == 0
    return folder / "run"


@pytest.fixture
def run(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Fewer folds than the usual ten, and a critic and a fresh model that learn for a second only."""
    assert FOLDS == 10
    critic = Critic(width=4, hidden=4, updates=10, look=5, pairs=20, batch=16)
    plain = PlainModel(hidden=4, batch=4, steps=10, passes=1)
    for method, name, value in (
        (GeneratedText.segments, "critic", critic),
        (GeneratedText.segments, "folds", 3),
        (GeneratedText.reverse, "plain", plain),
    ):
        assert method.__kwdefaults__ is not None
        monkeypatch.setitem(method.__kwdefaults__, name, value)
    shutil.copytree(made, tmp_path / "run")
    return tmp_path / "run"


def test_both_are_told_in_the_sentence_the_table_and_the_report(memspan, run):
    ran = memspan("evaluate", run, *BOTH)
    first, *rest = ran.out.splitlines()
    assert "; information of its segments " in first
    assert ", of those of the text " in first
    assert "; reverse " in first
    assert first.endswith(" bits per character")
    shown = [line.split("  ")[0] for line in rest]
    wanted = ["segments, generated", "segments, training", "folds", "reverse, test", "reverse, valid"]
    assert [name for name in shown if name in wanted] == wanted
    page = (run / "evaluation/report.html").read_text(encoding="utf-8")
    assert "Generated text" in page
    assert "A new language model" in page


@final
class Listener(Progress):
    """Remembers what is being done."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def stage(self, name: str, total: float, done: float = 0.0) -> Stage:
        self.names.append(name)
        return SILENT.stage(name, total, done)

    def say(self, remark: str) -> None:
        raise AssertionError(remark)


def test_each_part_of_the_work_is_told(run):
    listener = Listener()
    with_generated_text(evaluate_run(run), run, segments=True, reverse=True, length=8_000, progress=listener)
    wanted = [f"segments of the {whose} text" for whose in ("generated", "training")]
    assert listener.names[-3:] == [*wanted, "training on generated text"]
    assert len(listener.names) > 3  # the writing itself


def test_an_interrupt_says_that_nothing_is_kept(memspan, run, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("memspan.diagnostics.generated_text.segment_information", interrupted)
    ran = memspan("evaluate", run, "--segment-information", "--length", 8_000)
    assert ran.status == 130
    assert f"nothing was saved of the evaluation; {run} is unchanged; run the same command to start over" in ran.err
    assert not (run / "evaluation").exists()


def test_the_time_that_it_took_is_told(memspan, run):
    ran = memspan("evaluate", run, "--segment-information", "--length", 8_000)
    assert [line for line in ran.out.splitlines() if line.startswith("time ")]


def test_json_has_both_or_null_and_a_seed_gives_the_same(memspan, run):
    plain = memspan("evaluate", run, *BOTH, "--seed", 3, "--json").plain
    found = Evaluation.from_json(plain)
    assert found.segment_information is not None
    assert found.reverse_perplexity is not None
    segments, reverse = found.segment_information, found.reverse_perplexity
    assert (segments.symbols, segments.streams, segments.length, segments.gap) == (6_000, 6, 40, 10)
    assert len(segments.written.folds) == len(segments.real.folds) == 3
    assert segments.written.interval[0] <= segments.written.nats <= segments.written.interval[1]
    assert (reverse.symbols, reverse.seed, segments.seed) == (8_000, 3, 3)
    assert any("6,000 symbols are compared" in note for note in found.notes)
    again, other = (memspan("evaluate", run, *BOTH, "--seed", seed, "--json").plain for seed in (3, 4))
    assert again["segment_information"] == plain["segment_information"] != other["segment_information"]
    assert again["reverse_perplexity"] == plain["reverse_perplexity"] != other["reverse_perplexity"]
    alone = memspan("evaluate", run, "--reverse-perplexity", "--length", 8_000, "--json").plain
    assert alone["segment_information"] is None
    assert alone["reverse_perplexity"]["valid_loss"] > 0
    assert "NaN" not in json.dumps(plain)


def test_what_is_no_text_is_refused_before_anything_is_judged(memspan, tmp_path):
    out = tmp_path / "copied"
    settings = ("--set", "training.validation_size=10", "--set", "training.validation_batches=1")
    words = ("--cell", "gru", "--hidden", 4, "--delay", 2, "--updates", 2, "--threads", 1)
    memspan("train", "copy", *words, *settings, "--out", out)
    for option in ("--segment-information", "--reverse-perplexity"):
        assert memspan("evaluate", out, option).error == (
            f"error: {out} was trained on copy, which is not a text; --segment-information and --reverse-perplexity "
            "require a run of characters or words; omit them"
        )
    assert not (out / "evaluation").exists()


def test_too_little_writing_is_refused(memspan, run):
    assert memspan("evaluate", run, "--reverse-perplexity", "--length", 10).error.startswith(
        "error: Invalid value for '--length'"
    )
    assert "non-overlapping pairs of segments, of 90 symbols each; expected 20 or more" in (
        memspan("evaluate", run, "--segment-information", "--length", 1_000).error
    )


def test_a_text_that_has_changed_since_is_refused(memspan, run):
    kept = run / "vocabulary.json"
    kept.write_text(kept.read_text().replace('"c"', '"d"'))
    told = memspan("evaluate", run, "--segment-information", "--length", 8_000).error
    assert told.startswith(
        f"error: the text that {run} was trained on has changed: its symbols differ from vocabulary.json"
    )
