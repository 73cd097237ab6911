"""One column of numbers out of a CSV or TSV file."""

from __future__ import annotations

import csv
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.sequences.request import Request
from memspan.sequences.streams import Input, one_line
from memspan.sequences.text import decoded

Row = tuple[int, list[str]]
"""The number of a row, counted from 1 with the header, and its cells."""
MOSTLY = 0.8
"""A column of which so many cells are numbers is meant to be one of numbers."""
MISSING = ("error", "drop", "break")
"""What can be done with missing values: refuse them, skip them, or end a document at each."""
MISSING_CELLS = ("", "-", ".", "?", "na", "n/a", "#n/a", "nan", "nat", "null", "none", "missing")
"""Cells without a value, in lower case."""
INDEX_NAMES = ("index", "id", "row", "date", "datetime", "time", "timestamp", "year", "month", "day")
"""Columns that say where or when a value is; never chosen by default."""


@final
@dataclass(frozen=True)
class Column:
    """The values of a column, each with the number of its row. Missing values are NaN."""

    name: str | int
    values: array[float]
    rows: array[int]
    others: tuple[str | int, ...] = ()
    """Columns that could have been chosen as well, where none was named."""
    left_out: tuple[str, ...] = ()
    """Columns of numbers that are never chosen by default, with the reason."""

    @property
    def numbers(self) -> NDArray[np.float64]:
        """The values as an array."""
        return np.frombuffer(self.values, np.float64)


def read_column(request: Request, item: Input, column: str | int | None) -> Column:
    """The column of that name or number (from 0); without one, the first of numbers that is no index and not constant."""
    rows = _rows(request, item)
    first = next(rows, None)
    if first is None:
        raise InputError(f"{item.name} is empty (0 symbols); expected a table with a column of numbers")
    header = None if any(_is_number(cell) for cell in first[1]) else first[1]
    if column is not None:
        index = _index(header, len(first[1]), column, item.name)
        label = _label(header, index)
        return _one_column(_from(first, header, rows), index, label, item.name, request.missing)
    return _first_of_numbers(_from(first, header, rows), header, len(first[1]), item.name, request.missing)


def _rows(request: Request, item: Input) -> Iterator[Row]:
    lines = _text_lines(decoded(request, item))
    first = next(lines, "")
    # Everything but a .tsv file shows its separator by how often it comes in the first line.
    separator = "\t" if item.ending == ".tsv" else max(",;\t", key=first.count)
    reader = csv.reader(_chained(first, lines), delimiter=separator)
    try:
        for cells in reader:
            if cells:
                yield reader.line_num, cells
    except csv.Error as error:
        raise InputError(
            f"{item.name}, row {reader.line_num}: {one_line(error)}; "
            f"expected a table of cells separated by {separator!r}"
        ) from error


def _text_lines(pieces: Iterator[str]) -> Iterator[str]:
    rest = ""
    for text in pieces:
        *lines, rest = (rest + text).split("\n")
        yield from lines
    if rest:
        yield rest


def _chained(first: str, lines: Iterator[str]) -> Iterator[str]:
    # A byte order mark is no part of the first column's name.
    yield first.removeprefix("\ufeff")
    yield from lines


def _from(first: Row, header: list[str] | None, rows: Iterator[Row]) -> Iterator[Row]:
    if header is None:
        yield first
    yield from rows


def _one_column(rows: Iterator[Row], index: int, label: str | int, name: str, missing: str) -> Column:
    column = Column(label, array("d"), array("q"))
    for row, cells in rows:
        cell = cells[index] if index < len(cells) else ""
        value = _value(cell, missing)
        if value is None:
            raise _not_a_number(name, row, cell, label)
        column.values.append(value)
        column.rows.append(row)
    return column


def _value(cell: str, missing: str) -> float | None:
    """The number in a cell, NaN if it is missing and may be, else None."""
    try:
        return float(cell)
    except ValueError:
        return float("nan") if missing != "error" and _is_missing(cell) else None


def _is_missing(cell: str) -> bool:
    return cell.strip().lower() in MISSING_CELLS


def _not_a_number(name: str, row: int, cell: str, label: str | int) -> InputError:
    missing = " use --missing drop or --missing break," if _is_missing(cell) else ""
    return InputError(
        f"{name}, row {row}: {cell!r} in column {label} is not a number; "
        f"correct or remove the row,{missing} or choose another column with --column"
    )


def _first_of_numbers(
    rows: Iterator[Row], header: list[str] | None, width: int, name: str, missing: str
) -> Column:
    """The first column that is meant to be numbers (most of its cells are), is no index and is not constant.

    A cell of it that is no number is an error and does not make another column the chosen one.
    """
    columns = [Column(_label(header, index), array("d"), array("q")) for index in range(width)]
    bad: list[list[tuple[int, str]]] = [[] for _ in range(width)]
    for row, cells in rows:
        for index, column in enumerate(columns):
            cell = cells[index] if index < len(cells) else ""
            value = _value(cell, missing)
            if value is None:
                bad[index].append((row, cell))
            else:
                column.values.append(value)
                column.rows.append(row)
    if not any(len(column.values) + len(bad[index]) for index, column in enumerate(columns)):
        return columns[0]  # no rows: told by whoever needs symbols
    numeric = [index for index, column in enumerate(columns) if _is_numeric(column, len(bad[index]))]
    if not numeric:
        raise InputError(
            f"no column of {name} holds numbers; {_columns(header, width)}; choose one with --column"
        )
    why = {index: _why_not(columns[index]) for index in numeric}
    chosen = [index for index in numeric if not why[index]]
    left_out = tuple(f"{columns[index].name} ({why[index]})" for index in numeric if why[index])
    if not chosen:
        raise InputError(
            f"no column of {name} is chosen by default, left out: {', '.join(left_out)}; name one with --column"
        )
    first = chosen[0]
    if bad[first]:
        raise _not_a_number(name, *bad[first][0], columns[first].name)
    others = tuple(columns[index].name for index in chosen[1:])
    return Column(columns[first].name, columns[first].values, columns[first].rows, others, left_out)


def _is_numeric(column: Column, bad: int) -> bool:
    """Whether most cells that are not missing are numbers."""
    known = int(np.count_nonzero(~np.isnan(column.numbers)))
    return known > MOSTLY * (known + bad)


def _why_not(column: Column) -> str:
    """Why a column of numbers is not what somebody wants to measure, or nothing.

    Values that only increase or only decrease are taken for an index or a time.
    """
    if str(column.name).strip().lower() in INDEX_NAMES:
        return "index or time by its name"
    known = column.numbers[~np.isnan(column.numbers)]
    changes = np.diff(known)
    if len(changes) >= 1 and not changes.any():
        return "constant"
    if len(changes) >= 2 and (np.all(changes > 0) or np.all(changes < 0)):
        return "index or time: always increasing" if changes[0] > 0 else "index or time: always decreasing"
    return ""


def _index(header: list[str] | None, width: int, column: str | int, name: str) -> int:
    if header is not None and column in header:
        return header.index(str(column))
    if str(column).isdecimal() and int(column) < width:
        return int(column)
    raise InputError(f"{name} has no column {column!r}; {_columns(header, width)}; choose one with --column")


def _label(header: list[str] | None, index: int) -> str | int:
    return index if header is None or index >= len(header) or not header[index] else header[index]


def _columns(header: list[str] | None, width: int) -> str:
    if header is None:
        return f"its columns have no names and the numbers 0 to {width - 1}"
    return f"its columns are {', '.join(header)} (0 to {width - 1})"


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
