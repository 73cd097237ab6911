"""The benchmark `measure` at tiny sizes: both sides do the same work. Nothing here looks at a clock's value."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest

from memspan.bench.measure import (
    COUNT,
    PEERS,
    MeasureSizes,
    bincount,
    check_peers,
    count_by_blocks,
    count_lags,
    measure,
    ranked,
    unique,
)
from memspan.errors import MissingExtraError
from memspan.information.kernels import choose_kernel
from memspan.progress import SILENT
from memspan.results import Benchmark

TINY = MeasureSizes(
    symbols=5_000,
    scored=1_000,
    words=5_000,
    vocabulary=2_000,
    lags=2,
    curves=(2_000, 5_000),
    curve_lags=6,
    shared=20_000,
    shared_lags=3,
    long=20_000,
    every_lag=40,
    sampled_lags=3,
    rounds=1,
    long_rounds=1,
)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[Benchmark, ...]:
    pytest.importorskip("sklearn", reason="the peers are not installed; install memspan[bench]")
    pytest.importorskip("automutualinformation", reason="the peers are not installed; install memspan[bench]")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("MEMSPAN_DATA", "MEMSPAN_CACHE"):
            patch.setenv(name, str(tmp_path_factory.mktemp("nothing")))
        return measure(SILENT, TINY)


def test_every_benchmark_is_there_once(tiny: tuple[Benchmark, ...]) -> None:
    assert len(tiny) == COUNT + len(TINY.curves)
    assert len({benchmark.name for benchmark in tiny}) == len(tiny)
    peers = [benchmark.peer for benchmark in tiny]
    assert peers.count("np.bincount") == 3
    assert peers.count("automutualinformation") == len(TINY.curves)
    for peer in ("sklearn.metrics.mutual_info_score", "np.unique", "one worker"):
        assert peers.count(peer) == 1


def test_a_ratio_is_theirs_over_ours(tiny: tuple[Benchmark, ...]) -> None:
    for benchmark in tiny:
        assert benchmark.ours > 0
        assert benchmark.ratio == pytest.approx(benchmark.theirs / benchmark.ours)
        assert benchmark.unit


@pytest.mark.parametrize("kinds", [2, 4, 27, 256])
def test_both_sides_count_the_same_pairs(kinds: int) -> None:
    sequence = ranked(kinds, 1.0, 3_000)
    symbols = sequence.store.read(0, sequence.length)
    for lag, table in zip([1, 7], count_lags(choose_kernel(kinds), sequence, [1, 7]), strict=True):
        assert table.cells.tolist() == bincount(symbols, kinds, lag).tolist()


def test_both_sides_count_the_same_pairs_of_words() -> None:
    sequence = ranked(2_000, 1.0, 3_000)
    (table,) = count_lags(choose_kernel(2_000), sequence, [3])
    keys, cells = unique(sequence.store.read(0, sequence.length), 2_000, 3)
    assert table.keys is not None
    order = np.argsort(table.keys)
    assert table.keys[order].tolist() == keys.tolist()
    assert table.cells[order].tolist() == cells.tolist()


def test_every_lag_counts_all_pairs() -> None:
    sequence = ranked(27, 1.0, 20_000)
    assert count_by_blocks(sequence, 40) == sum(20_000 - lag for lag in range(1, 41))


def test_ranked_symbols_have_falling_frequencies() -> None:
    sequence = ranked(4, 1.0, 50_000)
    share = np.bincount(sequence.store.read(0, 50_000)) / 50_000
    # Standard error of a frequency of one half is 0.002.
    assert share == pytest.approx(np.array([12, 6, 4, 3]) / 25, abs=0.012)


@pytest.mark.parametrize("module", list(PEERS))
def test_a_missing_peer_is_reported_before_any_work(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    real = importlib.import_module
    for peer in PEERS:
        pytest.importorskip(peer)  # a first import that ends halfway would spoil the next one

    def without(name: str) -> object:
        if name == module:
            raise ModuleNotFoundError(name)
        return real(name)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(MissingExtraError, match=rf"this benchmark needs {PEERS[module]}; install memspan\[bench\]"):
        check_peers()


def test_words_are_those_of_wikitext_if_it_is_on_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from memspan.bench.measure import _words

    monkeypatch.setenv("MEMSPAN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MEMSPAN_DATA", str(tmp_path))
    assert _words(TINY)[0] == "words drawn by rank, 2,000 kinds"
    (tmp_path / "wikitext-2").mkdir()
    for split in ("train", "valid", "test"):
        (tmp_path / "wikitext-2" / f"wiki.{split}.tokens").write_text("to be or not to be")
    name, words = _words(TINY)
    assert (name, words.length) == ("words of WikiText-2, 4 kinds", 6)
