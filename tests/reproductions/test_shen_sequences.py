"""Recipes about sequences of known information, about the noise floor, and about text corpora."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from memspan.errors import InputError
from memspan.information import Digamma, log_lags, mutual_information
from memspan.reproductions import corpora, reproduce
from memspan.reproductions.shen2019.noise_floor import (
    CORRECTED,
    LAGS,
    mean_corrected,
    measure_split,
    raw_exponent,
    shuffled,
)
from memspan.reproductions.shen2019.power_laws import AMPLITUDE, EXACT, EXPANDED, EXPONENT, PRINTED
from memspan.sequences import Sequence
from memspan.sequences.sources import PowerLawBinary

LAG_LIST = np.array([1, 2, 10, 1_000])


@pytest.fixture
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder in which data sets are searched."""
    monkeypatch.setenv("MEMSPAN_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("MEMSPAN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "data"


def test_the_printed_constant_of_equation_47_is_the_one_that_is_drawn() -> None:
    printed = np.sqrt(AMPLITUDE / (2 * np.pi)) * LAG_LIST ** (-EXPONENT / 2)
    assert PRINTED.correlation(LAG_LIST) == pytest.approx(printed, rel=1e-12)


def test_the_corrected_constant_of_equation_47_is_the_one_that_is_drawn() -> None:
    corrected = np.pi * np.sqrt(AMPLITUDE / 2) * LAG_LIST ** (-EXPONENT / 2)
    assert EXPANDED.correlation(LAG_LIST) == pytest.approx(corrected, rel=1e-12)


def test_the_exact_inversion_has_the_law_at_every_lag() -> None:
    assert EXACT.information(LAG_LIST) == pytest.approx(AMPLITUDE * LAG_LIST**-EXPONENT, rel=1e-12)


def test_the_lags_of_the_erratum_are_measured() -> None:
    assert set(CORRECTED) <= set(LAGS.tolist())


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
    mixed = shuffled(text, np.random.default_rng(0))
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
    split = measure_split(text, np.array([1, 2]), seed=0)
    assert (split.paper.estimator, split.ours.estimator) == ("digamma", "grassberger")
    assert split.paper.null == split.ours.null == "independent"
    mean, error = mean_corrected([split, split])
    assert mean.tolist() == split.ours.corrected.tolist()
    assert error == pytest.approx(split.ours.error / np.sqrt(2))


def _write_letters(folder: Path, sizes: dict[str, int]) -> None:
    """Independent letters of unequal frequency: nothing is shared at any distance."""
    folder.mkdir(parents=True)
    frequency = np.arange(1.0, 41.0) ** -2
    for name, size in sizes.items():
        drawn = np.random.default_rng(size).choice(40, size, p=frequency / frequency.sum())
        (folder / name).write_bytes((drawn + 60).astype(np.uint8).tobytes())


@pytest.mark.usefixtures("own_data")
def test_without_any_corpus_it_says_what_to_do() -> None:
    with pytest.raises(InputError, match=r"none of ptb, .* is on this machine; run `memspan data get ptb`"):
        reproduce("shen-fig6", scale="smoke")


def test_letters_that_share_nothing_level_off_at_their_floor(own_data: Path) -> None:
    _write_letters(own_data / "ptb", {"ptb.train.txt": 160_000, "ptb.valid.txt": 40_000, "ptb.test.txt": 41_000})
    result = reproduce("shen-fig6", scale="smoke")
    floors = [claim for claim in result.claims if "the noise floor of the estimator" in claim.claim]
    assert len(floors) == 2
    assert all(claim.holds for claim in floors)
    # Everything is floor, so its share is 1; the mean over 5 lags of 40,000 pairs scatters by a few percent.
    assert [claim.measured for claim in floors] == pytest.approx([1.0, 1.0], abs=0.15)
    (agreement,) = [claim for claim in result.claims if "agree at lags" in claim.claim]
    assert agreement.holds
    assert [chart.name for chart in result.figures] == ["ptb-raw", "ptb-corrected"]
    assert not result.holds, "independent letters have no power law, and the training set's claim must say so"


def test_absent_corpora_are_named_beside_those_that_are_there(own_data: Path) -> None:
    _write_letters(own_data / "ptb", {"ptb.train.txt": 21_000, "ptb.valid.txt": 10_000, "ptb.test.txt": 11_000})
    result = reproduce("shen-fig6", scale="laptop")
    for name in ("wikitext-2", "text8", "wikitext-103"):
        assert any(note.startswith(f"{name} is not on this machine") for note in result.notes)


def test_a_corpus_too_short_for_the_lags_is_refused(own_data: Path) -> None:
    _write_letters(own_data / "ptb", {"ptb.train.txt": 9_000, "ptb.valid.txt": 1_500, "ptb.test.txt": 9_000})
    with pytest.raises(InputError, match="a split of ptb has 1,500 characters"):
        reproduce("shen-fig6", scale="smoke")


def test_the_raw_exponent_is_that_of_a_known_power_law() -> None:
    sample = PowerLawBinary(0.1, 0.4).sample(1_000, 1_000, seed=0)
    curve = mutual_information(sample, log_lags(1, 300), estimator=Digamma())
    # A straight line through 9 points with errors of 1 to 5 percent.
    assert raw_exponent(curve) == pytest.approx(0.4, abs=0.08)


@pytest.mark.realdata
def test_penn_treebank_levels_off_at_its_floor(realdata: Callable[[str], Path]) -> None:
    realdata("ptb/ptb.train.txt")
    assert reproduce("shen-fig6", scale="smoke").holds


@pytest.mark.slow
@pytest.mark.realdata
def test_the_numbers_of_the_erratum_are_those_of_wikitext(realdata: Callable[[str], Path]) -> None:
    realdata("wikitext-2/wiki.valid.tokens")
    result = reproduce("errata-03", scale="laptop")
    assert [claim.claim for claim in result.claims if not claim.holds] == []
    assert len(result.claims) > 20
