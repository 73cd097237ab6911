"""Tokens are those that the library tokenizers makes of each document, in pieces and stretches of any size."""

from __future__ import annotations

import io
import json
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspan.errors import InputError, MissingExtraError
from memspan.sequences import Disk, Sequence, read
from memspan.sequences.builder import MEMORY_LIMIT
from memspan.sequences.readers import bpe
from memspan.sequences.readers.inputs import Input, Request

tokenizers = pytest.importorskip("tokenizers")

LEARNT = (
    """def double(value):
    \"\"\"Twice the value, as in the naïve façade; 2 * 21 is 42.\"\"\"

    return 2 * value


print(double(21), "☃😀", 'to be or not to be')
"""
    * 3
)


def trained(kind: str):
    """The three families: bytes merged as in GPT-2, blanks as part of words as in Gemma, pieces of words as in BERT."""
    pre, made, marks = tokenizers.pre_tokenizers, tokenizers.models, ["<end>"]
    if kind == "bytes":
        tokenizer = tokenizers.Tokenizer(made.BPE())
        tokenizer.pre_tokenizer = pre.ByteLevel(add_prefix_space=False)
        trainer = tokenizers.trainers.BpeTrainer(
            vocab_size=400, initial_alphabet=pre.ByteLevel.alphabet(), special_tokens=marks, show_progress=False
        )
    elif kind == "blanks":
        tokenizer = tokenizers.Tokenizer(made.BPE(unk_token="<unk>"))
        tokenizer.pre_tokenizer = pre.Metaspace(prepend_scheme="always")
        trainer = tokenizers.trainers.BpeTrainer(vocab_size=150, special_tokens=["<unk>", *marks], show_progress=False)
    else:
        tokenizer = tokenizers.Tokenizer(made.WordPiece(unk_token="<unk>"))
        tokenizer.normalizer = tokenizers.normalizers.BertNormalizer()
        tokenizer.pre_tokenizer = pre.BertPreTokenizer()
        trainer = tokenizers.trainers.WordPieceTrainer(
            vocab_size=150, special_tokens=["<unk>", *marks], show_progress=False
        )
    tokenizer.train_from_iterator([LEARNT], trainer)
    return tokenizer


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("tokenizers")
    paths = {kind: folder / f"{kind}.json" for kind in ("bytes", "blanks", "words")}
    for kind, path in paths.items():
        trained(kind).save(str(path))
    return paths


KINDS = pytest.mark.parametrize("kind", ["bytes", "blanks", "words"])


def tokens_of(path: Path, text: str) -> list[str]:
    """As the library says."""
    return tokenizers.Tokenizer.from_file(str(path)).encode(text, add_special_tokens=False).tokens


def labels(sequence: Sequence) -> list[list[object]]:
    return [[sequence.alphabet[symbol] for symbol in document] for document in sequence.documents()]


def read_text(
    text: str, path: Path, piece: int = 1 << 20, documents: str = "file", limit: int = MEMORY_LIMIT
) -> Sequence:
    data = text.encode()
    inputs = (Input("x", lambda: io.BytesIO(data), len(data)),)
    request = Request(
        names=("x",), inputs=inputs, documents=documents, argument=str(path), piece=piece, memory_limit=limit
    )
    return bpe.read_bpe(request)


@KINDS
def test_tokens_are_what_the_library_makes_of_the_file(files, tmp_path, kind):
    path = tmp_path / "program.py"
    path.write_text(LEARNT, encoding="utf-8")
    found = read(path, symbols=f"bpe:{files[kind]}")
    (document,) = labels(found)
    assert document == tokens_of(files[kind], LEARNT)
    assert len(document) < 0.6 * len(LEARNT)
    assert found.symbols == f"bpe:{files[kind]}"
    assert found.paths == (str(path),)


def test_a_token_may_lie_across_a_line_end(files):
    """Cut at its line ends, a text would have other tokens."""
    whole = tokens_of(files["bytes"], LEARNT)
    assert any("Ċ" in token and token.strip("Ċ") for token in whole)
    by_line = [token for line in LEARNT.splitlines(True) for token in tokens_of(files["bytes"], line)]
    assert by_line != whole == labels(read_text(LEARNT, files["bytes"], piece=7))[0]


words = st.text(st.sampled_from("ab1_.,\n\n\r\t  ñ☃😀'"), max_size=12)


@KINDS
@given(text=st.lists(st.sampled_from(["double", "value", " to be", "\n\n    return", "naïve ", "<end>"]) | words))
def test_a_document_has_the_same_tokens_in_pieces_of_any_size(files, kind, text):
    document = "to be " + "".join(text)
    expected = tokens_of(files[kind], document)
    for piece in (1, 5, 1 << 20):
        assert labels(read_text(document, files[kind], piece))[0] == expected


@KINDS
@pytest.mark.parametrize("stretch", [10, 50, 1000])
@pytest.mark.parametrize("piece", [1, 64, 1 << 20])
def test_long_documents_have_the_tokens_of_the_whole(files, monkeypatch, kind, stretch, piece):
    monkeypatch.setattr(bpe, "STRETCH", stretch)
    text = "to be or not to be, naïve 2 * 21 is 42 façade value\nas in the value " * 20
    assert labels(read_text(text, files[kind], piece))[0] == tokens_of(files[kind], text)
    cut = bpe.StretchCutter().feed(text)
    assert len(cut) >= len(text) // (2 * stretch)
    assert all(stretch <= len(part) < 2 * stretch for part in cut)


@given(st.text(st.sampled_from("ab \n.é"), max_size=60), st.lists(st.integers(0, 60)), st.integers(2, 8))
def test_stretches_depend_on_the_document_alone_and_end_at_the_best_border(text, cuts, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bpe, "STRETCH", size)
        borders = sorted({0, len(text), *(min(cut, len(text)) for cut in cuts)})
        cutter, found = bpe.StretchCutter(), []
        for begin, end in pairwise(borders):
            found += cutter.feed(text[begin:end])
        found += cutter.close()
    assert "".join(found) == text
    expected, rest = [], text
    while len(rest) >= 2 * size:
        places = range(size, 2 * size)
        between = [i for i in places if i < 2 * size - 1 and blank_between_words(rest, i)]
        lines = [i for i in places if rest[i - 1] == "\n" and not {rest[i - 2], rest[i]} & {" ", "\n"}]
        end = (between or lines or [2 * size])[0]
        expected.append(rest[:end])
        rest = rest[end:]
    assert found == [*expected, *([rest] if rest else [])]


def blank_between_words(text: str, place: int) -> bool:
    return text[place] == " " and text[place - 1].isalnum() and text[place + 1].isalnum()


def test_a_text_without_a_border_is_cut_all_the_same(files, monkeypatch):
    monkeypatch.setattr(bpe, "STRETCH", 100)
    text = "values" * 1000
    found = labels(read_text(text, files["bytes"]))[0]
    cut = [token for i in range(0, 6000, 200) for token in tokens_of(files["bytes"], text[i : i + 200])]
    assert found == cut


@KINDS
@pytest.mark.parametrize("piece", [1, 6, 1 << 20])
def test_documents_are_encoded_each_by_itself(files, kind, piece):
    text = "to be\nor not\n\n  to be\r\nvalue"
    expected = {
        "line": ["to be", "or not", "", "  to be", "value"],
        "blank": ["to be\nor not", "  to be\r\nvalue"],
        "or": ["to be\n", " not\n\n  to be\r\nvalue"],
    }
    for documents, parts in expected.items():
        found = labels(read_text(text, files[kind], piece, documents))
        assert found == [tokens for part in parts if (tokens := tokens_of(files[kind], part))]


def test_files_are_documents(files, tmp_path):
    for name, text in (("a.txt", "to be"), ("b.txt", " or not")):
        (tmp_path / name).write_text(text)
    found = read(tmp_path, symbols=f"bpe:{files['bytes']}")
    assert labels(found) == [tokens_of(files["bytes"], "to be"), tokens_of(files["bytes"], " or not")]


def test_more_symbols_than_the_memory_limit_go_to_a_file(files):
    found = read_text(LEARNT, files["bytes"], limit=10)
    assert isinstance(found.store, Disk)
    assert found.fingerprint() == read_text(LEARNT, files["bytes"]).fingerprint()


def test_a_tokenizer_for_texts_of_one_length_is_used_for_all(files, tmp_path):
    """What a model is trained on is cut and filled to one length, and begins with a mark; data are not."""
    tokenizer = tokenizers.Tokenizer.from_file(str(files["bytes"]))
    tokenizer.enable_truncation(5)
    tokenizer.enable_padding(length=9, pad_token="<end>")
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing("<end> $A", special_tokens=[("<end>", 0)])
    tokenizer.save(str(tmp_path / "short.json"))
    found = read_text("to be or not\nto be or not to be", tmp_path / "short.json", documents="line")
    assert labels(found) == [tokens_of(files["bytes"], "to be or not"), tokens_of(files["bytes"], "to be or not to be")]


@pytest.mark.parametrize("text", ["", "hello", "[]", "{}", json.dumps({"model": {"type": "abacus"}})])
def test_invalid_tokenizers_are_refused(tmp_path, text):
    path, data = tmp_path / "tokenizer.json", tmp_path / "x.txt"
    path.write_text(text)
    data.write_text("to be or not to be")
    with pytest.raises(InputError, match=r"tokenizer\.json is not a valid tokenizer\.json \(.*\); give one that"):
        read(data, symbols=f"bpe:{path}")


def test_a_missing_tokenizer_is_reported(files, tmp_path):
    data = tmp_path / "x.txt"
    data.write_text("to be or not to be")
    with pytest.raises(
        InputError, match=r"the tokenizer no\.json does not exist; give the path of a Hugging Face token"
    ):
        read(data, symbols="bpe:no.json")
    with pytest.raises(
        InputError, match=r"the tokenizer .* is a folder; give the path of a Hugging Face tokenizer\.js"
    ):
        read(data, symbols=f"bpe:{tmp_path}")
    with pytest.raises(InputError, match="is empty"):
        read_text("", files["bytes"])


def test_a_text_that_the_tokenizer_cannot_encode_is_reported(tmp_path):
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"to": 0, "be": 1}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "words.json"))
    assert labels(read_text("to be", tmp_path / "words.json")) == [["to", "be"]]
    with pytest.raises(InputError, match=r"words\.json cannot encode x \(.*\); use another tokenizer"):
        read_text("to be or", tmp_path / "words.json")


def test_a_missing_extra_is_named(files, tmp_path, monkeypatch):
    (tmp_path / "x.txt").write_text("to be")
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(MissingExtraError, match=r"reading a tokenizer\.json needs tokenizers; install memspan\[hf\]"):
        read(tmp_path / "x.txt", symbols=f"bpe:{files['bytes']}")
