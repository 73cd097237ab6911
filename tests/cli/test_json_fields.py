"""The fields of every command's JSON: they may be added to, not renamed."""

from __future__ import annotations

import math

import pytest

from memspan import __version__
from memspan.results import Benchmark, BenchReport

EVERYWHERE = {"schema", "command", "version"}
MEASURE = {
    *("paths", "symbols", "documents", "length", "alphabet", "entropy", "estimator", "unit", "lags"),
    *("information", "floor", "floor_sd", "corrected", "stderr", "pairs", "significant", "span", "reach"),
    *("best_law", "laws", "seconds"),
}
PREDICT = {
    *("cell", "settings", "q", "Q", "c", "chi", "chi1", "timescale", "timescale_kind", "variance_timescale"),
    *("phase", "branches", "jacobian"),
}
MEMORIZE = {*("text", "alphabet", "period", "method", "hidden_size", "minimal", "margin", "verified_symbols", "replay")}
TRAIN = {"task", "cell", "parameter_count", "updates", "seconds", "loss", "accuracy", "run"}
OF_TEXTS = {"characters": "bits_per_character", "words": "perplexity"}
SAMPLE = {"length", "seconds", "path", "streams", "each", "characters", "excerpt"}
DIAGNOSE = {
    *("run", "task", "cell", "update", "steps", "sequences", "gradients", "attention", "relevant", "jacobian"),
    *("context", "costs", "seconds"),
}
ALONG_LAGS = {*("information", "floor", "floor_sd", "corrected", "stderr", "pairs", "significant")}
LAWS = {
    "exponential": {"amplitude", "length"},
    "power": {"amplitude", "exponent"},
    "exponential+constant": {"amplitude", "length"},
    "cutoff-power": {"amplitude", "exponent", "length"},
    "exponential+power": {"amplitude", "length", "exponent"},
    "stretched": {"amplitude", "length"},
}


def check_measurement(plain: dict) -> None:
    assert plain.keys() >= MEASURE
    assert {name: len(plain[name]) for name in ALONG_LAGS} == dict.fromkeys(ALONG_LAGS, len(plain["lags"]))
    assert plain["span"].keys() == {"lag", "censored", "interval"}
    assert plain["reach"].keys() >= {"lag", "level", "interval"}
    assert plain["best_law"] in (plain["laws"] or [None])
    for name, law in plain["laws"].items():
        assert law.keys() >= {"parameters", "intervals", "weight"}
        assert law["parameters"].keys() >= LAWS[name]


def check_everywhere(plain: dict, command: str) -> None:
    assert plain.keys() >= EVERYWHERE
    assert (plain["schema"], plain["command"], plain["version"]) == (1, command, __version__)


def test_measure(memspan, novel):
    plain = memspan("measure", novel, "--json").plain
    check_everywhere(plain, "measure")
    check_measurement(plain)
    assert set(plain["laws"]) == set(LAWS)


def test_memorize(memspan):
    plain = memspan("memorize", "abracadabra", "--json").plain
    check_everywhere(plain, "memorize")
    assert plain.keys() >= MEMORIZE
    assert (plain["text"], plain["period"], plain["hidden_size"]) == ("abracadabra", 11, 2)
    assert (plain["method"], plain["minimal"]) == ("spectral", True)
    assert plain["verified_symbols"] >= 100_000


def test_train_evaluate_and_diagnose(memspan, tmp_path):
    words = ("--cell", "gru", "--hidden", 8, "--delay", 3, "--updates", 5, "--threads", 1, "--out", tmp_path / "run")
    settings = ("--set", "training.validation_size=10", "--set", "training.validation_batches=1")
    plain = memspan("train", "copy", *words, *settings, "--json").plain
    check_everywhere(plain, "train")
    assert plain.keys() >= TRAIN
    assert (plain["task"], plain["cell"], plain["updates"]) == ("copy", "gru", 5)
    delays = ("--delay", 4, "--delay", 5, "--batches", 1, "--size", 10)
    found = memspan("evaluate", tmp_path / "run", *delays, "--json").plain
    check_everywhere(found, "evaluate")
    assert found.keys() >= TRAIN
    assert [one["delay"] for one in found["transfer"]] == [4, 5]
    assert found["accuracy"] == found["transfer"][-1]["accuracy"]
    seen = memspan("diagnose", tmp_path / "run", "--no-costs", "--sequences", 2, "--json").plain
    check_everywhere(seen, "diagnose")
    assert seen.keys() >= DIAGNOSE


@pytest.mark.parametrize("task", OF_TEXTS)
def test_texts_and_what_is_written(memspan, tmp_path, task):
    for split in ("train", "valid", "test"):
        (tmp_path / f"{split}.txt").write_text("the cat sat on the mat\n" * 30)
    run = tmp_path / "run"
    words = ("--data", tmp_path, "--cell", "gru", "--hidden", 4, "--updates", 2, "--batch", 2, "--threads", 1)
    found = memspan(
        *("train", task, *words, "--out", run, "--json", "--set", "task.steps=5", "--set", "model.embedding=4")
    ).plain
    judged = memspan("evaluate", run, "--json").plain
    for plain in (found, judged):
        told = {"characters": math.log2(math.e) * plain["loss"], "words": math.exp(plain["loss"])}
        assert plain[OF_TEXTS[task]] == pytest.approx(told[task])
        assert plain["accuracy"] is None
    written = memspan("sample", run, "--length", 20, "--streams", 2, "--json").plain
    check_everywhere(written, "sample")
    assert written.keys() >= SAMPLE
    assert (written["length"], written["each"], written["path"]) == (20, 10, None)


def test_compare(memspan, novel, stranger):
    plain = memspan("compare", f"a={novel}", f"b={stranger}", "--max-lag", 30, "--json").plain
    check_everywhere(plain, "compare")
    assert plain.keys() >= {"size", "sources", "pairs"}
    for source in plain["sources"].values():
        check_measurement(source)
    assert plain["pairs"][0].keys() >= {"a", "b", "verdict", "p_value", "different_lags"}
    assert plain["pairs"][0]["verdict"] in ("alike", "different", "undecided")


def test_reproduce(memspan):
    plain = memspan("reproduce", "errata-02", "--scale", "smoke", "--json").plain
    check_everywhere(plain, "reproduce")
    assert plain.keys() >= {"id", "scale", "claims", "seconds"}
    assert plain["claims"]
    for claim in plain["claims"]:
        assert claim.keys() >= {"claim", "paper", "corrected", "measured", "tolerance", "holds"}


@pytest.mark.parametrize("cell", ["rnn", "minimal-rnn", "lstm", "gru"])
def test_predict(memspan, cell):
    plain = memspan("predict", cell, "--json").plain
    check_everywhere(plain, "predict")
    assert plain.keys() >= PREDICT
    assert plain["cell"] == cell
    assert plain["timescale_kind"] in ("finite", "infinite", "undefined")
    assert plain["phase"] in ("ordered", "critical", "chaotic")
    assert plain["jacobian"].keys() >= {"mean", "variance"}
    assert plain["branches"]


@pytest.mark.parametrize("kind", ["linear", "attention"])
def test_predict_of_what_is_no_cell(memspan, kind):
    plain = memspan("predict", kind, "--json").plain
    check_everywhere(plain, "predict")
    assert plain["cell"] == kind
    assert plain.keys() >= {"settings", "seconds"}


def test_bench(memspan, monkeypatch):
    report = BenchReport("one core", (Benchmark("bytes", "np.bincount", 1.0, 3.0, "ns per pair", 3.0),), 1.0)
    monkeypatch.setattr("memspan.bench.run", lambda name, progress, plan=None: report)
    plain = memspan("bench", "measure", "--json").plain
    check_everywhere(plain, "bench")
    assert plain.keys() >= {"machine", "benchmarks"}
    assert plain["benchmarks"][0].keys() >= {"name", "peer", "ours", "theirs", "unit", "ratio"}


@pytest.mark.parametrize(("words", "fields"), [(("data", "list"), {"data"}), (("reproduce", "list"), {"recipes"})])
def test_lists(memspan, words, fields):
    plain = memspan(*words, "--json").plain
    check_everywhere(plain, "data list" if words[0] == "data" else "reproduce")
    assert plain.keys() >= fields


def test_numbers_are_finite_or_null(memspan, novel):
    text = memspan("measure", novel, "--json", "--lags", "1:3").out
    assert not {"NaN", "Infinity"} & set(text.replace(",", " ").replace("]", " ").split())
