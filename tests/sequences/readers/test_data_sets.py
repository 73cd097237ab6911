"""Public data sets come out with the sizes their descriptions give."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memspan.sequences import read

pytestmark = pytest.mark.realdata


def data(name: str) -> Path:
    path = Path(os.environ.get("MEMSPAN_DATA", "no-data"), name)
    if not path.exists():
        pytest.skip(f"needs {name} in MEMSPAN_DATA")
    return path


def test_escherichia_coli_has_4641652_bases() -> None:
    genome = read(data("dna/ecoli-k12.fna"))
    assert (genome.length, genome.n_documents, genome.alphabet) == (4_641_652, 1, ("A", "C", "G", "T"))


def test_wikitext_has_283_characters_and_as_many_tokens_as_words_and_line_ends() -> None:
    path = data("wikitext-2/wiki.train.tokens")
    assert len(read(path).alphabet) == 283
    words, lines = read(path, symbols="words"), read(path, symbols="lines")
    assert words.length + lines.length == 2_088_628


def test_chorales_are_documents_of_chords() -> None:
    chorales = read(data("music/jsb-chorales-16th.json"), key="train")
    assert chorales.n_documents == 229
    assert (60, 55, 52, 48) in chorales.alphabet


def test_daily_prices_give_quarters_of_equal_size() -> None:
    prices = read(data("prices/sp500-daily.csv"), column="Close", transform="abs-log-return")
    counts = [sum(int((document == level).sum()) for document in prices.documents()) for level in range(4)]
    # Equal quarters up to one value each, and the few returns that are exactly equal.
    assert max(counts) - min(counts) <= 10


def test_a_data_set_is_read_by_its_name() -> None:
    path = data("dna/ecoli-k12.fna")
    sequence = read("data:dna")
    assert sequence.fingerprint() == read(path).fingerprint()
    assert [Path(name).name for name in sequence.paths] == ["ecoli-k12.fna"]
    assert len(read(["data:wikitext-2/valid", "data:wikitext-2/test"]).paths) == 2
