"""Columns of tables: which one, what is done to it, which bins, and every way to be refused."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspan.errors import InputError
from memspan.sequences import TRANSFORMS, Sequence, read
from memspan.sequences.readers.inputs import Input, Request
from memspan.sequences.readers.tables import read_numbers

PRICES = "date,open,close\n2020-01-01,1,2\n2020-01-02,2,1\n2020-01-03,4,8\n2020-01-06,3,5\n"


def table(tmp_path: Path, text: str, name: str = "table.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode())
    return path


def symbols(sequence: Sequence) -> list[list[int]]:
    return [document.tolist() for document in sequence.documents()]


def test_the_first_column_of_numbers_is_taken_and_noted(tmp_path: Path) -> None:
    sequence = read(table(tmp_path, PRICES))
    assert symbols(sequence) == [[0, 1, 3, 2]]
    assert sequence.notes == (
        "column open, the first of 2 columns of numbers (others: close); choose another with --column",
        "4 quantile bins: up to 1.75, up to 2.5, up to 3.25, above",
    )
    assert (sequence.symbols, sequence.column) == ("numbers", "open")


@pytest.mark.parametrize("column", ["close", "2", 2])
def test_a_column_is_named_or_numbered(tmp_path: Path, column: str | int) -> None:
    sequence = read(table(tmp_path, PRICES), column=column)
    assert symbols(sequence) == [[1, 0, 3, 2]]
    assert sequence.notes[0] == "column close"
    assert sequence.column == "close"


def test_a_first_row_with_a_number_in_it_is_data(tmp_path: Path) -> None:
    assert symbols(read(table(tmp_path, "a,3\nb,1\n"), levels=2)) == [[1, 0]]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("0.5\n0.1\n0.9\n0.7\n", "plain.csv"),
        ("\ufeffx\n0.5\n0.1\n\n0.9\n0.7", "mark-and-blank-line.csv"),
        ("t;x\na;0.5\nb;0.1\nc;0.9\nd;0.7\n", "semicolons.csv"),
        ("t\tx\na,1\t0.5\nb,2\t0.1\nc,3\t0.9\nd,4\t0.7\n", "tabs.tsv"),
        ('t,x\r\n"a, b",0.5\r\nc,0.1\r\nd, 0.9\r\ne,7e-1\r\n', "quoted.csv"),
    ],
)
def test_tables_of_several_dialects_are_read(tmp_path: Path, text: str, name: str) -> None:
    assert symbols(read(table(tmp_path, text, name))) == [[1, 0, 3, 2]]


values = st.lists(st.floats(0.1, 1000).map(lambda value: round(value, 3)), min_size=3, max_size=30)


@given(values, st.sampled_from(TRANSFORMS), st.integers(2, 9), st.integers(1, 40))
def test_symbols_are_the_quantile_bins_of_the_transformed_values(
    numbers: list[float], transform: str, levels: int, piece: int
) -> None:
    data = "x\n" + "\n".join(map(str, numbers))
    request = Request(
        names=("x",),
        inputs=(Input("x", lambda: io.BytesIO(data.encode())),),
        column="x",
        transform=transform,
        levels=levels,
        piece=piece,
    )
    x = np.array(numbers)
    changed = {
        "none": lambda: x,
        "difference": lambda: x[1:] - x[:-1],
        "log-return": lambda: np.log(x)[1:] - np.log(x)[:-1],
        "abs-log-return": lambda: abs(np.log(x)[1:] - np.log(x)[:-1]),
    }[transform]()
    edges = [np.quantile(changed, k / levels) for k in range(1, levels)]
    bins = [sum(value > edge for edge in edges) for value in changed]
    kinds = sorted(set(bins))
    if len(kinds) > 1:
        assert symbols(read_numbers(request)) == [[kinds.index(number) for number in bins]]
    else:
        with pytest.raises(InputError, match="only one symbol kind"):
            read_numbers(request)


def test_changes_never_cross_from_one_file_into_the_next_and_bins_are_shared(tmp_path: Path) -> None:
    paths = [table(tmp_path, "x,y\n1,0\n2,0\n4,0\n", "a.csv"), table(tmp_path, "y,x\n0,100\n0,101\n", "b.csv")]
    sequence = read(paths, column="x", transform="difference", levels=2)
    assert symbols(sequence) == [[0, 1], [0]]
    assert sequence.notes[1] == "2 quantile bins of the difference: up to 1, above"


def test_bins_that_coincide_are_reported(tmp_path: Path) -> None:
    sequence = read(table(tmp_path, "x\n0\n0\n0\n5\n7\n"))
    assert symbols(sequence) == [[0, 0, 0, 1, 2]]
    assert sequence.notes[1].startswith("3 quantile bins (4 requested; many values are equal): ")


def test_a_constant_column_has_one_symbol_kind(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"only one symbol kind in .*\(0, 3 times\)"):
        read(table(tmp_path, "x\n5\n5\n5\n"), column="x")


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (PRICES, {"column": "volume"}, r"no column 'volume'; its columns are date, open, close \(0 to 2\); "),
        (PRICES, {"column": 3}, r"no column 3; its columns are date, open, close \(0 to 2\); .*--column"),
        ("1,2\n3,4\n", {"column": "x"}, "no column 'x'; its columns have no names and the numbers 0 to 1; "),
        (PRICES, {"column": "date"}, "row 2: '2020-01-01' in column date is not a number; .*--column"),
        ("x,y\n1,2\n3,?\n", {"column": "y"}, r"table.csv, row 3: '\?' in column y is not a number"),
        ("x,y\n1,2\n3\n", {"column": "y"}, "row 3: '' in column y is not a number"),
        ("x,y\na,1\nb,\n", {}, r"no column of .* holds numbers; its columns are x, y \(0 to 1\)"),
        ("x\n1\nnan\n", {}, "row 3: nan in column x is not finite; remove or correct it"),
        ("x\n\n1\n-inf\n", {}, "row 4: -inf in column x is not finite"),
        ("x\n1\n0\n", {"transform": "log-return"}, "row 3: 0.0 in column x is not positive, so it has no log-return"),
        ("x\n-1\n2\n", {"transform": "abs-log-return"}, "row 2: -1.0 .*no abs-log-return; use --transform diff"),
        ("x\n1\n2\n", {"transform": "square"}, "unknown transform 'square'; use --transform none, difference, "),
        ("x\n1\n2\n", {"levels": 1}, "--levels 1 leaves nothing to measure; use --levels 2 or more"),
        ("", {}, r"table.csv is empty \(0 symbols\)"),
        ("x\n", {}, r"table.csv is empty \(0 symbols\)"),
        ("x\n1\n", {"transform": "difference"}, r"table.csv is empty \(0 symbols\)"),
        ("x\n1\r2\n", {}, "row 2: new-line character seen in unquoted field.*separated by ','"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused(tmp_path: Path, text: str, options, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(table(tmp_path, text), **options)
    assert "\n" not in str(caught.value)


def test_one_empty_cell_is_reported_and_does_not_make_another_column_the_numbers(tmp_path: Path) -> None:
    rows = "".join(f"{k % 9 + 1.5},{k % 7}\n" if k != 40 else ",3\n" for k in range(100))
    with pytest.raises(InputError, match="row 42: '' in column price is not a number"):
        read(table(tmp_path, "price,volume\n" + rows))


@pytest.mark.parametrize(
    ("header", "first", "reason"),
    [
        ("", range(5), "always increasing"),
        ("step", range(5), "always increasing"),
        ("countdown", [9, 7, 4, 2, 1], "always decreasing"),
        ("t", [0.0, 0.1, 0.25, 0.3, 0.5], "always increasing"),
        ("when", [20200131, 20200203, 20200204, 20200301, 20200302], "always increasing"),
        ("Year", [2000, 2001, 2000, 2001, 2000], "index or time by its name"),
        ("unit", [1, 1, 1, 1, 1], "constant"),
    ],
)
def test_an_index_a_date_or_a_constant_is_never_chosen_by_default(tmp_path, header, first, reason) -> None:
    values = [3, 1, 4, 1, 5]
    text = f"{header},x\n" + "".join(f"{a},{b}\n" for a, b in zip(first, values, strict=True))
    sequence = read(table(tmp_path, text), levels=2)
    assert symbols(sequence) == [[0, 0, 1, 0, 1]]
    assert sequence.column == "x"
    assert sequence.notes[0].startswith(f"column x, the only column of numbers; left out: {header or 0} (")
    assert reason in sequence.notes[0]


def test_if_no_column_is_left_one_must_be_named(tmp_path: Path) -> None:
    path = table(tmp_path, "day,total\n1,5\n2,8\n3,9\n")
    with pytest.raises(InputError, match=r"left out: day \(index .*\), total \(.*increasing\); name one with --column"):
        read(path)
    assert symbols(read(path, column="total", levels=3)) == [[0, 1, 2]]


GAPS = "x,y\n5,1\n1,\n9,2\n2,NA\n8,nan\n1,7\n3,4\n"


@pytest.mark.parametrize(
    ("transform", "missing", "documents", "note"),
    [
        ("none", "drop", [[0, 0, 1, 1]], "3 missing values dropped: values before and after are treated as neighbors"),
        ("none", "break", [[0], [0], [1, 1]], "3 missing values: each ends a document"),
        ("difference", "drop", [[0, 1, 0]], "3 missing values dropped: "),
    ],
)
def test_missing_values_are_dropped_or_end_a_document(tmp_path, transform, missing, documents, note) -> None:
    path = table(tmp_path, GAPS)
    sequence = read(path, column="y", transform=transform, levels=2, missing=missing)
    assert symbols(sequence) == documents
    assert sequence.notes[-1].startswith(note)


def test_changes_never_cross_a_missing_value_that_ends_a_document(tmp_path: Path) -> None:
    path = table(tmp_path, "y\n1\n2\n\nNA\n100\n103\n104\n")
    assert symbols(read(path, transform="difference", levels=2, missing="break", column="y")) == [[0], [1, 0]]


def test_a_missing_value_is_an_error_by_default_and_the_message_names_the_option(tmp_path: Path) -> None:
    for text, cell in ((GAPS, "''"), (GAPS.replace("1,\n", "1,4\n"), "'NA'")):
        with pytest.raises(InputError, match=rf"row \d: {cell} in column y .*--missing drop or --missing break"):
            read(table(tmp_path, text), column="y")
    with pytest.raises(InputError, match=r"row 3: nan in column x is not finite; .*--missing drop or break"):
        read(table(tmp_path, "x\n1\nnan\n3\n1\n"))


@pytest.mark.parametrize("missing", ["drop", "break"])
def test_text_and_infinity_are_not_missing(tmp_path: Path, missing: str) -> None:
    with pytest.raises(InputError, match="row 3: 'two' in column x is not a number"):
        read(table(tmp_path, "x\n1\ntwo\n3\n1\n2\n1\n2\n"), column="x", missing=missing)
    with pytest.raises(InputError, match="row 3: inf in column x is not finite"):
        read(table(tmp_path, "x\n1\ninf\n3\n1\n"), missing=missing)
    with pytest.raises(InputError, match=r"table.csv is empty \(0 symbols\)"):
        read(table(tmp_path, "x\nNA\nNA\n"), column="x", missing=missing)


def test_a_column_with_many_gaps_is_still_one_of_numbers(tmp_path: Path) -> None:
    text = "x\n" + "3\n1\nNA\n2\nNA\nNA\n" * 5
    assert read(table(tmp_path, text), missing="drop", levels=3).length == 15


def test_missing_is_for_numbers_and_has_three_answers(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--missing is for numbers, the input is read as chars"):
        read(table(tmp_path, "abab", "text.txt"), missing="drop")
    with pytest.raises(InputError, match="unknown policy 'skip' for missing values; use --missing error, drop, break"):
        read(table(tmp_path, "x\n1\n2\n"), missing="skip")
