"""Sampled texts come back as they were written, stream by stream, from memory and from files."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch

from memspan.cells import LSTM
from memspan.errors import InputError
from memspan.models.model import SequenceModel
from memspan.models.vocabulary import Vocabulary
from memspan.sampling import Block, as_sequence, in_turn, joined, sample, texts, write
from memspan.sequences import Sequence, read

CHARACTERS = Vocabulary("characters", ("\n", "a", " ", "é", "\r", "␞", "\ufffd"))
"""Blank lines, line ends of every kind and the usual mark between streams come up all the time."""
WORDS = Vocabulary("words", ("<eos>", "the", "<unk>", "naïve", "␞end"))
BOTH = pytest.mark.parametrize("vocabulary", [CHARACTERS, WORDS], ids=lambda v: v.kind)


def numbers(vocabulary: Vocabulary, streams: int = 5, length: int = 200) -> np.ndarray:
    drawn = np.random.default_rng(0).integers(len(vocabulary), size=(streams, length))
    return drawn.astype(np.uint8)


def cut(symbols: np.ndarray, group: int, steps: int) -> Iterator[Block]:
    for stream in range(0, len(symbols), group):
        for step in range(0, symbols.shape[1], steps):
            yield Block(stream, step, symbols[stream : stream + group, step : step + steps])


@pytest.mark.parametrize("memory_limit", [1, 1 << 20], ids=["file", "memory"])
@pytest.mark.parametrize(("group", "steps"), [(1, 7), (2, 7), (5, 1), (5, 200)])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_streams_come_in_turn_whatever_the_blocks(group, steps, memory_limit, dtype):
    symbols = numbers(CHARACTERS).astype(dtype)
    found = [np.concatenate(list(pieces)) for pieces in in_turn(cut(symbols, group, steps), memory_limit)]
    np.testing.assert_array_equal(found, symbols)
    np.testing.assert_array_equal(joined(cut(symbols, group, steps)), symbols)


@BOTH
@pytest.mark.parametrize(("group", "steps"), [(1, 3), (2, 7), (5, 1), (5, 200)])
def test_a_text_is_that_of_all_its_symbols_wherever_blocks_end(vocabulary, group, steps):
    symbols = numbers(vocabulary)
    expected = [vocabulary.decode(stream.tolist()) for stream in symbols]
    assert list(texts(cut(symbols, group, steps), vocabulary)) == expected


@BOTH
def test_a_sequence_holds_each_stream_as_a_document_of_characters(vocabulary):
    symbols = numbers(vocabulary)
    found = as_sequence(cut(symbols, 2, 7), vocabulary, name="run:here")
    expected = [vocabulary.decode(stream.tolist()) for stream in symbols]
    labels = ["".join(str(found.alphabet[number]) for number in document) for document in found.documents()]
    assert labels == expected
    assert found.symbols == "chars"
    assert found.paths == ("run:here",)
    assert found.fingerprint() == Sequence.from_documents(expected).fingerprint()


@BOTH
def test_a_file_is_read_back_as_the_same_documents(vocabulary, tmp_path):
    symbols = numbers(vocabulary)
    written = write(tmp_path / "deep" / "sample.txt", cut(symbols, 2, 7), vocabulary)
    found = read(written.path, documents=written.documents)
    assert found.fingerprint() == as_sequence(cut(symbols, 5, 200), vocabulary).fingerprint()
    assert written.streams == found.n_documents == 5
    assert written.characters == found.length


def test_one_stream_is_a_file_of_nothing_but_its_text(tmp_path):
    symbols = numbers(CHARACTERS, streams=1)
    written = write(tmp_path / "sample.txt", cut(symbols, 1, 7), CHARACTERS)
    assert written.path.read_bytes().decode() == CHARACTERS.decode(symbols[0].tolist())
    assert (written.streams, written.documents) == (1, "file")
    assert read(written.path).n_documents == 1


def test_between_streams_stands_a_mark_that_no_symbol_has(tmp_path):
    plain = Vocabulary("characters", ("a", "\n"))
    blocks = [Block(0, 0, np.array([[0, 1, 1], [1, 1, 0]], np.uint8))]
    assert write(tmp_path / "one.txt", blocks, plain).documents == "␞"
    assert (tmp_path / "one.txt").read_bytes().decode() == "a\n\n␞\n\na"
    assert write(tmp_path / "two.txt", cut(numbers(WORDS), 5, 9), WORDS).documents == "␟"


def test_a_sample_that_fails_leaves_the_file_before_it_and_nothing_else(tmp_path):
    def failing() -> Iterator[Block]:
        yield from cut(numbers(CHARACTERS), 2, 7)
        raise InputError("the model's logits are NaN")

    (tmp_path / "sample.txt").write_text("before")
    with pytest.raises(InputError, match="logits are NaN"):
        write(tmp_path / "sample.txt", failing(), CHARACTERS)
    assert [path.name for path in tmp_path.iterdir()] == ["sample.txt"]
    assert (tmp_path / "sample.txt").read_text() == "before"


@BOTH
def test_what_a_model_writes_goes_to_a_file_and_back(vocabulary, tmp_path):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = SequenceModel(LSTM(3, 4), len(vocabulary))

    def blocks() -> Iterator[Block]:
        return sample(model, streams=3, length=60, first=vocabulary.end, seed=0, group=2)

    written = write(tmp_path / "sample.txt", blocks(), vocabulary)
    found = read(written.path, documents=written.documents)
    assert found.fingerprint() == Sequence.from_documents(texts(blocks(), vocabulary)).fingerprint()
    assert found.n_documents == 3
