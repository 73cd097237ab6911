"""Corpora cut into splits and pieces, and their shuffles."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from memspan.information import mutual_information
from memspan.reproductions import corpora
from memspan.sequences import Sequence


@pytest.fixture
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which alone data sets are looked for."""
    monkeypatch.setenv("MEMSPAN_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("MEMSPAN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "data"


def test_pieces_are_of_equal_size_and_do_not_overlap() -> None:
    text = Sequence.from_documents([np.arange(100)])
    pieces = corpora.equal_pieces(text, 9, most=4)
    assert [piece.length for piece in pieces] == [9] * 4
    symbols = np.concatenate([piece.store.read(0, 9) for piece in pieces])
    assert len(np.unique(symbols)) == 36
    assert symbols[0] == 0
    assert symbols[-1] == 98


def test_there_are_no_pieces_longer_than_the_sequence() -> None:
    assert corpora.equal_pieces(Sequence.from_documents("abc"), 4, most=3) == []


def test_a_shuffle_keeps_the_symbols_and_breaks_their_order() -> None:
    text = Sequence.from_documents(["ab" * 5_000])
    mixed = corpora.shuffled(text, np.random.default_rng(0))
    symbols = mixed.store.read(0, mixed.length)
    assert np.bincount(symbols).tolist() == [5_000, 5_000]
    # The plug-in information of 10,000 independent bits is about 1/20,000; that of "abab…" is ln 2.
    assert mutual_information(mixed, [1]).information[0] < 1e-3


def test_an_absent_corpus_is_none(own_data: Path) -> None:
    assert not own_data.exists()
    assert corpora.load_corpus("ptb") is None
    assert "memspan data get ptb" in corpora.missing("ptb")


def test_splits_are_read_from_their_files(own_data: Path) -> None:
    (own_data / "ptb").mkdir(parents=True)
    for split, text in (("train", "abcabc"), ("valid", "aab"), ("test", "bb c")):
        (own_data / "ptb" / f"ptb.{split}.txt").write_text(text)
    corpus = corpora.load_corpus("ptb")
    assert corpus is not None
    assert (corpus.train.length, corpus.valid.length, corpus.test.length) == (6, 3, 4)
    assert corpus.test.alphabet == (" ", "b", "c")


def test_text8_is_cut_into_consecutive_splits(own_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (own_data / "text8").mkdir(parents=True)
    (own_data / "text8" / "text8").write_text("a" * 18 + "b" + "c")
    monkeypatch.setattr(corpora, "TEXT8_CUTS", (0, 18, 19, 20))
    corpus = corpora.load_corpus("text8")
    assert corpus is not None
    assert corpus.train.store.read(0, 18).tolist() == [0] * 18
    assert corpus.valid.store.read(0, 1).tolist() == [1]
    assert corpus.test.store.read(0, 1).tolist() == [2]


def test_one_count_gives_the_papers_curve_and_ours() -> None:
    text = Sequence.from_documents(["the cat sat on the mat " * 200])
    split = corpora.measure_split(text, np.array([1, 2]), seed=0)
    assert (split.paper.estimator, split.ours.estimator) == ("digamma", "grassberger")
    assert split.paper.null == split.ours.null == "independent"
    mean, error = corpora.mean_corrected([split, split])
    assert mean.tolist() == split.ours.corrected.tolist()
    assert error == pytest.approx(split.ours.error / np.sqrt(2))
