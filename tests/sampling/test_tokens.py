"""What models with a tokenizer write is the text of all their tokens; without one it is their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from memspan.models import HuggingFaceTokens, load_hugging_face
from memspan.models.vocabulary import Numbers
from memspan.sampling import Block, as_sequence, joined, sample, texts, write
from memspan.sequences import Sequence, read
from memspan.sequences.readers.bpe import load_tokenizer

tokenizers = pytest.importorskip("tokenizers")

TEXT = "the naïve ☃ and the 😀 ␞ of the naïve façade\n" * 3


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    """A tokenizer whose tokens are bytes and merges of some of them."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=270,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<end>"],
        show_progress=False,
    )
    tokenizer.train_from_iterator([TEXT], trainer)
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    tokenizer.save(str(path))
    return path


@pytest.fixture
def tokens(file) -> HuggingFaceTokens:
    return HuggingFaceTokens(load_tokenizer(file))


def cut(streams: list[np.ndarray], steps: int) -> Iterator[Block]:
    symbols = np.stack(streams).astype(np.uint16)
    for step in range(0, symbols.shape[1], steps):
        yield Block(0, step, symbols[:, step : step + steps])


def test_a_text_has_the_numbers_of_its_tokens(tokens, file):
    numbers = tokens.encode(TEXT)
    assert numbers.tolist() == tokenizers.Tokenizer.from_file(str(file)).encode(TEXT).ids
    assert len(numbers) < len(TEXT.encode())
    assert tokens.decode(numbers) == TEXT
    assert len(tokens) == 270


def test_special_tokens_are_no_text(tokens):
    numbers = tokens.encode("the <end> and")
    assert 0 in numbers
    assert tokens.decode(numbers) == "the  and"


@pytest.mark.parametrize("steps", [1, 2, 1000])
def test_characters_whose_bytes_lie_in_several_tokens_are_put_together(tokens, tmp_path, steps):
    numbers = tokens.encode(TEXT)
    assert "\ufffd" in "".join(tokens.decode([number]) for number in numbers)
    streams = [numbers, numbers[::-1]]
    expected = [TEXT, tokens.decode(numbers[::-1])]
    assert list(texts(cut(streams, steps), tokens)) == expected
    found = as_sequence(cut(streams, steps), tokens, name="hf:tiny")
    assert found.fingerprint() == Sequence.from_documents(expected).fingerprint()
    assert (found.symbols, found.paths) == ("chars", ("hf:tiny",))
    written = write(tmp_path / "sample.txt", cut(streams, steps), tokens)
    # The text has the usual mark, and no list of symbols could tell that: its bytes are written one by one.
    assert written.documents == "␟"
    assert written.characters == found.length
    assert read(written.path, documents=written.documents).fingerprint() == found.fingerprint()


@pytest.mark.parametrize("steps", [1, 7, 1000])
def test_numbers_that_stand_for_nothing_are_the_symbols_themselves(tmp_path, steps):
    drawn = np.random.default_rng(0).integers(270, size=(3, 50))
    found = as_sequence(cut(list(drawn), steps), Numbers(270), name="hf:tiny")
    assert found.fingerprint() == Sequence.from_documents(list(drawn)).fingerprint()
    assert (found.symbols, found.paths) == ("tokens", ("hf:tiny",))
    assert list(texts(cut(list(drawn), steps), Numbers(270))) == [" ".join(map(str, row)) for row in drawn]
    written = write(tmp_path / "sample.txt", cut(list(drawn), steps), Numbers(270))
    again = read(written.path, symbols="words", documents=written.documents)
    assert [[int(str(again.alphabet[n])) for n in d] for d in again.documents()] == drawn.tolist()


def test_a_folder_with_a_tokenizer_writes_text(tokens, file, tmp_path):
    transformers = pytest.importorskip("transformers")
    config = transformers.GPT2Config(
        vocab_size=270, n_positions=16, n_embd=8, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path)
    assert load_hugging_face(tmp_path).spelling == Numbers(270)
    (tmp_path / "tokenizer.json").write_bytes(file.read_bytes())
    model = load_hugging_face(tmp_path)

    def blocks() -> Iterator[Block]:
        return sample(model, streams=3, length=60, first=model.first, seed=0, context=model.context)

    expected = [tokens.decode(stream) for stream in joined(blocks()).tolist()]
    assert list(texts(blocks(), model.spelling)) == expected
    assert as_sequence(blocks(), model.spelling).n_documents == 3
