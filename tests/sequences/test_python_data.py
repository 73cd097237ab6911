"""Python data: arrays, lists, Series, tensors and strings become the expected sequence, or a clear error."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import memspan as ms
from memspan.errors import InputError
from memspan.information import Plugin
from memspan.sequences import Sequence

BASES = np.random.default_rng(0).integers(0, 4, 20_000)


def package(name: str) -> Any:
    return pytest.importorskip(name, reason=f"{name} is not installed")


def pandas_series(values: Any) -> Any:
    return package("pandas").Series(values)


def polars_series(values: Any) -> Any:
    return package("polars").Series(values)


def tensor(values: Any) -> Any:
    return package("torch").tensor(values)


CONTAINERS = [np.array, list, tuple, pandas_series, polars_series, tensor, iter]


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("make", [Sequence.of, Sequence.from_documents])
def test_integers_in_one_dimension_are_one_document(container: Callable[..., Any], make) -> None:
    sequence = make(container([3, 1, 3, 1, 1]))
    assert [document.tolist() for document in sequence.documents()] == [[1, 0, 1, 0, 0]]
    assert sequence.alphabet == (1, 3)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("make", [Sequence.of, Sequence.from_documents])
def test_a_list_of_one_dimensional_data_is_a_list_of_documents(container: Callable[..., Any], make) -> None:
    sequence = make([container([3, 1, 3]), container([1, 1])])
    assert [document.tolist() for document in sequence.documents()] == [[1, 0, 1], [0, 0]]
    assert sequence.alphabet == (1, 3)


@pytest.mark.parametrize("container", [np.array, tensor])
def test_rows_of_two_dimensions_are_documents(container: Callable[..., Any]) -> None:
    sequence = Sequence.of(container([[0, 1, 2], [2, 1, 0]]))
    assert [document.tolist() for document in sequence.documents()] == [[0, 1, 2], [2, 1, 0]]


def test_a_list_of_tensors_without_dimensions_is_one_document_of_their_values() -> None:
    sequence = Sequence.of(list(tensor(BASES)))
    assert (len(sequence.alphabet), sequence.n_documents, sequence.length) == (4, 1, 20_000)
    assert len(Sequence.of([list(tensor(BASES))]).alphabet) == 4


def test_a_tensor_that_has_a_gradient_is_refused_as_floats_and_not_by_torch() -> None:
    with pytest.raises(InputError, match=r"array of float32 .*numpy.digitize"):
        Sequence.of(package("torch").zeros(5, requires_grad=True))


@pytest.mark.parametrize("container", [np.array, list, pandas_series, polars_series, tensor])
def test_booleans_are_symbols(container: Callable[..., Any]) -> None:
    assert Sequence.of(container([True, False, True])).alphabet == (False, True)


@pytest.mark.parametrize("data", [BASES, BASES.tolist(), list(BASES)])
def test_every_verb_takes_plain_data(data: Any) -> None:
    expected = ms.mutual_information(Sequence.from_documents([BASES]), [1, 2]).information
    assert ms.mutual_information(data, [1, 2]).information.tolist() == expected.tolist()
    assert ms.measure(data, [1, 2]).curve.information.tolist() == expected.tolist()
    assert ms.count_pairs(data, [1, 2]).length == 20_000


# Strings

LINE = "to be or not to be that is the question whether tis nobler in the mind to suffer"
WORDS = LINE.split()


@pytest.mark.parametrize("container", [list, np.array, pandas_series, polars_series])
@pytest.mark.parametrize("verb", [ms.mutual_information, ms.measure, ms.count_pairs])
def test_short_strings_require_a_choice_between_documents_and_symbols(container: Callable[..., Any], verb) -> None:
    with pytest.raises(
        InputError, match=r"18 strings of 3 characters \(median\), such as 'to'.*'chars'.*'words'.*'items'"
    ):
        verb(container(WORDS), [1])


@pytest.mark.parametrize("container", [list, np.array, pandas_series, polars_series])
@pytest.mark.parametrize(
    ("symbols", "documents", "alphabet"),
    [
        ("chars", 18, tuple(sorted(set("".join(WORDS))))),
        ("words", 1, tuple(sorted(set(WORDS)))),
        ("items", 1, tuple(sorted(set(WORDS)))),
    ],
)
def test_symbols_say_what_a_string_is(container: Callable[..., Any], symbols, documents, alphabet) -> None:
    sequence = Sequence.of(container(WORDS), symbols=symbols)
    assert (sequence.n_documents, sequence.alphabet, sequence.symbols) == (documents, alphabet, symbols)
    assert ms.count_pairs(container(WORDS), [1], symbols=symbols).symbols == symbols
    assert ms.mutual_information(container(WORDS), [1], symbols=symbols).documents == documents
    assert ms.measure(container(WORDS), [1], symbols=symbols).symbols == symbols


def test_texts_with_white_space_are_documents_of_words_or_single_items() -> None:
    texts = ["to be or not", "not to be"]
    assert [len(document) for document in Sequence.of(texts, symbols="words").documents()] == [4, 3]
    assert Sequence.of(texts, symbols="items").alphabet == ("not to be", "to be or not")
    assert Sequence.of("to be or not", symbols="words").alphabet == ("be", "not", "or", "to")


@pytest.mark.parametrize("length", [29, 30])
def test_strings_of_a_median_of_thirty_characters_are_documents(length: int) -> None:
    texts = ["ab" * 50, "abc" * 50, "b" * length, "a" * length, "a"]
    if length < 30:
        with pytest.raises(InputError, match="symbols="):
            Sequence.of(texts)
    else:
        assert Sequence.of(texts).n_documents == 5
    assert Sequence.from_documents(texts).n_documents == 5


@pytest.mark.parametrize("data", [list("abab"), np.array(list("abab"))])
def test_single_characters_are_one_document(data: Any) -> None:
    assert (Sequence.of(data).n_documents, Sequence.of(data).alphabet) == (1, ("a", "b"))


@pytest.mark.parametrize(("data", "documents"), [("abracadabra", 1), (["abracadabra"], 1), (b"abra", 1)])
def test_one_string_is_one_document(data: Any, documents: int) -> None:
    assert Sequence.of(data).n_documents == documents


def test_categories_are_the_symbols_of_one_document() -> None:
    weather = ["rain", "sun", "sun", "rain"]
    series = [
        package("pandas").Series(weather, dtype="category"),
        package("polars").Series(weather, dtype=package("polars").Categorical),
    ]
    for one in series:
        assert (Sequence.of(one).alphabet, Sequence.of(one).n_documents) == (("rain", "sun"), 1)


def test_lists_of_words_are_documents_whatever_symbols_are_called() -> None:
    documents = [["to", "be"], ["or", "not"]]
    assert Sequence.of(documents).n_documents == Sequence.of(documents, symbols="words").n_documents == 2


# Refusals


@pytest.mark.parametrize(
    ("data", "symbols", "message"),
    [
        (np.array([0.5, 1.5]), None, "array of float64 .*numpy.digitize or, from a file, ms.read.*levels"),
        ([0.5, 1.5], None, "the float 0.5; .*numpy.digitize"),
        ([[1.5, 2.5], [1.5]], None, "the float 1.5; .*numpy.digitize"),
        (np.array([1.0, np.nan]), None, "drop or fill its missing values"),
        (np.array(["a", None], object), None, r"a symbol is missing \(None\)"),
        (np.zeros((2, 2, 2), int), None, "2 dimensions; .*list of one-dimensional arrays"),
        (np.array(3), None, "got a numpy.ndarray; expected a string, an array"),
        (5, None, "got an int; expected a string, an array"),
        (None, None, "got a NoneType"),
        ({"a": [1, 2]}, None, "got a dict"),
        ({1, 2}, None, "got a set"),
        ([[1, 2], 3], None, "documents and single symbols are mixed: item 1 is an int"),
        (["a" * 40, 3], None, "mixed: item 1 is an int"),
        ([1, 2], "chars", "symbols='chars' is for strings, got a list that holds an int"),
        ("abc", "letters", "unknown symbols 'letters'; expected 'chars'"),
        (Sequence.from_documents("abab"), "chars", "symbols='chars' does not apply to a Sequence; leave it out"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(data: Any, symbols: str | None, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        ms.mutual_information(data, [1], symbols=symbols)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["pandas", "polars"])
@pytest.mark.parametrize("verb", [ms.mutual_information, ms.measure, ms.count_pairs, Sequence.from_documents])
def test_a_table_needs_a_column(name: str, verb) -> None:
    frame = package(name).DataFrame({"open": [1, 2, 1], "close": [2, 1, 2]})
    with pytest.raises(
        InputError, match=rf"{name}.DataFrame with the columns open, close; choose one, as in frame\['open'\]"
    ):
        verb(frame)
    assert Sequence.of(frame["close"]).alphabet == (1, 2)


def test_columns_with_gaps_are_refused() -> None:
    for series in (
        pandas_series([1, None, 2]),
        package("pandas").Series([1, None, 2], dtype="Int64"),
        polars_series([1, None, 2]),
        pandas_series(["a", None, "b"]),
        polars_series(["a", None, "b"]),
    ):
        with pytest.raises(InputError, match="missing"):
            Sequence.of(series)


def test_the_name_of_a_file_is_not_its_content(tmp_path: Path) -> None:
    path = tmp_path / "novel.txt"
    path.write_text("to be or not to be")
    names: list[Any] = [str(path), path, [str(path)], [path, path]]
    for data in names:
        with pytest.raises(InputError, match=r"novel.txt' names a file, not its content; use ms.read\('.*novel.txt'\)"):
            ms.mutual_information(data, [1])
    for data in ("data:dna", "https://example.org/novel.txt"):
        with pytest.raises(InputError, match=r"ms\.read"):
            ms.measure(data)
    assert Sequence.of(str(path), symbols="chars").length == len(str(path))
    assert Sequence.of("x" * 5000 + "y").length == 5001
    assert Sequence.of("novel\0.txt").length == 10


# Lags and estimators


@pytest.mark.parametrize(
    ("lags", "expected"),
    [
        (18, [*range(1, 17), 18]),
        (np.int64(3), [1, 2, 3]),
        ("1:4", [1, 2, 3, 4]),
        ("1,3,7:9", [1, 3, 7, 8, 9]),
        ([5, 1], [1, 5]),
        (np.array([5, 1]), [1, 5]),
        (range(1, 4), [1, 2, 3]),
    ],
)
def test_lags_are_a_largest_one_a_list_or_a_string(lags: Any, expected: list[int]) -> None:
    for verb in (ms.mutual_information, ms.count_pairs):
        assert verb(BASES, lags).lags.tolist() == expected
    assert ms.measure(BASES, lags).curve.lags.tolist() == expected


def test_lags_may_be_a_tensor_and_must_be_whole() -> None:
    assert ms.count_pairs(BASES, tensor([1, 4])).lags.tolist() == [1, 4]
    for wrong in ([1.5], 2.5, np.array([1.0, 2.0]), [[1, 2]]):
        with pytest.raises(InputError, match="not whole numbers"):
            ms.count_pairs(BASES, wrong)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match="expected numbers as in 1,2,5"):
        ms.count_pairs(BASES, "one")


def test_an_estimator_is_named_or_given() -> None:
    by_name = ms.mutual_information(BASES, [1], estimator="plugin")
    assert by_name.estimator == "plugin"
    assert by_name.information == ms.mutual_information(BASES, [1], estimator=Plugin()).information
    assert ms.measure(BASES, [1], estimator="miller-madow").curve.estimator == "miller-madow"
    for wrong in ("plug-in", Plugin, 3):
        with pytest.raises(InputError, match=r"estimator .*plugin, miller-madow, digamma"):
            ms.mutual_information(BASES, [1], estimator=wrong)  # pyright: ignore[reportArgumentType]


def test_pair_counts_have_their_symbols_already() -> None:
    with pytest.raises(InputError, match="symbols cannot be chosen"):
        ms.mutual_information(ms.count_pairs(BASES, [1]), symbols="items")


def test_measuring_plain_data_imports_no_other_library() -> None:
    program = (
        "import sys, memspan as ms; ms.mutual_information([0, 1, 1, 0] * 50, [1])\n"
        "assert not {'torch', 'pandas', 'polars'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
