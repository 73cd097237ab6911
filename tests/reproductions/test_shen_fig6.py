"""The recipe that needs corpora: without any, with one of our own making, and with the real ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from memspan.errors import InputError
from memspan.information import Digamma, log_lags, mutual_information
from memspan.reproductions import reproduce
from memspan.reproductions.shen2019.validation_sets import raw_exponent
from memspan.sequences.sources import PowerLawBinary


@pytest.fixture
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMSPAN_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("MEMSPAN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "data"


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
    _write_letters(
        own_data / "ptb", {"ptb.train.txt": 160_000, "ptb.valid.txt": 40_000, "ptb.test.txt": 41_000}
    )
    result = reproduce("shen-fig6", scale="smoke")
    floors = [claim for claim in result.claims if "the estimator's own floor" in claim.claim]
    assert len(floors) == 2
    assert all(claim.holds for claim in floors)
    # Everything is floor, so its share is 1; the mean over 5 lags of 40,000 pairs scatters by a few percent.
    assert [claim.measured for claim in floors] == pytest.approx([1.0, 1.0], abs=0.15)
    (agreement,) = [claim for claim in result.claims if "agree at lags" in claim.claim]
    assert agreement.holds
    assert [chart.name for chart in result.figures] == ["ptb-raw", "ptb-corrected"]
    assert not result.holds, "independent letters have no power law, and the training set's claim must say so"


def test_absent_corpora_are_named_beside_those_that_are_there(own_data: Path) -> None:
    _write_letters(
        own_data / "ptb", {"ptb.train.txt": 21_000, "ptb.valid.txt": 10_000, "ptb.test.txt": 11_000}
    )
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
