"""Numbers for symbols and back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspan.errors import InputError
from memspan.models.vocabulary import Vocabulary


def test_frequent_symbols_come_first_and_ties_by_code_point():
    assert Vocabulary.of("characters", "cabbage\n", unknown=True).symbols == (*"ab\nceg", "\ufffd")


@given(st.text(min_size=1))
def test_characters_come_back_as_they_were(text: str):
    vocabulary = Vocabulary.of("characters", text, unknown=False)
    assert vocabulary.decode(vocabulary.encode(text)) == text


def test_words_come_back_with_single_blanks_and_lines():
    tokens = ["a", "b", "<eos>", "<eos>", "c", "<eos>"]
    vocabulary = Vocabulary.of("words", tokens, unknown=False)
    assert vocabulary.decode(vocabulary.encode(tokens)) == "a b\n\nc\n"


def test_an_unknown_symbol_is_rejected_where_there_is_none_for_it():
    with pytest.raises(InputError, match="'z' is not among the 3 characters"):
        Vocabulary("characters", ("a", "b", "\n")).encode("abz")


def test_an_empty_text_has_no_vocabulary():
    with pytest.raises(InputError, match="contains no words"):
        Vocabulary.of("words", [], unknown=False)


def test_it_survives_json():
    vocabulary = Vocabulary.of("words", ["é", "b", "b"], unknown=True)
    assert Vocabulary.from_json(json.loads(json.dumps(vocabulary.to_json())), "here") == vocabulary


@pytest.mark.parametrize(
    "plain", [[], {"kind": "words"}, {"kind": "bytes", "symbols": ["a"]}, {"kind": "words", "symbols": ["a", "a"]}]
)
def test_what_is_no_vocabulary_is_rejected(plain: object):
    with pytest.raises(InputError, match=r"^here"):
        Vocabulary.from_json(plain, "here")
