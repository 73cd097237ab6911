"""`memspan sample`, and models as sources: what is written, kept and measured, and what is refused."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import pytest

from memspan.cli import main
from memspan.results import Comparison, Evaluation, Measurement, Sample, TrainingRun
from memspan.sequences import read

TEXT = "the cat sat on the mat\nthe dog sat on the cat\n" * 40


def small(word: str, cell: str, folder: Path, out: Path, *more: object) -> None:
    words = (
        *("train", word, "--cell", cell, "--hidden", 8, "--updates", 12, "--threads", 1, "--out", out),
        *("--set", "training.validation_batches=2", "--set", "training.validation_size=2", "--quiet"),
        *("--set", "training.batch=4"),
    )
    data = () if word == "binary" else ("--set", f"task.data={folder}", "--set", "task.steps=10")
    assert main([str(one) for one in (*words, *data, *more)]) == 0


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of four kinds beside a folder of texts."""
    root = tmp_path_factory.mktemp("sample")
    (root / "texts").mkdir()
    for split in ("train", "valid", "test"):
        (root / f"texts/{split}.txt").write_text(TEXT)
    small("characters", "gru", root / "texts", root / "characters")
    small("words", "gru", root / "texts", root / "words", "--set", "model.embedding=6")
    small("characters", "transformer", root / "texts", root / "transformer")
    small("binary", "rnn", root, root / "binary", "--set", "task.length=16", "--set", "task.sequences=40")
    return root


@pytest.fixture
def characters(made, tmp_path) -> Path:
    shutil.copytree(made / "characters", tmp_path / "run")
    return tmp_path / "run"


def test_without_a_file_the_first_text_is_shown_under_the_sentence(memspan, made):
    run = made / "characters"
    ran = memspan("sample", run, "--length", 60)
    first, *rest = ran.out.splitlines()
    assert first == (f"run:{run}: 60 characters in 1 text, by gru, trained on characters for 12 updates")
    assert f"next  memspan measure run:{run}" in "\n".join(rest)


def test_the_file_holds_what_is_told_and_is_read_as_documents(memspan, made, tmp_path):
    file = tmp_path / "deep/sample.txt"
    words = ("--length", 300, "--streams", 3, "--seed", 4)
    result = Sample.from_json(memspan("sample", made / "characters", *words, "--save", file, "--json").plain)
    assert (result.streams, result.each, result.length, result.characters) == (3, 100, 300, 300)
    assert result.path == str(file)
    sequence = read(str(file), documents=result.documents)
    assert (sequence.n_documents, sequence.length) == (3, 300)
    again = Sample.from_json(memspan("sample", made / "characters", *words, "--json").plain)
    assert again.excerpt == result.excerpt == file.read_text()[:100]
    assert (again.path, again.documents) == (None, None)


@pytest.mark.parametrize("name", ["characters", "words", "transformer", "binary"])
def test_every_kind_of_run_writes_in_its_own_symbols_and_a_seed_gives_the_same(memspan, made, name):
    words = ("sample", made / name, "--length", 40, "--streams", 2, "--json")
    one, two, other = (Sample.from_json(memspan(*words, "--seed", seed).plain).excerpt for seed in (1, 1, 2))
    assert one == two != other
    known = {"binary": set("01")}.get(name, set(TEXT))
    assert set(one) <= known


def test_a_transformer_looks_back_as_far_as_it_was_trained_to_or_as_told(memspan, made):
    asked = ("sample", made / "transformer", "--length", 30, "--json")
    assert memspan(*asked).plain["context"] == 10
    assert memspan(*asked, "--context", 4).plain["context"] == 4
    assert memspan("sample", made / "characters", "--length", 30, "--json").plain["context"] is None


def test_likeliest_symbols_only_is_the_same_for_every_seed(memspan, made):
    words = ("sample", made / "characters", "--length", 30, "--json")
    cold = [memspan(*words, "--temperature", 0, "--seed", seed).plain["excerpt"] for seed in (1, 2)]
    only = [memspan(*words, "--top-k", 1, "--seed", seed).plain["excerpt"] for seed in (1, 2)]
    assert len({*cold, *only}) == 1


def test_a_run_needs_its_vocabulary_and_not_its_data(memspan, made, characters, tmp_path):
    shutil.copytree(made / "texts", tmp_path / "texts")
    plain = json.loads((characters / "config.json").read_text())
    plain["task"]["data"] = str(tmp_path / "gone")
    (characters / "config.json").write_text(json.dumps(plain))
    assert memspan("sample", characters, "--length", 20, "--json").plain["characters"] == 20
    vocabulary = characters / "vocabulary.json"
    kept = vocabulary.read_text()
    vocabulary.write_text(kept.replace('"a", ', ""))
    assert "size mismatch" in memspan("sample", characters).error
    vocabulary.unlink()
    plain["task"]["data"] = str(tmp_path / "texts")
    (characters / "config.json").write_text(json.dumps(plain))
    assert "has no vocabulary.json" in memspan("sample", characters).error


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--top-p", 1.5), "top_p is 1.5; expected a probability above 0, at most 1"),
        (("--top-p", 0), "top_p is 0.0; expected a probability above 0, at most 1"),
        (("--top-k", 0), "top_k is 0; expected a whole number of 1 or more"),
        (("--length", 0), "Invalid value for '--length'"),
        (("--temperature", -1), "Invalid value for '--temperature'"),
        (("--save", "."), "--save . is a folder; expected a file to write"),
    ],
)
def test_a_wrong_request_is_told_in_one_line(memspan, made, words, told):
    assert memspan("sample", made / "characters", *words).error.startswith(f"error: {told}")


def test_a_run_that_learnt_no_text_is_refused(memspan, tmp_path):
    run = tmp_path / "copy"
    memspan(*("train", "copy", "--cell", "gru", "--hidden", 4, "--delay", 2, "--updates", 2, "--out", run))
    assert memspan("sample", run).error == (
        f"error: {run} was trained on copy, which is not a text to continue; give a run of binary, characters, words"
    )


def test_what_a_run_writes_is_measured_as_the_file_of_it_would_be(memspan, made, tmp_path):
    run, file = made / "words", tmp_path / "sample.txt"
    asked = ("--lags", "1:20", "--null", "independent", "--json")
    direct = Measurement.from_json(memspan("measure", f"run:{run}", "--sample", 4000, *asked).plain)
    saved = memspan("sample", run, "--length", 4000, "--save", file, "--json").plain
    by_file = Measurement.from_json(memspan("measure", file, "--documents", saved["documents"], *asked).plain)
    assert direct.curve.corrected.tolist() == by_file.curve.corrected.tolist()
    assert direct.symbols == "chars"
    assert any("sampled from gru, trained on words" in note for note in direct.notes)


def test_a_model_and_its_data_side_by_side(memspan, made):
    sources = (f"data={made / 'texts/train.txt'}", f"model=run:{made / 'characters'}")
    ran = memspan("compare", *sources, "--sample", 1500, "--lags", "1:10", "--json")
    assert set(Comparison.from_json(ran.plain).sources) == {"data", "model"}


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("other.txt",), "is a model and cannot be read together with other sources"),
        (("--as", "words"), "is measured by the characters it generates"),
        (("--documents", "line"), "is measured by the characters it generates"),
    ],
)
def test_a_model_is_a_source_by_itself(memspan, made, more, told):
    assert told in memspan("measure", f"run:{made / 'characters'}", *more).error


def test_texts_are_judged_by_bits_per_character_and_perplexity(memspan, made):
    by_characters = memspan("evaluate", made / "characters")
    by_words = memspan("evaluate", made / "words")
    result = Evaluation.from_json(json.loads((made / "words/evaluation/result.json").read_text()))
    assert " bits per character (without memory " in by_characters.out.splitlines()[0]
    assert f"perplexity {math.exp(result.loss):.3g}" in by_words.out.splitlines()[0]
    assert result.accuracy is None
    trained = TrainingRun.from_json(json.loads((made / "words/result.json").read_text()))
    assert trained.accuracy is None
    assert math.isclose(trained.baseline, result.transfer[0].baseline)
